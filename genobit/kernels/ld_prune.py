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
from genobit.kernels.pair_ld import (
    ROUNDING,
    PairRows,
    called_terms,
    product,
    reachable,
    shared,
    variance,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
def _go_through(
    rows: PairRows,
    base: int,
    live: NDArray[np.int64],
    fresh: int,
    stop: int,
    limit: float,
    frequency: NDArray[np.float64],
    keep: NDArray[np.bool_],
    checked: NDArray[np.int64],
) -> bool:
    """Once through a window; whether anything went."""
    # One function with the pairs: to hand the rows to another costs 90 ns, as much as six pairs.
    first, second, counts, n = rows.first, rows.second, rows.counts, rows.bits
    gone = False
    for place in range(live.shape[0]):
        i = live[place]
        if not keep[i] or checked[i] >= stop:
            continue
        row = i - base
        c, h, complete = counts[row, 1], counts[row, 2], counts[row, 0] == n
        variance_i, behind = variance(n, c, h), stop
        for k in range(_first_unchecked(live, place, fresh, checked[i]), live.shape[0]):
            j = live[k]
            if not keep[j]:
                continue
            other = j - base
            if complete and counts[other, 0] == n:
                d, e = counts[other, 1], counts[other, 2]
                if not reachable(n, c, h, d, e, limit):
                    continue
                variances = variance_i * variance(n, d, e)
                if rows.haplotypes:
                    covariance = float(n * shared(first[row], first[other]) - c * d)
                else:
                    xy = product(first[row], second[row], first[other], second[other])
                    # Of dosages - 1, as the product is.
                    covariance = float(n * xy - (c + h - n) * (d + e - n))
            else:
                covariance, variances = called_terms(rows, row, other)
            if covariance * covariance > limit * variances:
                gone, behind = True, j + 1
                if frequency[i] < frequency[j] * (1 - ROUNDING):
                    keep[i] = False
                else:
                    keep[j] = False
                break
        checked[i] = behind
    return gone


@njit
def prune(
    rows: PairRows,
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
    ``stops`` (behind the last). ``frequency``, ``keep`` and ``checked`` are of all variants: the
    minor allele's, whether a variant is left, and behind which others it was compared with.
    """
    longest = 0
    for window in range(starts.shape[0]):
        longest = max(longest, stops[window] - starts[window])
    left = np.empty(longest, np.int64)
    for window in range(starts.shape[0]):
        size = fresh = 0
        before = stops[window - 1] if window else starts[window]
        stop = stops[window]
        for i in range(starts[window], stop):
            if i == before:
                fresh = size
            if keep[i]:
                left[size] = i
                size += 1
        live = left[:size]
        while _go_through(rows, base, live, fresh, stop, limit, frequency, keep, checked):
            pass
