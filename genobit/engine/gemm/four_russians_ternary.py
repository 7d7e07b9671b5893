"""The ternary product by Four Russians tables, for CPUs without a vector popcount.

Four values in {-1, 0, 1} of row i have one of 81 patterns. For a panel of columns, the 81 sums that
four positions can add to a row are computed once, each from an earlier one by one addition. Every
row then adds the entry of its pattern. On AVX2 that is one load and one byte addition per 128
products. The nibble tables of `lookup` need one lookup and one addition per 64. This is the Method
of the Four Russians (Arlazarov, Dinic, Kronrod, Faradzev 1970) in base 3.

`WORDS` words of every row are converted to patterns at a time. Entries have a bias of four, so
totals are unsigned bytes: at most 8 x 24 after `SETS` sets of tables. Totals are then added to
16-bit sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.words import transpose_eight
from genobit.engine.gemm.four_russians import COLUMNS, ENTRY, LANES
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import prefetch
from genobit.engine.simd.registers import (
    WORD_LANES,
    add_bytes,
    bytes_of_bits,
    load_bytes,
    load_octets,
    next_16,
    zero_bytes,
)
from genobit.engine.simd.vector import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATTERNS = 81
GROUPS = 8
"""Patterns per set of tables: two words of offsets. The tables take 41 KiB for two registers of
columns, more than a first-level cache of 32 KiB, but were fastest. G products/s of the row loop
in C on a Zen 3 at 3.2 GHz: 530 to 590, depending on how common some patterns are; four patterns
(20 KiB) 480 to 500; six 510 to 540; eight with one register 470 to 490; three values per pattern
380 to 440. The loop loads 1.4 registers per cycle; the core can load two. At 500 rows a fifth of
the time is spent on building tables."""
SETS = 3
"""Sets of tables whose sums fit a byte."""
WORDS = 15
"""Words per block: 240 patterns, 30 sets."""
AHEAD = 8
"""Prefetch distance in rows."""
BIAS = 4
"""Bias of an entry: the smallest sum of four values is -4."""
BIASES = np.full(LANES, BIAS, np.uint8)
TABLE = PATTERNS * ENTRY


def _places() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return what a byte of mask bits, or of sign bits, adds to the offsets of its two patterns.

    Each entry holds two 16-bit numbers, which never borrow from one another.
    """
    digits = np.arange(16)[:, None] >> np.arange(4) & 1
    value = (digits @ 3 ** np.arange(4)).astype(np.uint64)
    octet = np.arange(256)
    pair = np.uint64(ENTRY) * (value[octet & 15] + (value[octet >> 4] << np.uint64(16)))
    return pair + np.uint64(ENTRY * 40 * 0x10001), 2 * pair


MASKS, SIGNS = _places()


@njit
def _pair(mask: np.uint64, sign: np.uint64, octet: int) -> np.uint64:
    """Return the offsets of the two patterns of a byte of a word."""
    shift, low = np.uint64(8 * octet), np.uint64(255)
    return MASKS[np.intp(mask >> shift & low)] - SIGNS[np.intp(sign >> shift & low)]


