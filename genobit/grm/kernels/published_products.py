"""Sums of products of coded genotypes 0, 1, 2: the six methods that Schlather compares.

Schlather (2020), "Efficient calculation of the genomic relationship matrix", bioRxiv
2020.01.12.903146. Its R package is miraculix. The methods are written from the published
description with our own bit planes, SIMD values and tables. Each function states its identity and
its operation count for AVX2; x and y are genotypes, X and Y registers or words of codes.

Two-bit codes are 00, 01 and 10. The AND of two codes is 01 for 1 x 1 and 10 for 2 x 2; their OR is
11 for 1 x 2 and 2 x 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.words import interleave
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.registers import (
    BYTE_LANES,
    load_bytes,
    load_octets,
    lookup,
    multiply_pairs,
    repeat,
    zero_bytes,
    zero_sums,
)
from genobit.engine.simd.vector import popcount, reduce_add

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = ("multiply", "hamming", "threebit", "twobit", "shuffle", "packed")
MULTIPLY, HAMMING, THREEBIT, TWOBIT, SHUFFLE, PACKED = range(6)

NIBBLES = 0x0F0F0F0F0F0F0F0F
HAMMING_STEPS, SHUFFLE_STEPS = 31, 15
"""Registers whose sums, at most 8 and 16 a byte, sum to a byte without overflow."""
FIELDS = 7
"""Registers of "packed" whose Z sum to a four-bit field without overflow."""
PACKED_STEPS = 28
"""Registers whose fields sum to a byte without overflow: 4 fields x 2 x 28 = 224."""


def _sums_of_codes(bits: int, width: int, products: dict[int, int]) -> NDArray[np.uint8]:
    """Return for each number of ``bits`` bits the sum of the products of its codes."""
    index = np.arange(1 << bits)
    table = np.zeros(index.size, np.uint8)
    for place in range(0, bits, width):
        for code, product in products.items():
            table[(index >> place & ((1 << width) - 1)) == code] += product
    return table


_OF_AND, _OF_OR = {0b01: 1, 0b10: 4}, {0b11: 2}
TABLES = {
    "threebit": _sums_of_codes(15, 3, {0b010: 2, 0b011: 1, 0b110: 4}),
    "twobit": np.concatenate([_sums_of_codes(16, 2, codes) for codes in (_OF_AND, _OF_OR)]),
    "shuffle": np.concatenate(
        [np.resize(_sums_of_codes(4, 2, codes), BYTE_LANES) for codes in (_OF_AND, _OF_OR)]
    ),
}
"""Tables of the sums of codes, by method."""
_NO_TABLE = np.zeros(1, np.uint8)


def add_products(
    method: str,
    a: NDArray[np.uint8],
    b: NDArray[np.uint8],
    diagonal: int,
    counts: NDArray[np.int64],
) -> None:
    """Add sums of products to counts (m, k), from column ``row + diagonal`` on.

    a: (m, n), b: (k, n), codes of `coded`, b those of the second factor.
    """
    _add(NAMES.index(method), TABLES.get(method, _NO_TABLE), a, b, diagonal, counts)


@njit
def _add(
    method: int,
    tables: NDArray[np.uint8],
    a: NDArray[np.uint8],
    b: NDArray[np.uint8],
    diagonal: int,
    counts: NDArray[np.int64],
) -> None:
    n = a.shape[1]
    rows, columns = a.reshape(-1), b.reshape(-1)
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), b.shape[0]):
            first, second = i * n, j * n
            if method == MULTIPLY:
                counts[i, j] += _multiply(rows, first, columns, second, n)
            elif method == HAMMING:
                counts[i, j] += _hamming(rows, first, columns, second, n)
            elif method == THREEBIT:
                counts[i, j] += _threebit(tables, rows, first, columns, second, n)
            elif method == TWOBIT:
                counts[i, j] += _twobit(tables, rows, first, columns, second, n)
            elif method == SHUFFLE:
                counts[i, j] += _shuffle(tables, rows, first, columns, second, n)
            else:
                counts[i, j] += _packed(rows, first, columns, second, n)


@njit
def _multiply(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> int:
    """Multiply the two-bit genotypes as numbers of 16 bits, in eight rounds.

    A register of 32 bytes holds 128 genotypes, eight in each lane of 16 bits. A round masks both
    registers to one genotype of each lane. One instruction (pmaddwd) then multiplies the lanes and
    adds neighbours. The next round shifts by two bits to the next genotype.

    Identity: sum x y = sum over k of sum over lanes of (X >> 2k & 3) (Y >> 2k & 3).

    Operations for 128 products: 2 loads, 14 shifts, 16 masks, 8 multiplications, 8 additions: 48.
    """
    even = odd = zero_sums()
    for k in range(0, n, BYTE_LANES):
        x, y = load_bytes(a, first + k), load_bytes(b, second + k)
        even += _pairs(x, y, 0)
        odd += _pairs(x, y, 2)
        even += _pairs(x, y, 4)
        odd += _pairs(x, y, 6)
        even += _pairs(x, y, 8)
        odd += _pairs(x, y, 10)
        even += _pairs(x, y, 12)
        odd += _pairs(x, y, 14)
    return reduce_add(even + odd)


@njit
def _pairs(x: Any, y: Any, places: int) -> Any:
    """Return products of the genotypes ``places`` bits up in each lane, neighbours added."""
    mask, distance = repeat(np.uint64(0x0003000300030003)), np.uint64(places)
    return multiply_pairs(shift_right(x, distance) & mask, shift_right(y, distance) & mask)


@njit
def _hamming(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> int:
    """Count the bits set in the AND of four-bit genotypes, coded differently on the two sides.

    Codes are 0000, 0110, 1111 on the left and 0000, 0011, 1111 on the right. 1 x 1 is
    0110 & 0011 = 0010, 1 x 2 is 0110 & 1111, 2 x 1 is 1111 & 0011, and 2 x 2 is 1111.

    Identity: sum x y = popcount(X & Y), the Hamming weight that PLINK 1.07 counts distances with.

    Operations for 64 products, with a byte popcount from two 4-bit lookups (Mula): 2 loads, 1 AND,
    2 masks, 1 shift, 2 lookups, 2 additions: 10. Byte counts are summed every 31 registers.
    """
    found = 0
    for start in range(0, n, HAMMING_STEPS * BYTE_LANES):
        counts = zero_bytes()
        for k in range(start, min(start + HAMMING_STEPS * BYTE_LANES, n), BYTE_LANES):
            counts += popcount(load_bytes(a, first + k) & load_bytes(b, second + k))
        found += reduce_add(counts)
    return found


@njit
def _threebit(
    table: NDArray[np.uint8],
    a: NDArray[np.uint8],
    first: int,
    b: NDArray[np.uint8],
    second: int,
    n: int,
) -> np.int64:
    """Look up the products of five genotypes in 16 bits in one table of 32,768 sums.

    Codes are 000, 011, 110. The AND of two codes is 011 for 1 x 1, 010 for 1 x 2 and 2 x 1, 110
    for 2 x 2, else 000. The table takes 32 KiB, as much as an L1 cache.

    Identity: sum x y = sum of T[X & Y] over 16-bit parts.

    Operations for 20 products (one word): 2 loads, 1 AND, 4 extractions, 4 lookups, 4 additions:
    15. No vector lookup takes a table of this size, so the words are scalars.
    """
    found = np.int64(0)
    for k in range(0, n, 8):
        both = load_octets(a, first + k) & load_octets(b, second + k)
        found += _four(table, both, np.uint64(0))
    return found


@njit
def _twobit(
    tables: NDArray[np.uint8],
    a: NDArray[np.uint8],
    first: int,
    b: NDArray[np.uint8],
    second: int,
    n: int,
) -> np.int64:
    """Look up the products of eight two-bit genotypes in 16 bits in two tables of 65,536 sums.

    The two tables take 128 KiB, so they are read from the L2 cache. T_and is the sum of
    {01: 1, 10: 4} over eight codes, and T_or of {11: 2}.

    Identity: sum x y = sum of T_and[X & Y] + T_or[X | Y] over 16-bit parts.

    Operations for 32 products (one word): 2 loads, 1 AND, 1 OR, 8 extractions, 8 lookups, 8
    additions: 28. No vector lookup takes tables of this size, so the words are scalars.
    """
    found = np.int64(0)
    for k in range(0, n, 8):
        x, y = load_octets(a, first + k), load_octets(b, second + k)
        found += _four(tables, x & y, np.uint64(0)) + _four(tables, x | y, np.uint64(1 << 16))
    return found


@njit
def _four(tables: NDArray[np.uint8], word: np.uint64, start: np.uint64) -> np.int64:
    """Return the sum of the entries of the four 16-bit parts, in the table from ``start`` on."""
    part = np.uint64(0xFFFF)
    return (
        np.int64(tables[start + (word & part)])
        + np.int64(tables[start + (word >> np.uint64(16) & part)])
        + np.int64(tables[start + (word >> np.uint64(32) & part)])
        + np.int64(tables[start + (word >> np.uint64(48))])
    )


@njit
def _shuffle(
    tables: NDArray[np.uint8],
    a: NDArray[np.uint8],
    first: int,
    b: NDArray[np.uint8],
    second: int,
    n: int,
) -> int:
    """Look up the products of two genotypes in four bits in two tables of 16 sums, in registers.

    The tables are those of "twobit" for two genotypes instead of eight, so a byte shuffle (pshufb)
    looks up all bytes of a register at once. This is the fastest of the six in the paper.

    Identity: sum x y = sum of T_and[X & Y] + T_or[X | Y] over four-bit parts.

    Operations for 128 products (one register of 32 bytes): 2 loads, 1 AND, 1 OR, 2 shifts, 4 masks,
    4 lookups, 4 additions: 18. A byte of four genotypes adds at most 16.
    """
    of_and, of_or = load_bytes(tables, 0), load_bytes(tables, BYTE_LANES)
    found = 0
    for start in range(0, n, SHUFFLE_STEPS * BYTE_LANES):
        counts = zero_bytes()
        for k in range(start, min(start + SHUFFLE_STEPS * BYTE_LANES, n), BYTE_LANES):
            x, y = load_bytes(a, first + k), load_bytes(b, second + k)
            counts += _halves(of_and, x & y) + _halves(of_or, x | y)
        found += reduce_add(counts)
    return found


@njit
def _halves(table: Any, codes: Any) -> Any:
    """Return the sum of the table entries of the two halves of each byte."""
    nibbles = repeat(np.uint64(NIBBLES))
    upper = shift_right(codes, np.uint64(4))
    return lookup(table, codes & nibbles) + lookup(table, upper & nibbles)


@njit
def _packed(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int, n: int) -> int:
    """Add products by AND, OR and shifts, in four-bit fields and then in bytes.

    Z = X & Y is the number 01 for 1 x 1 and 10 for 2 x 2, half of that product.
    S = (X >> 1 & Y) | (Y >> 1 & X) | (Z >> 1) has its lower bit set for 1 x 2, 2 x 1 and 2 x 2.
    This bit is worth two; for 2 x 2 it is the other half.

    Identity: sum x y = 2 sum S + sum Z over two-bit fields.

    Four-bit fields hold 7 additions of Z (at most 2 each) and 14 of S (at most 1 each).

    Operations for 128 products (one register of 32 bytes): 2 loads, 7 for S and Z, 10 to add their
    halves to fields, and (4 x 4 + 2 x 4) / 7 to empty the fields: about 21. There is no lookup and
    no multiplication, so this is the method for SSE2.
    """
    found = 0
    for start in range(0, n, PACKED_STEPS * BYTE_LANES):
        twice = once = zero_bytes()
        stop = min(start + PACKED_STEPS * BYTE_LANES, n)
        for k in range(start, stop, FIELDS * BYTE_LANES):
            s, z = _group(a, first + k, b, second + k)
            twice += s
            once += z
        found += 2 * reduce_add(twice) + reduce_add(once)
    return found


@njit
def _group(a: NDArray[np.uint8], first: int, b: NDArray[np.uint8], second: int) -> tuple[Any, Any]:
    """Return S and Z of `FIELDS` registers, summed to bytes."""
    one, two = np.uint64(1), np.uint64(2)
    ones, threes = repeat(np.uint64(0x1111111111111111)), repeat(np.uint64(0x3333333333333333))
    s_even = s_odd = z_even = z_odd = zero_bytes()
    for k in range(0, FIELDS * BYTE_LANES, BYTE_LANES):
        x, y = load_bytes(a, first + k), load_bytes(b, second + k)
        z = x & y
        s = (shift_right(x, one) & y) | (shift_right(y, one) & x) | shift_right(z, one)
        s_even += s & ones
        s_odd += shift_right(s, two) & ones
        z_even += z & threes
        z_odd += shift_right(z, two) & threes
    return _emptied(s_even, s_odd), _emptied(z_even, z_odd)


@njit
def _emptied(even: Any, odd: Any) -> Any:
    """Return two registers of four-bit fields, summed to bytes."""
    low, four = repeat(np.uint64(NIBBLES)), np.uint64(4)
    return (
        (even & low)
        + (shift_right(even, four) & low)
        + (odd & low)
        + (shift_right(odd, four) & low)
    )


def coded(
    method: str, carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64], *, second: bool
) -> NDArray[np.uint8]:
    """Return the codes (rows, bytes) of a method, padded with zeros; planes: (rows, words).

    Only "hamming" codes the ``second`` factor differently.
    """
    rows, words = carrier.shape
    if method == "threebit":
        out = np.zeros((rows, -(-64 * words // 20)), np.uint64)
        _code_three_bits(carrier, hom_alt, out)
        return out.view(np.uint8)
    if method == "hamming":
        left, right = (hom_alt, carrier, carrier, hom_alt), (carrier, carrier, hom_alt, hom_alt)
        return _four_bits(*(right if second else left))
    octets = {"twobit": 8, "packed": FIELDS * BYTE_LANES}.get(method, BYTE_LANES)
    out = _padded(rows, 2 * words, octets)
    # The upper bit of a dosage is hom_alt; the lower bit is set in heterozygotes.
    interleave(carrier & ~hom_alt, hom_alt, out)
    return out.view(np.uint8)


def _four_bits(*planes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Interleave the planes of bits 0 to 3, each (rows, words), into four-bit codes."""
    rows, words = planes[0].shape
    even, odd = (np.empty((rows, 2 * words), np.uint64) for _ in range(2))
    interleave(planes[0], planes[2], even)
    interleave(planes[1], planes[3], odd)
    out = _padded(rows, 4 * words, BYTE_LANES)
    interleave(even, odd, out)
    return out.view(np.uint8)


def _padded(rows: int, words: int, octets: int) -> NDArray[np.uint64]:
    """Return zeros (rows, words) uint64, words rounded up to a multiple of ``octets`` bytes."""
    each = octets // 8
    return np.zeros((rows, -(-words // each) * each), np.uint64)


@njit
def _code_three_bits(
    carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64], out: NDArray[np.uint64]
) -> None:
    """Put five three-bit codes into each 16 bits of zeros (rows, words)."""
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


@njit
def _five(words: NDArray[np.uint64], place: int) -> np.uint64:
    """Return five bits of a row from ``place`` on, zero past the end."""
    w, bit = place >> 6, np.uint64(place & 63)
    found = words[w] >> bit
    if bit > 59 and w + 1 < words.shape[0]:
        found |= words[w + 1] << (np.uint64(64) - bit)
    return found & np.uint64(31)


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
