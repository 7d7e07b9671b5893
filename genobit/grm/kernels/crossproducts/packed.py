"""Packed: products by AND, OR and shifts, counted in four-bit fields and then in bytes.

Coding: two bits, 00, 01, 10. For two registers X and Y, Z = X & Y is the number 01 for 1 x 1 and
10 for 2 x 2, half of that product. S = (X >> 1 & Y) | (Y >> 1 & X) | (Z >> 1) has its lower bit
set for 1 x 2, 2 x 1 and 2 x 2. This bit is worth two; for 2 x 2 it is the other half.

Identity: sum x y = 2 sum S + sum Z over two-bit fields.

Four-bit fields hold 7 additions of Z (at most 2 each) and 14 of S (at most 1 each). Bytes hold the
sums of these fields over 28 registers.

Operations for 128 products (one 256-bit register): 2 loads, 7 for S and Z, 10 to add their halves
to fields, and (4 x 4 + 2 x 4) / 7 to empty the fields: about 21. There is no lookup and no
multiplication, so this is the method for SSE2.

Schlather (2020), bioRxiv 2020.01.12.903146, method "Packed".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.registers import load_bytes, zero_bytes
from genobit.engine.simd.vector import reduce_add
from genobit.grm.kernels.crossproducts.coding import two_bits
from genobit.grm.kernels.crossproducts.registers import OCTETS, repeat

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELDS = 7
"""Registers whose Z sum to a four-bit field without overflow."""
BYTES = 28
"""Registers whose fields sum to a byte without overflow: 4 fields x 2 x 28 = 224."""


def code(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return two-bit codes (rows, bytes) in whole groups of registers; planes: (rows, words)."""
    return two_bits(carrier, hom_alt, FIELDS * OCTETS)


@njit
def _emptied(even: Any, odd: Any) -> Any:
    """Return two registers of four-bit fields, summed to bytes."""
    low, four = repeat(np.uint64(0x0F0F0F0F0F0F0F0F)), np.uint64(4)
    return (
        (even & low)
        + (shift_right(even, four) & low)
        + (odd & low)
        + (shift_right(odd, four) & low)
    )


@njit
def _group(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int) -> tuple[Any, Any]:
    """Return S and Z of `FIELDS` registers, summed to bytes."""
    one, two = np.uint64(1), np.uint64(2)
    ones, threes = repeat(np.uint64(0x1111111111111111)), repeat(np.uint64(0x3333333333333333))
    s_even = s_odd = z_even = z_odd = zero_bytes()
    for k in range(0, FIELDS * OCTETS, OCTETS):
        x, y = load_bytes(a, first + k), load_bytes(b, second + k)
        z = x & y
        s = (shift_right(x, one) & y) | (shift_right(y, one) & x) | shift_right(z, one)
        s_even += s & ones
        s_odd += shift_right(s, two) & ones
        z_even += z & threes
        z_odd += shift_right(z, two) & threes
    return _emptied(s_even, s_odd), _emptied(z_even, z_odd)


@njit
def _dot(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> int:
    found = 0
    for start in range(0, n, BYTES * OCTETS):
        twice = once = zero_bytes()
        for k in range(start, min(start + BYTES * OCTETS, n), FIELDS * OCTETS):
            s, z = _group(a, first + k, b, second + k)
            twice += s
            once += z
        found += 2 * reduce_add(twice) + reduce_add(once)
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
