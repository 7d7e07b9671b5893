"""The greedy pass of pruning: windows slide over variants, and of a correlated pair one goes.

The rule is that of ``plink --indep-pairwise``. In a window, each variant that is left, in order, is
compared with those left after it; at the first whose r2 is above the limit the rarer of the two
goes (the later one where they are equally common) and the next variant's turn comes; the window is
gone through again until nothing goes. A pair that was compared once is not compared again.

A window has few variants that the one before has not, and few pairs above the limit. So the pairs
of these few with all that are left are compared at once, four rows in registers, and only rows with
a correlated one take turns: three quarters of the time of comparing pair by pair, which waits
for branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import prefetch
from genobit.ld.kernels.comparisons import TOGETHER, compare, next_asked
from genobit.ld.kernels.row_pairs import ROUNDING, PairRows, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 128
"""New variants of a window that are compared before the turns; of more, in their turn, which is
slower by half in windows of 500 that share nothing."""
LINE_WORDS = 8
"""Words of a cache line: those of the next window are asked for ahead."""


@njit
def _enter(
    start: int, stop: int, before: int, keep: NDArray[np.bool_], live: NDArray[np.int64], size: int
) -> tuple[int, int]:
    """List the variants of a window that are left: how many, and how many of them old.

    ``live`` lists ``size`` variants of the window before, which ended at ``before``.
    """
    fresh = 0
    for k in range(size):
        i = live[k]
        live[fresh] = i
        fresh += keep[i] and i >= start
    size = fresh
    for i in range(max(before, start), stop):
        live[size] = i
        size += keep[i]
    return size, fresh


@njit
def _first_turns(
    fresh: int,
    size: int,
    known: bool,
    wanted: NDArray[np.bool_],
    turns: NDArray[np.int64],
    after: NDArray[np.int64],
) -> int:
    """List the places that have a pair above the limit, or may have one; returns how many."""
    left = 0
    for place in range(size):
        turns[left], after[place] = place, max(place + 1, fresh)
        left += wanted[place] or not known
        wanted[place] = False
    return left


@njit
def _next_known(
    after: int,
    size: int,
    place: int,
    fresh: int,
    above: NDArray[np.bool_],
    live: NDArray[np.int64],
    keep: NDArray[np.bool_],
) -> int:
    """The next place, from ``after`` on, of one that is left and above the limit; else ``size``."""
    for k in range(after, size):
        if above[k - fresh, place] and keep[live[k]]:
            return k
    return size


@njit
def _rarer(i: int, j: int, frequency: NDArray[np.float64]) -> int:
    """The variant with the rarer minor allele; the later where they are equally common."""
    return i if frequency[i] < frequency[j] * (1 - ROUNDING) else j


@njit
def _ask_for(first: Words, second: Words, start: int, stop: int) -> None:
    """Words that are read soon."""
    for at in range(start, stop, LINE_WORDS):
        prefetch(first, at)
        if second.size:
            prefetch(second, at)


@njit
def prune(
    rows: PairRows,
    gaps: PairRows | None,
    base: int,
    before: int,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    limit: float,
    frequency: NDArray[np.float64],
    keep: NDArray[np.bool_],
) -> None:
    """Go through windows in order.

    ``rows`` are variants from ``base`` on, all of the windows ``starts`` (first variant) to
    ``stops`` (behind the last); ``gaps`` are the same where calls are missing. ``before`` is where
    the last window ended that was gone through earlier. ``frequency`` and ``keep`` are of all
    variants: the minor allele's, and whether a variant is left.
    """
    longest, begin = 0, before - base
    for window in range(starts.shape[0]):
        longest = max(longest, stops[window] - starts[window])
        begin = min(begin, starts[window] - base)
    # Zeros: what is behind a list is a row, too.
    live, near = np.zeros(longest + TOGETHER, np.int64), np.zeros(longest + TOGETHER, np.int64)
    turns, after = np.empty(longest, np.int64), np.empty(longest, np.int64)
    above, wanted = np.empty((FEW, longest), np.bool_), np.zeros(longest, np.bool_)
    products = np.empty(longest + TOGETHER, np.int64)
    totals, spreads = np.empty(longest, np.int64), np.empty(longest)
    first, second, width = rows.first.reshape(-1), rows.second.reshape(-1), rows.first.shape[1]
    n, total, spread, counts = rows.bits, rows.total, rows.spread, rows.counts
    frequency, keep, before, size = frequency[base:], keep[base:], before - base, 0
    size, _ = _enter(begin, before, begin, keep, live, 0)
    for window in range(starts.shape[0]):
        stop = stops[window] - base
        size, fresh = _enter(starts[window] - base, stop, before, keep, live, size)
        before, known = stop, size - fresh <= FEW
        if window + 1 < starts.shape[0]:
            _ask_for(first, second, stop * width, (stops[window + 1] - base) * width)
        if known:
            compare(
                gaps, first, second, width, n, total, spread, counts, live, fresh, size, limit,
                products, totals, spreads, near, above, wanted,
            )  # fmt: skip
        left = _first_turns(fresh, size, known, wanted, turns, after)
        while left:
            again = 0
            for turn in range(left):
                place = turns[turn]
                i = live[place]
                if not keep[i]:
                    continue
                if known:
                    k = _next_known(after[place], size, place, fresh, above, live, keep)
                else:
                    k = next_asked(
                        gaps, first, second, width, n, total, spread, counts, after[place], size,
                        place, limit, live, keep, near, products,
                    )  # fmt: skip
                if k < size:
                    keep[_rarer(i, live[k], frequency)] = False
                    turns[again], after[place] = place, k + 1
                    again += 1
            left = again
