"""Three-bit table: products of five genotypes in 16 bits, from one table of 32,768 sums.

Coding: 000, 011, 110, five codes in the lower 15 of 16 bits. The AND of two codes gives the
product: 1 x 1 is 011, 1 x 2 and 2 x 1 are 010, 2 x 2 is 110, and everything else 000.

Identity: sum x y = sum of T[X & Y] over 16-bit parts. T is the sum of {000: 0, 010: 2, 011: 1,
110: 4} over five codes. T takes 32 KiB, as much as an L1 cache.

Operations for 20 products (one 64-bit word): 2 loads, 1 AND, 4 extractions, 4 lookups, 4
additions: 15. No vector lookup takes a table of this size, so the words are scalars.

Schlather (2020), bioRxiv 2020.01.12.903146, method "ThreeBit".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRODUCTS = {0b000: 0, 0b010: 2, 0b011: 1, 0b110: 4}
"""Product of two genotypes, by the AND of their codes."""


def _table() -> NDArray[np.uint8]:
    index = np.arange(1 << 15)
    table = np.zeros(index.size, np.uint8)
    for place in range(0, 15, 3):
        for both, product in PRODUCTS.items():
            table[(index >> place & 7) == both] += product
    return table


TABLE = _table()


@njit
def _every_third(five: np.uint64) -> np.uint64:
    """Spread five bits to bits 0, 3, 6, 9 and 12."""
    return (
        five & np.uint64(1)
        | (five & np.uint64(2)) << np.uint64(2)
        | (five & np.uint64(4)) << np.uint64(4)
        | (five & np.uint64(8)) << np.uint64(6)
        | (five & np.uint64(16)) << np.uint64(8)
    )


@njit
def _five(words: NDArray[np.uint64], place: int) -> np.uint64:
    """Return five bits of a row from ``place`` on, zero past the end."""
    w, bit = place >> 6, np.uint64(place & 63)
    found = words[w] >> bit
    if bit > 59 and w + 1 < words.shape[0]:
        found |= words[w + 1] << (np.uint64(64) - bit)
    return found & np.uint64(31)


@njit
def _code(
    carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64], out: NDArray[np.uint64]
) -> None:
    bits = 64 * carrier.shape[1]
    for i in range(carrier.shape[0]):
        for q in range((bits + 4) // 5):
            a, h = _five(carrier[i], 5 * q), _five(hom_alt[i], 5 * q)
            five = (
                _every_third(a & ~h)
                | _every_third(a) << np.uint64(1)
                | _every_third(h) << np.uint64(2)
            )
            out[i, q >> 2] |= five << np.uint64(16 * (q & 3))


def code(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return codes (rows, ceil(bits / 20)), 20 genotypes a word; planes: (rows, words)."""
    rows, words = carrier.shape
    out = np.zeros((rows, -(-64 * words // 20)), np.uint64)
    _code(carrier, hom_alt, out)
    return out


@njit
def _multiply(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    table: NDArray[np.uint8],
    diagonal: int,
    counts: NDArray[np.int64],
) -> None:
    part = np.uint64(0x7FFF)
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), b.shape[0]):
            found = np.int64(0)
            for w in range(a.shape[1]):
                both = a[i, w] & b[j, w]
                found += np.int64(table[both & part])
                found += np.int64(table[both >> np.uint64(16) & part])
                found += np.int64(table[both >> np.uint64(32) & part])
                found += np.int64(table[both >> np.uint64(48) & part])
            counts[i, j] += found


def multiply(
    a: NDArray[np.uint64], b: NDArray[np.uint64], diagonal: int, counts: NDArray[np.int64]
) -> None:
    """Add products to counts (m, k) from column ``row + diagonal`` on; a: (m, n), b: (k, n)."""
    _multiply(a, b, TABLE, diagonal, counts)
