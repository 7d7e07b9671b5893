"""Read and pack calls from the text of VCF records whose columns are known.

Most calls have two alleles of one digit: 16 of them are read at a time. Any other call is read byte
by byte. Text must have `PADDING` bytes beyond the last record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.lane_moves import shift_left, shift_right
from genobit.engine.simd.vector import Vec, bits_of, filled, loader, splat, store, zeros
from genobit.io.kernels.vcf_rows import keep_rows
from genobit.io.kernels.vcf_text import (
    COLUMNS,
    FEW_SAMPLES,
    FINE,
    MANY_SAMPLES,
    MOST_PLOIDY,
    NO_ALLELE,
    NO_CALL,
    PADDING,
    PLOIDY,
    RECORD,
    SAMPLE,
    SHORT,
    STATUS,
    WIDE,
    ends,
    lowest,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.io.kernels.vcf_rows import Rows

_NEWLINE, _RETURN, _COLON, _DOT, _BAR, _SLASH, _ZERO = b"\n\r:.|/0"
_DOT_XOR_ZERO = 30
_ONE = np.uint64(1)
_LANES = np.uint64(2**32 - 1)
_ZERO_CALLS = np.frombuffer(b"0|0\t" * 8, np.uint8)
_OTHER_CALLS = np.frombuffer(bytes([_DOT_XOR_ZERO, _BAR ^ _SLASH, _DOT_XOR_ZERO, 0]) * 8, np.uint8)

_ZERO_WORD = int.from_bytes(b"0|0\t", "little")
_WORDS = 16
"""Calls that are written at once."""
_WORD_LANES = Vec(types.uint32, _WORDS)

_load_words, _words = loader(_WORD_LANES), splat(_WORD_LANES)
_no_words = zeros(_WORD_LANES)
_bytes, _filled = splat(Vec(types.uint8, _WORDS)), filled(Vec(types.uint8, _WORDS))
_load = loader(32)


@inlined
def _allele(byte: int) -> Any:
    """Return the allele of a digit, -1 of a dot, and more than 9 of another byte."""
    low = np.uint8(np.uint8(byte) ^ np.uint8(_ZERO))
    return np.int8(-1) if low == np.uint8(_DOT_XOR_ZERO) else np.int8(min(low, np.uint8(100)))


@njit
def _are_four_bytes(text: NDArray[np.uint8], at: int, size: int, limits: NDArray[np.uint8]) -> bool:
    """Return whether ``size`` bytes, at least 32, are calls such as ``0|1`` with a tab after each.

    limits: (32,), the largest allele in places 0 and 2 of each four, else 0.
    """
    plain, others = _load(_ZERO_CALLS, 0), _load(_OTHER_CALLS, 0)
    most = _load(limits, 0)
    k = 0
    while k < size:
        # The last calls are looked at with some of those before.
        found = _load(text, at + min(k, size - 32)) ^ plain
        if bits_of(found > most) & ~bits_of(found == others) & _LANES != 0:
            return False
        k += 32
    return True


@njit
def _write_four_bytes(
    text: NDArray[np.uint8],
    at: int,
    samples: int,
    calls: NDArray[Any],
    phased: NDArray[np.int8],
) -> None:
    """Write the calls of text that `_are_four_bytes` found to be right."""
    plain, pairs = _words(np.uint32(_ZERO_WORD)), calls[: 2 * samples].view(np.uint16)
    first, second = _words(np.uint32(0xFF)), _words(np.uint32(0xFF00))
    marks = phased.view(np.uint8)
    dots, one, none = _words(np.uint32(0x0101)), _bytes(np.uint8(1)), _no_words()
    s = 0
    while s + _WORDS <= samples:
        # Bytes of a word: allele, separator, allele, tab. Only a dot has the bit of 16.
        word = _load_words(text, at + 4 * s) ^ plain
        alleles = (word & first) | (shift_right(word, np.uint64(8)) & second)
        dot = shift_right(alleles, np.uint64(4)) & dots
        missing = (shift_left(dot, np.uint64(8)) - dot) & (first | second)
        store(pairs, s, alleles | missing)
        store(marks, s, _filled((word & second) == none) & one)
        s += _WORDS
    while s < samples:
        calls[2 * s] = _allele(text[at + 4 * s])
        calls[2 * s + 1] = _allele(text[at + 4 * s + 2])
        phased[s] = text[at + 4 * s + 1] == _BAR
        s += 1


@njit
def _four_bytes(
    text: NDArray[np.uint8],
    at: int,
    samples: int,
    alleles: int,
    limits: NDArray[np.uint8],
    calls: NDArray[Any],
    phased: NDArray[np.int8],
    row: int,
) -> int:
    """Read all calls but the last of a record if each has four bytes; return how many were read."""
    last = at + 4 * samples - 1
    if last >= text.size or text[last] != _NEWLINE:
        return 0
    limits[0::4] = limits[2::4] = min(alleles - 1, 9)
    if not _are_four_bytes(text, at, 4 * samples - 4, limits):
        return 0
    _write_four_bytes(text, at, samples - 1, calls[row], phased[row])
    return samples - 1


@njit
def _one_call(
    text: NDArray[np.uint8],
    first: int,
    last: int,
    ploidy: int,
    calls: NDArray[Any],
    row: int,
    at: int,
    found: NDArray[np.int64],
) -> int:
    """Read the call in text[first:last] into calls[row, at : at + ploidy]; return a status.

    found: alleles in the call, the largest of them, and whether all are phased. Text of VCF 4.4 may
    begin with the phase of the first allele, which says nothing of the others.
    """
    k, n, most, phased = first, 0, -1, 1
    k += k < last and (text[k] == _BAR or text[k] == _SLASH)
    while True:
        begin = k
        allele: Any = 0
        while k < last and _ZERO <= text[k] <= _ZERO + 9 and allele < 2**15:
            allele = allele * 10 + (np.int64(text[k]) - _ZERO)
            k += 1
        if k == begin:
            if k == last or text[k] != _DOT:
                return NO_CALL
            allele = -1
            k += 1
        if n < ploidy:
            calls[row, at + n] = allele if allele < 128 or calls.itemsize > 1 else 0
        most = max(most, allele)
        n += 1
        if k == last:
            break
        phased &= text[k] == _BAR
        if text[k] != _SLASH and text[k] != _BAR:
            return NO_CALL
        k += 1
    for j in range(n, ploidy):
        calls[row, at + j] = -2
    # A single dot is settled when all calls of the sample are known.
    found[0], found[1], found[2] = n, most, phased if n > 1 or most >= 0 else 0
    return FINE


@njit
def read_calls(  # noqa: C901 - a function for each record or call would count references of arrays
    text: NDArray[np.uint8],
    columns: NDArray[np.int64],
    alleles: NDArray[np.int64],
    samples: int,
    ploidy: int,
    rows: Rows,
    report: NDArray[np.int64],
) -> None:
    """Read GT of all samples of the records whose columns are known, and pack it.

    alleles: (records,), REF and ALT together. A call of fewer alleles than ``ploidy`` is filled
    with -2.
    """
    found, limits = np.zeros(3, np.int64), np.zeros(32, np.uint8)
    calls, phased, row = rows.calls, rows.phased, 0
    for record in range(alleles.size):
        begin, field = columns[record, 8] + 1, columns[record, COLUMNS]
        alone = field == 0 and columns[record, 8] - columns[record, 7] == 3
        sample, most = 0, alleles[record]
        if alone and ploidy == 2 and samples > 8 and calls.itemsize == 1:
            sample = _four_bytes(text, begin, samples, most, limits, calls, phased, row)
            begin += 4 * sample
        base, status, more = begin, FINE, True
        while more:
            word = ends(text, base)
            while more and word != 0:
                end = base + lowest(word)
                word &= word - _ONE
                more = text[end] != _NEWLINE
                if sample == samples:
                    status, more = MANY_SAMPLES, False
                    break
                place, phase = sample * ploidy, -1
                if field == 0 and ploidy == 2:
                    phase = _quick_call(text, begin, end, most, calls, row, place)
                    report[MOST_PLOIDY] = max(report[MOST_PLOIDY], 2 if phase >= 0 else 0)
                if phase < 0:
                    status = _any_call(
                        text, begin, end, field, most, ploidy, calls, row, place, found, report
                    )
                    phase = found[2]
                if status != FINE:
                    more = False
                    break
                phased[row, sample] = phase
                sample += 1
                begin = end + 1
            base += PADDING
        if status == FINE and sample < samples:
            status = FEW_SAMPLES
        if status != FINE:
            report[STATUS], report[RECORD], report[SAMPLE] = status, record, sample
            return
        row += 1
        if row == calls.shape[0] or record == alleles.size - 1:
            keep_rows(rows, record + 1, row, ploidy, report)
            row = 0


@inlined
def _quick_call(
    text: NDArray[np.uint8],
    begin: int,
    end: int,
    alleles: int,
    calls: NDArray[Any],
    row: int,
    place: int,
) -> Any:
    """Read a call of two alleles of one byte; return whether it is phased, or -1 for another."""
    a, b, separator = _allele(text[begin]), _allele(text[begin + 2]), text[begin + 1]
    most, bar = max(a, b), separator == _BAR
    alone = begin + 3 == end or (begin + 3 < end and text[begin + 3] == _COLON)
    if not alone or most > 9 or most >= alleles or not (bar or separator == _SLASH):
        return -1
    calls[row, place] = a
    calls[row, place + 1] = b
    return np.intp(bar)


@njit
def _any_call(
    text: NDArray[np.uint8],
    begin: int,
    end: int,
    field: int,
    alleles: int,
    ploidy: int,
    calls: NDArray[Any],
    row: int,
    place: int,
    found: NDArray[np.int64],
    report: NDArray[np.int64],
) -> int:
    """Read the call in a sample's column text[begin:end]; return a status."""
    if text[end] == _NEWLINE and end > begin and text[end - 1] == _RETURN:
        end -= 1
    first, present = begin, field >= 0
    for _ in range(field):
        while first < end and text[first] != _COLON:
            first += 1
        present = first < end
        first += present
    status = FINE
    if present:
        last = first
        while last < end and text[last] != _COLON:
            last += 1
        status = _one_call(text, first, last, ploidy, calls, row, place, found)
    else:
        calls[row, place : place + ploidy] = -2
        calls[row, place] = -1
        found[0], found[1], found[2] = 1, -1, 0
    if status == FINE:
        status = judged(found[0], found[1], alleles, ploidy, calls.itemsize, report)
    return status


@njit
def judged(
    n: int, most: int, alleles: int, ploidy: int, itemsize: int, report: NDArray[np.int64]
) -> int:
    """Report the ploidy of a call; return a status for one that does not fit."""
    report[MOST_PLOIDY] = max(report[MOST_PLOIDY], n)
    report[SHORT] |= n < ploidy
    if most >= alleles:
        return NO_ALLELE
    if n > ploidy:
        return PLOIDY
    return WIDE if most > 127 and itemsize == 1 else FINE
