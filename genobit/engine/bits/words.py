"""Move bits: interleave words, select bits, transpose bit matrices, count bits per row.

`looked_up` turns code points of an alignment into state sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import merged, njit
from genobit.engine.simd.lane_moves import prefetch, shift_left, shift_right, transpose_square
from genobit.engine.simd.registers import WORD_LANES, aligned, broadcast, load_words, zero_words
from genobit.engine.simd.vector import flattened, popcount, store

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def even_bits(x: np.uint64) -> np.uint64:
    """Return bits 0, 2, 4, ..., 62 of a word, packed into its lower half.

    Warren, Hacker's Delight, section 7-4.
    """
    x &= np.uint64(0x5555555555555555)
    x = (x | x >> np.uint64(1)) & np.uint64(0x3333333333333333)
    x = (x | x >> np.uint64(2)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    x = (x | x >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    x = (x | x >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (x | x >> np.uint64(16)) & np.uint64(0x00000000FFFFFFFF)


@njit
def spread_bits(x: np.uint64) -> np.uint64:
    """Move the lower half of a word to its even bits; the inverse of `even_bits`."""
    x &= np.uint64(0x00000000FFFFFFFF)
    x = (x | x << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    x = (x | x << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    x = (x | x << np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    x = (x | x << np.uint64(2)) & np.uint64(0x3333333333333333)
    return (x | x << np.uint64(1)) & np.uint64(0x5555555555555555)


@njit
def interleave(even: NDArray[np.uint64], odd: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Interleave the bits of even and odd (rows, n) into out (rows, 2 n).

    Bit 2k comes from ``even``, bit 2k + 1 from ``odd``.
    """
    half = np.uint64(32)
    for i in range(even.shape[0]):
        for w in range(even.shape[1]):
            x, y = even[i, w], odd[i, w]
            out[i, 2 * w] = spread_bits(x) | spread_bits(y) << np.uint64(1)
            out[i, 2 * w + 1] = spread_bits(x >> half) | spread_bits(y >> half) << np.uint64(1)


