"""Units of work of a search of all combinations, their blocks, and the search of one unit.

A combination of k variants is split into its first p and its last q members. First parts are
numbered by their last member (`genobit.epistasis.kernels.combinations`). Last parts are numbered by
their first member, counted from the end, so parts that begin after variant m are the first
C(V - 1 - m, q). A unit is a range of first parts with all last parts that begin after them. A sum
of products of binomials gives the number of combinations before a first part, so the number of a
unit determines its range. A block is some first and some last parts of a unit.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.gemm.scratch import Scratch
from genobit.epistasis.kernels.combinations import combinations
from genobit.epistasis.kernels.search import Best
from genobit.epistasis.kernels.tables import KEPT_BYTES, keeps_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.variants import Scope

CELLS = 2**18
"""Most entries of the tables of a first part in a block: classes x 3^k x last parts."""
COUNTS = 2**21
"""Most counts of a class in a block: 4 MiB of 16 bits. Smaller blocks stay in a second-level cache,
but have more subsets and more Python calls. With half as many counts a search took 1.04 to 1.05
times as long."""
LINES = 512
"""Most planes of last parts in a block: the columns of a block of the product."""
LINE_BYTES = 2**25
"""Most bytes of planes of first parts in a block, and of last parts: 512 planes of half a million
samples."""
SECONDS = 0.1
"""Shortest duration of a unit to aim at, so that a search of a second keeps a few threads busy."""
LONGEST = 1.0
"""Longest duration of a unit to aim at, in seconds: a run that is killed loses this much."""
FEWEST_UNITS = 8
"""Fewest units of a search when units are made longer to repay Four Russians tables."""
EVEN_UNITS = 24
"""Fewest units of a search when units are made longer to fill blocks. With fewer units, workers
would idle during the last ones."""
FEWEST_ROWS = 1024
"""Planes of first parts that repay Four Russians tables (`genobit.engine.gemm.products`)."""
TABLE_ROWS = 768
"""Rows of a product that cost as much as the Four Russians tables that they share."""
NEAR = 4
"""Consecutive blocks whose parts are regrouped together: 128 pairs of 8 by 16 variants have 24
subsets instead of 130. Parts of more blocks end so far apart that, with few variants, many parts of
a block meet no last part."""


class Cut(NamedTuple):
    """Division of the combinations of some variants into parts, blocks and units."""

    variants: int
    order: int
    classes: int
    p: int
    """Members of a first part."""
    rows: int
    """Most first parts of a block."""
    columns: int
    """Most last parts of a block."""
    unit: int
    """Combinations of a unit to aim at; a unit has whole first parts."""
    kinds: int = 2
    """Planes of a member: 3 if calls are missing."""
    reach: int = 0
    """Number of variants, the last ones, that last parts of one member come from; 0 for all."""
    begin: int = 0
    """First variant where a first part may end."""
    words: int = 0
    """Words in a plane of the largest class."""

    @property
    def q(self) -> int:
        """Members of a last part."""
        return self.order - self.p

    @property
    def combinations(self) -> int:
        """Number of combinations."""
        if not (self.reach or self.begin):
            # Sums over a million variants take seconds, and `chosen` compares several cuts.
            return math.comb(self.variants, self.order)
        return _sums(self.variants, self.p, self.q, self.reach, self.begin).combinations[-1]

    @property
    def units(self) -> int:
        """Number of units; some are empty if a first part has more combinations than a unit."""
        return -(-self.combinations // self.unit)

    def last_parts(self, end: int) -> int:
        """Return the number of last parts that begin after variant ``end``."""
        return _count_last(self.variants, self.q, self.reach, end)

    def before(self, part: int) -> int:
        """Return the number of combinations of all first parts before number ``part``."""
        sums = _sums(self.variants, self.p, self.q, self.reach, self.begin)
        end = bisect.bisect_right(sums.parts, part) - 1
        if end < self.begin or end >= self.variants - self.q:
            return 0 if end < self.begin else self.combinations
        return sums.combinations[end] + (part - sums.parts[end]) * self.last_parts(end)

    def start(self, combinations: int) -> int:
        """Return the first part with at least ``combinations`` combinations before it."""
        sums = _sums(self.variants, self.p, self.q, self.reach, self.begin)
        end = bisect.bisect_right(sums.combinations, combinations) - 1
        if combinations >= self.combinations:
            return sums.parts[self.variants - self.q]
        each = self.last_parts(end)
        return min(
            sums.parts[end] - (sums.combinations[end] - combinations) // each, sums.parts[end + 1]
        )

    def range_of(self, unit: int) -> range:
        """Return the first parts of a unit."""
        return range(self.start(unit * self.unit), self.start((unit + 1) * self.unit))

    def weight(self, unit: int) -> int:
        """Return the number of combinations of a unit."""
        parts = self.range_of(unit)
        return self.before(parts.stop) - self.before(parts.start)

    @property
    def block_bytes(self) -> int:
        """Bytes that a block takes to count and score, with the planes of its parts."""
        first, last = self.rows * self.kinds**self.p, self.columns * self.kinds**self.q
        counts, tables = first * last, self.classes * 3**self.order * self.columns
        kept = KEPT_BYTES if keeps_lines(self.classes, first, self.words) else 0
        # Subsets of first and last parts have their own rows and columns: a factor of 2 is enough.
        return 4 * (2 * self.classes * counts + tables) + 16 * self.words * (first + last) + kept


class _Sums(NamedTuple):
    parts: list[int]
    """Number of first parts that end before each variant."""
    combinations: list[int]
    """Number of combinations of these first parts."""


def _count_last(variants: int, q: int, reach: int, end: int) -> int:
    after = max(variants - 1 - end, 0)
    return math.comb(min(after, reach) if reach else after, q)


@lru_cache(maxsize=8)
def _sums(variants: int, p: int, q: int, reach: int, begin: int) -> _Sums:
    parts, combinations = [0], [0]
    for end in range(variants):
        here = math.comb(end, p - 1)
        parts.append(parts[-1] + here)
        each = here * _count_last(variants, q, reach, end) if end >= begin else 0
        combinations.append(combinations[-1] + each)
    return _Sums(parts, combinations)


def chosen(
    variants: int, order: int, sizes: Sequence[int], *, complete: bool, p: int | None = None
) -> Cut:
    """Return the cut that the cost model finds cheapest; ``p`` fixes the size of first parts.

    ``sizes`` are the samples of each class, and ``complete`` is True without missing calls.
    """
    choices = range(1, order) if p is None else (p,)
    cuts = [_sized(variants, order, sizes, complete, p) for p in choices]
    return min(cuts, key=lambda cut: (_with_tables(cut, sizes), -cut.p))


def _with_tables(cut: Cut, sizes: Sequence[int]) -> float:
    """Return the nanoseconds of a combination, including the Four Russians tables of its unit."""
    each = cut.combinations / max(math.comb(cut.variants, cut.p), 1)
    rows = max(1.0, min(cut.rows, cut.unit / max(each, 1.0)))
    tables = TABLE_ROWS / (rows * cut.kinds**cut.p)
    return nanoseconds(cut, sizes) + tables * _counting(cut, sizes)


def _counting(cut: Cut, sizes: Sequence[int]) -> float:
    return 0.1 * cut.kinds**cut.order * sum(words_for(size) for size in sizes)


def _sized(
    variants: int,
    order: int,
    sizes: Sequence[int],
    complete: bool,  # noqa: FBT001 - private
    p: int,
) -> Cut:
    kinds, classes = 2 if complete else 3, len(sizes)
    q = order - p
    columns = max(16, CELLS // (classes * 3**order))
    # Last parts of one member have no subsets: take fewer, and more first parts, which share some.
    columns = min(columns, math.comb(variants, q), max(16, LINES // kinds ** max(q, min(p, 2))))
    words = words_for(max(sizes))
    held = LINE_BYTES // (8 * words)
    columns = min(columns, max(16, held // kinds**q))
    rows = min(max(16, COUNTS // (kinds**order * columns)), max(16, held // kinds**p))
    rows = min(rows, math.comb(variants, p))
    cut = Cut(variants, order, classes, p, rows, columns, 1, kinds, words=words)
    a_second = 1e9 / nanoseconds(cut, sizes)
    # The combinations of these numbers of first parts, if each met all last parts.
    fewest, full = (many * math.comb(variants, q) for many in (FEWEST_ROWS // kinds**p, rows))
    few, even = cut.combinations // FEWEST_UNITS, cut.combinations // EVEN_UNITS
    longer = max(min(fewest, few), min(full, even))
    return cut._replace(unit=int(max(1, SECONDS * a_second, min(longer, LONGEST * a_second))))


def nanoseconds(cut: Cut, sizes: Sequence[int]) -> float:
    """Return the approximate nanoseconds of a combination, planes of its parts included."""
    words = sum(words_for(size) for size in sizes)
    tables = 0.4 * cut.classes * 3**cut.order
    # A first part meets only the last parts after it, and a last part the first parts before it.
    total = max(cut.combinations, 1)
    met = [
        max(1.0, min(most, total / max(math.comb(cut.variants, size), 1)))
        for most, size in ((cut.columns, cut.p), (cut.rows, cut.q))
    ]
    planes = sum(
        (cut.kinds**size * (words + 20) + (1000 * 2**size if size > 1 else 0)) / many
        for many, size in zip(met, (cut.p, cut.q), strict=True)
    )
    return _counting(cut, sizes) + tables + planes


Score = Callable[..., Best]
"""``score(classes, first, last, top, threshold, allowed, scratch)``, like
`genobit.epistasis.kernels.search.search`. It goes to other processes, so it must be a function of a
module or a partial of one."""


class Work(NamedTuple):
    """Input of a worker in addition to the planes."""

    cut: Cut
    top: int
    score: Score
    scope: Scope | None

    def most(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> int:
        """Return how many combinations to ask of a block: at most as many as it has pairs."""
        return min(self.top, len(first) * len(last))


def best_of(
    scores: NDArray[np.float64], members: NDArray[np.int64], top: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the ``top`` best, in descending order of score; the lowest positions win ties."""
    if scores.size > top:
        least = np.partition(scores, scores.size - top)[scores.size - top]
        near = scores >= least
        scores, members = scores[near], members[near]
    order = np.lexsort((*members.T[::-1], -scores))[:top]
    return scores[order], members[order]


