"""Products by nibble tables for CPUs without a vector popcount: four bits per lookup.

On AVX2 a vector popcount takes eight instructions per 256 bits (Mula's two nibble lookups).
Carry-save adders (Harley-Seal) reduce that to about six. In a matrix product one side of the AND is
the same for all lanes, so the table can include the AND. With ``t = table[nibble of row i]``,
``t[nibble of row j]`` is ``popcount(a & b)`` of four positions. That is one lookup and one byte
addition per 128 bits: two instructions instead of four (Harley-Seal) or eight. Any other product of
two nibbles costs the same: XOR counts, or products of two ternary values.

Layout: a row holds bytes ``nibble << 4``, the offsets of its tables. A column panel holds, for each
nibble position, one byte for each of ``COLUMNS`` rows of B. Bytes overflow after 63 additions of at
most 4. Bytes are therefore added to 16-bit counts every ``STEPS`` nibbles, and these to int32 once
per ``SLAB``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    BYTE_LANES,
    add_bytes,
    load_bytes,
    load_table,
    lookup,
    zero_bytes,
)
from genobit.engine.simd.vector import flattened

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4
COLUMNS = 2 * BYTE_LANES
STEPS = 62
# A column panel of 1,984 nibbles is 124 KiB and stays in the second-level cache while the rows
# pass. Each slab costs another pass over the counts: slabs of 4, 8, 16 and 32 STEPS reached 0.63,
# 0.74, 0.78 and 0.79 of the registers' limit (Zen 3).
SLAB = 32 * STEPS


def product_table(product: str) -> NDArray[np.uint8]:
    """Return the 16 tables of 16 bytes for a product of two nibbles.

    Sums of signs ("ternary") have an offset of two.
    """
    a, b = np.indices((16, 16)).astype(np.uint8)
    if product == "and":
        return np.bitwise_count(a & b).reshape(-1)
    if product == "xor":
        return np.bitwise_count(a ^ b).reshape(-1)
    # A nibble holds two ternary values: each has a mask bit and, above it, a sign bit.
    total = np.full((16, 16), 2, np.int8)
    for shift in (0, 2):
        x, y = a >> shift & 3, b >> shift & 3
        both = (x & y & 1).astype(np.int8)
        total += both * (1 - 2 * (x >> 1 ^ y >> 1).astype(np.int8))
    return total.view(np.uint8).reshape(-1)


@njit
def pack_rows(words: NDArray[np.uint64], out: NDArray[np.uint8]) -> None:
    """Convert words (rows, n) to table offsets out (>= rows, 16 n), one per nibble.

    Rows past the end are zero.
    """
    rows = words.shape[0]
    octets = words.view(np.uint8)
    for i in range(rows):
        source = octets[i]
        target = out[i]
        for j in range(source.shape[0]):
            target[2 * j] = (source[j] & 15) << 4
            target[2 * j + 1] = source[j] & 240
    out[rows:] = 0


@njit
def pack_columns(words: NDArray[np.uint64], out: NDArray[np.uint8]) -> None:
    """Convert words (rows, n) to nibbles out (panels, 16 n, COLUMNS), one byte each.

    Rows are assigned to lanes in the order that `add_bytes` expects.
    """
    rows, n = words.shape
    half = BYTE_LANES // 2
    lanes = np.arange(COLUMNS)
    # Lane 2q of a register holds row q, lane 2q + 1 holds row half + q.
    order = lanes - lanes % BYTE_LANES + lanes % BYTE_LANES // 2 + lanes % 2 * half
    column = np.empty(COLUMNS, np.uint64)
    for panel in range(out.shape[0]):
        target = out[panel]
        first = panel * COLUMNS
        for w in range(n):
            for k in range(COLUMNS):
                row = first + order[k]
                column[k] = words[row, w] if row < rows else np.uint64(0)
            for s in range(16):
                nibbles = target[16 * w + s]
                for k in range(COLUMNS):
                    nibbles[k] = (column[k] >> np.uint64(4 * s)) & np.uint64(15)


@njit
def _step(
    counts: tuple[Any, ...],
    a: NDArray[np.uint8],
    stride: int,
    b: NDArray[np.uint8],
    table: NDArray[np.uint8],
    k: int,
) -> tuple[Any, ...]:
    """Add the products of one nibble of four rows with two registers of columns."""
    c00, c01, c10, c11, c20, c21, c30, c31 = counts
    b0 = load_bytes(b, k * COLUMNS)
    b1 = load_bytes(b, k * COLUMNS + BYTE_LANES)
    row0 = load_table(table, a, k)
    row1 = load_table(table, a, stride + k)
    row2 = load_table(table, a, 2 * stride + k)
    row3 = load_table(table, a, 3 * stride + k)
    return (
        c00 + lookup(row0, b0),
        c01 + lookup(row0, b1),
        c10 + lookup(row1, b0),
        c11 + lookup(row1, b1),
        c20 + lookup(row2, b0),
        c21 + lookup(row2, b1),
        c30 + lookup(row3, b0),
        c31 + lookup(row3, b1),
    )


@njit
def _add_tile(
    a: NDArray[np.uint8],
    stride: int,
    b: NDArray[np.uint8],
    table: NDArray[np.uint8],
    start: int,
    stop: int,
    partial: NDArray[np.uint16],
) -> None:
    """Add the products of nibbles start..stop (an even number, at most STEPS) to ``partial``."""
    zero = zero_bytes()
    counts = (zero, zero, zero, zero, zero, zero, zero, zero)
    for k in range(start, stop, 2):  # unrolled by two: 10 % faster than without
        counts = _step(counts, a, stride, b, table, k)
        counts = _step(counts, a, stride, b, table, k + 1)
    c00, c01, c10, c11, c20, c21, c30, c31 = counts
    add_bytes(partial, 0, c00)
    add_bytes(partial, BYTE_LANES, c01)
    add_bytes(partial, 2 * BYTE_LANES, c10)
    add_bytes(partial, 3 * BYTE_LANES, c11)
    add_bytes(partial, 4 * BYTE_LANES, c20)
    add_bytes(partial, 5 * BYTE_LANES, c21)
    add_bytes(partial, 6 * BYTE_LANES, c30)
    add_bytes(partial, 7 * BYTE_LANES, c31)


@njit
def multiply(
    table: NDArray[np.uint8],
    a: NDArray[np.uint8],
    b: NDArray[np.uint8],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add to counts (m, panels * COLUMNS) the sum over n of table[a, b].

    a: (m, n); b: (panels, n, COLUMNS). Tiles wholly below the diagonal
    ``row - column == -diagonal`` or before ``tops`` (panels,) are skipped.
    """
    m, n = a.shape
    partial = np.empty(ROWS * COLUMNS, np.uint16)
    for first in range(0, n, SLAB):
        last = min(first + SLAB, n)
        for panel in range(b.shape[0]):
            columns = flattened(b[panel])
            for i in range(tops[panel] // ROWS * ROWS, m, ROWS):
                if (panel + 1) * COLUMNS <= i + diagonal:
                    break
                rows = flattened(a[i : i + ROWS])
                partial[:] = 0
                for start in range(first, last, STEPS):
                    _add_tile(rows, n, columns, table, start, min(start + STEPS, last), partial)
                for r in range(ROWS):
                    total = counts[i + r, panel * COLUMNS : (panel + 1) * COLUMNS]
                    for k in range(COLUMNS):
                        total[k] += partial[r * COLUMNS + k]
