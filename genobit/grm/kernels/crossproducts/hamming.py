"""Hamming: popcount of four-bit genotypes, coded differently on the two sides.

Coding: left 0000, 0110, 1111; right 0000, 0011, 1111. The number of bits set in the AND of two
codes is their product: 1 x 1 is 0110 & 0011 = 0010, 1 x 2 is 0110 & 1111, 2 x 1 is 1111 & 0011
and 2 x 2 is 1111. A 256-bit register holds 64 genotypes.

Identity: sum x y = popcount(X & Y), the Hamming weight that PLINK 1.07 counts distances with.

Operations for 64 products, with a byte popcount from two 4-bit lookups (Mula): 2 loads,
1 AND, 2 masks, 1 shift, 2 lookups, 2 additions: 10. Byte counts are summed every 31 registers.

Schlather (2020), bioRxiv 2020.01.12.903146, method "Hamming" (in its SSSE3 form).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.words import interleave
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import load_bytes, zero_bytes
from genobit.engine.simd.vector import popcount, reduce_add
from genobit.grm.kernels.crossproducts.coding import padded
from genobit.grm.kernels.crossproducts.registers import OCTETS

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 31
"""Registers whose popcounts, at most 8 a byte, sum to a byte without overflow."""


def code_rows(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return 0000, 0110 or 1111 (rows, bytes) in whole registers; planes: (rows, words)."""
    return _four_bits(hom_alt, carrier, carrier, hom_alt)


def code_columns(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return 0000, 0011 or 1111 (rows, bytes) in whole registers; planes: (rows, words)."""
    return _four_bits(carrier, carrier, hom_alt, hom_alt)


def _four_bits(*planes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Interleave the planes of bits 0 to 3, each (rows, words), into four-bit codes."""
    rows, words = planes[0].shape
    even, odd = (np.empty((rows, 2 * words), np.uint64) for _ in range(2))
    interleave(planes[0], planes[2], even)
    interleave(planes[1], planes[3], odd)
    out = padded(rows, 4 * words, OCTETS)
    interleave(even, odd, out)
    return out.view(np.uint8)


@njit
def _dot(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> int:
    found = 0
    for start in range(0, n, STEPS * OCTETS):
        counts = zero_bytes()
        for k in range(start, min(start + STEPS * OCTETS, n), OCTETS):
            counts += popcount(load_bytes(a, first + k) & load_bytes(b, second + k))
        found += reduce_add(counts)
    return found


@njit
def multiply(
    a: NDArray[np.uint8], b: NDArray[np.uint8], diagonal: int, counts: NDArray[np.int64]
) -> None:
    """Add products to counts (m, k) from column ``row + diagonal`` on; a: (m, n), b: (k, n)."""
    n = a.shape[1]
    rows, columns = a.reshape(-1), b.reshape(-1)
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), b.shape[0]):
            counts[i, j] += _dot(rows, i * n, columns, j * n, n)
