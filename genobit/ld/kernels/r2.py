"""Linkage disequilibrium of the rows of bit planes: blocks of counts -> blocks of r, r2, D or D'.

Every statistic is a function of integers: the number n of haplotypes (or samples) called at both
variants and, over these, the sums of x, y, x^2, y^2 and x y. A haplotype is x = 0 or 1. A dosage g
enters as x = g - 1: the shift changes no correlation and makes the product ternary. Without missing
calls the sums of x and x^2 belong to a row, and only the product is computed for each pair. With
missing calls all six sums come from a product of stacked planes, or on a matrix unit from six
products. All ways use the same arithmetic on the same integers, so the result does not depend on
the way. For r2 and D' of the haplotype frequencies of dosages (`genobit.ld.kernels.em_haplotypes`)
the planes of homozygotes are multiplied: four products without missing calls, nine with them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from genobit.engine.bits.planes import PlaneRows, Planes
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import Block, chosen_kernel, count_type, products, stacked
from genobit.engine.pairwise.statistic import Float, Margins, PairStatistic
from genobit.engine.simd.jit import njit
from genobit.ld.kernels import em_haplotypes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

R, R2, D, DPRIME, R2_ADJUSTED = 0, 1, 2, 3, 4
STATISTICS = {"r": R, "r2": R2, "D": D, "dprime": DPRIME, "r2_adjusted": R2_ADJUSTED}


@njit
def correlation(n: float, x: float, y: float, scale: float, xy: float) -> float:
    """Return r from the sums; ``scale`` is 1 / sqrt of both variances times n^4."""
    return (n * xy - x * y) * scale


@njit
def _statistic(code: int, n: float, x: float, y: float, scale: float, xy: float) -> float:
    """Return the statistic from the sums; ``scale`` is that of `correlation`."""
    if code <= R2:
        r = correlation(n, x, y, scale, xy)
        return r * r if code == R2 else r
    covariance = n * xy - x * y
    if code == D:
        return covariance / (n * n)
    if code == R2_ADJUSTED:
        # Subtract the bias of r2 of n observations, Bulik-Sullivan et al. 2015.
        r2 = (covariance * scale) ** 2
        return r2 - (1 - r2) / (n - 2) if n > 2 else np.nan
    # D' = D / Dmax, Lewontin 1964: the largest |D| that these allele frequencies allow.
    bound = min(x * (n - y), (n - x) * y)
    if covariance < 0:
        bound = min(x * y, (n - x) * (n - y))
    return covariance / bound


@njit
def inverse_root(n: float, x: float, xx: float) -> float:
    """Return 1 / sqrt(n sum x^2 - (sum x)^2); NaN for a monomorphic variant."""
    variance = n * xx - x * x
    return 1.0 / np.sqrt(variance) if variance > 0 else np.nan


@njit
def _complete_block(
    counts: NDArray[np.int32],
    code: int,
    n: float,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    scale_x: NDArray[np.float64],
    scale_y: NDArray[np.float64],
    out: Float,
) -> None:
    """Compute out (rows, columns) from counts (rows, columns), the sums of x y.

    Shapes: x, scale_x (rows,); y, scale_y (columns,).
    """
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            out[i, j] = _statistic(code, n, x[i], y[j], scale_x[i] * scale_y[j], counts[i, j])


@njit
def _haplotype_block(counts: NDArray[np.int32], code: int, out: Float) -> None:
    """Compute out (rows, columns) from counts (2 rows, 2 columns) of alt and called.

    The planes are interleaved.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            n = float(counts[2 * i + 1, 2 * j + 1])
            x = float(counts[2 * i, 2 * j + 1])
            y = float(counts[2 * i + 1, 2 * j])
            scale = inverse_root(n, x, x) * inverse_root(n, y, y)
            out[i, j] = _statistic(code, n, x, y, scale, float(counts[2 * i, 2 * j]))


