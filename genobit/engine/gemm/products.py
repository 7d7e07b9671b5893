"""The matrix product over bit planes, block by block: C[i, j] = sum of product(A[i], B[j]).

A product is "and" (positions set in both rows), "xor" (positions that differ) or "ternary" (sum of
products of values in {-1, 0, 1}, stored as two planes, mask and sign). "dosage" is six ternary
products. Blocks of integer counts are yielded while they are in cache, so the caller can turn them
into r2, tau or distances at once. All kernels give the same integers. `options.Options.kernel`
names one; "auto" is the fastest on this CPU.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from genobit.engine.bits.planes import Planes, padded
from genobit.engine.bits.words import count_rows, interleave
from genobit.engine.gemm import four_russians, lookup, matrix_unit, popcount, scalar
from genobit.engine.options import get_options
from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 256 * 512
"""Most 32-bit counts in a block: 512 KiB, about the size of a second-level cache."""
TALL_BLOCK = 2048 * 512
"""Most counts in a block of the "sums" kernel, whose tables are shared by all rows of a block."""
FEWEST_ROWS = {"ternary": 192, "and": 768, "xor": 768}
"""Fewest rows for which Four Russians tables pay off. Building takes 0.8 us and saves 2 ns per
row for "ternary", 1.2 us and 1.6 ns for "and" and "xor"."""
BLOCK_ROWS = 256
BLOCK_COLUMNS = 512
PANEL_BYTES = 2**25
"""Most bytes in a block of packed columns; very long rows get narrower blocks."""


class Block(NamedTuple):
    """Counts of some rows of A with some rows of B, of ``group`` planes each.

    The next block reuses the array.
    """

    rows: slice
    columns: slice
    diagonal: int
    """Columns j >= i + diagonal of row i count."""
    counts: Any
    """(group rows, group columns), or a tuple of such arrays (`_dosage_sums`)."""


class BandRows:
    """Rows whose windows reach some columns.

    ``last`` is the last column in the window of each row and never decreases; ``shift`` is the
    first column counted from the first row.
    """

    def __init__(self, last: NDArray[np.int64], shift: int = 0) -> None:
        self.last, self.shift = last, shift

    def range_of(self, start: int, stop: int) -> tuple[int, int]:
        """Return the first row and the end of the rows that reach columns start..stop."""
        return int(self.last.searchsorted(start)), min(stop + self.shift, self.last.shape[0])

    def tops(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first row that reaches each column."""
        return self.last.searchsorted(columns).astype(np.int64, copy=False)


class _Method(NamedTuple):
    """How a kernel family stores its operands and multiplies them."""

    rows: int
    """Rows of a tile."""
    columns: int
    """Columns of a tile."""
    multiply: Callable[..., None]
    """Takes the planes of rows, those of columns, a diagonal, the first row of each panel, and the
    counts to fill."""
    start: int | None = 0
    """Initial count per prepared word of a row; None if the kernel writes counts instead of
    adding."""
    pads: bool = False
    """Whether the kernel itself adds the rows that fill its tiles."""
    pack_rows: Callable[[NDArray[np.uint64], NDArray[Any]], None] | None = None
    """Packs a plane (rows, n) into (height, ``parts`` n); None if the kernel takes planes."""
    pack_columns: Callable[[NDArray[np.uint64], NDArray[Any]], None] | None = None
    """Packs a plane (rows, n) into (panels, ``parts`` n, ``columns``); None as before."""
    packed: DTypeLike = np.uint64
    parts: int = 1
    """Packed elements per word."""
    interleaved: bool = False
    """Whether mask and sign are one plane, bit by bit."""
    block: int = BLOCK
    """Most counts in a block."""
    widest: int = BLOCK_COLUMNS
    """Most columns of a block."""


def _table(product: str) -> _Method:
    ternary = product == "ternary"
    table = aligned((256,), np.uint8)
    table[:] = lookup.product_table(product)
    return _Method(
        lookup.ROWS,
        lookup.COLUMNS,
        partial(lookup.multiply, table),
        # Entries of a ternary table are two too large, and a word has 16 nibbles.
        start=-32 if ternary else 0,
        pack_rows=lookup.pack_rows,
        pack_columns=lookup.pack_columns,
        packed=np.uint8,
        parts=16,
        interleaved=ternary,
    )


