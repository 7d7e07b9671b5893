"""Tables of the sums that a few positions can add, and the patterns of rows that index them.

A unit is a few positions; a row has one of a few hundred patterns there. One table serves one unit
and one panel of columns. It holds, in one byte per column, the sum that each pattern adds. A coder
turns the words of a row into places, the byte offsets of its patterns, and the columns of a panel
into tables:

- Bits: eight positions have 256 patterns, and the byte itself is the index. On AVX2 an entry is one
  load and one byte addition per 256 bits; the nibble tables of `lookup` need one lookup and one
  addition per 128 bits.
- Signs: four values in {-1, 0, 1} have 81 patterns. An entry is one load and one byte addition per
  128 products; nibble tables need one lookup and one addition per 64. Entries have a bias of four,
  so totals are unsigned bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.words import transpose_eight
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import prefetch
from genobit.engine.simd.registers import (
    BYTE_LANES,
    WORD_LANES,
    bytes_of_bits,
    load_bytes,
    zero_bytes,
)
from genobit.engine.simd.vector import flattened, store

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = BYTE_LANES
COLUMNS = 2 * LANES
"""Columns of a panel: two registers, so that each table offset is loaded for twice the work."""
ENTRY = COLUMNS
"""Bytes per table entry."""
PLACE_BITS = np.uint64(ENTRY.bit_length() - 1)
"""Shift that turns a pattern's number into the byte offset of its entry."""
UNITS = 4
"""Tables per word of places: four 16-bit offsets."""
assert 2**16 // ENTRY >= 2**8, f"places of entries of {ENTRY} bytes do not fit 16 bits"  # noqa: S101
WORDS = 15
"""Words per block of rows, whose places are computed at a time."""
ROWS_AHEAD = 8
"""Prefetch distance in rows."""
NIBBLE = 16
BIT_TABLE = (NIBBLE * NIBBLE + 1) * ENTRY
"""Bytes per table of bits. It is an odd number of cache lines, so equal bytes map to different
cache sets."""
SIGN_TABLE = 81 * ENTRY
BIASES = np.full(LANES, 4, np.uint8)
"""Bias of an entry: the smallest sum of four signs is -4."""


