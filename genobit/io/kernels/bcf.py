"""Read labels and calls from the records of a BCF.

Format: https://samtools.github.io/hts-specs/VCFv4.3.pdf, section 6.3. Each value has a type and a
length before it. Every read is checked against the end of its record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from genobit.engine.simd.jit import inlined, merged, njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.vector import Vec, bitcast, bits_of, loader, splat, store
from genobit.io.kernels.vcf_calls import judged
from genobit.io.kernels.vcf_rows import keep_rows
from genobit.io.kernels.vcf_text import (
    BAD_POSITION,
    BAD_RECORD,
    CALLED,
    EMPTY_ALLELE,
    FEW_SAMPLES,
    FINE,
    MANY_SAMPLES,
    MOST_PLOIDY,
    NO_CALL,
    RECORD,
    SAMPLE,
    STATUS,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.io.kernels.vcf_rows import Rows

CONTIG, ID, ID_END, ALLELES, FILTER, FILTER_END, GT, GT_TYPE = range(8)
"""Columns of places: the contig's number; where ID, the alleles and FILTER lie; where the vector of
GT begins, and 256 times its length plus its type, 0 without GT."""
SIZES = 8
_SHARED = 24
_SHORT_KEY = 0x11
"""Length and type of a key of one byte."""
_DOT = ord(".")
_OCTETS = np.array([0, 1, 2, 4, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
_WORDS = Vec(types.uint16, 16)

_load, _bytes = loader(32), splat(Vec(types.uint8, 32))
_words, _as_words = splat(_WORDS), bitcast(_WORDS)
_TEXT = 7


@inlined
def whole(text: NDArray[np.uint8], at: int, octets: int) -> Any:
    """Return a signed little-endian integer of 1, 2 or 4 bytes."""
    value = np.int64(text[at])
    if octets > 1:
        value |= np.int64(text[at + 1]) << 8
    if octets > 2:
        value |= (np.int64(text[at + 2]) << 16) | (np.int64(text[at + 3]) << 24)
    sign = np.int64(1) << (8 * octets - 1)
    return (value ^ sign) - sign


@inlined
def octets_of(kind: Any) -> Any:
    """Return the bytes of an element of a type; 0 of one that is none."""
    return _OCTETS[kind & 15]


@inlined
def typed(text: NDArray[np.uint8], at: int, last: int) -> tuple[Any, Any, Any]:
    """Return length, type, and begin of a value; the type is -1 if it lies beyond ``last``."""
    if at >= last:
        return 0, -1, at
    n: Any = np.int64(text[at] >> 4)
    kind = np.int64(text[at] & 15)
    at += 1
    if n == 15:
        if at >= last:
            return 0, -1, at
        octets = octets_of(np.int64(text[at] & 15))
        if text[at] >> 4 != 1 or octets == 0 or at + 1 + octets > last:
            return 0, -1, at
        n = whole(text, at + 1, octets)
        at += 1 + octets
    if n < 0 or n > last or (n > 0 and octets_of(kind) == 0):
        return 0, -1, at
    return n, kind, at


@njit
def record_starts(
    text: NDArray[np.uint8], start: int, stop: int, starts: NDArray[np.int64]
) -> tuple[int, int]:
    """Fill the starts of whole records; return their number and the place after the last one."""
    n, at = 0, start
    while n < starts.size and at + SIZES + _SHARED <= stop:
        shared, own = whole(text, at, 4) & 0xFFFFFFFF, whole(text, at + 4, 4) & 0xFFFFFFFF
        if at + SIZES + shared + own > stop:
            break
        starts[n] = at
        n += 1
        at += SIZES + shared + own
    return n, at


@njit
def record_size(text: NDArray[np.uint8], at: int) -> int:
    """Return the bytes that a record says it has."""
    return SIZES + (whole(text, at, 4) & 0xFFFFFFFF) + (whole(text, at + 4, 4) & 0xFFFFFFFF)


@njit
def read_places(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    key: int,
    samples: int,
    places: NDArray[np.int64],
    positions: NDArray[np.int64],
    counts: NDArray[np.int64],
    report: NDArray[np.int64],
) -> None:
    """Find the values of each record.

    key: number of GT in the dictionary; places: (records, 8); counts: alleles of each record.
    """
    for record in range(starts.size):
        at = starts[record] + SIZES
        middle = at + (whole(text, at - SIZES, 4) & 0xFFFFFFFF)
        last = middle + (whole(text, at - 4, 4) & 0xFFFFFFFF)
        contig, position = whole(text, at, 4), whole(text, at + 4, 4) + 1
        alleles, here = whole(text, at + 18, 2) & 0xFFFF, whole(text, at + 20, 4) & 0xFFFFFF
        places[record, CONTIG], positions[record], counts[record] = contig, position, alleles
        status = FINE
        if middle - at < _SHARED or alleles < 1 or contig < 0:
            status = BAD_RECORD
        elif position < 0:
            status = BAD_POSITION
        elif here != samples:
            status = MANY_SAMPLES if here > samples else FEW_SAMPLES
        else:
            status = _find_labels(text, at + _SHARED, middle, alleles, places, record)
        if status == FINE:
            status = _find_calls(text, middle, last, text[at + 23], key, samples, places, record)
        if status != FINE:
            report[STATUS], report[RECORD], report[SAMPLE] = status, record, here
            return
        report[CALLED] += places[record, GT_TYPE] > 0


@merged
def _find_labels(
    text: NDArray[np.uint8],
    at: int,
    last: int,
    alleles: int,
    places: NDArray[np.int64],
    record: int,
) -> int:
    """Find ID, alleles and FILTER of a record; return a status."""
    n, kind, at = typed(text, at, last)
    fine = kind == _TEXT or (n == 0 and kind >= 0)
    places[record, ID], places[record, ID_END] = at, at + n
    at += n
    places[record, ALLELES] = at
    for _ in range(alleles):
        n, kind, at = typed(text, at, last)
        fine &= kind == _TEXT or (n == 0 and kind >= 0)
        at += n
        if not fine or at > last:
            return BAD_RECORD
        if n == 0:
            return EMPTY_ALLELE
    places[record, FILTER] = at
    n, kind, at = typed(text, at, last)
    at += n * octets_of(kind)
    places[record, FILTER_END] = at
    return FINE if kind >= 0 and at <= last else BAD_RECORD


@merged
def _find_calls(
    text: NDArray[np.uint8],
    at: int,
    last: int,
    fields: int,
    key: int,
    samples: int,
    places: NDArray[np.int64],
    record: int,
) -> int:
    """Find GT among the fields of the samples; return a status."""
    n: Any
    kind: Any
    place: Any = 0
    kind_of_calls: Any = 0
    for _ in range(fields):
        if at + 3 <= last and text[at] == _SHORT_KEY and text[at + 2] < 15 << 4:
            # The key and the length take one byte each, as most do: these loads do not wait.
            number = whole(text, at + 1, 1)
            n, kind = np.int64(text[at + 2] >> 4), np.int64(text[at + 2] & 15)
            at += 3
            if n > 0 and octets_of(kind) == 0:
                return BAD_RECORD
        else:
            n, kind, at = typed(text, at, last)
            octets = octets_of(kind)
            if n != 1 or kind < 1 or kind > 3 or at + octets > last:
                return BAD_RECORD
            number = whole(text, at, octets)
            n, kind, at = typed(text, at + octets, last)
        size = n * octets_of(kind) * samples
        if kind < 0 or size > last - at:
            return BAD_RECORD
        # A field that is named twice counts once, as in text.
        if number == key and kind_of_calls == 0:
            if kind > 3:
                return NO_CALL
            # A vector of no values says that all calls are missing, also without a type.
            place, kind_of_calls = at, 256 * n + max(kind, 1)
        at += size
    places[record, GT], places[record, GT_TYPE] = place, kind_of_calls
    return FINE


@njit
def copy_labels(
    text: NDArray[np.uint8],
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
    buffer: NDArray[np.uint8],
    sizes: NDArray[np.unsignedinteger],
) -> int:
    """Copy ID and alleles of each record into one buffer, as `vcf_labels.copy_labels` does."""
    at: Any = 0
    k = 0
    for record in range(counts.size):
        size = _copied(text, places[record, ID], places[record, ID_END], buffer, at)
        if size == 0:
            buffer[at], buffer[at + 1] = _DOT, 0
            size = 1
        sizes[k] = size
        k += 1
        at += size + 1
        place = places[record, ALLELES]
        for _ in range(counts[record]):
            n, _kind, place = typed(text, place, text.size)
            size = _copied(text, place, place + n, buffer, at)
            sizes[k] = size
            k += 1
            at += size + 1
            place += n
    return at


@inlined
def _copied(
    text: NDArray[np.uint8], first: int, last: int, buffer: NDArray[np.uint8], at: int
) -> int:
    """Copy text[first:last] up to a byte of zero, and a byte after it; return its size."""
    size = 0
    while first + size < last and text[first + size] != 0:
        buffer[at + size] = text[first + size]
        size += 1
    buffer[at + size] = 0
    return size


@njit
def read_quality(
    text: NDArray[np.uint8], starts: NDArray[np.int64], quality: NDArray[np.uint32]
) -> None:
    """Read the bits of QUAL."""
    for record in range(starts.size):
        quality[record] = np.uint32(whole(text, starts[record] + SIZES + 12, 4) & 0xFFFFFFFF)


@njit
def read_calls(
    text: NDArray[np.uint8],
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
    samples: int,
    ploidy: int,
    rows: Rows,
    report: NDArray[np.int64],
) -> None:
    """Read GT of all samples and pack it, as `vcf_calls.read_calls` does."""
    found = np.zeros(3, np.int64)
    calls, phased, row = rows.calls, rows.phased, 0
    for record in range(counts.size):
        n, octets = places[record, GT_TYPE] >> 8, octets_of(places[record, GT_TYPE] & 255)
        at = places[record, GT]
        quick = n == 2 and ploidy == 2 and octets == 1 and calls.itemsize == 1
        if quick and _are_pairs(text, at, 2 * samples, counts[record]):
            _write_pairs(text, at, samples, calls, phased, row)
            report[MOST_PLOIDY] = max(report[MOST_PLOIDY], 2)
        else:
            for s in range(samples):
                first, place = at + s * n * octets, s * ploidy
                status = _one_call(text, first, n, octets, ploidy, calls, row, place, found)
                if status == FINE:
                    n_found, most = found[0], found[1]
                    status = judged(n_found, most, counts[record], ploidy, calls.itemsize, report)
                if status != FINE:
                    report[STATUS], report[RECORD], report[SAMPLE] = status, record, s
                    return
                phased[row, s] = found[2]
        row += 1
        if row == calls.shape[0] or record == counts.size - 1:
            keep_rows(rows, record + 1, row, ploidy, report)
            row = 0


@njit
def _one_call(
    text: NDArray[np.uint8],
    at: int,
    n: int,
    octets: int,
    ploidy: int,
    calls: NDArray[Any],
    row: int,
    place: int,
    found: NDArray[np.int64],
) -> int:
    """Read a call of up to n alleles, as `vcf_calls._one_call` does; return a status."""
    end = -(np.int64(1) << (8 * max(octets, 1) - 1))
    size, most, phased = 0, -1, 1
    for j in range(n):
        value = whole(text, at + j * octets, octets)
        if value == end + 1:
            break
        # The smallest integer is a missing value.
        value = 0 if value == end else value
        if value < 0:
            return NO_CALL
        allele = (value >> 1) - 1
        phased &= (value & 1) if j > 0 else 1
        if j < ploidy:
            calls[row, place + j] = allele if allele < 128 or calls.itemsize > 1 else 0
        most = max(most, allele)
        size += 1
    if size == 0:
        calls[row, place] = -1
        size = 1
    for j in range(size, ploidy):
        calls[row, place + j] = -2
    found[0], found[1], found[2] = size, most, phased if size > 1 or most >= 0 else 0
    return FINE


@inlined
def _are_pairs(text: NDArray[np.uint8], at: int, size: int, alleles: int) -> bool:
    """Return whether bytes are calls of alleles that the record has.

    Larger bytes are missing values, ends of a vector, or alleles that the record lacks.
    """
    limit = np.uint8(min(2 * alleles + 1, 127))
    most, k = _bytes(limit), 0
    while k + 32 <= size:
        if bits_of(_load(text, at + k) > most) != 0:
            return False
        k += 32
    while k < size:
        if text[at + k] > limit:
            return False
        k += 1
    return True


@inlined
def _write_pairs(
    text: NDArray[np.uint8],
    at: int,
    samples: int,
    calls: NDArray[Any],
    phased: NDArray[np.int8],
    row: int,
) -> None:
    """Write the calls of bytes that `_are_pairs` found to be right."""
    s = 0
    if samples >= 16:
        octets, marks = calls[row].view(np.uint8), phased[row].view(np.uint8)
        low, one, below = _bytes(np.uint8(0x7F)), _words(np.uint16(1)), _bytes(np.uint8(255))
        while s + 16 <= samples:
            word = _load(text, at + 2 * s)
            # The lowest bit of the second allele is the phase, and 0 is a missing allele.
            store(octets, 2 * s, (shift_right(word, np.uint64(1)) & low) + below)
            store(marks, s, shift_right(_as_words(word), np.uint64(8)) & one)
            s += 16
    while s < samples:
        for j in range(2):
            calls[row, 2 * s + j] = np.int64(text[at + 2 * s + j] >> 1) - 1
        phased[row, s] = text[at + 2 * s + 1] & 1
        s += 1