_METHODS = {
    ("popcount", "and"): _Method(
        popcount.ROWS,
        popcount.COLUMNS,
        popcount.multiply_and,
        start=None,
        pack_columns=partial(popcount.pack_columns, 1),
    ),
    ("popcount", "ternary"): _Method(
        popcount.TERNARY_ROWS,
        popcount.TERNARY_COLUMNS,
        popcount.multiply_ternary,
        pack_columns=partial(popcount.pack_columns, 1),
    ),
    **{
        ("matrix", product): _Method(
            matrix_unit.SQUARE,
            matrix_unit.SQUARE,
            multiply,
            start=None,
            block=matrix_unit.MOST_ROWS * matrix_unit.MOST_COLUMNS,
            widest=matrix_unit.MOST_COLUMNS,
            pads=True,
        )
        for product, multiply in matrix_unit.PRODUCTS.items()
    },
    ("sums", "and"): _Method(1, 1, four_russians.multiply_and, start=None, block=TALL_BLOCK),
    ("sums", "ternary"): _Method(1, 1, four_russians.multiply_ternary, block=TALL_BLOCK),
    ("scalar", "and"): _Method(1, 1, scalar.multiply_and),
    ("scalar", "ternary"): _Method(1, 1, scalar.multiply_ternary),
    **{("table", product): _table(product) for product in ("and", "xor", "ternary")},
}


def _method(kernel: str, product: str, kind: DTypeLike) -> _Method:
    """Return how a kernel family multiplies; 16-bit counts take columns in another order."""
    method = _METHODS[kernel, product]
    if np.dtype(kind).itemsize == 2:
        return method._replace(pack_columns=partial(popcount.pack_columns, popcount.dealt(kind)))
    return method


def _prepared(planes: Planes, method: _Method) -> Planes:
    if not method.interleaved:
        return planes
    mask, sign = planes
    out = np.empty((mask.shape[0], 2 * mask.shape[1]), np.uint64)
    interleave(mask, sign, out)
    return (out,)


def _packed(
    planes: Planes,
    rows: slice,
    count: int,
    pack: Callable[[NDArray[np.uint64], NDArray[Any]], None] | None,
    storage: tuple[NDArray[Any], ...],
) -> tuple[NDArray[Any], ...]:
    """Return the planes' rows as ``count`` rows or panels, packed into ``storage``."""
    if pack is None:
        return tuple(padded(plane, rows, count) for plane in planes)
    for plane, out in zip(planes, storage, strict=True):
        pack(np.ascontiguousarray(plane[rows]), out[:count])
    return tuple(out[:count] for out in storage)


def chosen_kernel(product: str = "and", rows: int = 2**62, kind: DTypeLike = np.int32) -> str:
    """Return the name of the kernel family in use: the option, or the fastest one for this CPU.

    ``rows`` is the number of rows that share a panel of columns. ``kind`` is the dtype of the
    counts: the matrix unit has none of 16 bits. Raises ValueError if the option names the table
    kernel and this CPU has no byte lookup.
    """
    kernel = get_options().kernel
    if kernel == "table" and not host().byte_lanes:
        msg = (
            "kernel='table' needs a byte lookup (SSSE3, AVX2, NEON): this CPU has none, use 'auto'"
        )
        raise ValueError(msg)
    if kernel != "auto":
        return kernel
    fits = rows >= matrix_unit.FEWEST_ROWS[product] and np.dtype(kind).itemsize == 4
    if fits and matrix_unit.usable("ternary" if product == "ternary" else "and"):
        return "matrix"
    if host().vector_popcount:
        return "popcount"
    if rows >= FEWEST_ROWS[product]:
        return "sums"
    return "table" if host().byte_lanes else "scalar"


def stacked(*planes: NDArray[np.uint64]) -> Planes:
    """Interleave planes of one operand row by row, so that one product gives all their pairs.

    The "and" product of k stacked planes with k stacked planes, with ``group=k``, holds in
    ``counts[k i + p, k j + q]`` the positions where plane p of row i and plane q of row j are set.
    For the planes carrier and hom_alt these four counts determine the 3 x 3 genotype table.
    """
    rows, words = planes[0].shape
    return (np.stack(planes, axis=1).reshape(rows * len(planes), words),)


LARGEST_SHORT = 2**15 - 1
"""Most bits of a row whose counts fit 16 bits."""


