"""Pack genotype calls, rows of PLINK .bed files or counts of an allele into bit planes.

A kernel stops at the first call that breaks a rule and returns the rule and the call's position.
`genobit.engine.schedule.packing` knows the names and writes the error message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.planes import tail_mask
from genobit.engine.bits.words import even_bits
from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.registers import equal_mask, less_mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

FINE, ALLELE, PLOIDY, VALUE, MISSING = 0, 1, 2, 3, 4
"""Rules that a call can break.

FINE: none; ALLELE: an allele above the limit; PLOIDY: a -2 (lower ploidy); VALUE: a value below -2;
MISSING: a missing call.
"""


@njit
def _find(
    calls: NDArray[np.int8], limit: int, refuse_fill: bool, refuse_missing: bool
) -> tuple[int, int]:
    """Return the rule and position of the first call in a row that breaks a rule."""
    for k in range(calls.shape[0]):
        call = calls[k]
        if call > limit:
            return ALLELE, k
        if call < -2:
            return VALUE, k
        if call == -2 and refuse_fill:
            return PLOIDY, k
        if call < 0 and refuse_missing:
            return MISSING, k
    return FINE, 0


@njit
def _masks(
    row: NDArray[np.int8], start: int, allele: int, limit: int, tail: NDArray[np.int8]
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return masks of 64 calls: equal to ``allele``, missing (-1, -2), neither -1 nor 0..limit."""
    if start + 64 <= row.shape[0]:
        block, at = row, start
    else:
        tail[:] = 0
        for k in range(row.shape[0] - start):
            tail[k] = row[start + k]
        block, at = tail, 0
    missing = less_mask(block, at, np.int8(0))
    # 127 + 1 overflows int8. At limit 127, allele 127 is therefore flagged as odd, and `_find`
    # accepts it.
    above = np.int8(min(limit, 126) + 1)
    odd = less_mask(block, at, np.int8(-1)) | ~less_mask(block, at, above)
    return equal_mask(block, at, np.int8(allele)), missing, odd