@njit
def _index_row(
    mask: NDArray[np.uint8],
    sign: NDArray[np.uint8],
    at: int,
    i: int,
    patterns: NDArray[np.uint64],
) -> None:
    """Write the offsets of row i from the bytes of mask and sign from ``at``, four per word."""
    half = np.uint64(32)
    for k in range(patterns.shape[0]):
        m = load_octets(mask, at + GROUPS // 2 * k)
        s = load_octets(sign, at + GROUPS // 2 * k) & m
        for quad in range(GROUPS // 4):
            patterns[k, i, quad] = _pair(m, s, 2 * quad) | _pair(m, s, 2 * quad + 1) << half


@njit
def _prefetch_words(plane: NDArray[np.uint64], at: int) -> None:
    """Prefetch the cache lines of the words of a block."""
    flat = plane.reshape(-1)
    prefetch(flat, at)
    prefetch(flat, at + 8)
    prefetch(flat, at + WORDS - 1)


@njit
def index_rows(
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
    first: int,
    last: int,
    patterns: NDArray[np.uint64],
) -> None:
    """Convert words first..last of mask and sign (rows, n) to patterns (sets, rows, GROUPS / 4).

    Patterns are 16-bit table offsets, one per four positions. Pattern 40 (four zeros) pads the end.
    """
    n = mask.shape[1]
    if last - first == WORDS and last < n:
        # A load of eight bytes may extend into the next word.
        masks, signs = mask.reshape(-1).view(np.uint8), sign.reshape(-1).view(np.uint8)
        for i in range(patterns.shape[1]):
            # Rows are pages apart, so prefetch them.
            ahead = min(i + AHEAD, patterns.shape[1] - 1) * n + first
            _prefetch_words(mask, ahead)
            _prefetch_words(sign, ahead)
            _index_row(masks, signs, 8 * (i * n + first), i, patterns)
        return
    line = np.zeros((2, WORDS + 1), np.uint64)
    octets = line.view(np.uint8)
    for i in range(patterns.shape[1]):
        # Copy in a loop: numba takes 3 s to compile a slice assignment, because of its error
        # message.
        for w in range(last - first):
            line[0, w], line[1, w] = mask[i, first + w], sign[i, first + w]
        _index_row(octets[0], octets[1], 0, i, patterns)


@njit
def _move_sums(sums: NDArray[np.uint16], bias: int, counts: NDArray[np.int32]) -> None:
    """Add sums (panels, rows x COLUMNS), less their bias, to counts (rows, columns)."""
    for panel in range(sums.shape[0]):
        start = panel * COLUMNS
        width = min(COLUMNS, counts.shape[1] - start)
        for i in range(counts.shape[0]):
            part = sums[panel, i * COLUMNS : i * COLUMNS + width]
            total = counts[i, start : start + width]
            for j in range(width):
                total[j] += np.int32(part[j]) - np.int32(bias)
    sums[:] = 0


@njit
def expand_columns(
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
    start: int,
    first: int,
    last: int,
    values: NDArray[np.uint8],
) -> None:
    """Expand words first..last of the rows from ``start`` to values (64 WORDS, COLUMNS): -1, 0, 1.

    Rows are assigned to lanes in the order that `vector.add_bytes` expects.
    """
    half = LANES // 2
    stop = min(start + COLUMNS, mask.shape[0])
    block = np.empty(64 * WORD_LANES, np.uint64)
    for row in range(start, stop):
        _prefetch_words(mask, row * mask.shape[1] + first)
        _prefetch_words(sign, row * mask.shape[1] + first)
    for register in range(0, COLUMNS, LANES):
        for left in range(first, last, WORD_LANES):
            width = min(WORD_LANES, last - left)
            block[:] = 0
            for lane in range(LANES):
                row = start + register + (lane >> 1) + (lane & 1) * half
                if row < stop:
                    for k in range(width):
                        present = mask[row, left + k]
                        block[lane * WORD_LANES + k] = present
                        block[(32 + lane) * WORD_LANES + k] = present & sign[row, left + k]
            transpose_eight(block)
            for k in range(width):
                at = (left - first + k) * 64 * COLUMNS + register
                for b in range(64):
                    both = block[b * WORD_LANES + k]
                    minus = bytes_of_bits(both >> np.uint64(32))
                    store(values, at + b * COLUMNS, minus + minus - bytes_of_bits(both))
    values[(last - first) * 64 * COLUMNS :] = 0


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
    return (
        a + step,
        b + step,
        c + step,
        d + step,
        e + step,
        f + step,
        g + step,
        h + step,
        i + step,
    )


@njit
def build_tables(values: NDArray[np.uint8], position: int, tables: NDArray[np.uint8]) -> None:
    """Write the sums of all patterns of the positions from ``position``.

    tables: (GROUPS, PATTERNS, ENTRY). Nine sums of the first two positions stay in registers, so an
    entry takes one addition and one store. The store is the bottleneck.
    """
    bias = load_bytes(BIASES, 0)
    for group in range(GROUPS):
        for register in range(0, COLUMNS, LANES):
            source = (position + 4 * group) * COLUMNS + register
            x, y = load_bytes(values, source), load_bytes(values, source + COLUMNS)
            z = load_bytes(values, source + 2 * COLUMNS)
            last = load_bytes(values, source + 3 * COLUMNS)
            nine = _nine(bias - x - y - z - last, x, y)
            at = group * TABLE + register
            back = last - z - z
            for _ in range(3):
                nine = _store_nine(tables, at, nine, z)
                nine = _store_nine(tables, at + 9 * ENTRY, nine, z)
                nine = _store_nine(tables, at + 18 * ENTRY, nine, back)
                at += 27 * ENTRY


@njit
def _added(left: Any, right: Any, patterns: Any, at: int, tables: Any) -> tuple[Any, Any]:
    """Add the entries of the patterns from ``patterns[at]`` to both registers."""
    low = np.uint64(0xFFFF)
    for quad in range(GROUPS // 4):
        offsets = load_octets(patterns, at + 4 * quad)
        for k in range(4):
            place = np.intp(offsets & low) + (4 * quad + k) * TABLE
            left = left + load_bytes(tables, place)
            right = right + load_bytes(tables, place + LANES)
            offsets = next_16(offsets)
    return left, right


@njit
def _add_first(
    patterns: NDArray[np.uint16],
    start: int,
    tables: NDArray[np.uint8],
    totals: NDArray[np.uint8],
    rows: int,
) -> None:
    for i in range(rows):
        zero = zero_bytes()
        left, right = _added(zero, zero, patterns, start + GROUPS * i, tables)
        store(totals, i * COLUMNS, left)
        store(totals, i * COLUMNS + LANES, right)


@njit
def _add_next(
    patterns: NDArray[np.uint16],
    start: int,
    tables: NDArray[np.uint8],
    totals: NDArray[np.uint8],
    rows: int,
) -> None:
    for i in range(rows):
        at = i * COLUMNS
        left, right = load_bytes(totals, at), load_bytes(totals, at + LANES)
        left, right = _added(left, right, patterns, start + GROUPS * i, tables)
        store(totals, at, left)
        store(totals, at + LANES, right)


@njit
def _add_last(
    patterns: NDArray[np.uint16],
    start: int,
    tables: NDArray[np.uint8],
    totals: NDArray[np.uint8],
    rows: int,
    sums: NDArray[np.uint16],
) -> None:
    for i in range(rows):
        at = i * COLUMNS
        left, right = load_bytes(totals, at), load_bytes(totals, at + LANES)
        left, right = _added(left, right, patterns, start + GROUPS * i, tables)
        add_bytes(sums, at, left)
        add_bytes(sums, at + LANES, right)


@njit
def multiply(
    a_mask: NDArray[np.uint64],
    a_sign: NDArray[np.uint64],
    b_mask: NDArray[np.uint64],
    b_sign: NDArray[np.uint64],
    diagonal: int,
    counts: NDArray[np.int32],
) -> None:
    """Sum the products of values in {-1, 0, 1}: a_* (m, n), b_* (k, n), counts (m, k) +=.

    Entries below the diagonal ``row - column == -diagonal`` may stay unwritten.
    """
    m, n = a_mask.shape
    values = np.empty(64 * WORDS * COLUMNS, np.uint8)
    tables = np.empty(GROUPS * TABLE, np.uint8)
    totals = np.empty(m * COLUMNS, np.uint8)
    sums = np.zeros((-(-b_mask.shape[0] // COLUMNS), m * COLUMNS), np.uint16)
    line = GROUPS * m
    quads = np.empty(16 * WORDS // GROUPS * line // 4, np.uint64)
    patterns = quads.view(np.uint16)
    bias = 0
    for first in range(0, n, WORDS):
        last = min(first + WORDS, n)
        part = SETS * GROUPS
        sets = (16 * (last - first) + part - 1) // part * SETS
        of_sets = quads[: sets * line // 4].reshape((sets, m, GROUPS // 4))
        index_rows(a_mask, a_sign, first, last, of_sets)
        for panel in range(sums.shape[0]):
            rows = min(m, (panel + 1) * COLUMNS - diagonal)
            if rows <= 0:
                continue
            expand_columns(b_mask, b_sign, panel * COLUMNS, first, last, values)
            for k in range(sets):
                build_tables(values, 4 * GROUPS * k, tables)
                if k % SETS == 0:
                    _add_first(patterns, line * k, tables, totals, rows)
                elif k % SETS < SETS - 1:
                    _add_next(patterns, line * k, tables, totals, rows)
                else:
                    _add_last(patterns, line * k, tables, totals, rows, sums[panel])
        bias += BIAS * GROUPS * sets
        # An entry is at most 2 x BIAS, so the sums are at most twice their bias.
        if last == n or 2 * (bias + BIAS * 16 * WORDS) > 0xFFFF:
            _move_sums(sums, bias, counts)
            bias = 0