def count_type(bits: int) -> np.dtype[Any]:
    """Return the dtype of "and" counts: int16 if the kernel and ``bits`` allow it, else int32.

    16-bit counts halve the bytes that go to the next cache.
    """
    short = bits <= LARGEST_SHORT and chosen_kernel(kind=np.int16) == "popcount"
    return np.dtype(np.int16 if short else np.int32)


def products(
    product: str,
    a: Planes,
    b: Planes | None = None,
    *,
    group: int = 1,
    upper: bool = False,
    band_rows: BandRows | None = None,
    columns: int | None = None,
    kind: DTypeLike = np.int32,
    kernel: str | None = None,
) -> Iterator[Block]:
    """Yield blocks of the product of the rows of ``a`` with the rows of ``b``.

    a, b: uint64 (rows, words) with zero padding bits; one plane for "and" and "xor", mask and sign
    for "ternary", these and called for "dosage" (`_dosage_sums`). Without ``b``, ``a`` is
    multiplied with itself.

    - ``group``: planes of a row, interleaved (`stacked`); blocks and bands count rows of ``group``
      planes, and no block splits one.
    - ``upper``: only entries with ``row <= column`` are needed.
    - ``band_rows``: only entries of a band are needed.
    - ``columns``: most columns of a block, by default those of the kernel. Wider blocks have fewer
      rows, and narrow bands waste less with narrow blocks.
    - ``kind``: dtype of the counts, int32, or for "and" the result of `count_type`.
    - ``kernel``: the kernel family, by default that of `chosen_kernel`.

    Entries that are not needed hold small numbers.
    """
    if product == "dosage":
        limits = {"upper": upper, "band_rows": band_rows, "columns": columns}
        yield from _dosage_sums(a, a if b is None else b, limits)
        return
    # Blocks of a band have few rows.
    kernel = kernel or chosen_kernel(product, len(a[0]) if band_rows is None else 0, kind)
    # The "table" kernel supports "xor"; the others compute |a| + |b| - 2 |a & b|.
    by_and = product == "xor" and kernel != "table"
    method = _method(kernel, "and" if by_and else product, kind)
    a = _prepared(a, method)
    b = a if b is None else _prepared(b, method)
    totals = (count_rows(a[0]), count_rows(b[0])) if by_and else None
    m, n, words = a[0].shape[0], b[0].shape[0], a[0].shape[1]
    most = method.widest if columns is None else columns * group
    height, width = _block_shape(method, kind, n, words * len(a), most, group)
    row_storage, storage = _storage(method, a, min(height, m), width)
    buffer = aligned((height * width,), kind)
    # The first block takes the rest: in a triangle, fewer rows meet its padded panel.
    for right in range(n % width or width, n + 1, width):
        left = max(0, right - width)
        panels = -(-(right - left) // method.columns)
        count = panels if method.pack_columns else right - left
        packed = _packed(b, slice(left, right), count, method.pack_columns, storage)
        of_columns = slice(left // group, right // group)
        top, bottom, tops = 0, m, np.zeros(panels, np.int64)
        if band_rows is not None:
            top, bottom = _rows_of_band(band_rows, of_columns, group)
            if group == 1:
                tops = band_rows.tops(np.arange(left, right, method.columns))
        if upper:
            bottom = min(bottom, right)
        for start, stop in _parts(top, bottom, height, math.lcm(method.rows, group)):
            padded = -(-(stop - start) // method.rows) * method.rows
            counts = buffer[: padded * panels * method.columns].reshape(padded, -1)
            from_row = np.maximum(tops - start, 0)
            # Callers compute statistics of these entries too, so their counts must not overflow.
            unwanted = (upper and stop > left + 1) or from_row.any()
            if unwanted or method.start is not None:
                counts.fill((method.start or 0) * words)
            diagonal = start - left - (group - 1) if upper else -(2**62)
            count = stop - start if method.pads else padded
            rows = _packed(a, slice(start, stop), count, method.pack_rows, row_storage)
            method.multiply(*rows, *packed, diagonal, from_row, counts)
            wanted = counts[: stop - start, : right - left]
            if totals is not None:
                _differences(totals[0][start:stop], totals[1][left:right], counts)
            of_rows = slice(start // group, stop // group)
            begin = of_rows.start - (of_columns.start if upper else of_rows.stop)
            yield Block(of_rows, of_columns, begin, wanted)


def _rows_of_band(band_rows: BandRows, columns: slice, group: int) -> tuple[int, int]:
    """Return the first plane of the rows that columns of a band meet, and the end."""
    top, bottom = band_rows.range_of(columns.start, columns.stop)
    return top * group, bottom * group


def _dosage_sums(a: Planes, b: Planes, limits: dict[str, Any]) -> Iterator[Block]:
    """Yield blocks of the six sums over the samples called in both rows, by the matrix unit.

    a, b: mask and sign of x = dosage - 1, and called. ``counts`` has six arrays (rows, columns):
    the sums of x x', x, x', x^2 and x'^2, and the number of samples.
    """

    def operands(mask: Any, sign: Any, called: Any) -> tuple[Planes, Planes, Planes]:
        positive = np.zeros_like(sign)
        return (mask, sign), (mask, positive), (called, positive)

    (x, xx, one), (y, yy, one_too) = operands(*a), operands(*b)
    pairs = (x, y), (x, one_too), (one, y), (xx, one_too), (one, yy), (one, one_too)
    six = (products("ternary", *pair, kernel="matrix", **limits) for pair in pairs)
    for parts in zip(*six, strict=True):
        yield parts[0]._replace(counts=tuple(part.counts for part in parts))


def _block_shape(
    method: _Method, kind: DTypeLike, n: int, words: int, columns: int, group: int
) -> tuple[int, int]:
    """Return the most rows and columns of a block; ``words`` is the length of a prepared row."""
    octets = method.parts * np.dtype(method.packed).itemsize if method.pack_columns else 1
    fitting = max(1, PANEL_BYTES // max(1, words * octets))
    width = _multiple(min(columns, fitting, n), method.columns, group)
    most = method.block * 4 // np.dtype(kind).itemsize // width
    return _multiple(min(most, max(fitting, BLOCK_ROWS)), method.rows, group), width


def _storage(
    method: _Method, planes: Planes, height: int, width: int
) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
    """Return memory for the packed rows and columns of a block, one array for each plane."""
    length, panels = method.parts * planes[0].shape[1], width // method.columns
    height = -(-height // method.rows) * method.rows
    rows = planes if method.pack_rows else ()
    columns = planes if method.pack_columns else ()
    return (
        tuple(aligned((height, length), method.packed) for _ in rows),
        tuple(aligned((panels, length, method.columns), method.packed) for _ in columns),
    )


def _parts(top: int, bottom: int, height: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield as few ranges of rows as possible, of nearly equal height, a multiple of ``step``."""
    parts = max(1, -(-(bottom - top) // height))
    high = -(-(bottom - top) // (parts * step)) * step
    for start in range(top, bottom, max(1, high)):
        yield start, min(start + high, bottom)


def common_bits(a: NDArray[np.uint64], b: NDArray[np.uint64], out: NDArray[Any]) -> None:
    """Count positions set in both rows: a (m, words), b (n, words), out (m, n).

    out: int32, or the dtype of `count_type`. This is the "and" product in one block, for callers
    that make their own blocks.
    """
    # As for 16 bits: not the matrix unit, unless the option names it. Popcounts of these small
    # blocks go straight to ``out``.
    kernel = chosen_kernel("and", len(a), np.int16)
    if kernel == "sums":
        four_russians.multiply_and(a, b, -(2**62), np.zeros(len(b), np.int64), out)
        return
    tile = popcount.ROWS, popcount.COLUMNS
    if kernel == "popcount" and len(a) % tile[0] == 0 and len(b) % tile[1] == 0:
        # Whole tiles can be written straight to ``out``.
        panels = aligned((len(b) // tile[1], b.shape[1], tile[1]), np.uint64)
        popcount.pack_columns(popcount.dealt(out.dtype), b, panels)
        popcount.multiply_and(a, panels, -(2**62), np.zeros(len(panels), np.int64), out)
        return
    for block in products("and", (a,), (b,), columns=max(1, len(b)), kernel=kernel):
        out[block.rows, block.columns] = block.counts


@njit
def _differences(a: NDArray[np.int64], b: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
    """Turn counts of positions set in both rows into positions that differ.

    a (m,) and b (n,) hold the set bits of each row. counts has at least m rows and n columns.
    """
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            counts[i, j] = a[i] + b[j] - 2 * counts[i, j]


def _multiple(size: int, *steps: int) -> int:
    """Return the largest multiple of all steps up to ``size``, but at least one multiple."""
    step = int(np.lcm.reduce(steps))
    return max(step, size // step * step)
