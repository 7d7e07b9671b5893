"""Blocks of a unit of work: pairs of first and last parts, and the best of their combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.gemm.scratch import Scratch
from genobit.epistasis.kernels.combinations import combinations
from genobit.epistasis.schedule.units import Cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.scope import Scope

NEAR = 4
"""Consecutive blocks whose parts are regrouped together: 128 pairs of 8 by 16 variants have 24
subsets instead of 130. Parts of more blocks end so far apart that, with few variants, many parts of
a block meet no last part."""
Score = Callable[..., "Best"]
"""``score(classes, first, last, top, threshold, allowed, scratch)``, like
`genobit.epistasis.kernels.search.search`. It goes to other processes, so it must be a function of a
module or a partial of one."""


class Found(NamedTuple):
    """The best combinations of some units, in descending order of score."""

    scores: NDArray[np.float64]
    members: NDArray[np.int64]
    """(combinations, order), positions ascending."""
    searched: int
    """Number of combinations in the scope."""
    scored: int
    """Number of combinations that passed the bound."""
    maxima: NDArray[np.float64]
    """The largest score under each permutation; empty without permutations."""


class Failure(NamedTuple):
    """The error of a failed unit."""

    error: Exception


class Work(NamedTuple):
    """Input of a worker in addition to the planes."""

    cut: Cut
    top: int
    score: Score
    lowest: float
    """A score that all combinations reach; the first threshold."""
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


def merged(parts: Sequence[Found], top: int) -> Found:
    """Merge several results into one."""
    scores, members = best_of(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.members for part in parts]),
        top,
    )
    return Found(
        scores,
        members,
        sum(part.searched for part in parts),
        sum(part.scored for part in parts),
        np.maximum.reduce([part.maxima for part in parts]) if parts else np.empty(0),
    )


def searched_unit(classes: Classes, work: Work, unit: int, threshold: float) -> Found | Failure:
    """Return the best combinations of a unit, or its error, so that other units are not lost."""
    try:
        return _search_unit(classes, work, unit, threshold)
    except Exception as error:
        if _interrupted(error):
            raise KeyboardInterrupt from error
        return Failure(error)


def _interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C interrupted compiled code of a unit in the main thread.

    Python wraps the KeyboardInterrupt in a SystemError, once for each function on the stack.
    """
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def _search_unit(classes: Classes, work: Work, unit: int, threshold: float) -> Found:
    cut, scope = work.cut, work.scope
    found = Found(np.empty(0), np.empty((0, cut.order), np.int64), 0, 0, np.empty(0))
    searched = 0
    scratch = Scratch()
    threshold = max(threshold, work.lowest)
    for first, last in blocks(cut, unit, scope):
        allowed = None
        if scope is not None and not scope.free:
            allowed = scope.allowed(first, last)
            searched += int(np.count_nonzero(allowed))
            if not allowed.any():
                continue
        best = _block(classes, work, first, last, threshold, allowed, scratch)
        maxima = getattr(best, "maxima", found.maxima)
        if not found.maxima.size:
            found = found._replace(maxima=np.full(maxima.shape, -np.inf))
        new = Found(best.scores, best.members, 0, best.scored, maxima)
        if not new.scores.size:
            maxima = np.maximum(found.maxima, maxima)
            found = found._replace(scored=found.scored + best.scored, maxima=maxima)
            continue
        found = merged([found, new], work.top)
        if found.scores.size == work.top:
            threshold = max(threshold, float(found.scores[-1]))
    return found._replace(searched=cut.weight(unit) if scope is None or scope.free else searched)


def _block(
    classes: Classes,
    work: Work,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    threshold: float,
    allowed: NDArray[np.bool_] | None,
    scratch: Scratch,
) -> Best:
    """Return the best of a block, members ascending in the order of the data."""
    scope, top = work.scope, work.most(first, last)
    best = work.score(classes, first, last, top, threshold, allowed, scratch)
    if scope is None:
        return best
    return best._replace(members=scope.places[scope.ordered(best.members)])


def blocks(
    cut: Cut, unit: int, scope: Scope | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield first and last parts whose pairs hold every combination of a unit exactly once.

    A pair is no combination if its last part begins before the first part ends.
    """
    for first in _first_parts(cut, cut.range_of(unit)):
        whole = first if scope is None else scope.whole(first)
        if not len(whole):
            continue
        for last in _last_parts(cut, cut.last_parts(int(whole[0, -1]))):
            # last[0] has the largest start: first parts that end after it meet no last part here.
            rows = int(np.searchsorted(whole[:, -1], last[0, 0]))
            met = last if scope is None else scope.whole(last)
            if len(met) and rows:
                yield whole[:rows], met


def _first_parts(cut: Cut, parts: range) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of first parts, in ascending order of their ends within a block."""
    together = cut.rows * (NEAR if cut.p > 1 else 1)
    for start in range(parts.start, parts.stop, together):
        here = combinations(start, min(together, parts.stop - start), cut.p)
        yield from _dealt(here, here[:, 0], cut.rows)


def _last_parts(cut: Cut, count: int) -> Iterator[NDArray[np.int64]]:
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
