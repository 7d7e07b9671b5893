"""The ternary GEMM by tables of sums, for CPUs without a vector popcount: four values an addition.

Four values in {-1, 0, 1} of row i are one of 81 patterns. For a panel of columns the 81 sums that
four positions can add to a row are worked out once (each from an earlier one by one addition), and
every row then adds the entry of its pattern: one load and one byte addition for four products in
each lane, 128 on AVX2, where the nibble tables of `table_gemm` need a lookup and an addition for
64. It is the Method of the Four Russians (Arlazarov, Dinic, Kronrod, Faradzev 1970) in base 3.

Blocks of `WORDS` words of every row are made into patterns. The tables of `GROUPS` patterns and two
registers of columns are 41 KiB, past a first-level cache of 32 KiB, yet in C on a Zen 3 at 3.2 GHz
the rows' loop then does 530 to 590 G products/s, as patterns are drawn evenly or some are common,
against 480 to 500 of four patterns (20 KiB), 510 to 540 of six, 470 to 490 of eight for one
register, and 380 to 440 of three values to a pattern. It loads 1.4 registers a cycle of the two
that the core could. Building the tables is a fifth of the time at 500 rows. Entries are biased by
four, so that a total is a byte without sign: at most 8 x 24 after `SETS` tables, when it moves to
16 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.words import transpose_eight
from genobit.engine.gemm.four_russians import COLUMNS, ENTRY, LANES
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import prefetch
from genobit.engine.simd.vector import (
    WORD_LANES,
    add_bytes,
    bytes_of_bits,
    load_bytes,
    load_octets,
    next_16,
    store_bytes,
    zero_bytes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATTERNS = 81
GROUPS = 8
"""Patterns that one set of tables is for: two words of places."""
SETS = 3
"""Sets of tables whose sums a byte holds."""
WORDS = 15
"""Words of a block: 240 patterns, 30 sets."""
AHEAD = 8
"""Rows for whose words to ask ahead."""
BIAS = 4
BIASES = np.full(LANES, BIAS, np.uint8)
TABLE = PATTERNS * ENTRY


def _places() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Of a byte of mask or sign bits: what it adds to the places of its two patterns' entries.

    Two 16-bit numbers each, which never borrow from one another.
    """
    digits = np.arange(16)[:, None] >> np.arange(4) & 1
    value = (digits @ 3 ** np.arange(4)).astype(np.uint64)
    octet = np.arange(256)
    pair = np.uint64(ENTRY) * (value[octet & 15] + (value[octet >> 4] << np.uint64(16)))
    return pair + np.uint64(ENTRY * 40 * 0x10001), 2 * pair


MASKS, SIGNS = _places()


@njit
def _pair(mask: np.uint64, sign: np.uint64, octet: int) -> np.uint64:
    """Places of the two patterns of a byte of a word."""
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
    """Bytes of mask and sign from ``at`` -> places of row i, four to a word, for every set."""
    half = np.uint64(32)
    for k in range(patterns.shape[0]):
        m = load_octets(mask, at + GROUPS // 2 * k)
        s = load_octets(sign, at + GROUPS // 2 * k) & m
        for quad in range(GROUPS // 4):
            patterns[k, i, quad] = _pair(m, s, 2 * quad) | _pair(m, s, 2 * quad + 1) << half


@njit
def _prefetch_words(plane: NDArray[np.uint64], at: int) -> None:
    """Ask for the lines of the words of a block."""
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
    """Words first..last of mask and sign (rows, n) -> patterns (sets, rows, GROUPS / 4).

    Places of entries, 16 bits each, for every four positions. Pattern 40, four zeros, stands where
    the words end.
    """
    n = mask.shape[1]
    if last - first == WORDS and last < n:
        # A load of eight bytes may end in the next word.
        masks, signs = mask.reshape(-1).view(np.uint8), sign.reshape(-1).view(np.uint8)
        for i in range(patterns.shape[1]):
            # Rows are pages apart: ask for them before they are needed.
            ahead = min(i + AHEAD, patterns.shape[1] - 1) * n + first
            _prefetch_words(mask, ahead)
            _prefetch_words(sign, ahead)
            _index_row(masks, signs, 8 * (i * n + first), i, patterns)
        return
    line = np.zeros((2, WORDS + 1), np.uint64)
    octets = line.view(np.uint8)
    for i in range(patterns.shape[1]):
        # One by one: numba compiles an assignment of slices with the text of its error, for 3 s.
        for w in range(last - first):
            line[0, w], line[1, w] = mask[i, first + w], sign[i, first + w]
        _index_row(octets[0], octets[1], 0, i, patterns)


@njit
def _move_sums(sums: NDArray[np.uint16], bias: int, counts: NDArray[np.int32]) -> None:
    """Sums (panels, rows x COLUMNS) less their bias move to counts (rows, columns)."""
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
    """Words first..last of the rows from ``start`` -> values (64 WORDS, COLUMNS), bytes -1, 0, 1.

    Rows are dealt to the lanes as `simd.add_bytes` collects them.
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
                    store_bytes(values, at + b * COLUMNS, minus + minus - bytes_of_bits(both))
    values[(last - first) * 64 * COLUMNS :] = 0


@njit
def _nine(lowest: Any, x: Any, y: Any) -> Any:
    """``lowest + i x + j y`` for i, j in 0..2, i first."""
    a, b, c = lowest, lowest + x, lowest + x + x
    d, e, f = a + y, b + y, c + y
    return a, b, c, d, e, f, d + y, e + y, f + y


@njit
def _store_nine(tables: Any, at: int, nine: Any, step: Any) -> Any:
    """Nine entries from ``tables[at]``, and the nine one step on."""
    a, b, c, d, e, f, g, h, i = nine
    store_bytes(tables, at, a)
    store_bytes(tables, at + ENTRY, b)
    store_bytes(tables, at + 2 * ENTRY, c)
    store_bytes(tables, at + 3 * ENTRY, d)
    store_bytes(tables, at + 4 * ENTRY, e)
    store_bytes(tables, at + 5 * ENTRY, f)
    store_bytes(tables, at + 6 * ENTRY, g)
    store_bytes(tables, at + 7 * ENTRY, h)
    store_bytes(tables, at + 8 * ENTRY, i)
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
    """Sums of all patterns of the positions from ``position``: tables (GROUPS, PATTERNS, ENTRY).

    Nine sums of the first two positions stay in registers, so that an entry is an addition and a
    store: the store is the limit.
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
    """Add to both registers the entries of the patterns from ``patterns[at]``."""
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
        store_bytes(totals, i * COLUMNS, left)
        store_bytes(totals, i * COLUMNS + LANES, right)


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
        store_bytes(totals, at, left)
        store_bytes(totals, at + LANES, right)


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
    """Sums of products of values in {-1, 0, 1}: a_* (m, n), b_* (k, n), counts (m, k) +=.

    Entries below the diagonal ``row - column == -diagonal`` may be left alone.
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
        # An entry is at most twice its bias.
        if last == n or 2 * (bias + BIAS * 16 * WORDS) > 0xFFFF:
            _move_sums(sums, bias, counts)
            bias = 0