def _places() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the summand of the offsets of two patterns, for each byte of mask or sign bits.

    Each entry holds two 16-bit numbers, which never borrow from one another.
    """
    digits = np.arange(16)[:, None] >> np.arange(4) & 1
    value = (digits @ 3 ** np.arange(4)).astype(np.uint64)
    octet = np.arange(256)
    pair = np.uint64(ENTRY) * (value[octet & 15] + (value[octet >> 4] << np.uint64(16)))
    return pair + np.uint64(ENTRY * 40 * 0x10001), 2 * pair


MASKS, SIGNS = _places()


@njit
def _sign_pair(mask: np.uint64, sign: np.uint64, octet: int) -> np.uint64:
    """Return the offsets of the two patterns of a byte of a word."""
    shift, low = np.uint64(8 * octet), np.uint64(255)
    return MASKS[np.intp(mask >> shift & low)] - SIGNS[np.intp(sign >> shift & low)]


@njit
def _four_octets(half: np.uint64) -> np.uint64:
    """Return the offsets of the patterns of the four bytes of half a word."""
    half = (half | half << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    half = (half | half << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    return half << PLACE_BITS


@njit
def prefetch_words(plane: NDArray[np.uint64], row: int, first: int) -> None:
    """Prefetch the cache lines of a block of words of a row."""
    flat, at = flattened(plane), row * plane.shape[1] + first
    prefetch(flat, at)
    prefetch(flat, at + WORD_LANES)
    prefetch(flat, at + WORDS - 1)


@njit
def place_rows(
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64] | None,
    first: int,
    last: int,
    places: NDArray[np.uint64],
) -> None:
    """Convert words first..last of rows (rows, n) to places (4 or, of bits, 2 per word, rows).

    Rows are pages apart, so the next few are prefetched.
    """
    rows = mask.shape[0]
    for i in range(rows):
        ahead = min(i + ROWS_AHEAD, rows - 1)
        prefetch_words(mask, ahead, first)
        if sign is not None:
            prefetch_words(sign, ahead, first)
        for k in range(last - first):
            word = mask[i, first + k]
            if sign is None:
                places[2 * k, i] = _four_octets(word & np.uint64(0xFFFFFFFF))
                places[2 * k + 1, i] = _four_octets(word >> np.uint64(32))
            else:
                minus = sign[i, first + k] & word
                for quad in range(4):
                    pair = _sign_pair(word, minus, 2 * quad)
                    pair |= _sign_pair(word, minus, 2 * quad + 1) << np.uint64(32)
                    places[4 * k + quad, i] = pair


@njit
def _read_columns(
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64] | None,
    start: int,
    stop: int,
    left: int,
    width: int,
    block: NDArray[np.uint64],
) -> None:
    """Copy words from ``left`` of up to `LANES` rows to block (64, WORD_LANES): masks, then signs.

    Rows are assigned to lanes in the order that `registers.add_bytes` expects.
    """
    block[:] = 0
    for lane in range(LANES):
        row = start + (lane >> 1) + (lane & 1) * (LANES // 2)
        if row < stop:
            for k in range(width):
                present = mask[row, left + k]
                block[lane * WORD_LANES + k] = present
                if sign is not None:
                    block[(32 + lane) * WORD_LANES + k] = present & sign[row, left + k]


@njit
def expand_columns(
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64] | None,
    start: int,
    first: int,
    last: int,
    values: NDArray[np.uint8],
) -> None:
    """Expand words first..last of the rows from ``start`` to values (64 WORDS, COLUMNS).

    Values are 0 and -1 for bits, or -1, 0 and 1.
    """
    stop = min(start + COLUMNS, mask.shape[0])
    block = np.empty(64 * WORD_LANES, np.uint64)
    for row in range(start, stop):
        prefetch_words(mask, row, first)
        if sign is not None:
            prefetch_words(sign, row, first)
    for register in range(0, COLUMNS, LANES):
        for left in range(first, last, WORD_LANES):
            width = min(WORD_LANES, last - left)
            _read_columns(mask, sign, start + register, stop, left, width, block)
            transpose_eight(block)
            for k in range(width):
                at = (left - first + k) * 64 * COLUMNS + register
                for b in range(64):
                    bits = block[b * WORD_LANES + k]
                    if sign is None:
                        store(values, at + b * COLUMNS, bytes_of_bits(bits))
                    else:
                        minus = bytes_of_bits(bits >> np.uint64(32))
                        value = minus + minus - bytes_of_bits(bits)
                        store(values, at + b * COLUMNS, value)


@njit
def _nibble_sums(values: NDArray[np.uint8], at: int, tables: NDArray[np.uint8], to: int) -> None:
    """Write the sums of the 16 patterns of four positions: an earlier sum plus one position."""
    for register in range(0, COLUMNS, LANES):
        store(tables, to + register, zero_bytes())
        for bit in range(4):
            # A set bit has the value -1.
            one = load_bytes(values, at + bit * COLUMNS + register)
            for k in range(1 << bit):
                earlier = load_bytes(tables, to + k * ENTRY + register)
                store(tables, to + (k + (1 << bit)) * ENTRY + register, earlier - one)


@njit
def build_bit_tables(values: NDArray[np.uint8], at: int, tables: NDArray[np.uint8]) -> None:
    """Write the sums of the patterns of the 32 positions from ``values[at]``.

    tables: `UNITS` tables of 256 patterns, then room for the sums of two nibbles.
    """
    low = UNITS * BIT_TABLE
    high = low + NIBBLE * ENTRY
    for unit in range(UNITS):
        to = unit * BIT_TABLE
        _nibble_sums(values, at + 8 * unit * COLUMNS, tables, low)
        _nibble_sums(values, at + (8 * unit + 4) * COLUMNS, tables, high)
        for h in range(high, high + NIBBLE * ENTRY, ENTRY):
            left, right = load_bytes(tables, h), load_bytes(tables, h + LANES)
            for k in range(0, NIBBLE * ENTRY, ENTRY):
                store(tables, to + k, left + load_bytes(tables, low + k))
                store(tables, to + k + LANES, right + load_bytes(tables, low + k + LANES))
            to += NIBBLE * ENTRY


@njit
def _nine(lowest: Any, x: Any, y: Any) -> Any:
    """Return ``lowest + i x + j y`` for i, j in 0..2; i varies fastest."""
    a, b, c = lowest, lowest + x, lowest + x + x
    d, e, f = a + y, b + y, c + y
    return a, b, c, d, e, f, d + y, e + y, f + y


@njit
def _store_nine(tables: Any, at: int, nine: Any, step: Any) -> Any:
    """Store nine entries from ``tables[at]``; return them plus ``step``."""
    a, b, c, d, e, f, g, h, i = nine
    store(tables, at, a)
    store(tables, at + ENTRY, b)
    store(tables, at + 2 * ENTRY, c)
    store(tables, at + 3 * ENTRY, d)
    store(tables, at + 4 * ENTRY, e)
    store(tables, at + 5 * ENTRY, f)
    store(tables, at + 6 * ENTRY, g)
    store(tables, at + 7 * ENTRY, h)
    store(tables, at + 8 * ENTRY, i)
    first, second = (a + step, b + step, c + step), (d + step, e + step, f + step)
    return *first, *second, g + step, h + step, i + step


@njit
def build_sign_tables(values: NDArray[np.uint8], at: int, tables: NDArray[np.uint8]) -> None:
    """Write the sums of the patterns of the 32 positions from ``values[at]``.

    tables: 2 `UNITS` tables of 81 patterns. Nine sums of the first two positions stay in registers,
    so an entry takes one addition and one store. The store is the bottleneck.
    """
    bias = load_bytes(BIASES, 0)
    for unit in range(2 * UNITS):
        for register in range(0, COLUMNS, LANES):
            source = at + 4 * unit * COLUMNS + register
            x, y = load_bytes(values, source), load_bytes(values, source + COLUMNS)
            z = load_bytes(values, source + 2 * COLUMNS)
            last = load_bytes(values, source + 3 * COLUMNS)
            nine = _nine(bias - x - y - z - last, x, y)
            to = unit * SIGN_TABLE + register
            back = last - z - z
            for _ in range(3):
                nine = _store_nine(tables, to, nine, z)
                nine = _store_nine(tables, to + 9 * ENTRY, nine, z)
                nine = _store_nine(tables, to + 18 * ENTRY, nine, back)
                to += 27 * ENTRY
