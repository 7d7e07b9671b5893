"""Read the labels of VCF records: contigs, alleles, names, filters and quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import store
from genobit.io.kernels.vcf_text import load_octets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMMA, _DOT, _ZERO = b",.0"
_EXACT = 2**53
"""Whole numbers up to here, and powers of ten up to 22, are exact in float64."""
_POWERS = 10.0 ** np.arange(23)


@njit
def contig_changes(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    changes: NDArray[np.int64],
) -> int:
    """Fill the records whose CHROM differs from the record before; return their number."""
    n = 0
    for record in range(starts.size):
        first, size = starts[record], columns[record, 0] - starts[record]
        same = False
        if record > 0:
            before = starts[record - 1]
            same = size == columns[record - 1, 0] - before
            k = 0
            while same and k < size:
                same = text[first + k] == text[before + k]
                k += 1
        if not same:
            changes[n] = record
            n += 1
    return n


@njit
def count_alleles(
    text: NDArray[np.uint8], columns: NDArray[np.int64], counts: NDArray[np.int64]
) -> int:
    """Count the alleles of each record: REF, and those of ALT unless it is a dot.

    Returns the first record with an empty allele, -1 if there is none.
    """
    empty = -1
    for record in range(counts.size):
        first, last = columns[record, 3] + 1, columns[record, 4]
        none = last == first or (last == first + 1 and text[first] == _DOT)
        counts[record] = 1 if none else 2
        lost = columns[record, 3] == columns[record, 2] + 1
        for k in range(first, last):
            comma = text[k] == _COMMA
            counts[record] += comma
            lost |= comma and (k == first or k + 1 == last or text[k - 1] == _COMMA)
        if lost and empty < 0:
            empty = record
    return empty


@njit
def copy_labels(
    text: NDArray[np.uint8],
    columns: NDArray[np.int64],
    counts: NDArray[np.int64],
    buffer: NDArray[np.uint8],
    sizes: NDArray[np.unsignedinteger],
) -> int:
    """Copy ID and alleles of each record into one buffer, a byte after each; return the bytes.

    sizes: bytes of each text. The buffer has `PADDING` bytes more than that.
    """
    at, k = 0, 0
    for record in range(counts.size):
        first, middle = columns[record, 1] + 1, columns[record, 2]
        begin, last = columns[record, 3] + 1, columns[record, 4]
        sizes[k], sizes[k + 1] = middle - first, begin - middle - 2
        k += 2
        size = begin - first
        if counts[record] > 1:
            size = last + 1 - first
            # Most records have one alternate allele.
            for j in range(begin, last if counts[record] > 2 else begin):
                if text[j] == _COMMA:
                    sizes[k] = j - begin
                    k += 1
                    begin = j + 1
            sizes[k] = last - begin
            k += 1
        for j in range(0, size, 32):
            store(buffer, at + j, load_octets(text, first + j))
        at += size
    return at


@njit
def read_quality(
    text: NDArray[np.uint8],
    columns: NDArray[np.int64],
    quality: NDArray[np.float32],
    others: NDArray[np.int64],
) -> int:
    """Read QUAL, NaN for a dot; return how many records have text that is not plainly a number."""
    n = 0
    for record in range(quality.size):
        k, last = columns[record, 4] + 1, columns[record, 5]
        if last == k + 1 and text[k] == _DOT:
            quality[record] = np.nan
            continue
        number, scale, digits, point = np.int64(0), 0, 0, False
        while k < last:
            digit = np.int64(text[k]) - _ZERO
            if 0 <= digit <= 9 and number < _EXACT // 16:
                number = number * 10 + digit
                digits += 1
                scale += point
            elif text[k] == _DOT and not point:
                point = True
            else:
                break
            k += 1
        if k < last or digits == 0 or scale > 22:
            others[n] = record
            n += 1
        else:
            quality[record] = number / _POWERS[scale]
    return n


@njit
def _same_text(text: NDArray[np.uint8], first: int, last: int, other: int, end: int) -> bool:
    """Return whether text[first:last] and text[other:end] are the same."""
    if last - first != end - other:
        return False
    for k in range(last - first):  # noqa: SIM110 - compiled code has no `all` of a generator
        if text[first + k] != text[other + k]:
            return False
    return True


@njit
def encode_texts(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    table: NDArray[np.int32],
    codes: NDArray[np.int32],
    firsts: NDArray[np.int64],
) -> int:
    """Number texts in the order in which they are met; return how many differ.

    table: all -1, a power of two of at least twice as many as texts; firsts: (n,), the first record
    of each number.
    """
    mask, n = table.size - 1, 0
    for record in range(codes.size):
        first, last = starts[record], ends[record]
        if record and _same_text(text, first, last, starts[record - 1], ends[record - 1]):
            codes[record] = codes[record - 1]
            continue
        hashed = np.int64(5381)
        for k in range(first, last):
            hashed = (hashed * 33 + np.int64(text[k])) & 0xFFFFFFFF
        slot = (hashed ^ (hashed >> 15)) & mask
        while True:
            code = table[slot]
            if code < 0:
                table[slot], codes[record], firsts[n] = n, n, record
                n += 1
                break
            if _same_text(text, first, last, starts[firsts[code]], ends[firsts[code]]):
                codes[record] = code
                break
            slot = (slot + 1) & mask
    return n


@njit
def spread_texts(
    counts: NDArray[np.int64],
    sizes: NDArray[np.integer],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> None:
    """Fill where ID and alleles begin and end (records, 1 + most alleles); others are empty.

    sizes: bytes of each text, after which one byte lies.
    """
    at: Any = 0
    text = 0
    for record in range(counts.size):
        for k in range(starts.shape[1]):
            starts[record, k] = ends[record, k] = 0
            if k <= counts[record]:
                starts[record, k] = at
                at += np.int64(sizes[text])
                ends[record, k] = at
                at += 1
                text += 1
