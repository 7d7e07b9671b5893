"""Comparison of the rows of one window: which pairs have an r2 above a limit.

Rows are listed in ``live``, and a place is an index into this list. Four rows at a time are
multiplied with one row, and their bit counts stay in registers.

Arrays are separate arguments: taking one out of a tuple counts references, which takes as long as
a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS, load_register, zero_register
from genobit.ld.kernels.popcount_accumulators import (
    TALLY_WORDS,
    store_sums,
    tallied,
    tally,
    zero_tally,
)
from genobit.ld.kernels.row_pairs import PairRows, Words, called_terms, reachable

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG = 128
"""Words in a row from which on allele counts are checked before a pair is multiplied. An estimate:
for variants with a frequency from 0.01 on the counts decide a fifth of the pairs."""
TOGETHER = 4
"""Rows that are multiplied with one row at once."""
AHEAD = 32
"""Variants that are compared at a time in the turn of one variant."""


@njit
def _products(
    first: Words,
    second: Words,
    width: int,
    row: int,
    others: NDArray[np.int64],
    count: int,
    products: NDArray[np.int64],
) -> None:
    """Store the sums of products of a row with ``count`` others.

    For haplotypes ``second`` is empty. Entries of ``others`` after ``count``, up to a multiple of
    `TOGETHER`, must be rows too.
    """
    own = row * width
    for k in range(0, count, TOGETHER):
        p, q = others[k] * width, others[k + 1] * width
        r, s = others[k + 2] * width, others[k + 3] * width
        a, b, c, d = zero_register(), zero_register(), zero_register(), zero_register()
        for start in range(0, width, TALLY_WORDS):
            i, j, g, h = zero_tally(), zero_tally(), zero_tally(), zero_tally()
            t, u, v, x = zero_tally(), zero_tally(), zero_tally(), zero_tally()
            for w in range(start, min(start + TALLY_WORDS, width), REGISTER_WORDS):
                mask = load_register(first, own + w)
                sign = load_register(second, own + w) if second.size else mask
                both = mask & load_register(first, p + w)
                i += tally(both)
                if second.size:
                    t += tally(both & (sign ^ load_register(second, p + w)))
                both = mask & load_register(first, q + w)
                j += tally(both)
                if second.size:
                    u += tally(both & (sign ^ load_register(second, q + w)))
                both = mask & load_register(first, r + w)
                g += tally(both)
                if second.size:
                    v += tally(both & (sign ^ load_register(second, r + w)))
                both = mask & load_register(first, s + w)
                h += tally(both)
                if second.size:
                    x += tally(both & (sign ^ load_register(second, s + w)))
            a = a + tallied(i) - tallied(t) - tallied(t)
            b = b + tallied(j) - tallied(u) - tallied(u)
            c = c + tallied(g) - tallied(v) - tallied(v)
            d = d + tallied(h) - tallied(x) - tallied(x)
        store_sums(products, k, a, b, c, d)


@njit
def _is_above(
    n: int,
    product: int,
    i: int,
    j: int,
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
    limit: float,
) -> bool:
    """Whether r2 of two complete rows is above the limit."""
    covariance = float(n * product - total[i] * total[j])
    return covariance * covariance > limit * (spread[i] * spread[j])


@njit
def _compare_short(
    first: Words,
    second: Words,
    width: int,
    n: int,
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
    live: NDArray[np.int64],
    fresh: int,
    size: int,
    limit: float,
    products: NDArray[np.int64],
    totals: NDArray[np.int64],
    spreads: NDArray[np.float64],
    above: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
) -> None:
    """Compare the rows from place ``fresh`` on with all rows before each: ``above`` (new, place).

    Sets ``wanted`` at places that are above the limit with a later row.
    """
    for k in range(size):
        totals[k], spreads[k] = total[live[k]], spread[live[k]]
    for place in range(fresh, size):
        new, own_total, own_limit = place - fresh, totals[place], limit * spreads[place]
        _products(first, second, width, live[place], live, place, products)
        for k in range(place):
            covariance = float(n * products[k] - own_total * totals[k])
            hit = covariance * covariance > own_limit * spreads[k]
            above[new, k] = hit
            wanted[k] |= hit


@njit
def _compare_reachable(
    first: Words,
    second: Words,
    width: int,
    n: int,
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
    counts: NDArray[np.int64],
    live: NDArray[np.int64],
    fresh: int,
    size: int,
    limit: float,
    products: NDArray[np.int64],
    near: NDArray[np.int64],
    above: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
) -> None:
    """Compare long rows; multiplies only pairs whose allele counts allow an r2 above the limit."""
    for place in range(fresh, size):
        row, new, some = live[place], place - fresh, 0
        c, h = counts[row, 1], counts[row, 2]
        for k in range(place):
            other = live[k]
            above[new, k] = reachable(n, c, h, counts[other, 1], counts[other, 2], limit)
            near[some] = other
            some += above[new, k]
        _products(first, second, width, row, near, some, products)
        some = 0
        for k in range(place):
            if above[new, k]:
                hit = _is_above(n, products[some], row, live[k], total, spread, limit)
                above[new, k] = hit
                wanted[k] |= hit
                some += 1


@njit
def _compare_gaps(
    gaps: PairRows,
    live: NDArray[np.int64],
    fresh: int,
    size: int,
    limit: float,
    above: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
) -> None:
    """Compare rows with missing calls, pair by pair."""
    for place in range(fresh, size):
        for k in range(place):
            covariance, variances = called_terms(gaps, live[place], live[k])
            hit = covariance * covariance > limit * variances
            above[place - fresh, k] = hit
            wanted[k] |= hit


@njit
def compare(
    gaps: PairRows | None,
    first: Words,
    second: Words,
    width: int,
    n: int,
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
    counts: NDArray[np.int64],
    live: NDArray[np.int64],
    fresh: int,
    size: int,
    limit: float,
    products: NDArray[np.int64],
    totals: NDArray[np.int64],
    spreads: NDArray[np.float64],
    near: NDArray[np.int64],
    above: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
) -> None:
    """Compare the rows from place ``fresh`` on with all rows before each, with or without gaps."""
    if gaps is not None:
        _compare_gaps(gaps, live, fresh, size, limit, above, wanted)
    elif width < LONG:
        _compare_short(
            first, second, width, n, total, spread, live, fresh, size, limit, products, totals,
            spreads, above, wanted,
        )  # fmt: skip
    else:
        _compare_reachable(
            first, second, width, n, total, spread, counts, live, fresh, size, limit, products,
            near, above, wanted,
        )  # fmt: skip


@njit
def _next_gap(
    gaps: PairRows,
    after: int,
    size: int,
    place: int,
    limit: float,
    live: NDArray[np.int64],
    keep: NDArray[np.bool_],
) -> int:
    """Return the place that `next_asked` returns, for rows with missing calls."""
    for k in range(after, size):
        if keep[live[k]]:
            covariance, variances = called_terms(gaps, live[place], live[k])
            if covariance * covariance > limit * variances:
                return k
    return size


@njit
def next_asked(
    gaps: PairRows | None,
    first: Words,
    second: Words,
    width: int,
    n: int,
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
    counts: NDArray[np.int64],
    after: int,
    size: int,
    place: int,
    limit: float,
    live: NDArray[np.int64],
    keep: NDArray[np.bool_],
    near: NDArray[np.int64],
    products: NDArray[np.int64],
) -> int:
    """Return the first place from ``after`` on that is kept and above the limit; else ``size``.

    Complete rows are compared `AHEAD` at a time.
    """
    if gaps is not None:
        return _next_gap(gaps, after, size, place, limit, live, keep)
    row = live[place]
    c, h = counts[row, 1], counts[row, 2]
    while after < size:
        count, start = 0, after
        while after < size and count < AHEAD:
            i = live[after]
            near[count] = i
            count += keep[i] and (
                width < LONG or reachable(n, c, h, counts[i, 1], counts[i, 2], limit)
            )
            after += 1
        _products(first, second, width, row, near, count, products)
        for k in range(count):
            if _is_above(n, products[k], row, near[k], total, spread, limit):
                while live[start] != near[k]:
                    start += 1
                return start
    return size