def none_of(order: int) -> Best:
    """Return the result of no search."""
    return Best(np.empty(0), np.empty((0, order), np.int64), 0)


def merged(parts: Sequence[Best], top: int) -> Best:
    """Merge several results into one; the first one must be in order."""
    scores, members = parts[0].scores, parts[0].members
    if any(part.scores.size for part in parts[1:]):
        scores, members = best_of(
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.members for part in parts]),
            top,
        )
    # A result of no search has no maxima.
    maxima = [part.maxima for part in parts if part.maxima.size]
    return Best(
        scores,
        members,
        sum(part.scored for part in parts),
        np.maximum.reduce(maxima) if maxima else np.empty(0),
        sum(part.unfit for part in parts),
        sum(part.searched for part in parts),
    )


def search_unit(classes: Classes, work: Work, unit: int, threshold: float) -> Best:
    """Return the best combinations of a unit, members ascending in the order of the data."""
    cut, scope = work.cut, work.scope
    found, searched = none_of(cut.order), 0
    scratch = Scratch()
    for first, last in blocks(cut, unit, scope):
        allowed = None
        if scope is not None and not scope.unrestricted:
            allowed = scope.allowed(first, last)
            searched += int(np.count_nonzero(allowed))
            if not allowed.any():
                continue
        most = work.most(first, last)
        best = work.score(classes, first, last, most, threshold, allowed, scratch)
        members = best.members if scope is None else scope.places[scope.ordered(best.members)]
        found = merged([found, best._replace(members=members)], work.top)
        if found.scores.size == work.top:
            threshold = max(threshold, float(found.scores[-1]))
    return found._replace(
        searched=cut.weight(unit) if scope is None or scope.unrestricted else searched
    )


