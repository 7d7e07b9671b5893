"""Moving bits.

Halves and interleavings of words, selections and transposes of bit matrices, counts of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit._jit import njit
from genobit.simd import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def even_bits(x: np.uint64) -> np.uint64:
    """Bits 0, 2, 4 .

    62 of a word, moved together into its lower half (Warren, Hacker's Delight, 7-4).
    """
    x &= np.uint64(0x5555555555555555)
    x = (x | x >> np.uint64(1)) & np.uint64(0x3333333333333333)
    x = (x | x >> np.uint64(2)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    x = (x | x >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    x = (x | x >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (x | x >> np.uint64(16)) & np.uint64(0x00000000FFFFFFFF)


@njit
def spread_bits(x: np.uint64) -> np.uint64:
    """The lower half of a word, moved apart to its even bits; undoes `even_bits`."""
    x &= np.uint64(0x00000000FFFFFFFF)
    x = (x | x << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    x = (x | x << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    x = (x | x << np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    x = (x | x << np.uint64(2)) & np.uint64(0x3333333333333333)
    return (x | x << np.uint64(1)) & np.uint64(0x5555555555555555)


@njit
def interleave(even: NDArray[np.uint64], odd: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """even, odd (rows, n), out (rows, 2 n) <- their bits in turn.

    Bit 2k from ``even``, 2k + 1 from ``odd``.
    """
    half = np.uint64(32)
    for i in range(even.shape[0]):
        for w in range(even.shape[1]):
            x, y = even[i, w], odd[i, w]
            out[i, 2 * w] = spread_bits(x) | spread_bits(y) << np.uint64(1)
            out[i, 2 * w + 1] = spread_bits(x >> half) | spread_bits(y >> half) << np.uint64(1)


@njit
def count_rows(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """words (rows, n) -> bits set in each row (rows,)."""
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
    """words (rows, n), bits (k,) -> (rows, ceil(k / 64)).

    Bit j of a row is bit ``bits[j]`` of the old row.
    """
    rows = words.shape[0]
    k = bits.shape[0]
    out = np.zeros((rows, (k + 63) // 64), np.uint64)
    for i in range(rows):
        for j in range(k):
            source = bits[j]
            bit = words[i, source >> 6] >> np.uint64(source & 63) & np.uint64(1)
            out[i, j >> 6] |= bit << np.uint64(j & 63)
    return out


@njit
def _transpose_block(block: NDArray[np.uint64]) -> None:
    """Transpose 64 words as a 64 x 64 bit matrix, in place (Warren, Hacker's Delight, 7-3)."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        for start in range(0, 64, 2 * width):
            for k in range(start, start + width):
                swap = (block[k] >> shift ^ block[k + width]) & mask
                block[k] ^= swap << shift
                block[k + width] ^= swap
        width >>= 1
        mask ^= mask << np.uint64(max(width, 1)) if width else np.uint64(0)


@njit
def transpose_bits(words: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """words (rows, ceil(bits / 64)) -> (bits, ceil(rows / 64)).

    Bit i of row b is bit b of the old row i.
    """
    rows, n = words.shape
    out = np.zeros((bits, (rows + 63) // 64), np.uint64)
    block = np.empty(64, np.uint64)
    for group in range(out.shape[1]):
        height = min(64, rows - 64 * group)
        for w in range(n):
            block[:] = 0
            for k in range(height):
                block[k] = words[64 * group + k, w]
            _transpose_block(block)
            for k in range(min(64, bits - 64 * w)):
                out[64 * w + k, group] = block[k]
    return out
