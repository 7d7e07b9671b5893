"""Find lines and columns in the text of VCF records.

Tabs and line ends are found 64 bytes at a time; the bytes between them are looked at only where a
column that is wanted begins. Text must have `PADDING` bytes beyond the last record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.vector import bits_of, loader, popcount, splat

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
STATUS, RECORD, SAMPLE, MOST_PLOIDY, SHORT, CALLED, LACKING, OTHERS, ENTRIES = range(9)
"""Entries of a report: what ended the kernel, and where (record, sample); for all records read
the largest ploidy, whether a call has fewer alleles than the arrays, how many records have GT,
whether a call is missing, and how many records have other calls than -1, 0 and 1."""

_TAB, _NEWLINE, _RETURN, _COLON, _ZERO = b"\t\n\r:0"
_MOST_POSITION = 2**31 - 1
_ONE = np.uint64(1)

load_octets = loader(32)
_splat = splat(32)


@inlined
def ends(text: NDArray[np.uint8], at: int) -> Any:
    """Return a word whose bit k is set where byte ``at + k`` is a tab or a line end."""
    low, high = load_octets(text, at), load_octets(text, at + 32)
    tab, line = _splat(text, _TAB), _splat(text, _NEWLINE)
    first = bits_of(low == tab) | bits_of(low == line)
    second = bits_of(high == tab) | bits_of(high == line)
    return first | (second << np.uint64(32))


@inlined
def _lines(text: NDArray[np.uint8], at: int) -> Any:
    """Return a word whose bit k is set where byte ``at + k`` is a line end."""
    line = _splat(text, _NEWLINE)
    first = bits_of(load_octets(text, at) == line)
    return first | (bits_of(load_octets(text, at + 32) == line) << np.uint64(32))


@inlined
def lowest(word: Any) -> Any:
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
            end = at + lowest(word)
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
            word = ends(text, at)
            while word != 0 and k < COLUMNS:
                end = at + lowest(word)
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