def blocks(
    cut: Cut, unit: int, scope: Scope | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield first and last parts whose pairs hold every combination of a unit exactly once.

    A pair is no combination if its last part begins before the first part ends.
    """
    for first in _first_blocks(cut, cut.range_of(unit)):
        whole = first if scope is None else scope.whole(first)
        if not len(whole):
            continue
        for last in _last_blocks(cut, cut.last_parts(int(whole[0, -1]))):
            # last[0] has the largest start: first parts that end after it meet no last part here.
            rows = int(np.searchsorted(whole[:, -1], last[0, 0]))
            met = last if scope is None else scope.whole(last)
            if len(met) and rows:
                yield whole[:rows], met


def _first_blocks(cut: Cut, parts: range) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of first parts, in ascending order of their ends within a block."""
    together = cut.rows * (NEAR if cut.p > 1 else 1)
    for start in range(parts.start, parts.stop, together):
        here = combinations(start, min(together, parts.stop - start), cut.p)
        yield from _dealt(here, here[:, 0], cut.rows)


def _last_blocks(cut: Cut, count: int) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of the first ``count`` last parts, largest start first within a block."""
    together = cut.columns * (NEAR if cut.q > 1 else 1)
    for left in range(0, count, together):
        # Last parts are numbered from the end: mirror the variants and reverse the members.
        mirrored = combinations(left, min(together, count - left), cut.q)[:, ::-1]
        here = np.ascontiguousarray(cut.variants - 1 - mirrored)
        yield from _dealt(here, here[:, -1], cut.columns)


def _dealt(
    parts: NDArray[np.int64], far: NDArray[np.int64], most: int
) -> Iterator[NDArray[np.int64]]:
    """Regroup parts into blocks of at most ``most`` parts, in their original order within a block.

    Neighbouring parts share the members at one end. Grouped by the member at the other end,
    ``far``, the parts of a block share members at both ends and have few subsets.
    """
    if len(parts) <= most:
        yield parts
        return
    order = np.argsort(far, kind="stable")
    for piece in np.array_split(order, -(-len(parts) // most)):
        yield np.ascontiguousarray(parts[np.sort(piece)])
