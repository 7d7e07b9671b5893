"""Two-bit tables: products of eight genotypes in 16 bits, from two tables of 65,536 sums.

Coding: two bits, 00, 01, 10. The AND of two codes is 01 for 1 x 1 and 10 for 2 x 2; their OR is
11 for 1 x 2 and 2 x 1.

Identity: sum x y = sum of T_and[X & Y] + T_or[X | Y] over 16-bit parts. T_and is the sum of
{01: 1, 10: 4} over eight codes, and T_or of {11: 2}. The two tables take 128 KiB, so they are read
from the L2 cache.

Operations for 32 products (one 64-bit word): 2 loads, 1 AND, 1 OR, 8 extractions, 8 lookups, 8
additions: 28. No vector lookup takes tables of this size, so the words are scalars.

Schlather (2020), bioRxiv 2020.01.12.903146, method "TwoBit".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.grm.kernels.crossproducts.coding import two_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _table(products: dict[int, int]) -> NDArray[np.uint8]:
    index = np.arange(1 << 16)
    table = np.zeros(index.size, np.uint8)
    for place in range(0, 16, 2):
        for pair, product in products.items():
            table[(index >> place & 3) == pair] += product
    return table


TABLE_AND = _table({0b01: 1, 0b10: 4})
TABLE_OR = _table({0b11: 2})


def code(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return two-bit codes (rows, 2 words); carrier, hom_alt: (rows, words)."""
    return two_bits(carrier, hom_alt, 8).view(np.uint64)


@njit
def _sum_of_four(table: NDArray[np.uint8], word: np.uint64) -> np.int64:
    part = np.uint64(0xFFFF)
    return (
        np.int64(table[word & part])
        + np.int64(table[word >> np.uint64(16) & part])
        + np.int64(table[word >> np.uint64(32) & part])
        + np.int64(table[word >> np.uint64(48)])
    )


@njit
def _multiply(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    table_and: NDArray[np.uint8],
    table_or: NDArray[np.uint8],
    diagonal: int,
    counts: NDArray[np.int64],
) -> None:
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), b.shape[0]):
            found = np.int64(0)
            for w in range(a.shape[1]):
                x, y = a[i, w], b[j, w]
                found += _sum_of_four(table_and, x & y) + _sum_of_four(table_or, x | y)
            counts[i, j] += found


def multiply(
    a: NDArray[np.uint64], b: NDArray[np.uint64], diagonal: int, counts: NDArray[np.int64]
) -> None:
    """Add products to counts (m, k) from column ``row + diagonal`` on; a: (m, n), b: (k, n)."""
    _multiply(a, b, TABLE_AND, TABLE_OR, diagonal, counts)
