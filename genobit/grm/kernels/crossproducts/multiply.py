"""Multiply: 16-bit multiplications of every eighth genotype, in eight rounds.

Coding: two bits, 00, 01, 10. A 256-bit register holds 128 genotypes, eight in each of its 16
lanes of 16 bits. A round masks both registers to the lowest genotype of each lane. One
instruction (pmaddwd) then multiplies the lanes and adds neighbours: 16 products become 8 lanes of
32 bits. The next round shifts by two bits to the next genotype.

Identity: sum x y = sum over k of sum over lanes of (X >> 2k & 3) (Y >> 2k & 3).

Operations for 128 products: 2 loads, 14 shifts, 16 masks, 8 multiplications, 8 additions: 48.

Schlather (2020), bioRxiv 2020.01.12.903146, method "Multiply".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.registers import load_bytes
from genobit.engine.simd.vector import reduce_add
from genobit.grm.kernels.crossproducts.coding import two_bits
from genobit.grm.kernels.crossproducts.registers import OCTETS, multiply_pairs, repeat, zero_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOWEST = 0x0003000300030003
"""Mask of the lowest genotype of each 16-bit lane."""


def code(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return two-bit codes (rows, bytes) in whole registers; planes: (rows, words)."""
    return two_bits(carrier, hom_alt, OCTETS)


@njit
def _product(x: Any, y: Any, places: int) -> Any:
    """Return products of the genotypes ``places`` bits up in each lane, neighbours added."""
    mask, distance = repeat(np.uint64(LOWEST)), np.uint64(places)
    return multiply_pairs(shift_right(x, distance) & mask, shift_right(y, distance) & mask)


@njit
def _dot(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> int:
    even = odd = zero_sums()
    for k in range(0, n, OCTETS):
        x, y = load_bytes(a, first + k), load_bytes(b, second + k)
        even += _product(x, y, 0)
        odd += _product(x, y, 2)
        even += _product(x, y, 4)
        odd += _product(x, y, 6)
        even += _product(x, y, 8)
        odd += _product(x, y, 10)
        even += _product(x, y, 12)
        odd += _product(x, y, 14)
    return reduce_add(even + odd)


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
