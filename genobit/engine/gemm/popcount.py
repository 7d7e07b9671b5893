"""Products by vector popcount, for CPUs with AVX-512 VPOPCNTDQ.

A tile of 2 rows x 4 registers of 8 columns keeps 16 accumulators: parities and carries
(`carry_save`). A word of A is broadcast and a lane is a row of B, so there is no horizontal sum.
The code is correct on every host, because LLVM splits the registers.

Layout: rows are the words themselves. For "and", a column panel holds for each word one word of
each of ``COLUMNS`` rows of B. For "ternary", it holds the mask words and then the sign words of
``TERNARY_COLUMNS`` rows. For 16-bit counts, adjacent rows of a panel go to different registers. The
four counts of a lane, shifted into one word, are then in order. This takes 0.96 of the time at 8
words per row and 0.98 at 16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.gemm.carry_save import add_one, add_two, bits_in, no_bits
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_left, transpose_square
from genobit.engine.simd.registers import WORD_LANES, broadcast, load_words, zero_words
from genobit.engine.simd.vector import add_to, flattened, lanes_of, popcount, store

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

ROWS = 2
"""Rows of a tile. Speed relative to the register limit of and + popcount + add, on Emerald
Rapids: 0.99 at 16 words per row, 1.04 at 32, 1.08 from 80. Tiles of 4 rows with one popcount per
word reached 0.91 to 0.93."""
REGISTERS = 4
COLUMNS = REGISTERS * WORD_LANES
TERNARY_ROWS = 2
TERNARY_COLUMNS = 3 * WORD_LANES
# A column panel of 640 words is 160 KiB, or 240 KiB for "ternary": at most a quarter of the 1 MiB
# L2 cache of CPUs with this instruction.
SLAB = 640


def dealt(kind: DTypeLike) -> int:
    """Return how many adjacent columns go to different registers; see `pack_columns`."""
    return REGISTERS if np.dtype(kind).itemsize == 2 else 1


@njit
def pack_columns(dealt: int, words: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Transpose words (rows, n) by panel into out (panels, n, columns).

    Rows past the end are zero. Each of ``dealt`` adjacent rows goes to another register. ``dealt``
    is 1, or the number of registers of a panel.
    """
    rows, n = words.shape
    panels, _, columns = out.shape
    lanes = columns // dealt
    source, target = flattened(words), flattened(out)
    for at in range(0, panels * columns, WORD_LANES):
        panel, column = divmod(at, columns)
        part, lane = divmod(column, lanes)
        first = panel * columns + lane * dealt + part
        left = panel * n * columns + column
        if n >= WORD_LANES and first + (WORD_LANES - 1) * dealt < rows:
            for w in range(0, n, WORD_LANES):
                # The last eight words overlap those before.
                word = min(w, n - WORD_LANES)
                start, to = first * n + word, left + word * columns
                transpose_square(source, start, dealt * n, target, to, columns)
            continue
        for k in range(n * WORD_LANES):
            w, lane = divmod(k, WORD_LANES)
            row = first + lane * dealt
            target[left + w * columns + lane] = words[row, w] if row < rows else np.uint64(0)


@njit
def _and_row(sums: tuple[Any, ...], word: Any, b: tuple[Any, ...]) -> tuple[Any, ...]:
    row = broadcast(word)
    return (
        add_one(sums[0], row, b[0]),
        add_one(sums[1], row, b[1]),
        add_one(sums[2], row, b[2]),
        add_one(sums[3], row, b[3]),
    )


@njit
def _and_two(
    sums: tuple[Any, ...], word: Any, next_word: Any, b: tuple[Any, ...], next_b: tuple[Any, ...]
) -> tuple[Any, ...]:
    row, next_row = broadcast(word), broadcast(next_word)
    return (
        add_two(sums[0], row, b[0], next_row, next_b[0]),
        add_two(sums[1], row, b[1], next_row, next_b[1]),
        add_two(sums[2], row, b[2], next_row, next_b[2]),
        add_two(sums[3], row, b[3], next_row, next_b[3]),
    )


@njit
def _bits_of_row(sums: tuple[Any, ...]) -> tuple[Any, ...]:
    return bits_in(sums[0]), bits_in(sums[1]), bits_in(sums[2]), bits_in(sums[3])


@njit
def _load_columns(b: NDArray[np.uint64], w: int) -> tuple[Any, ...]:
    first = w * COLUMNS
    return (
        load_words(b, first),
        load_words(b, first + WORD_LANES),
        load_words(b, first + 2 * WORD_LANES),
        load_words(b, first + 3 * WORD_LANES),
    )


@njit
def _write_narrow(counts: NDArray[Any], first: int, row: tuple[Any, ...]) -> None:
    """Write 16-bit counts: the four counts of a lane form one word."""
    low = row[0] | shift_left(row[1], np.uint64(16))
    high = row[2] | shift_left(row[3], np.uint64(16))
    store(counts, first, lanes_of(counts, low | shift_left(high, np.uint64(32))))


@njit
def _write_row(counts: NDArray[Any], first: int, row: tuple[Any, ...]) -> None:
    store(counts, first, row[0])
    store(counts, first + WORD_LANES, row[1])
    store(counts, first + 2 * WORD_LANES, row[2])
    store(counts, first + 3 * WORD_LANES, row[3])


