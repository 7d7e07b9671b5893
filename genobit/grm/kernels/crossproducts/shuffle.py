"""Shuffle: products of two genotypes in four bits, from two tables of 16 sums in registers.

Coding: two bits, 00, 01, 10. The tables are those of `twobit`, for two genotypes instead of eight.
They have 16 entries, so a byte shuffle (pshufb) looks up all bytes of a register at once.

Identity: sum x y = sum of T_and[X & Y] + T_or[X | Y] over four-bit parts. T_and is the sum of
{01: 1, 10: 4} over two codes, and T_or of {11: 2}.

Operations for 128 products (one 256-bit register): 2 loads, 1 AND, 1 OR, 2 shifts, 4 masks, 4
lookups, 4 additions: 18. A byte of four genotypes adds at most 16, so bytes are summed every 15
registers.

Schlather (2020), bioRxiv 2020.01.12.903146, method "Shuffle", the fastest of the six there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.registers import load_bytes, lookup, zero_bytes
from genobit.engine.simd.vector import reduce_add
from genobit.grm.kernels.crossproducts.coding import two_bits
from genobit.grm.kernels.crossproducts.registers import OCTETS, repeat

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 15
"""Registers whose sums, at most 16 a byte, sum to a byte without overflow."""
NIBBLE = 0x0F0F0F0F0F0F0F0F
AND_SUMS = (0, 1, 4, 0, 1, 2, 5, 0, 4, 5, 8, 0, 0, 0, 0, 0)
OR_SUMS = (0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 2, 2, 4)
TABLES = np.concatenate([np.resize(np.array(t, np.uint8), OCTETS) for t in (AND_SUMS, OR_SUMS)])
"""Both tables, each repeated over a register."""


def code(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return two-bit codes (rows, bytes) in whole registers; planes: (rows, words)."""
    return two_bits(carrier, hom_alt, OCTETS)


@njit
def _sums(table: Any, codes: Any) -> Any:
    """Return the sum of the table entries of the two halves of each byte."""
    nibble = repeat(np.uint64(NIBBLE))
    return lookup(table, codes & nibble) + lookup(table, shift_right(codes, np.uint64(4)) & nibble)


@njit
def _dot(
    tables: NDArray[np.uint8],
    a: NDArray[np.uint8],
    first: int,
    b: NDArray[np.uint8],
    second: int,
    n: int,
) -> int:
    of_and, of_or = load_bytes(tables, 0), load_bytes(tables, OCTETS)
    found = 0
    for start in range(0, n, STEPS * OCTETS):
        counts = zero_bytes()
        for k in range(start, min(start + STEPS * OCTETS, n), OCTETS):
            x, y = load_bytes(a, first + k), load_bytes(b, second + k)
            counts += _sums(of_and, x & y) + _sums(of_or, x | y)
        found += reduce_add(counts)
    return found


@njit
def _multiply(
    a: NDArray[np.uint8],
    b: NDArray[np.uint8],
    tables: NDArray[np.uint8],
    diagonal: int,
    counts: NDArray[np.int64],
) -> None:
    n = a.shape[1]
    rows, columns = a.reshape(-1), b.reshape(-1)
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), b.shape[0]):
            counts[i, j] += _dot(tables, rows, i * n, columns, j * n, n)


def multiply(
    a: NDArray[np.uint8], b: NDArray[np.uint8], diagonal: int, counts: NDArray[np.int64]
) -> None:
    """Add products to counts (m, k) from column ``row + diagonal`` on; a: (m, n), b: (k, n)."""
    _multiply(a, b, TABLES, diagonal, counts)
