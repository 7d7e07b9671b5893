"""Packed: products from AND, OR and shifts, counted in fields of four bits and then of eight.

Coding: two bits, 00, 01, 10. Of two registers X and Y, Z = X & Y holds 1 x 1 as 01 and one half of
2 x 2 as 10, both as numbers. The lower bit of S = (X >> 1 & Y) | (Y >> 1 & X) | (Z >> 1) is set
for 1 x 2, 2 x 1 and the other half of 2 x 2, each worth two.

Identity: sum x y = 2 sum S + sum Z over fields of two bits.

Four-bit fields take the counts: they hold 7 additions of Z (at most 2 each) and 14 of S (at most
1); bytes take those and hold 28 registers' worth.

Operations for 128 products, a register of 256 bits: 2 loads, 7 for S and Z, 10 to add their halves
to fields, and (4 x 4 + 2 x 4) / 7 to empty the fields: about 21. No lookup and no multiplication:
the method for SSE2.

Schlather (2020), bioRxiv 2020.01.12.903146, method "Packed".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.vector import load_bytes, zero_bytes
from genobit.grm.kernels.crossproducts.coding import two_bits
from genobit.grm.kernels.crossproducts.registers import OCTETS, repeat, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELDS = 7
"""Registers whose Z a field of four bits holds."""
BYTES = 28
"""Registers whose fields a byte holds: 4 fields x 2 x 28 = 224."""


def code(carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """carrier, hom_alt (rows, words) -> two-bit codes (rows, bytes), whole groups of registers."""
    return two_bits(carrier, hom_alt, FIELDS * OCTETS)


@njit
def _emptied(even: Any, odd: Any) -> Any:
    """Two registers of four-bit fields, added up to bytes."""
    low, four = repeat(np.uint64(0x0F0F0F0F0F0F0F0F)), np.uint64(4)
    return (
        (even & low)
        + (shift_right(even, four) & low)
        + (odd & low)
        + (shift_right(odd, four) & low)
    )


@njit
def _group(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int) -> tuple[Any, Any]:
    """S and Z of `FIELDS` registers, added up to bytes."""
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
def _dot(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> np.uint64:
    found = np.uint64(0)
    for start in range(0, n, BYTES * OCTETS):
        twice = once = zero_bytes()
        for k in range(start, min(start + BYTES * OCTETS, n), FIELDS * OCTETS):
            s, z = _group(a, first + k, b, second + k)
            twice += s
            once += z
        found += np.uint64(2) * total(twice) + total(once)
    return found


@njit
def multiply(
    a: NDArray[np.uint8], b: NDArray[np.uint8], diagonal: int, counts: NDArray[np.int64]
) -> None:
    """a (m, n), b (k, n), counts (m, k) += products, from column ``row + diagonal`` on."""
    n = a.shape[1]
    rows, columns = a.reshape(-1), b.reshape(-1)
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), b.shape[0]):
            counts[i, j] += np.int64(_dot(rows, i * n, columns, j * n, n))
