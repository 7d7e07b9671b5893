"""Candidates for haplotype blocks: confidence intervals of D' of pairs, and stretches of pairs.

The likelihood of a pair is computed at |D'| = 0, 0.01, ..., 1 (Gabriel et al. 2002). The sign of D'
is that of the estimate. Normalised, these 101 values are a distribution. The ends of the confidence
interval lie one step outside the values where the sum from 0, and from 1, first passes 5 %.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import product
from genobit.engine.simd.jit import njit
from genobit.ld.kernels.em_haplotypes import (
    Counts,
    complete_pair,
    double_heterozygotes,
    missing_pair,
)
from genobit.ld.kernels.r2 import homozygous

if TYPE_CHECKING:
    from genobit.engine.bits.planes import PlaneRows

RECOMBINED, NEITHER, UPPER, EDGE, STRONG, STRONGEST = 0, 1, 2, 3, 4, 5
"""Kinds of pairs. RECOMBINED: upper end below 0.90. UPPER to STRONGEST: upper end at least 0.98 and
lower end above 0.50, at least 0.70 (required at the ends of a block), above 0.70, above 0.80.
NEITHER: all other pairs."""
LOWEST = ((STRONGEST, 82), (STRONG, 72), (EDGE, 71), (UPPER, 52))
"""Kinds, strongest first, with the index from which on the values must sum to more than 95 %."""
FROM_98, FROM_90 = 97, 89
"""Indices from which on the sum must exceed 5 % for an upper end of at least 0.98, and 0.90."""
VANISHING = 1e-10
"""Frequency used for a haplotype that is absent at |D'| = 1, as in Haploview."""
CLEARLY = -math.log(240)
"""Bound on the log ratio of the likelihood at 0.89 to the largest. Below it, the twelve values from
0.89 on sum to less than 5 %, because with one maximum they fall. True for most distant pairs."""
NEGLIGIBLE = -28.0
"""Log of the likelihood ratio to the maximum at which the scan stops: 7e-13."""
SPANS = (20_000, 30_000)
"""Longest block of two and of three variants, in base pairs."""
PANEL = 64
"""Rows that share a product. Twice as many would compute more pairs outside all windows."""


class Candidates(NamedTuple):
    """First and last variant, both inside, of each stretch that could be a block."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


@njit
def _log_likelihood(
    g: int, known: tuple[float, float, float, float], h: float, x: float, y: float, bound: float
) -> float:
    """Return the log-likelihood at |D'| = g / 100, for D >= 0, up to a constant."""
    k11, k00, k10, k01 = known
    n = k11 + k00 + k10 + k01 + 2 * h
    p11 = (x * y + g * 0.01 * bound) / n
    p10, p01, p00 = x - p11, y - p11, n - x - y + p11
    if g == 100:
        p10, p01 = max(p10, VANISHING * n), max(p01, VANISHING * n)
    value = k11 * math.log(p11) + k00 * math.log(p00) + k10 * math.log(p10) + k01 * math.log(p01)
    return value + (h * math.log(p11 * p00 + p10 * p01) if h > 0 else 0.0)


@njit
def _likelihoods(
    known: tuple[float, float, float, float],
    h: float,
    x: float,
    y: float,
    bound: float,
    centre: int,
    unimodal: bool,
    out: NDArray[np.float64],
) -> float:
    """Fill out (101,) with the likelihood at each |D'| over the largest; returns the sum.

    If ``unimodal``, values beyond the first negligible one are 0.
    """
    out[:] = -np.inf
    peak = -np.inf
    for way in (-1, 1):
        g = centre if way < 0 else centre + 1
        while 0 <= g <= 100:
            value = _log_likelihood(g, known, h, x, y, bound)
            out[g] = value
            peak = max(peak, value)
            if unimodal and value < peak + NEGLIGIBLE:
                break
            g += way
    total = 0.0
    for g in range(101):
        out[g] = math.exp(out[g] - peak) if out[g] > -np.inf else 0.0
        total += out[g]
    return total


@njit
def kind_of_pair(
    k11: float,
    k00: float,
    k10: float,
    k01: float,
    h: float,
    likelihoods: NDArray[np.float64],
) -> int:
    """Return the kind of a pair from its known haplotypes and double heterozygotes ``h``.

    likelihoods (101,) is scratch memory.
    """
    x, y = k11 + k10 + h, k11 + k01 + h
    n = x + k01 + k00 + h
    if min(x, n - x, y, n - y) <= 0:
        return NEITHER
    f, two = double_heterozygotes(k11, k00, k10, k01, h)
    d = (k11 + f) * (k00 + f) - (k10 + h - f) * (k01 + h - f)
    if d < 0:
        # Count the other allele of the second variant, which changes the sign of D.
        k11, k10, k00, k01, y, d = k10, k11, k01, k00, n - y, -d
    bound = min(x * (n - y), (n - x) * y)
    known, centre = (k11, k00, k10, k01), min(int(100 * d / bound + 0.5), 100)
    if not two and centre < FROM_90:
        ratio = _log_likelihood(FROM_90, known, h, x, y, bound) - _log_likelihood(
            centre, known, h, x, y, bound
        )
        if ratio < CLEARLY:
            return RECOMBINED
    total = _likelihoods(known, h, x, y, bound, centre, not two, likelihoods)
    if 20 * likelihoods[FROM_90:].sum() <= total:
        return RECOMBINED
    if 20 * likelihoods[FROM_98:].sum() <= total:
        return NEITHER
    for kind, least in LOWEST:
        if likelihoods[least:].sum() > 0.95 * total:
            return kind
    return NEITHER


