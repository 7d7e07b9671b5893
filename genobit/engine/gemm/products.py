"""The matrix product over bit planes, block by block: C[i, j] = sum of product(A[i], B[j]).

A product is "and" (positions set in both rows), "xor" (positions that differ) or "ternary" (sum of
products of values in {-1, 0, 1}, stored as two planes, mask and sign). Blocks of integer counts are
yielded while they are in cache, so the caller can turn them into r2, tau or distances at once. All
kernels give the same integers. `options.Options.kernel` names one; "auto" is the fastest on this
CPU.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from genobit.engine.bits.planes import Planes
from genobit.engine.bits.words import count_rows, interleave
from genobit.engine.gemm import four_russians, lookup, popcount, scalar
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
    """Counts of some rows of A with some rows of B; the next block reuses the array."""

    rows: slice
    columns: slice
    counts: NDArray[Any]


class _Method(NamedTuple):
    """How a kernel family stores its operands and multiplies them."""

    tile_rows: int
    tile_columns: int
    octets: int
    """Bytes of a column panel per prepared word of a row of B."""
    start: int | None
    """Initial count per prepared word of a row; None if the kernel writes counts instead of
    adding."""
    prepare: Callable[[Planes], Planes]
    rows: Callable[[Planes, slice, int, Any], Any]
    columns: Callable[[Planes, slice, int, Any], Any]
    multiply: Callable[[Any, Any, int, NDArray[np.int64], NDArray[Any]], None]
    """Takes rows, columns, a diagonal, the first row of each panel, and the counts to fill."""
    block: int = BLOCK
    """Most counts in a block."""


def _padded(words: NDArray[np.uint64], rows: slice, height: int) -> NDArray[np.uint64]:
    part = words[rows]
    if part.shape[0] == height:
        return np.ascontiguousarray(part)
    out = np.zeros((height, words.shape[1]), np.uint64)
    out[: part.shape[0]] = part
    return out


def _as_they_are(planes: Planes) -> Planes:
    return planes


def _interleaved(planes: Planes) -> Planes:
    mask, sign = planes
    out = np.empty((mask.shape[0], 2 * mask.shape[1]), np.uint64)
    interleave(mask, sign, out)
    return (out,)


def _table_method(product: str, _: DTypeLike) -> _Method:
    table = aligned((256,), np.uint8)
    table[:] = lookup.product_table(product)
    ternary = product == "ternary"

    def rows(planes: Planes, rows: slice, height: int, out: Any) -> NDArray[np.uint8]:
        words = planes[0][rows]
        if out is None or out.shape[0] < height:
            out = aligned((height, 16 * words.shape[1]), np.uint8)
        lookup.pack_rows(words, out[:height])
        return out

    def columns(planes: Planes, rows: slice, panels: int, out: Any) -> NDArray[np.uint8]:
        words = planes[0][rows]
        if out is None or out.shape[0] < panels:
            out = aligned((panels, 16 * words.shape[1], lookup.COLUMNS), np.uint8)
        lookup.pack_columns(words, out[:panels])
        return out  # type: ignore[no-any-return]

    def multiply(a: Any, b: Any, diagonal: int, _: Any, counts: NDArray[np.int32]) -> None:
        lookup.multiply(a, b, table, diagonal, counts)

    return _Method(
        lookup.ROWS,
        lookup.COLUMNS,
        octets=16,
        # Entries of a ternary table are two too large, and a word has 16 nibbles.
        start=-32 if ternary else 0,
        prepare=_interleaved if ternary else _as_they_are,
        rows=rows,
        columns=columns,
        multiply=multiply,
    )


def _popcount_method(product: str, kind: DTypeLike) -> _Method:
    ternary = product == "ternary"
    width = popcount.TERNARY_COLUMNS if ternary else popcount.COLUMNS
    dealt = popcount.dealt(kind)

    def rows(planes: Planes, rows: slice, height: int, out: Any) -> Planes:
        return tuple(_padded(plane, rows, height) for plane in planes)

    def columns(planes: Planes, rows: slice, panels: int, out: Any) -> Any:
        if out is None or out[0].shape[0] < panels:
            out = tuple(aligned((panels, p.shape[1], width), np.uint64) for p in planes)
        for plane, target in zip(planes, out, strict=True):
            popcount.pack_columns(plane[rows], dealt, target[:panels])
        return out

    def multiply(
        a: Any, b: Any, diagonal: int, tops: NDArray[np.int64], counts: NDArray[np.int32]
    ) -> None:
        kernel: Any = popcount.multiply_ternary if ternary else popcount.multiply_and
        kernel(*a, *b, diagonal, tops, counts)

    return _Method(
        popcount.TERNARY_ROWS if ternary else popcount.ROWS,
        width,
        octets=16 if ternary else 8,
        start=0 if ternary else None,
        prepare=_as_they_are,
        rows=rows,
        columns=columns,
        multiply=multiply,
    )


def _part(planes: Planes, rows: slice, *_: Any) -> Planes:
    return tuple(plane[rows] for plane in planes)


def _sums_method(product: str, _: DTypeLike) -> _Method:
    def multiply(a: Any, b: Any, diagonal: int, tops: Any, counts: NDArray[np.int32]) -> None:
        a, b = (a, b) if product == "ternary" else ((*a, None), (*b, None))
        four_russians.multiply(*a, *b, diagonal, tops, counts)

    start = 0 if product == "ternary" else None
    return _Method(1, 1, 1, start, _as_they_are, _part, _part, multiply, block=TALL_BLOCK)


def _scalar_method(product: str, _: DTypeLike) -> _Method:
    def multiply(a: Any, b: Any, diagonal: int, _: Any, counts: NDArray[np.int32]) -> None:
        ternary = product == "ternary"
        kernel: Any = scalar.multiply_ternary if ternary else scalar.multiply_and
        kernel(*a, *b, diagonal, counts)

    return _Method(1, 1, 8, 0, _as_they_are, _part, _part, multiply)


_METHODS = {
    "sums": _sums_method,
    "table": _table_method,
    "popcount": _popcount_method,
    "scalar": _scalar_method,
}


def chosen_kernel(product: str = "and", rows: int = 2**62) -> str:
    """Return the name of the kernel family in use: the option, or the fastest one for this CPU.

    ``rows`` is the number of rows that share a panel of columns. Raises ValueError if the option
    names the table kernel and this CPU has no byte lookup.
    """
    kernel = get_options().kernel
    if kernel == "table" and not host().byte_lanes:
        msg = (
            "kernel='table' needs a byte lookup (SSSE3, AVX2, NEON): this CPU has none, use 'auto'"
        )
        raise ValueError(msg)
    if kernel != "auto":
        return kernel
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
    short = chosen_kernel() == "popcount" and bits <= LARGEST_SHORT
    return np.dtype(np.int16 if short else np.int32)


def products(
    product: str,
    a: Planes,
    b: Planes | None = None,
    *,
    group: int = 1,
    upper: bool = False,
    rows_of: Callable[[int, int], tuple[int, int]] | None = None,
    tops_of: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None,
    columns: int = BLOCK_COLUMNS,
    kind: DTypeLike = np.int32,
) -> Iterator[Block]:
    """Yield blocks of the product of the rows of ``a`` with the rows of ``b``.

    a, b: uint64 (rows, words) with zero padding bits; one plane for "and" and "xor", mask and sign
    for "ternary". Without ``b``, ``a`` is multiplied with itself.

    - ``group``: rows that no block splits, such as the interleaved planes of one variant.
    - ``upper``: only entries with ``row <= column`` are needed.
    - ``rows_of(start, stop)``: range of rows needed for those columns (a band); default is all.
    - ``tops_of(columns)``: first row needed for each of some ascending columns; it never decreases.
    - ``columns``: most columns of a block; narrow bands waste less with narrow blocks.
    - ``kind``: dtype of the counts, int32, or for "and" the result of `count_type`.

    Entries that are not needed hold small numbers.
    """
    # Blocks of a band have few rows.
    kernel = chosen_kernel(product, len(a[0]) if rows_of is None else 0)
    # The "table" kernel supports "xor"; the others compute |a| + |b| - 2 |a & b|.
    by_and = product == "xor" and kernel != "table"
    method = _METHODS[kernel]("and" if by_and else product, kind)
    a = method.prepare(a)
    b = a if b is None else method.prepare(b)
    totals = (count_rows(a[0]), count_rows(b[0])) if by_and else None
    m, n, words = a[0].shape[0], b[0].shape[0], a[0].shape[1]
    fitting = max(1, PANEL_BYTES // max(1, words * method.octets))
    width = _multiple(min(columns, fitting, n), method.tile_columns, group)
    height = _multiple(
        min(method.block * 4 // np.dtype(kind).itemsize // width, max(fitting, BLOCK_ROWS)),
        method.tile_rows,
        group,
    )
    step = math.lcm(method.tile_rows, group)
    storage: Any = None
    row_storage: Any = None
    buffer = aligned((height * width,), kind)
    for left in range(0, n, width):
        right = min(left + width, n)
        panels = -(-(right - left) // method.tile_columns)
        storage = method.columns(b, slice(left, right), panels, storage)
        packed = _first(storage, panels)
        top, bottom = (0, m) if rows_of is None else rows_of(left, right)
        tops = np.zeros(panels, np.int64)
        if tops_of is not None:
            tops = tops_of(np.arange(left, right, method.tile_columns))
        if upper:
            bottom = min(bottom, right)
        top -= top % group
        # Use as few blocks as possible, of nearly equal height.
        parts = max(1, -(-(bottom - top) // height))
        high = -(-(bottom - top) // (parts * step)) * step
        for start in range(top, bottom, max(1, high)):
            stop = min(start + high, bottom)
            padded = -(-(stop - start) // method.tile_rows) * method.tile_rows
            counts = buffer[: padded * panels * method.tile_columns].reshape(padded, -1)
            from_row = np.maximum(tops - start, 0)
            # Callers compute statistics of these entries too, which must not overflow.
            unwanted = (upper and stop > left + 1) or from_row.any()
            if unwanted or method.start is not None:
                counts.fill((method.start or 0) * words)
            diagonal = start - left - (group - 1) if upper else -(2**62)
            row_storage = method.rows(a, slice(start, stop), padded, row_storage)
            method.multiply(_first(row_storage, padded), packed, diagonal, from_row, counts)
            wanted = counts[: stop - start, : right - left]
            if totals is not None:
                _differences(wanted, totals[0][start:stop], totals[1][left:right])
            yield Block(slice(start, stop), slice(left, right), wanted)


def common_bits(a: NDArray[np.uint64], b: NDArray[np.uint64], out: NDArray[Any]) -> None:
    """Count positions set in both rows: a (m, words), b (n, words), out (m, n).

    out: int32, or the dtype of `count_type`. This is the "and" product in one block, for callers
    that make their own blocks.
    """
    kernel = chosen_kernel("and", len(a))
    if kernel == "sums":
        four_russians.multiply(a, None, b, None, -(2**62), np.zeros(len(b), np.int64), out)
        return
    tile = popcount.ROWS, popcount.COLUMNS
    if kernel == "popcount" and len(a) % tile[0] == 0 and len(b) % tile[1] == 0:
        # Whole tiles can be written straight to ``out``.
        panels = aligned((len(b) // tile[1], b.shape[1], tile[1]), np.uint64)
        popcount.pack_columns(b, popcount.dealt(out.dtype), panels)
        popcount.multiply_and(a, panels, -(2**62), np.zeros(len(panels), np.int64), out)
        return
    for rows, columns, counts in products("and", (a,), (b,), columns=max(1, len(b))):
        out[rows, columns] = counts


@njit
def _differences(counts: NDArray[np.int32], a: NDArray[np.int64], b: NDArray[np.int64]) -> None:
    """Turn counts (m, n) of positions set in both rows into positions that differ.

    a (m,) and b (n,) hold the set bits of each row.
    """
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[i, j] = a[i] + b[j] - 2 * counts[i, j]


def _first(storage: Any, panels: int) -> Any:
    return tuple(s[:panels] for s in storage) if isinstance(storage, tuple) else storage[:panels]


def _multiple(size: int, *steps: int) -> int:
    """Return the largest multiple of all steps up to ``size``, but at least one multiple."""
    step = int(np.lcm.reduce(steps))
    return max(step, size // step * step)
