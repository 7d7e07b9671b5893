"""Units of work of a search of all combinations, each named by one whole number.

A combination of k variants is cut in its first p and its last q members. First parts are numbered
by their last member (`genobit.epistasis.kernels.combinations`), last parts by their first, counted from the
end, so that those which begin after variant m are the first C(V - 1 - m, q). A unit is a range of
first parts with all last parts that begin after the first of them ends. How many combinations stand
before a first part is a sum of products of binomials, so a unit's range follows from its number.
"""

from __future__ import annotations

import bisect
import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from genobit.epistasis.kernels.tables import KEPT_BYTES, keeps_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

CELLS = 2**18
"""Most entries of the tables of a first part with all last parts of a block, classes x 3^k x last
parts."""
COUNTS = 2**21
"""Most counts of a class in a block: 4 MiB of 16 bits. Smaller blocks stay in a second-level cache,
but have more subsets, and more of Python about them: half as many took 1.04 to 1.05 of the time."""
LINES = 512
"""Most planes of last parts in a block: as many columns as a block of the product has."""
LINE_BYTES = 2**25
"""Most bytes of planes of first parts in a block, and of last parts: of half a million samples 512
planes each."""
SECONDS = 0.1
"""What a unit is meant to take at least: a search of a second keeps a few threads busy."""
LONGEST = 1.0
"""What it is meant to take at most: so much a run that is killed loses."""
FEWEST_UNITS = 8
"""Of a search whose units are longer for tables of sums to pay."""
EVEN_UNITS = 24
"""Of one whose units are longer to fill blocks: the last of fewer would leave workers idle."""
FEWEST_ROWS = 1024
"""Planes of first parts that make tables of sums pay (`genobit.engine.gemm.products`)."""
TABLE_ROWS = 768
"""Rows of a product that cost as much as the tables that they share."""


