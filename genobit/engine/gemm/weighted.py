"""Sums of products of arbitrary values of calls, by Four Russians tables of three calls.

A call has one of four states (`dequantise.STATES`), each with a value per variant, for example
``(g - 2p) / sqrt(2pq)`` for dosage g and 0 for a missing call. As in `four_russians`, the
64 sums that three calls of a row can add are computed once for a panel of columns. Every row then
adds the entry of its pattern. On AVX2 that is one load and one float32 addition per 24 products;
BLAS needs a multiplication and an addition per eight. Missing calls and weights cost nothing extra.

Sums are float32 within a block of `WORDS` words (1,024 variants) and float64 across blocks. The
relative error of a block's sum is about 2e-7, and such errors average out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import transpose_eight
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    FLOAT_LANES,
    WORD_LANES,
    broadcast_float,
    load_floats,
    load_octets,
    next_16,
)
from genobit.engine.simd.vector import choose, flattened, store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows

COLUMNS = 2 * FLOAT_LANES
"""Columns of a panel: two registers."""
GROUPS = 11
"""Patterns per set of tables, 45 KiB: half a word. The last pattern has one call."""
LINE = 12
PATTERNS = 64
ENTRY = COLUMNS
"""Numbers per table entry."""
TABLE = PATTERNS * ENTRY
WORDS = 16
"""Words per block."""


@njit
def index_rows(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    first: int,
    last: int,
    patterns: NDArray[np.uint16],
) -> None:
    """Convert words first..last of planes (rows, n) to patterns (2 sets per word, rows, LINE).

    A state has two bits. A pattern is the table offset of three calls: three low bits, then three
    high.
    """
    seven = np.uint64(7)
    for i in range(patterns.shape[1]):
        for w in range(first, last):
            high = carrier[i, w]
            low = called[i, w] ^ high ^ hom_alt[i, w]
            for part in range(2):
                line = patterns[2 * (w - first) + part, i]
                for group in range(GROUPS):
                    both = (low & seven) | (high & seven) << np.uint64(3)
                    line[group] = both * np.uint64(ENTRY)
                    low >>= np.uint64(3)
                    high >>= np.uint64(3)


@njit
def expand_columns(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    start: int,
    first: int,
    last: int,
    values: NDArray[np.float32],
    panel: NDArray[np.float32],
) -> None:
    """Expand words first..last of the rows from ``start`` to values, panel (66 WORDS, COLUMNS).

    Two zero positions follow each word, so a word has 22 groups of three.
    """
    stop = min(start + COLUMNS, carrier.shape[0])
    block = np.empty(64 * WORD_LANES, np.uint64)
    shift = np.uint64(COLUMNS)
    for left in range(first, last, WORD_LANES):
        width = min(WORD_LANES, last - left)
        block[:] = 0
        for row in range(start, stop):
            for k in range(width):
                at = (row - start) * WORD_LANES + k
                block[at] = carrier[row, left + k]
                block[at + COLUMNS * WORD_LANES] = hom_alt[row, left + k]
                block[at + 2 * COLUMNS * WORD_LANES] = called[row, left + k]
        transpose_eight(block)
        for k in range(width):
            at = (left - first + k) * 66 * COLUMNS
            for b in range(64):
                carriers = block[b * WORD_LANES + k]
                variant = (left + k) * 64 + b
                for register in range(0, COLUMNS, FLOAT_LANES):
                    bits = carriers >> np.uint64(register)
                    value = broadcast_float(values[variant, 0])
                    value = choose(
                        bits >> (shift + shift), broadcast_float(values[variant, 1]), value
                    )
                    value = choose(bits, broadcast_float(values[variant, 2]), value)
                    value = choose(bits >> shift, broadcast_float(values[variant, 3]), value)
                    store(panel, at + b * COLUMNS + register, value)
            panel[at + 64 * COLUMNS : at + 66 * COLUMNS] = 0


@njit
def build_tables(
    panel: NDArray[np.float32],
    values: NDArray[np.float32],
    variant: int,
    position: int,
    tables: NDArray[np.float32],
) -> None:
    """Write the sums of all patterns of the positions from ``position``.

    ``variant`` is the variant at ``position``. panel: the columns' values; tables: (GROUPS,
    PATTERNS, ENTRY).
    """
    for group in range(GROUPS):
        for register in range(0, COLUMNS, FLOAT_LANES):
            source = (position + 3 * group) * COLUMNS + register
            x, y = load_floats(panel, source), load_floats(panel, source + COLUMNS)
            z = load_floats(panel, source + 2 * COLUMNS)
            k = variant + 3 * group
            base = group * TABLE + register
            z0, z1 = z * broadcast_float(values[k + 2, 0]), z * broadcast_float(values[k + 2, 1])
            z2, z3 = z * broadcast_float(values[k + 2, 2]), z * broadcast_float(values[k + 2, 3])
            for j in range(4):
                second = y * broadcast_float(values[k + 1, j])
                for i in range(4):
                    sum_ = second + x * broadcast_float(values[k, i])
                    low = (i & 1) | (j & 1) << 1
                    high = (i >> 1) << 3 | (j >> 1) << 4
                    at = base + (low | high) * ENTRY
                    store(tables, at, sum_ + z0)
                    store(tables, at + 4 * ENTRY, sum_ + z1)
                    store(tables, at + 32 * ENTRY, sum_ + z2)
                    store(tables, at + 36 * ENTRY, sum_ + z3)


@njit
def _add_entries(
    patterns: NDArray[np.uint16],
    start: int,
    tables: NDArray[np.float32],
    totals: NDArray[np.float32],
    rows: int,
) -> None:
    """Add to each row's totals the entries of its patterns."""
    low = np.uint64(0xFFFF)
    for i in range(rows):
        left = load_floats(totals, i * COLUMNS)
        right = load_floats(totals, i * COLUMNS + FLOAT_LANES)
        for quad in range(LINE // 4):
            offsets = load_octets(patterns, start + LINE * i + 4 * quad)
            for k in range(4):
                group = 4 * quad + k
                if group < GROUPS:
                    place = np.intp(offsets & low) + group * TABLE
                    left = left + load_floats(tables, place)
                    right = right + load_floats(tables, place + FLOAT_LANES)
                    offsets = next_16(offsets)
        store(totals, i * COLUMNS, left)
        store(totals, i * COLUMNS + FLOAT_LANES, right)


@njit
def _move_totals(
    totals: NDArray[np.float32], rows: int, start: int, out: NDArray[np.float64]
) -> None:
    """Add totals (rows x COLUMNS) to the columns of ``out`` from ``start``."""
    width = min(COLUMNS, out.shape[1] - start)
    for i in range(rows):
        part = totals[i * COLUMNS : i * COLUMNS + width]
        row = out[i, start : start + width]
        for j in range(width):
            row[j] += part[j]


@njit
def _multiply(
    a_carrier: NDArray[np.uint64],
    a_hom_alt: NDArray[np.uint64],
    a_called: NDArray[np.uint64],
    b_carrier: NDArray[np.uint64],
    b_hom_alt: NDArray[np.uint64],
    b_called: NDArray[np.uint64],
    values: NDArray[np.float32],
    upper: bool,
    out: NDArray[np.float64],
) -> None:
    """Add sums of products to out (m, k); a_* (m, n), b_* (k, n), values (64 n + 66, 4)."""
    m, n = a_carrier.shape
    panel = np.empty(66 * WORDS * COLUMNS, np.float32)
    tables = np.empty(GROUPS * TABLE, np.float32)
    totals = np.empty(m * COLUMNS, np.float32)
    patterns = np.zeros((2 * WORDS, m, LINE), np.uint16)
    flat = flattened(patterns)
    for first in range(0, n, WORDS):
        last = min(first + WORDS, n)
        index_rows(a_carrier, a_hom_alt, a_called, first, last, patterns)
        for start in range(0, b_carrier.shape[0], COLUMNS):
            rows = min(m, start + COLUMNS) if upper else m
            expand_columns(b_carrier, b_hom_alt, b_called, start, first, last, values, panel)
            totals[: rows * COLUMNS] = 0
            for k in range(2 * (last - first)):
                w, half = k >> 1, 33 * (k & 1)
                variant = (first + w) * 64 + half
                build_tables(panel, values, variant, 66 * w + half, tables)
                _add_entries(flat, k * m * LINE, tables, totals, rows)
            _move_totals(totals, rows, start, out)


def add_products(
    a: PlaneRows,
    b: PlaneRows | None,
    values: NDArray[np.float32],
    out: NDArray[np.float64],
) -> None:
    """Add the sums of products of the values of two rows' calls to out (rows of a, rows of b).

    a, b: planes of dosages; values: float32 (variants, 4) in the order of `dequantise.STATES`.
    Without ``b``, ``a`` is multiplied with itself, and entries with ``row > column`` are undefined.
    """
    padded = np.zeros((64 * a.planes[0].shape[1] + 66, 4), np.float32)
    padded[: len(values)] = values
    other = a if b is None else b
    (left, left_two), (right, right_two) = a.planes, other.planes
    upper = b is None
    _multiply(
        left, left_two, a.call_mask(), right, right_two, other.call_mask(), padded, upper, out
    )


def gram(
    chunks: Sequence[tuple[PlaneRows, PlaneRows | None, NDArray[np.float32]]],
) -> NDArray[np.float64]:
    """Sum the products of all pairs over chunks (a, b, values): (rows of a, rows of b).

    If b is None, a is multiplied with itself, and both halves are filled.
    """
    a, b, _ = chunks[0]
    out = np.zeros((a.planes[0].shape[0], (a if b is None else b).planes[0].shape[0]))
    for left, right, values in chunks:
        add_products(left, right, values, out)
    if b is None:
        mirror(out, 0, 0, out)
    return out