@njit
def _may_be_a_block(
    i: int, j: int, kind: int, near: NDArray[np.int8], span: int, strong: int, recombined: int
) -> bool:
    """Whether variants i .. j are a candidate; near[k, d] is the kind of pair (k, k + d + 1)."""
    if j - i == 1:
        return kind == STRONGEST and span <= SPANS[0]
    if kind < EDGE:
        return False
    if j - i == 2:
        return min(near[i, 0], near[i + 1, 0]) >= UPPER and span <= SPANS[1]
    if j - i == 3:
        least = min(near[i, 0], near[i, 1], near[i + 1, 0], near[i + 1, 1], near[i + 2, 0])
        return least >= UPPER
    informative = strong + recombined
    return informative >= 6 and 100 * strong > 95 * informative


@njit
def _scan(
    counts: Counts,
    sums: NDArray[np.float64],
    complete: bool,
    n: float,
    top: int,
    bottom: int,
    reach: int,
    last: NDArray[np.int64],
    largest: NDArray[np.int64],
    position: NDArray[np.int64],
    strong: NDArray[np.int64],
    recombined: NDArray[np.int64],
    near: NDArray[np.int8],
    found: NDArray[np.int64],
) -> tuple[int, int]:
    """Find candidates that begin in rows top .. bottom - 1, from the last row to the first.

    The ``counts`` are of these rows with the rows from ``top`` on. Before row i, strong[j] and
    recombined[j] count such pairs among rows i + 1 .. j; after it, among rows i .. j. A row ends at
    a stretch with so many recombined pairs that even the largest stretch around it cannot be a
    block. Earlier rows end there too. Returns the last column of row ``top``, and the number of
    candidates.
    """
    likelihoods = np.empty(101)
    k = 0
    for i in range(bottom - 1, top - 1, -1):
        row_strong, row_recombined = 0, 0
        end = min(last[i], reach)
        for j in range(i + 1, end + 1):
            if j - i > 3 and 20 * (row_recombined + recombined[j]) >= largest[i]:
                end = j - 1
                break
            if complete:
                pair = complete_pair(counts, i - top, j - top, n, sums[top:], sums[top:])
            else:
                pair = missing_pair(counts, i - top, j - top)
            kind = kind_of_pair(pair[0], pair[1], pair[2], pair[3], pair[4], likelihoods)
            row_strong += kind >= STRONG
            row_recombined += kind == RECOMBINED
            strong[j] += row_strong
            recombined[j] += row_recombined
            if j - i <= 3:
                near[i, j - i - 1] = kind
            span = position[j] - position[i]
            if _may_be_a_block(i, j, kind, near, span, strong[j], recombined[j]):
                found[0, k], found[1, k] = i, j
                k += 1
        reach = end
    return reach, k


def candidates(
    rows: PlaneRows, position: NDArray[np.int64], last: NDArray[np.int64], heads: int
) -> Candidates:
    """Return the stretches of variants that could be blocks and begin in the first ``heads`` rows.

    The rows are dosages, up to the last variant in the windows of the first ``heads`` rows, sorted
    by ``position``. The last variant in each window, ``last``, never decreases.
    """
    n, complete = len(position), rows.complete()
    last = np.minimum(last, n - 1)
    sizes = np.maximum.accumulate(last - np.arange(n) + 1)
    largest = sizes * (sizes - 1) // 2
    group = 2 if complete else 3
    planes = rows.homozygotes() if complete else (*rows.homozygotes(), rows.call_mask())
    (planes_of_all,) = stacked(*planes)
    sums = homozygous(rows)
    strong, recombined = np.zeros(n, np.int64), np.zeros(n, np.int64)
    near, reach = np.zeros((n, 3), np.int8), n - 1
    parts = [np.empty((2, 0), np.int64)]
    for bottom in range(n, 0, -PANEL):
        top = max(0, bottom - PANEL)
        stop = min(int(last[bottom - 1]), reach) + 1
        some = (planes_of_all[top * group : bottom * group],)
        others = (planes_of_all[top * group : max(stop, bottom) * group],)
        counts = product("and", some, others)
        found = np.empty((2, (bottom - top) * max(stop - top, 1)), np.int64)
        state = (last, largest, position, strong, recombined, near, found)
        bits = float(rows.bits)
        reach, k = _scan(counts, sums, complete, bits, top, bottom, reach, *state)
        parts.append(found[:, :k][:, found[0, :k] < heads].copy())
    first, ends = np.concatenate(parts, axis=1)
    order = np.lexsort((ends, first))
    return Candidates(first[order], ends[order])


@njit
def _largest_first(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    order: NDArray[np.int64],
    taken: NDArray[np.bool_],
    kept: NDArray[np.bool_],
) -> None:
    for k in order:
        if taken[first[k]] or taken[last[k]] or taken[first[k] : last[k] + 1].any():
            continue
        taken[first[k] : last[k] + 1] = True
        kept[k] = True


def largest_first(found: Candidates, position: NDArray[np.int64]) -> Candidates:
    """Return blocks without overlap: takes the longest candidate first, and the last of equals."""
    first, last = found
    if not first.size:
        return found
    kept = np.zeros(first.size, np.bool_)
    order = np.lexsort((-last, -first, position[first] - position[last]))
    start = first.min()
    taken = np.zeros(last.max() + 1 - start, np.bool_)
    _largest_first(first - start, last - start, order, taken, kept)
    return Candidates(first[kept], last[kept])
