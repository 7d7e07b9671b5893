"""The "and" product by Four Russians tables, for CPUs without a vector popcount.

The Method of the Four Russians (Arlazarov, Dinic, Kronrod, Faradzev 1970): for a panel of columns,
the 256 sums that eight positions can add to a row are computed once. Every row then adds the entry
of its byte; the byte itself is the index. On AVX2 that is one load and one byte addition per 256
bits. The nibble tables of `lookup` need one lookup and one addition per 128 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.words import transpose_eight
from genobit.engine.gemm.four_russians import (
    COLUMNS,
    ENTRY,
    LANES,
    PLACE_BITS,
    UNITS,
    add_entries,
    add_last,
)
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import prefetch
from genobit.engine.simd.registers import WORD_LANES, bytes_of_bits, load_bytes, zero_bytes
from genobit.engine.simd.vector import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

NIBBLE = 16
STEP = (NIBBLE * NIBBLE + 1) * ENTRY
"""Bytes per table. It is an odd number of cache lines, so equal bytes map to different cache
sets."""
SETS = 2
"""Sets of `UNITS` tables per word."""
WORDS = 18
"""Words per block."""
WORDS_A_BYTE = 3
"""Words whose sums fit a byte: 8 x 24 at most."""
ROWS_AHEAD = 8
LARGEST = 0xFFFF // 64
"""Most words whose sums fit 16 bits."""


@njit
def place_rows(
    words: NDArray[np.uint64], first: int, last: int, places: NDArray[np.uint64]
) -> None:
    """Convert words first..last of words (rows, n) to table offsets, four per word.

    places: (SETS x words, rows).
    """
    rows = words.shape[0]
    half, octets = np.uint64(32), np.uint64(0x00FF00FF00FF00FF)
    for top in range(0, rows, ROWS_AHEAD):
        bottom = min(top + ROWS_AHEAD, rows)
        for i in range(bottom, min(bottom + ROWS_AHEAD, rows)):
            prefetch(words.reshape(-1), i * words.shape[1] + first)
            prefetch(words.reshape(-1), i * words.shape[1] + last - 1)
        for w in range(first, last):
            for i in range(top, bottom):
                word = words[i, w]
                low, high = word & np.uint64(0xFFFFFFFF), word >> half
                low = (low | low << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
                high = (high | high << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
                low = (low | low << np.uint64(8)) & octets
                high = (high | high << np.uint64(8)) & octets
                places[SETS * (w - first), i] = low << PLACE_BITS
                places[SETS * (w - first) + 1, i] = high << PLACE_BITS


@njit
def expand_columns(
    words: NDArray[np.uint64], start: int, first: int, last: int, values: NDArray[np.uint8]
) -> None:
    """Expand words first..last of the rows from ``start`` to values 0 and 255.

    values: (64 x words, COLUMNS). Rows are assigned to lanes in the order that `vector.add_bytes`
    expects.
    """
    half = LANES // 2
    stop = min(start + COLUMNS, words.shape[0])
    block = np.empty(64 * WORD_LANES, np.uint64)
    for left in range(first, last, WORD_LANES):
        width = min(WORD_LANES, last - left)
        block[:] = 0
        for lane in range(COLUMNS):
            within = lane % LANES
            row = start + lane - within + (within >> 1) + (within & 1) * half
            if row < stop:
                for k in range(width):
                    block[lane * WORD_LANES + k] = words[row, left + k]
        transpose_eight(block)
        for k in range(width):
            at = (left - first + k) * 64 * COLUMNS
            for b in range(64):
                bits = block[b * WORD_LANES + k]
                store(values, at + b * COLUMNS, bytes_of_bits(bits))
                store(values, at + b * COLUMNS + LANES, bytes_of_bits(bits >> np.uint64(LANES)))


@njit
def _nibble(values: NDArray[np.uint8], at: int, sums: NDArray[np.uint8]) -> None:
    """Compute the sums of the 16 patterns of four positions: an earlier sum plus one position."""
    for register in range(0, COLUMNS, LANES):
        store(sums, register, zero_bytes())
        for bit in range(4):
            # A byte of 255 is -1.
            one = load_bytes(values, at + bit * COLUMNS + register)
            for k in range(1 << bit):
                earlier = load_bytes(sums, k * ENTRY + register)
                store(sums, (k + (1 << bit)) * ENTRY + register, earlier - one)


@njit
def build_table(
    values: NDArray[np.uint8],
    position: int,
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    tables: NDArray[np.uint8],
    to: int,
) -> None:
    """Write the sums of the 256 patterns of eight positions from ``tables[to]``."""
    _nibble(values, position * COLUMNS, low)
    _nibble(values, (position + 4) * COLUMNS, high)
    for h in range(NIBBLE):
        left, right = load_bytes(high, h * ENTRY), load_bytes(high, h * ENTRY + LANES)
        for k in range(0, NIBBLE * ENTRY, ENTRY):
            store(tables, to + k, left + load_bytes(low, k))
            store(tables, to + k + LANES, right + load_bytes(low, k + LANES))
        to += NIBBLE * ENTRY


@njit
def _move_sums(sums: NDArray[np.uint16], left: int, fresh: bool, counts: NDArray[np.int32]) -> None:
    """Add sums (rows, COLUMNS) of a panel to counts (rows, columns), or write them if ``fresh``."""
    width = min(COLUMNS, counts.shape[1] - left)
    for i in range(sums.shape[0]):
        part, total = sums[i, :width], counts[i, left : left + width]
        if fresh:
            for j in range(width):
                total[j] = np.int32(part[j])
        else:
            for j in range(width):
                total[j] += np.int32(part[j])
    sums[:] = 0


@njit
def multiply(
    a: NDArray[np.uint64], b: NDArray[np.uint64], diagonal: int, counts: NDArray[np.int32]
) -> None:
    """Count positions set in both rows: a (m, n), b (k, n), counts (m, k) =.

    Entries below the diagonal ``row - column == -diagonal`` may stay unwritten.
    """
    m, n = a.shape
    if n == 0:
        counts[:] = 0
    panels = -(-b.shape[0] // COLUMNS)
    values = np.zeros(64 * (WORDS + WORDS_A_BYTE) * COLUMNS, np.uint8)
    tables = np.empty(UNITS * STEP, np.uint8)
    low, high = np.empty(NIBBLE * ENTRY, np.uint8), np.empty(NIBBLE * ENTRY, np.uint8)
    totals = np.empty((m, COLUMNS), np.uint8)
    # With a single block of words, each panel is finished before the next begins.
    kept = panels if n > WORDS else 1
    sums = np.zeros((kept, m, COLUMNS), np.uint16)
    # Rows of a power of two of bytes would all map to the same cache set.
    places = np.zeros((SETS * WORDS, m + WORD_LANES), np.uint64)
    held = 0
    empty = True
    for first in range(0, n, WORDS):
        last = min(first + WORDS, n)
        place_rows(a, first, last, places)
        held += last - first
        for panel in range(panels):
            rows = min(m, (panel + 1) * COLUMNS - diagonal)
            if rows <= 0:
                continue
            expand_columns(b, panel * COLUMNS, first, last, values)
            sets = SETS * (last - first)
            for k in range(sets):
                for unit in range(UNITS):
                    position = 8 * (UNITS * k + unit)
                    build_table(values, position, low, high, tables, unit * STEP)
                line = places[k, :rows]
                fresh = k % (SETS * WORDS_A_BYTE) == 0
                if (k + 1) % (SETS * WORDS_A_BYTE) and k + 1 < sets:
                    add_entries(line, tables, STEP, fresh, totals[:rows])
                else:
                    # Never a fresh start: a word has two sets, and a byte holds three words.
                    add_last(line, tables, STEP, totals[:rows], sums[panel % kept, :rows])
            if last == n or held + WORDS > LARGEST:
                _move_sums(sums[panel % kept, :rows], panel * COLUMNS, empty, counts)
        if held + WORDS > LARGEST:
            held = 0
            empty = False
