"""Correlation of single pairs of rows, for greedy passes that ask for few of all pairs.

The sums are those of `genobit.kernels.ld`. Of two complete rows the counts of their alleles alone
bound r2 (Frechet: carriers overlap at most as far as the fewer reach, and at least as far as both
do not fit side by side), and most pairs with a rare variant need no look at their words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit._jit import njit
from genobit.kernels.bits import count_rows
from genobit.simd import popcount

if TYPE_CHECKING:
    from genobit.kernels.rows import Rows

ROUNDING = 2.0**-44
"""Relative slack of comparisons: that of plink, well above a few roundings of a double."""
Words = NDArray[np.uint64]


class PairRows(NamedTuple):
    """Rows as the functions below take them; all arrays (rows, ...)."""

    haplotypes: bool
    bits: int
    first: Words
    """alt of haplotypes; mask of dosage - 1."""
    second: Words
    """Sign of dosage - 1; without words for haplotypes."""
    called: Words
    """Without words where no call can be missing."""
    counts: NDArray[np.int64]
    """Calls, carriers (or alternative alleles), homozygotes of the alternative allele."""


def pair_rows(rows: Rows) -> PairRows:
    """Make planes ready for the functions below."""
    carriers = count_rows(rows.planes[0])
    n, nothing = carriers.size, np.empty((carriers.size, 0), np.uint64)
    homozygous = np.zeros(n, np.int64) if rows.haplotypes else count_rows(rows.planes[1])
    calls = np.full(n, rows.bits) if rows.called is None else count_rows(rows.called)
    first, second = (rows.planes[0], nothing) if rows.haplotypes else rows.ternary()
    called = nothing if rows.called is None else rows.called
    counts = np.stack([calls, carriers, homozygous], axis=1)
    return PairRows(rows.haplotypes, rows.bits, first, second, called, counts)


def joined(a: PairRows, start: int, b: PairRows) -> PairRows:
    """Rows of ``a`` from ``start`` on, and after them those of ``b``."""
    arrays = [np.concatenate([x[start:], y]) for x, y in zip(a[2:], b[2:], strict=True)]  # type: ignore[index]
    return PairRows(a.haplotypes, a.bits, *arrays)


def minor_frequency(rows: PairRows) -> NDArray[np.float64]:
    """Frequency of the rarer allele of each row; NaN where nothing is called."""
    alleles = rows.counts[:, 0] * (1 if rows.haplotypes else 2)
    counted = rows.counts[:, 1] + rows.counts[:, 2]
    with np.errstate(invalid="ignore"):
        return np.minimum(counted, alleles - counted) / alleles


@njit
def polymorphic(rows: PairRows) -> NDArray[np.bool_]:
    """Whether the calls of each row differ."""
    out = np.empty(rows.counts.shape[0], np.bool_)
    for i in range(out.shape[0]):
        n, carriers, homozygous = rows.counts[i]
        total = carriers + homozygous
        out[i] = n * (carriers + 3 * homozygous) > total * total
    return out


@njit
def variance(n: int, c: int, h: int) -> float:
    """Variance of alleles, c carriers and h homozygotes among n, times n^2."""
    return float(n * (c + 3 * h) - (c + h) * (c + h))


@njit
def _overlap(n: int, a: int, b: int) -> int:
    """Fewest positions that two sets of a and b among n share."""
    return max(0, a + b - n)


@njit
def reachable(n: int, c: int, h: int, d: int, k: int, limit: float) -> bool:
    """Whether r2 can be above the limit: c carriers, h homozygotes in one row, d and k in other."""
    most = min(c, d) + min(c, k) + min(h, d) + min(h, k)
    least = _overlap(n, c, d) + _overlap(n, c, k) + _overlap(n, h, d) + _overlap(n, h, k)
    x, y = c + h, d + k
    covariance = float(max(n * most - x * y, x * y - n * least))
    return covariance * covariance > limit * (variance(n, c, h) * variance(n, d, k))


@njit
def shared(a: Words, b: Words) -> int:
    """Bits set in both rows (words,)."""
    both = np.uint64(0)
    for w in range(a.shape[0]):
        both += popcount(a[w] & b[w])
    return np.int64(both)  # type: ignore[return-value]


@njit
def product(a: Words, a_sign: Words, b: Words, b_sign: Words) -> int:
    """Sum of the products of two rows of -1, 0 and 1: masks and signs (words,)."""
    both = np.uint64(0)
    differ = np.uint64(0)
    for w in range(a.shape[0]):
        present = a[w] & b[w]
        both += popcount(present)
        differ += popcount(present & (a_sign[w] ^ b_sign[w]))
    return np.int64(both) - 2 * np.int64(differ)  # type: ignore[return-value]


@njit
def called_terms(rows: PairRows, i: int, j: int) -> tuple[float, float]:
    """The same of rows that miss calls, of those present in both."""
    a, b, here, there = rows.first[i], rows.first[j], rows.called[i], rows.called[j]
    n = shared(here, there)
    xx, yy = shared(a, there), shared(b, here)
    if rows.haplotypes:
        x, y, xy = xx, yy, shared(a, b)
    else:
        # A sign is set only where its mask is.
        x = xx - 2 * shared(rows.second[i], there)
        y = yy - 2 * shared(rows.second[j], here)
        xy = product(a, rows.second[i], b, rows.second[j])
    return float(n * xy - x * y), float(n * xx - x * x) * float(n * yy - y * y)


@njit
def r2(rows: PairRows, i: int, j: int) -> float:
    """r2 of rows i and j, of the calls present in both; NaN where one of them shows no variance."""
    c, h, d, k = rows.counts[i, 1], rows.counts[i, 2], rows.counts[j, 1], rows.counts[j, 2]
    n = rows.bits
    if rows.counts[i, 0] != n or rows.counts[j, 0] != n:
        covariance, variances = called_terms(rows, i, j)
    else:
        variances = variance(n, c, h) * variance(n, d, k)
        if rows.haplotypes:
            covariance = float(n * shared(rows.first[i], rows.first[j]) - c * d)
        else:
            xy = product(rows.first[i], rows.second[i], rows.first[j], rows.second[j])
            covariance = float(n * xy - (c + h - n) * (d + k - n))
    return covariance * covariance / variances if variances > 0 else np.nan
