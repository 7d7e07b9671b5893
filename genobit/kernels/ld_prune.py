"""The greedy pass of pruning: windows slide over variants, and of a correlated pair one goes.

The rule is that of ``plink --indep-pairwise``. In a window, each variant that is left, in order, is
compared with those left after it; at the first whose r2 is above the limit the rarer of the two
goes (the later one where they are equally common) and the next variant's turn comes; the window is
gone through again until nothing goes. A pair that was compared once is not compared again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit._jit import njit
from genobit.kernels.pair_ld import ROUNDING, PairRows, Words, called_terms, reachable
from genobit.simd import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG = 48
"""Words of a row from which on a look at the counts of a pair costs less than it saves."""


@njit
def _first_unchecked(live: NDArray[np.int64], place: int, fresh: int, checked: int) -> int:
    """Where among ``live`` the variants begin that ``live[place]`` was not compared with."""
    k = place + 1
    if fresh > k and live[fresh - 1] < checked:
        k = fresh
    while k < live.shape[0] and live[k] < checked:
        k += 1
    return k


@njit
def _settle(
    first: Words,
    second: Words,
    n: int,
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
    counts: NDArray[np.int64],
    gaps: PairRows | None,
    base: int,
    live: NDArray[np.int64],
    turns: NDArray[np.int64],
    fresh: int,
    stop: int,
    limit: float,
    frequency: NDArray[np.float64],
    keep: NDArray[np.bool_],
    checked: NDArray[np.int64],
) -> None:
    """Go through a window again and again, until nothing goes; ``turns`` are 0, 1, 2 ..."""
    # Pairs here, and arrays by themselves: to hand them to another function, or a tuple of them,
    # takes as long as a pair.
    long, left = gaps is None and first.shape[1] >= LONG, live.shape[0]
    while left:
        again = 0
        for turn in range(left):
            place = turns[turn]
            i = live[place]
            if not keep[i] or checked[i] >= stop:
                continue
            row, behind = i - base, stop
            for k in range(_first_unchecked(live, place, fresh, checked[i]), live.shape[0]):
                j = live[k]
                other = j - base
                if not keep[j] or (long and _far(counts, n, row, other, limit)):
                    continue
                # None is known when this is compiled: the other branch would cost a third.
                if gaps is None:
                    both = differ = np.uint64(0)
                    for w in range(second.shape[1]):
                        present = first[row, w] & first[other, w]
                        both += popcount(present)
                        differ += popcount(present & (second[row, w] ^ second[other, w]))
                    for w in range(second.shape[1], first.shape[1]):
                        both += popcount(first[row, w] & first[other, w])
                    xy = np.int64(both) - 2 * np.int64(differ)
                    covariance = float(n * xy - total[row] * total[other])
                    variances = spread[row] * spread[other]
                else:
                    covariance, variances = called_terms(gaps, row, other)
                if covariance * covariance > limit * variances:
                    rarer = frequency[i] < frequency[j] * (1 - ROUNDING)
                    keep[i if rarer else j] = False
                    turns[again], behind = place, j + 1
                    again += 1
                    break
            checked[i] = behind
        left = again


@njit
def _far(counts: NDArray[np.int64], n: int, i: int, j: int, limit: float) -> bool:
    """Whether the counts of two rows that miss no call tell that r2 is not above the limit."""
    return not reachable(n, counts[i, 1], counts[i, 2], counts[j, 1], counts[j, 2], limit)


@njit
def prune(
    rows: PairRows,
    gaps: PairRows | None,
    base: int,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    limit: float,
    frequency: NDArray[np.float64],
    keep: NDArray[np.bool_],
    checked: NDArray[np.int64],
) -> None:
    """Go through windows in order.

    ``rows`` are variants from ``base`` on, all of the windows ``starts`` (first variant) to
    ``stops`` (behind the last); ``gaps`` are the same where calls are missing. ``frequency``,
    ``keep`` and ``checked`` are of all variants: the minor allele's, whether a variant is left, and
    behind which others it was compared with.
    """
    first, second, n = rows.first, rows.second, rows.bits
    total, spread, counts = rows.total, rows.spread, rows.counts
    longest = 0
    for window in range(starts.shape[0]):
        longest = max(longest, stops[window] - starts[window])
    left, turns = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for window in range(starts.shape[0]):
        size = fresh = 0
        before = stops[window - 1] if window else starts[window]
        for i in range(starts[window], stops[window]):
            if i == before:
                fresh = size
            left[size], turns[size] = i, size
            size += keep[i]
        _settle(
            first, second, n, total, spread, counts, gaps,
            base, left[:size], turns, fresh, stops[window], limit, frequency, keep, checked,
        )  # fmt: skip
