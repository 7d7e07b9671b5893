"""Read calls and columns from the text of VCF records.

Tabs and line ends are found 64 bytes at a time; the bytes between them are looked at only where a
column that is wanted begins. Text must have `PADDING` bytes beyond the last record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.lane_moves import shift_left, shift_right
from genobit.engine.simd.vector import Vec, bits_of, filled, loader, popcount, splat, store, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

PADDING = 64
"""Bytes that may be read beyond the text."""
COLUMNS = 9
"""Columns before the samples: CHROM to FORMAT."""
FINE, PLOIDY, WIDE = 0, 1, 2
FEW_COLUMNS, FEW_SAMPLES, MANY_SAMPLES, BAD_POSITION = 3, 4, 5, 6
NO_CALL, NO_ALLELE, BAD_RECORD, EMPTY_ALLELE = 7, 8, 9, 10
"""What ended a kernel: nothing; calls of more alleles, or numbers of alleles that need wider
integers, than the arrays have; and faults of a record."""
STATUS, RECORD, SAMPLE, MOST_PLOIDY, SHORT, CALLED, ENTRIES = range(7)
"""Entries of a report: what ended the kernel, and where (record, sample); for all records read
the largest ploidy, whether a call has fewer alleles than the arrays, and how many
records have GT."""

_TAB, _NEWLINE, _RETURN, _COLON, _DOT, _BAR, _SLASH, _ZERO = b"\t\n\r:.|/0"
_DOT_XOR_ZERO = 30
_MOST_POSITION = 2**31 - 1
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
_splat = splat(32)


@inlined
def _ends(text: NDArray[np.uint8], at: int) -> Any:
    """Return a word whose bit k is set where byte ``at + k`` is a tab or a line end."""
    low, high = _load(text, at), _load(text, at + 32)
    tab, line = _splat(text, _TAB), _splat(text, _NEWLINE)
    first = bits_of(low == tab) | bits_of(low == line)
    second = bits_of(high == tab) | bits_of(high == line)
    return first | (second << np.uint64(32))


@inlined
def _lines(text: NDArray[np.uint8], at: int) -> Any:
    """Return a word whose bit k is set where byte ``at + k`` is a line end."""
    line = _splat(text, _NEWLINE)
    first = bits_of(_load(text, at) == line)
    return first | (bits_of(_load(text, at + 32) == line) << np.uint64(32))


@inlined
def _lowest(word: Any) -> Any:
    """Return the number of the lowest set bit."""
    return np.intp(popcount(~word & (word - _ONE)))


@njit
def line_starts(
    text: NDArray[np.uint8], start: int, stop: int, starts: NDArray[np.int64]
) -> tuple[int, int]:
    """Fill the starts of whole lines that are not empty; return their number and the place after.

    The place is after the last whole line, or before a line that ``starts`` has no room for.
    """
    n, line, at = 0, start, start
    while at < stop:
        word = _lines(text, at)
        while word != 0:
            end = at + _lowest(word)
            word &= word - _ONE
            if end >= stop:
                break
            empty = end == line or (end == line + 1 and text[line] == _RETURN)
            if not empty:
                if n == starts.size:
                    return n, line
                starts[n] = line
                n += 1
            line = end + 1
        at += PADDING
    return n, line


@njit
def read_columns(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    positions: NDArray[np.int64],
    report: NDArray[np.int64],
) -> None:
    """Find the tabs after the first nine columns, read POS, and find GT in FORMAT.

    columns: (records, 10); the last is the place of GT among the fields, -1 without it.
    """
    for record in range(starts.size):
        at, k = starts[record], 0
        while k < COLUMNS:
            word = _ends(text, at)
            while word != 0 and k < COLUMNS:
                end = at + _lowest(word)
                word &= word - _ONE
                columns[record, k] = end
                k += 1
                if text[end] == _NEWLINE and k <= COLUMNS:
                    report[STATUS], report[RECORD] = FEW_COLUMNS, record
                    return
            at += PADDING
        first, last = columns[record, 0] + 1, columns[record, 1]
        positions[record] = _number(text, first, last)
        if positions[record] < 0:
            report[STATUS], report[RECORD] = BAD_POSITION, record
            return
        field = _field(text, columns[record, 7] + 1, columns[record, 8])
        columns[record, COLUMNS] = field
        report[CALLED] += field >= 0


@njit
def _number(text: NDArray[np.uint8], first: int, last: int) -> int:
    """Return a position, or -1 for text that is none."""
    number: Any = 0
    for k in range(first, last):
        digit = np.int64(text[k]) - _ZERO
        if digit < 0 or digit > 9:
            return -1
        number = number * 10 + digit
        if number > _MOST_POSITION:
            return -1
    return number if last > first else -1


@njit
def _field(text: NDArray[np.uint8], first: int, last: int) -> int:
    """Return the place of GT among the fields of FORMAT, or -1."""
    field, k = 0, first
    while k + 1 < last:
        if text[k] == 71 and text[k + 1] == 84 and (k + 2 == last or text[k + 2] == _COLON):
            return field
        while k < last and text[k] != _COLON:
            k += 1
        k += 1
        field += 1
    return -1


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
    phased: NDArray[np.uint8],
) -> None:
    """Write the calls of text that `_are_four_bytes` found to be right."""
    plain, pairs = _words(np.uint32(_ZERO_WORD)), calls[: 2 * samples].view(np.uint16)
    first, second = _words(np.uint32(0xFF)), _words(np.uint32(0xFF00))
    dots, one, none = _words(np.uint32(0x0101)), _bytes(np.uint8(1)), _no_words()
    s = 0
    while s + _WORDS <= samples:
        # Bytes of a word: allele, separator, allele, tab. Only a dot has the bit of 16.
        word = _load_words(text, at + 4 * s) ^ plain
        alleles = (word & first) | (shift_right(word, np.uint64(8)) & second)
        dot = shift_right(alleles, np.uint64(4)) & dots
        missing = (shift_left(dot, np.uint64(8)) - dot) & (first | second)
        store(pairs, s, alleles | missing)
        store(phased, s, _filled((word & second) == none) & one)
        s += _WORDS
    while s < samples:
        calls[2 * s] = _allele(text[at + 4 * s])
        calls[2 * s + 1] = _allele(text[at + 4 * s + 2])
        phased[s] = text[at + 4 * s + 1] == _BAR
        s += 1


@njit
def _one_call(
    text: NDArray[np.uint8],
    first: int,
    last: int,
    ploidy: int,
    calls: NDArray[Any],
    at: int,
    found: NDArray[np.int64],
) -> int:
    """Read the call in text[first:last] into calls[at : at + ploidy]; return a status.

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
            calls[at + n] = allele if allele < 128 or calls.itemsize > 1 else 0
        most = max(most, allele)
        n += 1
        if k == last:
            break
        phased &= text[k] == _BAR
        if text[k] != _SLASH and text[k] != _BAR:
            return NO_CALL
        k += 1
    for j in range(n, ploidy):
        calls[at + j] = -2
    # A single dot is settled when all calls of the sample are known.
    found[0], found[1], found[2] = n, most, phased if n > 1 or most >= 0 else 0
    return FINE


