"""Compute a pair statistic in blocks, and collect the blocks as a matrix or a band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from genobit.engine.bits.transpose import mirror
from genobit.engine.gemm.products import BLOCK_COLUMNS, products
from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genobit.engine.bits.planes import Planes

Float = NDArray[np.floating]


class Values(NamedTuple):
    """A block of the statistic; the next block reuses the array."""

    rows: slice
    columns: slice
    values: Float


def view(out: Float, shape: tuple[int, ...], dtype: DTypeLike) -> tuple[Float, Float]:
    """Return ``out``, enlarged if necessary, and a C-contiguous array of ``shape`` at its start."""
    size = math.prod(shape)
    if out.size < size:
        out = np.empty(size, dtype)
    return out, out[:size].reshape(shape)


def of_groups(
    kernel: Callable[[NDArray[np.int32], slice, slice, Float], None],
    a: Planes,
    b: Planes | None,
    group: int,
    *,
    dtype: DTypeLike,
    upper: bool,
    rows_of: Callable[[int, int], tuple[int, int]] | None = None,
    columns: int = BLOCK_COLUMNS,
) -> Iterator[Values]:
    """Yield blocks of a statistic computed from counts of stacked planes.

    ``kernel(counts, rows, columns, out)`` computes a block. It fills out (rows, columns) of
    ``dtype`` from counts (group rows, group columns). Each row has ``group`` interleaved planes
    (`products.stacked`). ``upper``, ``rows_of`` and ``columns`` are those of `products.products`,
    but count rows of ``group`` planes.
    """

    def scaled(start: int, stop: int) -> tuple[int, int]:
        top, bottom = rows_of(start // group, stop // group)  # type: ignore[misc]
        return top * group, bottom * group

    out = np.empty(0, dtype)
    for block in products(
        "and",
        a,
        b,
        group=group,
        upper=upper,
        rows_of=None if rows_of is None else scaled,
        columns=columns * group,
    ):
        rows = slice(block.rows.start // group, block.rows.stop // group)
        cols = slice(block.columns.start // group, block.columns.stop // group)
        out, values = view(out, (rows.stop - rows.start, cols.stop - cols.start), dtype)
        kernel(block.counts, rows, cols, values)
        yield Values(rows, cols, values)


def square(
    blocks: Iterator[Values], rows: int, columns: int, dtype: DTypeLike, *, symmetric: bool
) -> Float:
    """Return the blocks as one matrix (rows, columns); symmetric blocks are the upper triangle."""
    out = np.empty((rows, columns), dtype)
    for block in blocks:
        if symmetric:
            mirror(block.values, block.rows.start, block.columns.start, out)
        else:
            out[block.rows, block.columns] = block.values
    return out


@njit
def _shear(
    values: Float, top: int, left: int, last: NDArray[np.int64], out: NDArray[np.float32]
) -> None:
    """Write pairs i < j <= last[i] of a block to out[i, j - i - 1]."""
    for i in range(values.shape[0]):
        row = top + i
        for j in range(max(0, row + 1 - left), min(values.shape[1], last[row] + 1 - left)):
            out[row, left + j - row - 1] = values[i, j]


def band(
    blocks: Iterator[Values], rows: int, last: NDArray[np.int64], width: int
) -> NDArray[np.float32]:
    """Return the blocks as a float32 band (rows, width).

    Row i holds its pairs with rows i + 1 .. last[i], then NaN.
    """
    out = np.full((rows, width), np.nan, np.float32)
    for block in blocks:
        _shear(block.values, block.rows.start, block.columns.start, last, out)
    return out


class BandRows:
    """Range of rows whose windows include given columns.

    ``last`` is the last column in the window of each row; it never decreases. ``shift`` is the
    first column minus the first row.
    """

    def __init__(self, last: NDArray[np.int64], shift: int = 0) -> None:
        self.last, self.shift = last, shift

    def __call__(self, start: int, stop: int) -> tuple[int, int]:
        """Return the range of rows for the columns start..stop."""
        return int(self.last.searchsorted(start)), min(stop + self.shift, self.last.shape[0])

    def tops(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first row of each column."""
        return self.last.searchsorted(columns).astype(np.int64, copy=False)


def band_columns(last: NDArray[np.int64]) -> int:
    """Return the block width for a band: a quarter of the window.

    At most a quarter of the work then lies outside the band, and rows are packed for four or five
    blocks. Narrower blocks would waste less, but packing rows for nine blocks takes longer.
    """
    reach = int((last - np.arange(last.shape[0])).max(initial=0))
    return int(np.clip(reach // 4, 64, BLOCK_COLUMNS))
