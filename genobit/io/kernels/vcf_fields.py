"""Read numbers of INFO and FORMAT from records of text and of BCF.

Each value has a code: `VALUE`, `MISSING` or `FILL`. A field that a record lacks is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.io.kernels.bcf import SIZES, octets_of, typed, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALUE, MISSING, FILL = 0, 1, 2
_TAB, _NEWLINE, _RETURN, _COLON, _SEMICOLON, _EQUALS, _COMMA, _DOT, _MINUS, _ZERO = b"\t\n\r:;=,.-0"
_EXACT = 10**15
_POWERS = 10.0 ** np.arange(23)
_FLOAT, _MISSING_FLOAT, _END_FLOAT = 5, 0x7F800001, 0x7F800002


@njit
def _place_of(
    text: NDArray[np.uint8], first: int, last: int, key: NDArray[np.uint8], separator: int
) -> tuple[int, int]:
    """Return the number of a field in a list, or -1, and the place after its name."""
    number, k = 0, first
    while k < last:
        j = 0
        while j < key.size and k + j < last and text[k + j] == key[j]:
            j += 1
        after = k + j
        if j == key.size and (after == last or text[after] == separator or text[after] == _EQUALS):
            return number, after
        while k < last and text[k] != separator:
            k += 1
        k += 1
        number += 1
    return -1, last


@njit
def find_info(
    text: NDArray[np.uint8],
    columns: NDArray[np.int64],
    key: NDArray[np.uint8],
    spans: NDArray[np.int64],
) -> None:
    """Fill where the value of a field of INFO lies: (records, 2), from -1 without it."""
    for record in range(spans.shape[0]):
        last = columns[record, 7]
        number, at = _place_of(text, columns[record, 6] + 1, last, key, _SEMICOLON)
        at += at < last and text[at] == _EQUALS
        end = at
        while end < last and text[end] != _SEMICOLON:
            end += 1
        spans[record, 0], spans[record, 1] = at if number >= 0 else -1, end


@njit
def find_samples(
    text: NDArray[np.uint8],
    columns: NDArray[np.int64],
    key: NDArray[np.uint8],
    samples: int,
    spans: NDArray[np.int64],
) -> None:
    """Fill where the values of a field of FORMAT lie: (records * samples, 2).

    A place is -1 if the record lacks the field, and -2 if the sample does.

    The records are checked: they have as many columns as the header.
    """
    for record in range(columns.shape[0]):
        field, _after = _place_of(text, columns[record, 7] + 1, columns[record, 8], key, _COLON)
        k = columns[record, 8] + 1
        for sample in range(samples):
            row = record * samples + sample
            spans[row, 0], spans[row, 1] = -1 if field < 0 else -2, 0
            number, first = 0, k
            while True:
                byte = text[k]
                ends = (byte == _TAB) | (byte == _NEWLINE)
                if ends or byte == _COLON:
                    if number == field:
                        last = k
                        if ends and last > first and text[last - 1] == _RETURN:
                            last -= 1
                        spans[row, 0], spans[row, 1] = first, last
                    number += 1
                    first = k + 1
                k += 1
                if ends:
                    break


@njit
def parse_numbers(
    text: NDArray[np.uint8],
    spans: NDArray[np.int64],
    values: NDArray[np.float64],
    codes: NDArray[np.uint8],
    others: NDArray[np.int64],
) -> tuple[int, int]:
    """Read numbers between commas; return how many are not plain, and the most in one list.

    values, codes: (lists, width); others: (n, 4), row and place among the values of text that is
    not plainly a number, and where it lies.
    """
    n_others, most, width = 0, 0, values.shape[1]
    for row in range(spans.shape[0]):
        codes[row] = MISSING if spans[row, 0] == -1 else FILL
        values[row] = 0
        k, last = spans[row, 0], spans[row, 1]
        # bcftools writes "AC=" for a record without alternate alleles.
        if k < 0 or k == last or (k + 1 == last and text[k] == _DOT):
            codes[row, 0] = MISSING
            continue
        place = 0
        while k <= last:
            end = k
            while end < last and text[end] != _COMMA:
                end += 1
            if place < width:
                plain, value = _plain_number(text, k, end)
                codes[row, place] = VALUE
                values[row, place] = value
                if end == k + 1 and text[k] == _DOT:
                    codes[row, place] = MISSING
                elif not plain:
                    if n_others < others.shape[0]:
                        others[n_others, 0], others[n_others, 1] = row, place
                        others[n_others, 2], others[n_others, 3] = k, end
                    n_others += 1
            place += 1
            k = end + 1
        most = max(most, place)
    return n_others, most


@njit
def _plain_number(text: NDArray[np.uint8], k: int, last: int) -> tuple[bool, float]:
    """Return whether text is a short decimal number, and its value."""
    negative = k < last and text[k] == _MINUS
    k += negative
    number: Any = np.int64(0)
    scale, digits, point = 0, 0, False
    while k < last:
        digit = np.int64(text[k]) - _ZERO
        if 0 <= digit <= 9 and number < _EXACT:
            number = number * 10 + digit
            digits += 1
            scale += point
        elif text[k] == _DOT and not point:
            point = True
        else:
            return False, 0.0
        k += 1
    if digits == 0 or scale > 22:
        return False, 0.0
    value = number / _POWERS[scale]
    return True, -value if negative else value


@njit
def find_typed(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    places: NDArray[np.int64],
    key: int,
    samples: int,
    found: NDArray[np.int64],
) -> None:
    """Fill place, length and type of the values of a field of BCF: (records, 3), type -1 if none.

    samples: 0 for a field of INFO. places: as `bcf.read_places` fills them.
    """
    for record in range(starts.size):
        found[record, 0], found[record, 1], found[record, 2] = 0, 0, -1
        begin = starts[record] + SIZES
        middle = begin + (whole(text, begin - SIZES, 4) & 0xFFFFFFFF)
        last = middle + (whole(text, begin - 4, 4) & 0xFFFFFFFF)
        at, fields, end, times = places[record, 5], whole(text, begin + 16, 2) & 0xFFFF, middle, 1
        if samples > 0:
            at, fields, end, times = middle, np.int64(text[begin + 23]), last, samples
        for _ in range(fields):
            n, kind, at = typed(text, at, end)
            octets = octets_of(kind)
            if n != 1 or kind < 1 or kind > 3 or at + octets > end:
                break
            number = whole(text, at, octets)
            n, kind, at = typed(text, at + octets, end)
            if kind < 0 or n * octets_of(kind) * times > end - at:
                break
            if number == key:
                found[record, 0], found[record, 1], found[record, 2] = at, n, kind
                break
            at += n * octets_of(kind) * times


@njit
def read_typed(
    text: NDArray[np.uint8],
    found: NDArray[np.int64],
    samples: int,
    values: NDArray[np.int64],
    codes: NDArray[np.uint8],
) -> int:
    """Read values as integers, or as the bits of floats; return the most in one list.

    values, codes: (records * samples, width).
    """
    most, width = 0, values.shape[1]
    for record in range(found.shape[0]):
        at, n, kind = found[record, 0], found[record, 1], found[record, 2]
        octets = octets_of(kind)
        lowest = -(np.int64(1) << (8 * max(octets, 1) - 1))
        for sample in range(samples):
            row, size = record * samples + sample, 0
            codes[row] = MISSING if kind < 0 else FILL
            values[row] = 0
            for j in range(n if 0 < kind < 7 else 0):
                value = whole(text, at + (sample * n + j) * octets, octets)
                missing = value == (_MISSING_FLOAT if kind == _FLOAT else lowest)
                if value == (_END_FLOAT if kind == _FLOAT else lowest + 1):
                    break
                if j < width:
                    values[row, j] = 0 if missing else value
                    codes[row, j] = MISSING if missing else VALUE
                size += 1
            if size == 0:
                codes[row, 0] = MISSING
            most = max(most, size)
    return most
