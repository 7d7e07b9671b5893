"""The greedy pass of pruning: windows slide over variants, and one of a correlated pair is removed.

The rule is that of ``plink --indep-pairwise``. In a window, each variant that is left has its turn,
in order: it is compared with the later ones that are left. At the first r2 above the limit the
rarer of the two is removed, or the later one if they are equally common. Then the next variant has
its turn. The pass over a window repeats until nothing is removed. No pair is compared twice.

Most variants of a window were in the window before, and few pairs are above the limit. So the new
variants are compared with all that are left at once, four rows in registers. Only rows with a
correlated pair take turns. This takes three quarters of the time of comparing pair by pair, which
waits for branches.
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
"""Most new variants of a window that are compared before the turns. If there are more, each is
compared in its turn, which is slower by half in windows of 500 that share nothing."""
LINE_WORDS = 8
"""Words in a cache line; the words of the next window are prefetched line by line."""


@njit
def _enter(
    start: int, stop: int, before: int, keep: NDArray[np.bool_], live: NDArray[np.int64], size: int
) -> tuple[int, int]:
    """List the variants of a window that are left; returns how many, and how many are not new.

    On entry ``live`` lists ``size`` variants of the previous window, which ended at ``before``.
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
    """List the places that have, or may have, a pair above the limit; returns how many."""
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
    """Return the first place from ``after`` on that is kept and above the limit; else ``size``."""
    for k in range(after, size):
        if above[k - fresh, place] and keep[live[k]]:
            return k
    return size


@njit
def _rarer(i: int, j: int, frequency: NDArray[np.float64]) -> int:
    """Return the variant with the rarer minor allele; the later one if equally common."""
    return i if frequency[i] < frequency[j] * (1 - ROUNDING) else j


@njit
def _ask_for(first: Words, second: Words, start: int, stop: int) -> None:
    """Prefetch the words that are read next."""
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
    """Prune windows in order: sets ``keep`` to False for the variants that are removed.

    The ``rows`` are variants from ``base`` on and cover all windows, ``starts`` (first variant) to
    ``stops`` (one past the last). If calls are missing, ``gaps`` are the same rows, else None. The
    previous call ended at ``before``. The minor allele ``frequency`` and ``keep`` are of all
    variants.
    """
    longest, begin = 0, before - base
    for window in range(starts.shape[0]):
        longest = max(longest, stops[window] - starts[window])
        begin = min(begin, starts[window] - base)
    # Zeros, because entries behind a list must be rows too.
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