@njit
def read_calls(
    text: NDArray[np.uint8],
    columns: NDArray[np.int64],
    alleles: NDArray[np.int64],
    samples: int,
    ploidy: int,
    calls: NDArray[Any],
    calls_step: int,
    phased: NDArray[np.uint8],
    phased_step: int,
    report: NDArray[np.int64],
) -> None:
    """Read GT of all samples of the records whose columns are known.

    calls, phased: one-dimensional; the calls of record r begin at ``r * calls_step``. With no room
    (a step of 0) calls are checked only. alleles: (records,), REF and ALT together. A call of fewer
    alleles than ``ploidy`` is filled with -2.
    """
    found, limits = np.zeros(3, np.int64), np.zeros(32, np.uint8)
    keep = phased_step > 0
    for record in range(alleles.size):
        at, field = columns[record, 8] + 1, columns[record, COLUMNS]
        row, row_phased = record * calls_step, record * phased_step
        last = at + 4 * samples - 1
        alone = field == 0 and columns[record, 8] - columns[record, 7] == 3
        first = 0
        if (
            alone
            and ploidy == 2
            and samples > 8
            and calls.itemsize == 1
            and last < text.size
            and text[last] == _NEWLINE
        ):
            limits[0::4] = limits[2::4] = min(alleles[record] - 1, 9)
            if _are_four_bytes(text, at, 4 * samples - 4, limits):
                first = samples - 1
                if keep:
                    _write_four_bytes(text, at, first, calls[row:], phased[row_phased:])
                at = last - 3
        status = _samples(
            text,
            at,
            first,
            record,
            field,
            alleles[record],
            samples,
            ploidy,
            calls,
            row,
            phased,
            row_phased,
            keep,
            found,
            report,
        )
        if status != FINE:
            return


@njit
def _samples(
    text: NDArray[np.uint8],
    at: int,
    sample: int,
    record: int,
    field: int,
    alleles: int,
    samples: int,
    ploidy: int,
    calls: NDArray[Any],
    row: int,
    phased: NDArray[np.uint8],
    row_phased: int,
    keep: bool,
    found: NDArray[np.int64],
    report: NDArray[np.int64],
) -> int:
    """Read the calls of a record from a sample on; return a status, which is also reported."""
    begin, base = at, at
    while True:
        word = _ends(text, base)
        while word != 0:
            end = base + _lowest(word)
            word &= word - _ONE
            if sample == samples:
                return _fault(report, MANY_SAMPLES, record, sample)
            place = row + sample * ploidy if keep else 0
            phase = -1
            if field == 0 and ploidy == 2:
                phase = _quick_call(text, begin, end, alleles, calls, place)
            if phase < 0:
                status = _any_call(
                    text, begin, end, field, alleles, ploidy, calls, place, found, report
                )
                if status != FINE:
                    return _fault(report, status, record, sample)
                phase = found[2]
            else:
                report[MOST_PLOIDY] = max(report[MOST_PLOIDY], 2)
            if keep:
                phased[row_phased + sample] = phase
            sample += 1
            begin = end + 1
            if text[end] == _NEWLINE:
                return FINE if sample == samples else _fault(report, FEW_SAMPLES, record, sample)
        base += PADDING


@inlined
def _quick_call(
    text: NDArray[np.uint8], begin: int, end: int, alleles: int, calls: NDArray[Any], place: int
) -> Any:
    """Read a call of two alleles of one byte; return whether it is phased, or -1 for another."""
    a, b, separator = _allele(text[begin]), _allele(text[begin + 2]), text[begin + 1]
    most, bar = max(a, b), separator == _BAR
    alone = begin + 3 == end or (begin + 3 < end and text[begin + 3] == _COLON)
    if not alone or most > 9 or most >= alleles or not (bar or separator == _SLASH):
        return -1
    calls[place] = a
    calls[place + 1] = b
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
        status = _one_call(text, first, last, ploidy, calls, place, found)
    else:
        calls[place : place + ploidy] = -2
        calls[place] = -1
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


@njit
def _fault(report: NDArray[np.int64], status: int, record: int, sample: int) -> int:
    """Report what ended the kernel, and where."""
    report[STATUS], report[RECORD], report[SAMPLE] = status, record, sample
    return status