@njit
def _add_row(counts: NDArray[Any], first: int, row: tuple[Any, ...]) -> None:
    add_to(counts, first, row[0])
    add_to(counts, first + WORD_LANES, row[1])
    add_to(counts, first + 2 * WORD_LANES, row[2])
    add_to(counts, first + 3 * WORD_LANES, row[3])


@njit
def multiply_and(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[Any],
) -> None:
    """Write popcount(a & b) over n to counts (m, panels * COLUMNS).

    a: (m, n); b: (panels, n, COLUMNS). Counts are int32, or int16 for at most 2**15 - 1 bits with
    dealt columns. Rows before ``tops`` (panels,) and rows below the diagonal are undefined.
    """
    m, n = a.shape
    if n == 0:
        counts[:] = 0
    width = counts.shape[1]
    flat = flattened(counts)
    for first in range(0, n, SLAB):
        last = min(first + SLAB, n)
        for panel in range(b.shape[0]):
            columns = flattened(b[panel])
            for i in range(tops[panel] // ROWS * ROWS, m, ROWS):
                if (panel + 1) * COLUMNS <= i + diagonal:
                    break
                none = no_bits()
                s0 = s1 = (none, none, none, none)
                for w in range(first, last - 1, 2):
                    loaded, following = _load_columns(columns, w), _load_columns(columns, w + 1)
                    word, next_word = np.uint64(w), np.uint64(w + 1)
                    s0 = _and_two(s0, a[i, word], a[i, next_word], loaded, following)
                    s1 = _and_two(s1, a[i + 1, word], a[i + 1, next_word], loaded, following)
                if (last - first) & 1:
                    loaded, word = _load_columns(columns, last - 1), np.uint64(last - 1)
                    s0, s1 = _and_row(s0, a[i, word], loaded), _and_row(s1, a[i + 1, word], loaded)
                r0, r1 = _bits_of_row(s0), _bits_of_row(s1)
                corner = i * width + panel * COLUMNS
                if counts.itemsize == 2:
                    _write_narrow(flat, corner, r0)
                    _write_narrow(flat, corner + width, r1)
                elif first:
                    _add_row(flat, corner, r0)
                    _add_row(flat, corner + width, r1)
                else:
                    _write_row(flat, corner, r0)
                    _write_row(flat, corner + width, r1)


@njit
def _ternary(both: Any, differ: Any, mask: Any, sign: Any, b_mask: Any, b_sign: Any) -> Any:
    """Count the positions present in both, and those among them whose signs differ."""
    present = mask & b_mask
    return both + popcount(present), differ + popcount(present & (sign ^ b_sign))


@njit
def multiply_ternary(
    a_mask: NDArray[np.uint64],
    a_sign: NDArray[np.uint64],
    b_mask: NDArray[np.uint64],
    b_sign: NDArray[np.uint64],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add sums of products of values in {-1, 0, 1} to counts (m, panels * TERNARY_COLUMNS).

    ``counts += pop(m) - 2 pop(m & (s_a ^ s_b))`` with ``m = m_a & m_b``. a_*: (m, n); b_*: (panels,
    n, TERNARY_COLUMNS). ``diagonal`` and ``tops`` are as in `multiply_and`.
    """
    m, n = a_mask.shape
    width = counts.shape[1]
    flat = flattened(counts)
    for first in range(0, n, SLAB):
        last = min(first + SLAB, n)
        for panel in range(b_mask.shape[0]):
            masks, signs = flattened(b_mask[panel]), flattened(b_sign[panel])
            for i in range(tops[panel] // TERNARY_ROWS * TERNARY_ROWS, m, TERNARY_ROWS):
                if (panel + 1) * TERNARY_COLUMNS <= i + diagonal:
                    break
                p00 = p01 = p02 = p10 = p11 = p12 = zero_words()
                d00 = d01 = d02 = d10 = d11 = d12 = zero_words()
                for w in range(first, last):
                    m0, s0 = broadcast(a_mask[i, w]), broadcast(a_sign[i, w])
                    m1, s1 = broadcast(a_mask[i + 1, w]), broadcast(a_sign[i + 1, w])
                    at = w * TERNARY_COLUMNS
                    bm, bs = load_words(masks, at), load_words(signs, at)
                    p00, d00 = _ternary(p00, d00, m0, s0, bm, bs)
                    p10, d10 = _ternary(p10, d10, m1, s1, bm, bs)
                    at += WORD_LANES
                    bm, bs = load_words(masks, at), load_words(signs, at)
                    p01, d01 = _ternary(p01, d01, m0, s0, bm, bs)
                    p11, d11 = _ternary(p11, d11, m1, s1, bm, bs)
                    at += WORD_LANES
                    bm, bs = load_words(masks, at), load_words(signs, at)
                    p02, d02 = _ternary(p02, d02, m0, s0, bm, bs)
                    p12, d12 = _ternary(p12, d12, m1, s1, bm, bs)
                corner = i * width + panel * TERNARY_COLUMNS
                _add_difference(flat, corner, p00, d00)
                _add_difference(flat, corner + WORD_LANES, p01, d01)
                _add_difference(flat, corner + 2 * WORD_LANES, p02, d02)
                corner += width
                _add_difference(flat, corner, p10, d10)
                _add_difference(flat, corner + WORD_LANES, p11, d11)
                _add_difference(flat, corner + 2 * WORD_LANES, p12, d12)


@njit
def _add_difference(counts: NDArray[np.int32], first: int, both: Any, differ: Any) -> None:
    """Add the sums of products of a register: equal signs less unequal ones."""
    add_to(counts, first, both - differ - differ)
