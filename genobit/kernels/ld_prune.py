"""The greedy pass of pruning: windows slide over variants, and of a correlated pair one goes.

The rule is that of ``plink --indep-pairwise``. In a window, each variant that is left, in order, is
compared with those left after it; at the first whose r2 is above the limit the rarer of the two
goes (the later one where they are equally common) and the next variant's turn comes; the window is
gone through again until nothing goes. A pair that was compared once is not compared again.

A window has few variants that the one before has not, and few pairs above the limit. So the pairs
of these few with all that are left are compared at once, four rows in registers, and only rows with
a correlated one take turns: six sevenths of the time of comparing pair by pair, which waits for
branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit._jit import njit
from genobit.kernels.lane_moves import prefetch
from genobit.kernels.pair_ld import ROUNDING, PairRows, Words, called_terms, reachable
from genobit.simd import REGISTER_WORDS, load_register, popcount, sum_lanes, zero_register

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG = 128
"""Words of a row from which on the counts of a pair are looked at first: by estimate, since of
variants with a frequency from 0.01 on they tell a fifth of the pairs apart."""
FEW = 128
"""New variants of a window that are compared before the turns; of more, in their turn, which is
slower by half in windows of 500 that share nothing."""
TOGETHER = 4
"""Rows that one row is multiplied with at once."""
AHEAD = 32
"""Variants that are compared at a time in one's turn."""
LINE_WORDS = 8
"""Words of a cache line: those of the next window are asked for ahead."""


@njit
def _nearby(
    counts: NDArray[np.int64],
    n: int,
    place: int,
    live: NDArray[np.int64],
    limit: float,
    near: NDArray[np.int64],
) -> int:
    """Places before ``place`` whose counts of alleles let r2 be above the limit."""
    some, row = 0, live[place]
    for k in range(place):
        other = live[k]
        near[some] = k
        some += reachable(
            n, counts[row, 1], counts[row, 2], counts[other, 1], counts[other, 2], limit
        )
    return some


@njit
def _add(total: Any, mask: Any, sign: Any, first: Words, second: Words, at: int) -> Any:
    """Products of a register of one row and of the one from ``at`` on; no signs of haplotypes."""
    both = mask & load_register(first, at)
    if not second.size:
        return total + popcount(both)
    differ = popcount(both & (sign ^ load_register(second, at)))
    return total + popcount(both) - differ - differ


@njit
def _compare(
    rows: PairRows,
    gaps: PairRows | None,
    live: NDArray[np.int64],
    fresh: int,
    size: int,
    limit: float,
    near: NDArray[np.int64],
    above: NDArray[np.bool_],
) -> None:
    """Whether r2 of those from ``fresh`` on and all before each is above the limit, (new, place).

    ``near`` begins as 0, 1, 2 ...
    """
    if gaps is not None:
        for place in range(fresh, size):
            for k in range(place):
                covariance, variances = called_terms(gaps, live[place], live[k])
                above[place - fresh, k] = covariance * covariance > limit * variances
        return
    # Arrays by themselves: to take one from a tuple counts who holds it, as long as a pair takes.
    first, second, width = rows.first.reshape(-1), rows.second.reshape(-1), rows.first.shape[1]
    n, total, spread, counts = rows.bits, rows.total, rows.spread, rows.counts
    for place in range(fresh, size):
        row, new, some = live[place], place - fresh, place
        if width >= LONG:
            above[new, :place] = False
            some = _nearby(counts, n, place, live, limit, near)
        own = row * width
        for k in range(0, some, TOGETHER):
            i, j = near[k], near[min(k + 1, some - 1)]
            g, h = near[min(k + 2, some - 1)], near[min(k + 3, some - 1)]
            p, q, r, s = live[i] * width, live[j] * width, live[g] * width, live[h] * width
            a, b, c, d = zero_register(), zero_register(), zero_register(), zero_register()
            for w in range(0, width, REGISTER_WORDS):
                mask = load_register(first, own + w)
                sign = load_register(second, own + w) if second.size else mask
                a = _add(a, mask, sign, first, second, p + w)
                b = _add(b, mask, sign, first, second, q + w)
                c = _add(c, mask, sign, first, second, r + w)
                d = _add(d, mask, sign, first, second, s + w)
            for at, products in (
                (i, sum_lanes(a)),
                (j, sum_lanes(b)),
                (g, sum_lanes(c)),
                (h, sum_lanes(d)),
            ):
                other = live[at]
                covariance = float(n * products - total[row] * total[other])
                above[new, at] = covariance * covariance > limit * (spread[row] * spread[other])


@njit
def _enter(
    start: int, stop: int, before: int, keep: NDArray[np.bool_], live: NDArray[np.int64]
) -> tuple[int, int]:
    """List the variants of a window that are left: how many, and how many of them old."""
    size = fresh = 0
    for i in range(start, stop):
        if i == before:
            fresh = size
        live[size] = i
        size += keep[i]
    return size, fresh


@njit
def _first_turns(
    fresh: int,
    size: int,
    known: bool,
    above: NDArray[np.bool_],
    turns: NDArray[np.int64],
    after: NDArray[np.int64],
) -> int:
    """List the places that have a pair above the limit, or may have one; returns how many."""
    left = 0
    for place in range(size):
        turns[left], after[place] = place, max(place + 1, fresh)
        wanted = not known
        for k in range(after[place], size if known else fresh):
            wanted |= above[k - fresh, place]
        left += wanted
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
def _next_asked(
    rows: PairRows,
    gaps: PairRows | None,
    after: int,
    size: int,
    place: int,
    limit: float,
    near: NDArray[np.int64],
    above: NDArray[np.bool_],
    live: NDArray[np.int64],
    keep: NDArray[np.bool_],
    asked: NDArray[np.int64],
) -> int:
    """The same where nothing is known yet: `AHEAD` that are left are compared at a time."""
    while after < size:
        count, start = 0, after
        while after < size and count < AHEAD:
            asked[count] = live[after]
            count += keep[live[after]]
            after += 1
        asked[count] = live[place]
        _compare(rows, gaps, asked, count, count + 1, limit, near, above)
        for c in range(count):
            if above[0, c]:
                while live[start] != asked[c]:
                    start += 1
                return start
    return size


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
    longest = AHEAD + 1
    for window in range(starts.shape[0]):
        longest = max(longest, stops[window] - starts[window])
    live, near = np.empty(longest, np.int64), np.arange(longest)
    turns, after = np.empty(longest, np.int64), np.empty(longest, np.int64)
    above, asked = np.empty((FEW, longest), np.bool_), np.empty(AHEAD + 1, np.int64)
    first, second, width = rows.first.reshape(-1), rows.second.reshape(-1), rows.first.shape[1]
    frequency, keep, before = frequency[base:], keep[base:], before - base
    for window in range(starts.shape[0]):
        stop = stops[window] - base
        size, fresh = _enter(starts[window] - base, stop, before, keep, live)
        before, known = stop, size - fresh <= FEW
        if window + 1 < starts.shape[0]:
            _ask_for(first, second, stop * width, (stops[window + 1] - base) * width)
        if known:
            _compare(rows, gaps, live, fresh, size, limit, near, above)
        left = _first_turns(fresh, size, known, above, turns, after)
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
                    k = _next_asked(
                        rows, gaps, after[place], size, place, limit, near, above, live, keep, asked
                    )
                if k < size:
                    rarer = frequency[i] < frequency[live[k]] * (1 - ROUNDING)
                    keep[i if rarer else live[k]] = False
                    turns[again], after[place] = place, k + 1
                    again += 1
            left = again