@njit
def count_rows(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of set bits in each row: words (rows, n) to int64 (rows,)."""
    rows, n = words.shape
    counts = np.empty(rows, np.int64)
    for i in range(rows):
        total = np.uint64(0)
        for w in range(n):
            total += popcount(words[i, w])
        counts[i] = total
    return counts


@njit
def select_bits(words: NDArray[np.uint64], bits: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Select bits: words (rows, n), bits (k,) to (rows, ceil(k / 64)).

    Bit j of a new row is bit ``bits[j]`` of the old row.
    """
    rows, one = words.shape[0], np.uint64(1)
    k = bits.shape[0]
    out = np.empty((rows, (k + 63) // 64), np.uint64)
    for i in range(rows):
        row = words[i]
        for w in range(out.shape[1]):
            # Collect the word in a register: updating it in memory for each bit takes three times
            # as long.
            word = np.uint64(0)
            for j in range(min(64, k - 64 * w)):
                source = np.uint64(bits[64 * w + j])
                bit = row[source >> np.uint64(6)] >> (source & np.uint64(63)) & one
                word |= bit << np.uint64(j)
            out[i, w] = word
    return out


TILE_ROWS = 64 * WORD_LANES
"""Rows of a tile: they give eight words of each new row, a whole cache line."""
BLOCK = 64 * WORD_LANES + WORD_LANES
"""Stride between blocks of a tile, in words: 64 bytes more than a block. Blocks 4,096 bytes
apart would share one set (eight lines) of a first-level cache."""
FEW_ROWS = TILE_ROWS - 64
"""Last groups of at most this many rows are transposed 64 rows at a time, without padding to a
whole tile. 257 rows: 4.3 GB/s, against 2.9 for the tile; 500 rows: 4.6 against 8.0."""


@njit
def swap_blocks(a: Any, b: Any, width: int, mask: int) -> tuple[Any, Any]:
    """Exchange the odd blocks of ``width`` bits of a with the even blocks of b."""
    distance = np.uint64(width)
    moved = (shift_right(a, distance) ^ b) & broadcast(np.uint64(mask))
    return a ^ shift_left(moved, distance), b ^ moved


@njit
def _prefetch_rows(array: NDArray[np.uint64], start: int, stride: int, first: int) -> None:
    """Prefetch eight words of each of four rows; eight words may span two cache lines."""
    for k in range(first, first + 4):
        prefetch(array, start + k * stride)
        prefetch(array, start + k * stride + WORD_LANES - 1)


@njit
def _wide_steps(
    block: NDArray[np.uint64], words: NDArray[np.uint64], start: int, stride: int
) -> None:
    """Do the steps of 32 and 16 bits on four rows 16 apart.

    Meanwhile prefetch eight words of 64 rows from ``words[start]``, unless ``start`` is -1.
    """
    for k in range(0, 16 * WORD_LANES, WORD_LANES):
        if start >= 0:
            _prefetch_rows(words, start, stride, k // WORD_LANES * 4)
        a, b = load_words(block, k), load_words(block, k + 16 * WORD_LANES)
        c, d = load_words(block, k + 32 * WORD_LANES), load_words(block, k + 48 * WORD_LANES)
        a, c = swap_blocks(a, c, 32, 0x00000000FFFFFFFF)
        b, d = swap_blocks(b, d, 32, 0x00000000FFFFFFFF)
        a, b = swap_blocks(a, b, 16, 0x0000FFFF0000FFFF)
        c, d = swap_blocks(c, d, 16, 0x0000FFFF0000FFFF)
        store(block, k, a)
        store(block, k + 16 * WORD_LANES, b)
        store(block, k + 32 * WORD_LANES, c)
        store(block, k + 48 * WORD_LANES, d)


@njit
def _middle_steps(
    block: NDArray[np.uint64], out: NDArray[np.uint64], start: int, stride: int
) -> None:
    """Do the steps of 8 and 4 bits on four rows 4 apart; prefetch ``out`` as `_wide_steps` does."""
    for quarter in range(4):
        for row in range(4):
            k = (16 * quarter + row) * WORD_LANES
            if start >= 0:
                _prefetch_rows(out, start, stride, 16 * quarter + 4 * row)
            a, b = load_words(block, k), load_words(block, k + 4 * WORD_LANES)
            c, d = load_words(block, k + 8 * WORD_LANES), load_words(block, k + 12 * WORD_LANES)
            a, c = swap_blocks(a, c, 8, 0x00FF00FF00FF00FF)
            b, d = swap_blocks(b, d, 8, 0x00FF00FF00FF00FF)
            a, b = swap_blocks(a, b, 4, 0x0F0F0F0F0F0F0F0F)
            c, d = swap_blocks(c, d, 4, 0x0F0F0F0F0F0F0F0F)
            store(block, k, a)
            store(block, k + 4 * WORD_LANES, b)
            store(block, k + 8 * WORD_LANES, c)
            store(block, k + 12 * WORD_LANES, d)


@njit
def _narrow_steps(
    block: NDArray[np.uint64], out: NDArray[np.uint64], start: int, stride: int
) -> None:
    """Do the steps of 2 and 1 bits on four adjacent rows.

    Row b goes to ``out[start + b * stride]``.
    """
    for k in range(0, 64, 4):
        at = k * WORD_LANES
        a, b = load_words(block, at), load_words(block, at + WORD_LANES)
        c, d = load_words(block, at + 2 * WORD_LANES), load_words(block, at + 3 * WORD_LANES)
        a, c = swap_blocks(a, c, 2, 0x3333333333333333)
        b, d = swap_blocks(b, d, 2, 0x3333333333333333)
        a, b = swap_blocks(a, b, 1, 0x5555555555555555)
        c, d = swap_blocks(c, d, 1, 0x5555555555555555)
        to = start + k * stride
        store(out, to, a)
        store(out, to + stride, b)
        store(out, to + 2 * stride, c)
        store(out, to + 3 * stride, d)


@njit
def list_bits(plane: NDArray[np.uint64], starts: NDArray[np.intp], places: NDArray[Any]) -> None:
    """List the positions of the set bits of each row (rows, words), from ``starts[row]`` on."""
    count = 0
    for i in range(plane.shape[0]):
        starts[i] = count
        for w in range(plane.shape[1]):
            left = plane[i, w]
            while left:
                # The index of the lowest set bit is the number of bits below it.
                lowest = left & (~left + np.uint64(1))
                places[count] = 64 * w + np.intp(popcount(lowest - np.uint64(1)))
                count += 1
                left ^= lowest
    starts[plane.shape[0]] = count


@njit
def transpose_eight(block: NDArray[np.uint64]) -> None:
    """Transpose eight 64 x 64 bit matrices in place; word k of row b is ``block[8 b + k]``."""
    _wide_steps(block, block, -1, 0)
    _middle_steps(block, block, -1, 0)
    _narrow_steps(block, block, 0, WORD_LANES)


@njit
def _gather(words: NDArray[np.uint64], start: int, stride: int, tile: NDArray[np.uint64]) -> None:
    """Transpose words of `TILE_ROWS` rows.

    Word w of row 64 g + k goes to word g of line k of block w.
    """
    for k in range(64):
        transpose_square(words, start + k * stride, 64 * stride, tile, k * WORD_LANES, BLOCK)


@njit
def _staged(words: NDArray[np.uint64], row: int, w: int, stage: NDArray[np.uint64]) -> None:
    """Copy eight words from ``w`` of the rows from ``row`` to stage (rows, 8), zero-padded."""
    n = words.shape[1]
    rows = min(words.shape[0] - row, stage.shape[0])
    if w + WORD_LANES <= n:
        source, target = flattened(words), flattened(stage)
        for k in range(rows):
            store(target, k * WORD_LANES, load_words(source, (row + k) * n + w))
        for k in range(rows, stage.shape[0]):
            store(target, k * WORD_LANES, zero_words())
        return
    for k in range(stage.shape[0]):
        for lane in range(WORD_LANES):
            inside = k < rows and lane < n - w
            stage[k, lane] = words[row + k, w + lane] if inside else np.uint64(0)


@merged
def _finish_lines(
    tile: NDArray[np.uint64],
    bit: int,
    first: int,
    out: NDArray[np.uint64],
    words: NDArray[np.uint64],
    ahead: int,
    stride: int,
) -> None:
    """Do the bit steps of a gathered tile and write its lines of ``out``.

    The words of the tile begin at ``bit``. ``ahead`` is the index in ``words`` where the next tile
    starts, or -1 if there is none.
    """
    bits, width = out.shape
    target = flattened(out)
    for lane in range(min(WORD_LANES, (bits - bit + 63) // 64)):
        block = tile[BLOCK * lane : BLOCK * (lane + 1)]
        at = bit * width + first
        whole = bit + 64 <= bits
        _wide_steps(block, words, ahead + 64 * lane * stride if ahead >= 0 else -1, stride)
        _middle_steps(block, target, at if whole else -1, width)
        if whole:
            _narrow_steps(block, target, at, width)
        else:
            _narrow_steps(block, block, 0, WORD_LANES)
            for b in range(bits - bit):
                for g in range(WORD_LANES):
                    out[bit + b, first + g] = block[b * WORD_LANES + g]
        bit += 64


@merged
def _transpose_group(
    words: NDArray[np.uint64], row: int, w: int, stage: NDArray[np.uint64], out: NDArray[np.uint64]
) -> None:
    """Transpose eight words from ``w`` of 64 rows from ``row`` into one column of ``out``."""
    n = words.shape[1]
    bits, width = out.shape
    block, target = flattened(stage), flattened(out)
    _staged(words, row, w, stage)
    later = w + 2 * WORD_LANES
    ahead = row * n + later if row + 64 <= words.shape[0] and later + WORD_LANES <= n else -1
    _wide_steps(block, flattened(words), ahead, n)
    _middle_steps(block, block, -1, 0)
    _narrow_steps(block, block, 0, WORD_LANES)
    if width == 1 and 64 * (w + WORD_LANES) <= bits:
        for k in range(0, 64, WORD_LANES):
            transpose_square(block, k * WORD_LANES, WORD_LANES, target, 64 * w + k, 64)
        return
    for lane in range(min(WORD_LANES, n - w)):
        bit = 64 * (w + lane)
        at = bit * width + (row >> 6)
        for b in range(min(64, bits - bit)):
            target[at + b * width] = block[b * WORD_LANES + lane]


@njit
def _transpose_tiles(words: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Transpose tiles of 512 rows x 8 words, which fill cache lines of ``out``.

    Few rows are transposed 64 at a time.
    """
    rows, n = words.shape
    flat = flattened(words)
    tile = np.empty(WORD_LANES * BLOCK, np.uint64)
    stage = np.empty((TILE_ROWS, WORD_LANES), np.uint64)
    for row in range(0, rows, TILE_ROWS):
        for left in range(0, n, WORD_LANES):
            # The last tile overlaps the one before it, so that every tile has eight words.
            w = max(0, min(left, n - WORD_LANES))
            if row + FEW_ROWS >= rows:
                for start in range(row, rows, 64):
                    _transpose_group(words, start, w, stage[:64], out)
                continue
            ahead = -1
            if row + TILE_ROWS <= rows and n >= WORD_LANES:
                _gather(flat, row * n + w, n, tile)
                if left + 2 * WORD_LANES <= n:
                    ahead = row * n + left + WORD_LANES
            else:
                _staged(words, row, w, stage)
                _gather(flattened(stage), 0, WORD_LANES, tile)
            _finish_lines(tile, 64 * w, row >> 6, out, flat, ahead, n)


def transpose_bits(
    words: NDArray[np.uint64], bits: int, out: NDArray[np.uint64] | None = None
) -> NDArray[np.uint64]:
    """Transpose bits: words (rows, ceil(bits / 64)) to (bits, ceil(rows / 64)), or to ``out``.

    Bit i of row b is bit b of the old row i.
    """
    words = np.ascontiguousarray(words)
    if out is None:
        out = aligned((bits, (words.shape[0] + 63) // 64), np.uint64)
    _transpose_tiles(words, out)
    return out


def looked_up(points: NDArray[np.unsignedinteger], table: NDArray[Any]) -> NDArray[Any]:
    """Return ``table[points]``, 0 past the table's end.

    numpy would first copy the points as indices.
    """
    out = np.empty(points.shape, table.dtype)
    _look_up(np.ascontiguousarray(points).reshape(-1), table, out.reshape(-1))
    return out


@njit
def _look_up(points: NDArray[np.unsignedinteger], table: NDArray[Any], out: NDArray[Any]) -> None:
    for k in range(points.size):
        point = points[k]
        # One expression of an entry or a literal 0 would be float64, which rounds past 2**53.
        if point < table.size:
            out[k] = table[point]
        else:
            out[k] = 0
