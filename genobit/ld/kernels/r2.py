"""Linkage disequilibrium of the rows of bit planes: blocks of counts -> blocks of r, r2, D or D'.

Every statistic is a function of integers: the number n of haplotypes (or samples) called at both
variants and, over these, the sums of x, y, x^2, y^2 and x y. A haplotype is x = 0 or 1. A dosage g
enters as x = g - 1: the shift changes no correlation and makes the product ternary. Without missing
calls the sums of x and x^2 belong to a row, and only the product is computed for each pair. With
missing calls all six sums come from a product of stacked planes. Both ways use the same arithmetic
on the same integers, so the result does not depend on the way. For r2 and D' of the haplotype
frequencies of dosages (`genobit.ld.kernels.em_haplotypes`) the planes of homozygotes are
multiplied: four products without missing calls, nine with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from genobit.engine.bits.planes import Planes, Rows
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import BLOCK_COLUMNS, Block, count_type, products, stacked
from genobit.engine.pairwise import blocks as pair_blocks
from genobit.engine.pairwise.blocks import BandRows, Float, Values, band_columns, view
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
def _inverse_roots(
    n: float, x: NDArray[np.float64], xx: NDArray[np.float64]
) -> NDArray[np.float64]:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = inverse_root(n, x[i], xx[i])
    return out


def sums(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sum of x and 1 / sqrt(n sum x^2 - (sum x)^2) of each row without missing calls."""
    if rows.haplotypes:
        x = count_rows(rows.planes[0]).astype(np.float64)
        return x, _inverse_roots(float(rows.bits), x, x)
    hom_alt, hom_ref = (count_rows(plane).astype(np.float64) for plane in rows.homozygotes())
    x = hom_alt - hom_ref
    return x, _inverse_roots(float(rows.bits), x, hom_alt + hom_ref)


def _operand(rows: Rows) -> Planes:
    """Return the planes whose product is the sum of x y: alt, or mask and sign of g - 1."""
    return rows.planes if rows.haplotypes else rows.ternary()


def _homozygotes(rows: Rows) -> Planes:
    """Return the planes of both homozygotes, interleaved row by row."""
    return stacked(*rows.homozygotes())


def _stacked(rows: Rows) -> Planes:
    """Return all planes that the six sums need, interleaved row by row."""
    planes = rows.planes if rows.haplotypes else rows.homozygotes()
    return stacked(*planes, rows.every())


def blocks(
    statistic: str,
    a: Rows,
    b: Rows | None = None,
    *,
    dtype: DTypeLike = np.float32,
    upper: bool = False,
    rows_of: BandRows | None = None,
    columns: int = BLOCK_COLUMNS,
) -> Iterator[Values]:
    """Yield blocks of a statistic between the rows of ``a`` and of ``b`` (or of ``a`` itself).

    The arguments ``upper`` and ``columns`` are those of `gemm.products`, counted in variants. With
    ``rows_of``, a band, values outside the band are arbitrary.
    """
    other = a if b is None else b
    complete = a.complete() and other.complete()
    if complete and statistic in STATISTICS:
        yield from _complete(STATISTICS[statistic], a, b, dtype, upper, rows_of, columns)
        return
    group, kernel = _grouped(statistic, a, other, complete, upper)
    planes = _homozygotes if complete else _stacked
    yield from pair_blocks.of_groups(
        kernel,
        planes(a),
        None if b is None else planes(b),
        group,
        dtype=dtype,
        upper=upper,
        rows_of=rows_of,
        columns=columns,
    )


def _grouped(
    statistic: str, a: Rows, b: Rows, complete: bool, upper: bool
) -> tuple[int, Callable[[NDArray[np.int32], slice, slice, Float], None]]:
    """Return the number of planes stacked for a statistic, and the kernel for their counts."""
    if statistic in STATISTICS:
        code, function = STATISTICS[statistic], _haplotype_block if a.haplotypes else _dosage_block
        return (2 if a.haplotypes else 3), lambda counts, _, __, out: function(counts, code, out)
    em, n = em_haplotypes.STATISTICS[statistic], float(a.bits)
    x, y = (homozygous(a), homozygous(b)) if complete else (None, None)

    def block(counts: NDArray[np.int32], rows: slice, columns: slice, out: Float) -> None:
        diagonal = rows.start - columns.start if upper else -out.shape[0]
        if x is None or y is None:
            em_haplotypes.missing_block(counts, em, diagonal, out)
        else:
            em_haplotypes.complete_block(counts, em, n, x[rows], y[columns], diagonal, out)

    return (2 if complete else 3), block


def homozygous(rows: Rows) -> NDArray[np.float64]:
    """Return the numbers of samples with dosage 2 and 0 in each row: (rows, 2)."""
    return np.stack([count_rows(plane) for plane in rows.homozygotes()], axis=1).astype(np.float64)


def complete_counts(
    a: Rows,
    b: Rows | None,
    *,
    upper: bool,
    rows_of: BandRows | None = None,
    columns: int = BLOCK_COLUMNS,
    narrow: bool = False,
) -> Iterator[Block]:
    """Yield blocks of the sums of x y of rows without missing calls, as for `blocks`.

    With ``narrow`` the counts of haplotypes may have 16 bits.
    """
    narrow &= a.haplotypes
    return products(
        "and" if a.haplotypes else "ternary",
        _operand(a),
        None if b is None else _operand(b),
        upper=upper,
        rows_of=rows_of,
        tops_of=None if rows_of is None else rows_of.tops,
        columns=columns,
        kind=count_type(a.bits) if narrow else np.int32,
    )


def _complete(
    code: int,
    a: Rows,
    b: Rows | None,
    dtype: DTypeLike,
    upper: bool,
    rows_of: BandRows | None,
    columns: int,
) -> Iterator[Values]:
    x, scale_x = sums(a)
    y, scale_y = (x, scale_x) if b is None else sums(b)
    out = np.empty(0, dtype)
    for rows, cols, counts in complete_counts(a, b, upper=upper, rows_of=rows_of, columns=columns):
        out, values = view(out, counts.shape, dtype)
        _complete_block(
            counts, code, float(a.bits), x[rows], y[cols], scale_x[rows], scale_y[cols], values
        )
        yield Values(rows, cols, values)


def square(statistic: str, a: Rows, b: Rows | None = None) -> NDArray[np.float32]:
    """Return the statistic of every row of ``a`` with every row of ``b``, or of ``a``.

    (rows, rows) float32.
    """
    other = a if b is None else b
    return pair_blocks.square(
        blocks(statistic, a, b, upper=b is None),
        a.planes[0].shape[0],
        other.planes[0].shape[0],
        np.float32,
        symmetric=b is None,
    )


def band(
    statistic: str, a: Rows, b: Rows, last: NDArray[np.int64], width: int
) -> NDArray[np.float32]:
    """Return the statistic of row i of ``a`` with rows i + 1 .. last[i] of ``b``.

    (rows, width) float32, NaN outside the window. The rows of ``a`` are the first rows of ``b``.
    The values of ``last`` never decrease.
    """
    found = blocks(statistic, a, b, upper=True, rows_of=BandRows(last), columns=band_columns(last))
    return pair_blocks.band(found, a.planes[0].shape[0], last, width)