@njit
def _dosage_block(counts: NDArray[np.int32], code: int, out: Float) -> None:
    """Compute out (rows, columns) from counts (3 rows, 3 columns) of hom_alt, hom_ref and called.

    The planes are interleaved.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            n = float(counts[3 * i + 2, 3 * j + 2])
            x2, x0 = counts[3 * i, 3 * j + 2], counts[3 * i + 1, 3 * j + 2]
            y2, y0 = counts[3 * i + 2, 3 * j], counts[3 * i + 2, 3 * j + 1]
            same = counts[3 * i, 3 * j] + counts[3 * i + 1, 3 * j + 1]
            opposite = counts[3 * i, 3 * j + 1] + counts[3 * i + 1, 3 * j]
            x, y = float(x2 - x0), float(y2 - y0)
            scale = inverse_root(n, x, float(x2 + x0)) * inverse_root(n, y, float(y2 + y0))
            out[i, j] = _statistic(code, n, x, y, scale, float(same - opposite))


@njit
def _sums_block(sums: tuple[NDArray[np.int32], ...], code: int, out: Float) -> None:
    """Compute out (rows, columns) from the six sums of dosages, each (rows, columns)."""
    products, xs, ys, xxs, yys, numbers = sums
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            n, x, y = float(numbers[i, j]), float(xs[i, j]), float(ys[i, j])
            scale = inverse_root(n, x, float(xxs[i, j])) * inverse_root(n, y, float(yys[i, j]))
            out[i, j] = _statistic(code, n, x, y, scale, float(products[i, j]))


@njit
def _inverse_roots(
    n: float, x: NDArray[np.float64], xx: NDArray[np.float64]
) -> NDArray[np.float64]:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = inverse_root(n, x[i], xx[i])
    return out


def sums(rows: PlaneRows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sum of x and 1 / sqrt(n sum x^2 - (sum x)^2) of each row without missing calls."""
    if rows.haplotypes:
        x = count_rows(rows.planes[0]).astype(np.float64)
        return x, _inverse_roots(float(rows.bits), x, x)
    hom_alt, hom_ref = (count_rows(plane).astype(np.float64) for plane in rows.homozygotes())
    x = hom_alt - hom_ref
    return x, _inverse_roots(float(rows.bits), x, hom_alt + hom_ref)


def _operand(rows: PlaneRows) -> Planes:
    """Return the planes whose product is the sum of x y: alt, or mask and sign of g - 1."""
    return rows.planes if rows.haplotypes else rows.ternary()


def _homozygotes(rows: PlaneRows) -> Planes:
    """Return the planes of both homozygotes, interleaved row by row."""
    return stacked(*rows.homozygotes())


def _stacked(rows: PlaneRows) -> Planes:
    """Return all planes that the six sums need, interleaved row by row."""
    planes = rows.planes if rows.haplotypes else rows.homozygotes()
    return stacked(*planes, rows.call_mask())


def _signs_and_calls(rows: PlaneRows) -> Planes:
    """Return the planes of product "dosage": mask and sign of g - 1, and called."""
    return (*rows.ternary(), rows.call_mask())


def statistic(name: str, a: PlaneRows, b: PlaneRows | None = None) -> PairStatistic:
    """Return a statistic of `STATISTICS` or `em_haplotypes`, for rows such as ``a`` and ``b``."""
    complete = a.complete() and (b is None or b.complete())
    n = float(a.bits)
    if name not in STATISTICS:
        code = em_haplotypes.STATISTICS[name]
        if not complete:
            return PairStatistic(_stacked, partial(_missing_em, code=code), 3)
        return PairStatistic(
            _homozygotes, partial(_complete_em, code=code, n=n), 2, margins=_known_homozygotes
        )
    code = STATISTICS[name]
    if complete:
        product = "and" if a.haplotypes else "ternary"
        return PairStatistic(_operand, partial(_complete, code=code, n=n), 1, product, sums)
    if a.haplotypes:
        return PairStatistic(_stacked, partial(_missing, block=_haplotype_block, code=code), 2)
    if chosen_kernel("ternary", len(a.planes[0])) == "matrix":
        # Six products of bytes in place of nine of bits.
        return PairStatistic(
            _signs_and_calls, partial(_missing, block=_sums_block, code=code), product="dosage"
        )
    return PairStatistic(_stacked, partial(_missing, block=_dosage_block, code=code), 3)


def _complete(
    counts: NDArray[np.int32], x: Margins, y: Margins, _: int, out: Float, *, code: int, n: float
) -> None:
    _complete_block(counts, code, n, x[0], y[0], x[1], y[1], out)


def _missing(
    counts: Any,
    _: Margins,
    __: Margins,
    ___: int,
    out: Float,
    *,
    block: Callable[..., None],
    code: int,
) -> None:
    block(counts, code, out)


def _complete_em(
    counts: NDArray[np.int32],
    x: Margins,
    y: Margins,
    diagonal: int,
    out: Float,
    *,
    code: int,
    n: float,
) -> None:
    em_haplotypes.complete_block(counts, code, n, x[0], y[0], diagonal, out)


def _missing_em(
    counts: NDArray[np.int32], _: Margins, __: Margins, diagonal: int, out: Float, *, code: int
) -> None:
    em_haplotypes.missing_block(counts, code, diagonal, out)


def _known_homozygotes(rows: PlaneRows) -> Margins:
    return (homozygous(rows),)


def homozygous(rows: PlaneRows) -> NDArray[np.float64]:
    """Return the numbers of samples with dosage 2 and 0 in each row: (rows, 2)."""
    return np.stack([count_rows(plane) for plane in rows.homozygotes()], axis=1).astype(np.float64)


def complete_counts(a: PlaneRows, b: PlaneRows | None, **options: Any) -> Iterator[Block]:
    """Yield blocks of the sums of x y of rows without missing calls, in 16 bits where they fit."""
    return products(
        "and" if a.haplotypes else "ternary",
        _operand(a),
        None if b is None else _operand(b),
        kind=count_type(a.bits) if a.haplotypes else np.int32,
        **options,
    )
