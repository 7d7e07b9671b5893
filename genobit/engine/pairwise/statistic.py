"""Statistics of pairs of rows: a product of bit planes, and an epilogue that maps counts to values.

A statistic is data (`PairStatistic`). `blocks` computes it block by block while the counts are in
cache; `square` and `band` put the blocks together. A new statistic needs an epilogue and one
`PairStatistic`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from genobit.engine.bits.planes import PlaneRows, Planes
from genobit.engine.bits.transpose import mirror
from genobit.engine.gemm.products import BLOCK_COLUMNS, BandRows, products
from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


Float = NDArray[np.floating]
Operand = PlaneRows | Planes
Margins = tuple[NDArray[Any], ...]
"""Values of each row that an epilogue takes beside the counts, each (rows, ...)."""


def no_margins(_: Any) -> Margins:
    """Return the margins of a statistic that follows from its counts alone."""
    return ()


class PairStatistic(NamedTuple):
    """A statistic of all pairs of rows."""

    planes: Callable[[Any], Planes]
    """Planes of some rows, ``group`` of each row interleaved (`gemm.products.stacked`)."""
    epilogue: Callable[[Any, Margins, Margins, int, NDArray[Any]], None]
    """``epilogue(counts, x, y, diagonal, out)`` fills ``out`` (rows, columns).

    counts: those of a `gemm.products.Block`; x, y: the margins of the rows and of the columns. Only
    columns j >= i + diagonal of row i count.
    """
    group: int = 1
    product: str = "and"
    """"and", "xor", "ternary" or "dosage"."""
    margins: Callable[[Any], Margins] = no_margins


class Values(NamedTuple):
    """A block of a statistic; the array is reused for the next block."""

    rows: slice
    columns: slice
    values: Float


def band_columns(last: NDArray[np.int64]) -> int:
    """Return the width of a block for a band: a quarter of the window.

    The ends of a block that lie outside the window are then a quarter of the work at most. With
    narrower blocks, packing the rows again takes longer than these ends.
    """
    reach = int((last - np.arange(last.shape[0])).max(initial=0))
    return int(np.clip(reach // 4, 64, BLOCK_COLUMNS))


def blocks(
    statistic: PairStatistic,
    a: Operand,
    b: Operand | None = None,
    *,
    dtype: DTypeLike = np.float32,
    upper: bool = False,
    band_rows: BandRows | None = None,
    columns: int | None = None,
) -> Iterator[Values]:
    """Yield blocks of a statistic between the rows of ``a`` and of ``b``, or of ``a`` itself.

    ``upper`` asks for pairs with row <= column only, ``band_rows`` for those of a band. Other
    values are arbitrary.
    """
    x = statistic.margins(a)
    y = x if b is None else statistic.margins(b)
    planes = statistic.planes(a), None if b is None else statistic.planes(b)
    out = np.empty(0, dtype)
    for rows, cols, diagonal, counts in products(
        statistic.product,
        *planes,
        group=statistic.group,
        upper=upper,
        band_rows=band_rows,
        columns=columns,
    ):
        shape = rows.stop - rows.start, cols.stop - cols.start
        if out.size < math.prod(shape):
            out = np.empty(math.prod(shape), dtype)
        values = out[: math.prod(shape)].reshape(shape)
        of_rows, of_columns = tuple(m[rows] for m in x), tuple(m[cols] for m in y)
        statistic.epilogue(counts, of_rows, of_columns, diagonal, values)
        yield Values(rows, cols, values)


def square(
    statistic: PairStatistic,
    a: Operand,
    b: Operand | None = None,
    dtype: DTypeLike = np.float32,
    place: Any = None,
) -> NDArray[Any]:
    """Return the statistic of every row of ``a`` with every row of ``b``, or of ``a``.

    With a ``place``, write it there, and also its transpose if the whole is symmetric.
    """
    shape = _length(a), _length(a if b is None else b)
    if place is None:
        whole, top, left, symmetric = np.empty(shape, dtype), 0, 0, b is None
    else:
        whole, top, left, symmetric = place
    for block in blocks(statistic, a, b, dtype=dtype, upper=b is None):
        _put(block.values, top + block.rows.start, left + block.columns.start, whole, symmetric)
    return whole if place is None else place.view(*shape)


def product(
    name: str, a: Planes, b: Planes | None = None, dtype: DTypeLike = np.int32
) -> NDArray[Any]:
    """Return all counts of a product: (rows of a, rows of b), or of ``a`` with itself."""
    out = np.empty((_length(a), _length(a if b is None else b)), dtype)
    for block in products(name, a, b, upper=b is None):
        _put(block.counts, block.rows.start, block.columns.start, out, b is None)
    return out


def _put(
    values: NDArray[Any],
    top: int,
    left: int,
    out: NDArray[Any],
    symmetric: bool,  # noqa: FBT001
) -> None:
    """Write a block to a matrix; those of a symmetric one are its upper triangle."""
    if symmetric:
        mirror(values, top, left, out)
    else:
        out[top : top + values.shape[0], left : left + values.shape[1]] = values


@njit
def in_window(row: int, last: int, shift: int, left: int, columns: int) -> tuple[int, int]:
    """Return the first column and the end of the columns of a block that a row's window holds.

    Column j of the block is column left + j of the window's ``last``, and row shift + left + j
    counted as rows are; only later rows count.
    """
    return max(0, row + 1 - shift - left), min(columns, last + 1 - left)


@njit
def _shear(
    values: Float, top: int, left: int, last: NDArray[np.int64], out: NDArray[np.float32]
) -> None:
    """Write pairs i < j <= last[i] of a block to out[i, j - i - 1]."""
    for i in range(values.shape[0]):
        row = top + i
        first, stop = in_window(row, last[row], 0, left, values.shape[1])
        for j in range(first, stop):
            out[row, left + j - row - 1] = values[i, j]


def band(
    statistic: PairStatistic, a: Operand, b: Operand, last: NDArray[np.int64], width: int
) -> NDArray[np.float32]:
    """Return the statistic of row i of ``a`` with rows i + 1 .. last[i] of ``b``: (rows, width).

    ``b`` starts with the rows of ``a``; ``last`` never decreases. Pairs outside the window are NaN.
    """
    out = np.full((_length(a), width), np.nan, np.float32)
    columns = band_columns(last)
    for block in blocks(statistic, a, b, upper=True, band_rows=BandRows(last), columns=columns):
        _shear(block.values, block.rows.start, block.columns.start, last, out)
    return out


def _length(rows: Operand) -> int:
    planes = rows.planes if isinstance(rows, PlaneRows) else rows
    return planes[0].shape[0]