class Cut(NamedTuple):
    """How the combinations of some variants are cut in parts, blocks and units."""

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
    """Combinations a unit is meant to have; it has whole first parts."""
    kinds: int = 2
    """Planes of a member: 3 if calls are missing."""
    reach: int = 0
    """Last parts, of one member, are among the last so many variants; 0 for all."""
    begin: int = 0
    """The first variant where a first part may end."""
    words: int = 0
    """Of a plane of the largest class."""

    @property
    def q(self) -> int:
        """Members of a last part."""
        return self.order - self.p

    @property
    def combinations(self) -> int:
        """How many there are."""
        if not (self.reach or self.begin):
            # Sums over a million variants take seconds, and cuts are made to be compared.
            return math.comb(self.variants, self.order)
        return _sums(self.variants, self.p, self.q, self.reach, self.begin).combinations[-1]

    @property
    def units(self) -> int:
        """How many there are; one is empty where a first part has more than a unit should."""
        return -(-self.combinations // self.unit)

    def last_parts(self, end: int) -> int:
        """How many last parts begin after variant ``end``."""
        return _last_parts(self.variants, self.q, self.reach, end)

    def before(self, part: int) -> int:
        """Combinations of first parts that come before number ``part``."""
        sums = _sums(self.variants, self.p, self.q, self.reach, self.begin)
        end = bisect.bisect_right(sums.parts, part) - 1
        if end < self.begin or end >= self.variants - self.q:
            return 0 if end < self.begin else self.combinations
        return sums.combinations[end] + (part - sums.parts[end]) * self.last_parts(end)

    def start(self, combinations: int) -> int:
        """The first part by which so many combinations are reached."""
        sums = _sums(self.variants, self.p, self.q, self.reach, self.begin)
        end = bisect.bisect_right(sums.combinations, combinations) - 1
        if combinations >= self.combinations:
            return sums.parts[self.variants - self.q]
        each = self.last_parts(end)
        return min(
            sums.parts[end] - (sums.combinations[end] - combinations) // each, sums.parts[end + 1]
        )

    def range_of(self, unit: int) -> range:
        """The first parts of a unit."""
        return range(self.start(unit * self.unit), self.start((unit + 1) * self.unit))

    def weight(self, unit: int) -> int:
        """Combinations of a unit."""
        parts = self.range_of(unit)
        return self.before(parts.stop) - self.before(parts.start)

    @property
    def block_bytes(self) -> int:
        """Bytes of a block while it is counted and scored, with the planes of its parts."""
        first, last = self.rows * self.kinds**self.p, self.columns * self.kinds**self.q
        counts, tables = first * last, self.classes * 3**self.order * self.columns
        kept = KEPT_BYTES if keeps_lines(self.classes, first, self.words) else 0
        # Subsets of first and last parts have rows and columns of their own: twice is enough.
        return 4 * (2 * self.classes * counts + tables) + 16 * self.words * (first + last) + kept


class _Sums(NamedTuple):
    parts: list[int]
    """First parts that end before each variant."""
    combinations: list[int]
    """Combinations of those."""


def _last_parts(variants: int, q: int, reach: int, end: int) -> int:
    after = max(variants - 1 - end, 0)
    return math.comb(min(after, reach) if reach else after, q)


@lru_cache(maxsize=8)
def _sums(variants: int, p: int, q: int, reach: int, begin: int) -> _Sums:
    parts, combinations = [0], [0]
    for end in range(variants):
        here = math.comb(end, p - 1)
        parts.append(parts[-1] + here)
        each = here * _last_parts(variants, q, reach, end) if end >= begin else 0
        combinations.append(combinations[-1] + each)
    return _Sums(parts, combinations)


def chosen(
    variants: int, order: int, sizes: Sequence[int], *, complete: bool, p: int | None = None
) -> Cut:
    """The cut that the model of costs thinks cheapest.

    Parameters
    ----------
    variants, order
        Combinations of ``order`` out of so many.
    sizes
        Samples of each class.
    complete
        Whether no call is missing.
    p
        Members of a first part, if not the cheapest.
    """
    choices = range(1, order) if p is None else (p,)
    cuts = [_sized(variants, order, sizes, complete, p) for p in choices]
    return min(cuts, key=lambda cut: (_with_tables(cut, sizes), -cut.p))


def _with_tables(cut: Cut, sizes: Sequence[int]) -> float:
    """What a combination costs, with the tables of sums that the first parts of a unit share."""
    each = cut.combinations / max(math.comb(cut.variants, cut.p), 1)
    rows = max(1.0, min(cut.rows, cut.unit / max(each, 1.0)))
    tables = TABLE_ROWS / (rows * cut.kinds**cut.p)
    return nanoseconds(cut, sizes) + tables * _counting(cut, sizes)


def _counting(cut: Cut, sizes: Sequence[int]) -> float:
    return 0.1 * cut.kinds**cut.order * sum(-(-size // 64) for size in sizes)


def _sized(variants: int, order: int, sizes: Sequence[int], complete: bool, p: int) -> Cut:  # noqa: FBT001 - private
    kinds, classes = 2 if complete else 3, len(sizes)
    q = order - p
    columns = max(16, CELLS // (classes * 3**order))
    # Fewer last parts where they have no subsets leave room for first parts, which share theirs.
    columns = min(columns, math.comb(variants, q), max(16, LINES // kinds ** max(q, min(p, 2))))
    words = -(-max(sizes) // 64)
    held = LINE_BYTES // (8 * words)
    columns = min(columns, max(16, held // kinds**q))
    rows = min(max(16, COUNTS // (kinds**order * columns)), max(16, held // kinds**p))
    rows = min(rows, math.comb(variants, p))
    cut = Cut(variants, order, classes, p, rows, columns, 1, kinds, words=words)
    a_second = 1e9 / nanoseconds(cut, sizes)
    # Of so many first parts, if each met all last ones.
    fewest, full = (many * math.comb(variants, q) for many in (FEWEST_ROWS // kinds**p, rows))
    few, even = cut.combinations // FEWEST_UNITS, cut.combinations // EVEN_UNITS
    longer = max(min(fewest, few), min(full, even))
    return cut._replace(unit=int(max(1, SECONDS * a_second, min(longer, LONGEST * a_second))))


def nanoseconds(cut: Cut, sizes: Sequence[int]) -> float:
    """About what a combination costs, planes of parts included."""
    words = sum(-(-size // 64) for size in sizes)
    tables = 0.4 * cut.classes * 3**cut.order
    # As a part meets not all of the others, only those after or before it.
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