@njit
def pack_haplotypes(
    calls: NDArray[np.int8],
    alleles: NDArray[np.int8],
    limits: NDArray[np.int8],
    refuse_missing: bool,
    planes: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Pack calls (rows, haplotypes) into planes (2, rows, words): the row's allele, called.

    Row i counts its allele ``alleles[i]`` and accepts alleles up to ``limits[i]``. The values -1
    and -2 are not called. Returns rule, row, column.
    """
    rows, n = calls.shape
    words = planes.shape[2]
    tail = np.empty(64, np.int8)
    for i in range(rows):
        row = calls[i]
        allele, limit = alleles[i], limits[i]
        suspect = np.uint64(0)
        for w in range(words):
            alt, missing, odd = _masks(row, 64 * w, allele, limit, tail)
            planes[0, i, w] = alt
            planes[1, i, w] = ~missing
            suspect |= odd | (missing if refuse_missing else np.uint64(0))
        _clear_tail(planes, i, n)
        if suspect:
            rule, k = _find(row, limit, False, refuse_missing)
            if rule != FINE:
                return rule, i, k
    return FINE, 0, 0


@inlined
def pack_row(
    calls: NDArray[np.int8],
    at: int,
    n: int,
    alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    row: int,
) -> tuple[bool, bool]:
    """Pack n calls of -1, 0 and 1, followed by zeros, into a row of two planes (rows, words).

    Returns whether a call is another, and whether one is missing.
    """
    words, other, absent = alt.shape[1], np.uint64(0), np.uint64(0)
    for w in range(words):
        k = at + 64 * w
        missing = less_mask(calls, k, np.int8(0))
        other |= less_mask(calls, k, np.int8(-1)) | ~less_mask(calls, k, np.int8(2))
        absent |= missing
        alt[row, w] = equal_mask(calls, k, np.int8(1))
        called[row, w] = ~missing
    if words:
        called[row, words - 1] &= tail_mask(n)
    return other != 0, absent != 0


@inlined
def pack_marks(marks: NDArray[np.int8], at: int, plane: NDArray[np.uint64], row: int) -> None:
    """Pack marks of 0 and 1, followed by zeros up to a whole word, into a row of a plane."""
    for w in range(plane.shape[1]):
        plane[row, w] = equal_mask(marks, at + 64 * w, np.int8(1))


@njit
def _clear_tail(planes: NDArray[np.uint64], row: int, bits: int) -> None:
    for p in range(planes.shape[0] if planes.shape[2] else 0):
        planes[p, row, planes.shape[2] - 1] &= tail_mask(bits)


@njit
def pack_dosages(
    calls: NDArray[np.int8],
    alleles: NDArray[np.int8],
    limits: NDArray[np.int8],
    refuse_missing: bool,
    planes: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Pack calls (rows, 2 samples) into planes (3, rows, words): carrier, hom_alt, called.

    The two calls of a diploid sample are adjacent. Row i counts its allele ``alleles[i]`` and
    accepts alleles up to ``limits[i]``. A sample with one missing allele is missing. Returns rule,
    row, column.
    """
    rows, n = calls.shape
    words = planes.shape[2]
    one, half = np.uint64(1), np.uint64(32)
    tail = np.empty(64, np.int8)
    for i in range(rows):
        row = calls[i]
        allele, limit = alleles[i], limits[i]
        suspect = np.uint64(0)
        for w in range(words):
            alt, missing, odd = _masks(row, 128 * w, allele, limit, tail)
            absent = np.uint64(0)
            if missing:  # rare: the branch costs less than computing zeros
                absent = even_bits(missing | missing >> one)
            carrier = even_bits(alt | alt >> one)
            hom_alt = even_bits(alt & alt >> one)
            suspect |= odd | (missing if refuse_missing else np.uint64(0))
            if 128 * w + 64 < n:
                alt, missing, odd = _masks(row, 128 * w + 64, allele, limit, tail)
                if missing:
                    absent |= even_bits(missing | missing >> one) << half
                carrier |= even_bits(alt | alt >> one) << half
                hom_alt |= even_bits(alt & alt >> one) << half
                suspect |= odd | (missing if refuse_missing else np.uint64(0))
            planes[0, i, w] = carrier & ~absent
            planes[1, i, w] = hom_alt & ~absent
            planes[2, i, w] = ~absent
        _clear_tail(planes, i, n // 2)
        if suspect:
            rule, k = _find(row, limit, True, refuse_missing)
            if rule != FINE:
                return rule, i, k
    return FINE, 0, 0


@njit
def split_bed(raw: NDArray[np.uint8], samples: int, planes: NDArray[np.uint64]) -> None:
    """Unpack .bed rows raw (rows, ceil(samples / 4)) into planes (3, rows, words).

    The planes are carrier, hom_alt and called of allele A1.

    A call has two bits: 00 is two copies of A1, 10 is one copy, 11 is none, 01 is missing (PLINK 1
    .bed specification).
    """
    rows, width = raw.shape
    words = planes.shape[2]
    pairs = np.zeros(2 * words, np.uint64)
    octets = pairs.view(np.uint8)
    # One kind of operation per loop lets LLVM vectorise it: a quarter of the time.
    halves = np.empty((2, 2 * words), np.uint32)
    lows, highs = halves[0].view(np.uint64), halves[1].view(np.uint64)
    for i in range(rows):
        for k in range(width):
            octets[k] = raw[i, k]
        for k in range(2 * words):
            halves[0, k] = np.uint32(even_bits(pairs[k]))
            halves[1, k] = np.uint32(even_bits(pairs[k] >> np.uint64(1)))
        for w in range(words):
            low, high = lows[w], highs[w]
            planes[0, i, w] = ~low
            planes[1, i, w] = ~(low | high)
            planes[2, i, w] = high | ~low
        _clear_tail(planes, i, samples)


@njit
def pack_counts(counts: NDArray[np.int8], planes: NDArray[np.uint64]) -> None:
    """Pack copies of an allele (rows, samples) into planes (3, rows, words).

    The planes are carrier, hom_alt and called. A count is 0, 1 or 2, or negative if it is missing.
    """
    rows, n = counts.shape
    tail = np.full(64, np.int8(-1))
    rest = n % 64
    for i in range(rows):
        row = counts[i]
        for w in range(planes.shape[2]):
            if 64 * w + 64 <= n:
                block, at = row, 64 * w
            else:
                for k in range(rest):
                    tail[k] = row[64 * w + k]
                block, at = tail, 0
            planes[0, i, w] = ~less_mask(block, at, np.int8(1))
            planes[1, i, w] = equal_mask(block, at, np.int8(2))
            planes[2, i, w] = ~less_mask(block, at, np.int8(0))


@njit
def pair_haplotypes(
    alt: NDArray[np.uint64], called: NDArray[np.uint64], planes: NDArray[np.uint64]
) -> None:
    """Convert haplotype planes (rows, n) of diploids into planes (3, rows, words).

    The planes are carrier, hom_alt and called. Haplotypes 2 s and 2 s + 1 belong to sample s.
    """
    half, one = np.uint64(32), np.uint64(1)
    n = alt.shape[1]
    if n == 1:
        # One loop, which LLVM vectorises, takes a quarter of the time of a loop in a loop.
        for i in range(alt.shape[0]):
            x, c = alt[i, 0], called[i, 0]
            both = even_bits(c & c >> one)
            planes[0, i, 0] = even_bits(x | x >> one) & both
            planes[1, i, 0] = even_bits(x & x >> one) & both
            planes[2, i, 0] = both
        return
    for i in range(alt.shape[0]):
        for w in range(n // 2):
            x, c = alt[i, 2 * w], called[i, 2 * w]
            y, d = alt[i, 2 * w + 1], called[i, 2 * w + 1]
            both = even_bits(c & c >> one) | even_bits(d & d >> one) << half
            carrier = even_bits(x | x >> one) | even_bits(y | y >> one) << half
            hom_alt = even_bits(x & x >> one) | even_bits(y & y >> one) << half
            planes[0, i, w] = carrier & both
            planes[1, i, w] = hom_alt & both
            planes[2, i, w] = both
        if n & 1:
            x, c = alt[i, n - 1], called[i, n - 1]
            both = even_bits(c & c >> one)
            planes[0, i, n // 2] = even_bits(x | x >> one) & both
            planes[1, i, n // 2] = even_bits(x & x >> one) & both
            planes[2, i, n // 2] = both
