"""Take the symbols of alignments from the bytes of a file: measure spans, copy them, count them.

A span is a range of bytes with symbols of one taxon; blanks and line ends in it do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.registers import equal_mask, less_mask, load_64, unowned
from genobit.engine.simd.vector import flattened, popcount, store

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LINE_FEED, _BLANK = 10, 32
_EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)
_MOST_KNOWN = 32
"""Symbols that are counted 64 bytes at a time; more are counted one by one."""


@njit
def lengths(data: NDArray[np.uint8], spans: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Add the number of symbols of each span (spans, 3: taxon, start, stop) to ``out`` (taxa,)."""
    for k in range(spans.shape[0]):
        number = 0
        for byte in data[spans[k, 1] : spans[k, 2]]:
            number += byte > _BLANK
        out[spans[k, 0]] += number


@njit
def copy(
    data: NDArray[np.uint8],
    spans: NDArray[np.int64],
    out: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    """Write the symbols of all spans to ``out`` (taxa, sites), whose rows they fill exactly.

    counts: (256,), to which the number of each byte is added, blanks included.
    """
    filled, sites = np.zeros(out.shape[0], np.int64), out.shape[1]
    octets, target = unowned(data), unowned(flattened(out))
    # Symbols met so far, and how often: a register counts one of them in 64 bytes at once.
    known, sums, number = np.empty(_MOST_KNOWN, np.int8), np.zeros(_MOST_KNOWN, np.int64), 0
    for i in range(spans.shape[0]):
        taxon, k, stop = spans[i, 0], spans[i, 1], spans[i, 2]
        at, end = taxon * sites + filled[taxon], (taxon + 1) * sites
        while k < stop:
            byte = data[k]
            if byte <= _BLANK:
                counts[byte] += 1
                k += 1
                continue
            if k + 64 > data.size or at + 64 > end:
                # A whole register would reach past the data, or into the next row.
                counts[byte] += 1
                target[at] = byte
                k, at = k + 1, at + 1
                continue
            run = _lowest(~_symbols(octets, data.size, k, stop))
            mask, found = _EVERY >> np.uint64(64 - run), np.uint64(0)
            for j in range(number):
                these = equal_mask(octets, k, known[j]) & mask
                sums[j] += np.int64(popcount(these))
                found |= these
            if found != mask:
                number = _count_others(data, k, mask & ~found, counts, known, number)
            store(target, at, load_64(octets, k))
            k, at = k + run, at + run
        filled[taxon] = at - taxon * sites
    for j in range(number):
        counts[np.uint8(known[j])] += sums[j]


@njit
def _count_others(
    data: NDArray[np.uint8],
    start: int,
    left: np.uint64,
    counts: NDArray[np.int64],
    known: NDArray[np.int8],
    number: int,
) -> int:
    """Count the bytes at the bits ``left`` of 64, and add them to ``known``; returns its length."""
    for k in range(64):
        if left >> np.uint64(k) & np.uint64(1):
            byte = data[start + k]
            counts[byte] += 1
            symbol, new = np.int8(byte), number < known.size
            for j in range(number):
                new &= known[j] != symbol
            if new:
                known[number] = symbol
                number += 1
    return number


@njit
def after(data: NDArray[np.uint8], start: int, stop: int, number: int) -> int:
    """Return the place after ``number`` symbols from ``start`` on, -1 if ``stop`` comes first."""
    octets, left = unowned(data), number
    for k in range(start, stop, 64):
        if left == 0:
            return start
        found = _symbols(octets, data.size, k, stop)
        here = int(popcount(found))
        if left > here:
            left -= here
            continue
        for _ in range(left - 1):
            found &= found - np.uint64(1)
        return k + _lowest(found) + 1
    return start if number == 0 else -1


@njit
def first_of(data: NDArray[np.uint8], start: int, stop: int, wanted: NDArray[np.uint8]) -> int:
    """Return the place of the first of the wanted bytes from ``start`` to ``stop``, or -1."""
    octets, each = unowned(data), wanted.view(np.int8)
    k = start
    while k < stop:
        found, here = np.uint64(0), 64
        if k + 64 <= data.size:
            for byte in each:
                found |= equal_mask(octets, k, byte)
        else:
            here = 1
            for byte in wanted:
                found |= np.uint64(data[k] == byte)
        if found:
            at = k + _lowest(found)
            return at if at < stop else -1
        k += here
    return -1


@njit
def find_lines(data: NDArray[np.uint8], start: int, stop: int, out: NDArray[np.int64]) -> int:
    """Write the span of each line that is not blank to ``out`` (lines, 2); return how many.

    Lines past the end of ``out`` are only counted.
    """
    octets, number, first, filled = unowned(data), 0, start, False
    for k in range(start, stop, 64):
        found, ends = _symbols(octets, data.size, k, stop), np.uint64(0)
        if k + 64 <= data.size:
            ends = equal_mask(octets, k, np.int8(_LINE_FEED))
        else:
            for j in range(stop - k):
                ends |= np.uint64(data[k + j] == _LINE_FEED) << np.uint64(j)
        while ends and k + _lowest(ends) < stop:
            below = (ends & ~(ends - np.uint64(1))) - np.uint64(1)
            if filled or found & below:
                if number < out.shape[0]:
                    out[number, 0], out[number, 1] = first, k + _lowest(ends)
                number += 1
            first, filled = k + _lowest(ends) + 1, False
            found &= ~below
            ends &= ends - np.uint64(1)
        filled |= found != 0
    if filled:
        if number < out.shape[0]:
            out[number, 0], out[number, 1] = first, stop
        number += 1
    return number


@njit
def repeat_names(
    data: NDArray[np.uint8],
    lines: NDArray[np.int64],
    spans: NDArray[np.int64],
    filled: int,
    number: int,
    apart: bool,
) -> int:
    """Read lines that begin as the line of the same taxon in the block before; return how many.

    lines: start and stop of the lines to read; spans: taxon, start and stop of rows, of which the
    last ``number`` of ``filled`` are the block before. The rows of the lines are added. A line
    begins with its name and the blanks after it. With ``apart``, blocks have a blank line between.
    """
    for k in range(lines.shape[0]):
        before = filled + k - number
        # The block before has its own line starts, which only blanks and the name follow.
        taxon, begin = spans[before, 0], spans[before, 1]
        start, stop = lines[k]
        first = begin
        while first > 0 and data[first - 1] != _LINE_FEED:
            first -= 1
        width = begin - first
        same = start + width < stop and data[start + width] > _BLANK and data[begin - 1] <= _BLANK
        if apart and taxon == 0:
            same &= data[start - 2] == _LINE_FEED
        for j in range(width if same else 0):
            same &= data[start + j] == data[first + j]
        if not same:
            return k
        spans[filled + k, 0], spans[filled + k, 1], spans[filled + k, 2] = (
            taxon,
            start + width,
            stop,
        )
    return lines.shape[0]


@inlined
def _symbols(octets: NDArray[np.uint8], size: int, k: int, stop: int) -> np.uint64:
    """Return a word whose bit j says that byte k + j, before ``stop``, is not blank."""
    if k + 64 <= size:
        # Bytes past ASCII are negative.
        blanks = less_mask(octets, k, np.int8(_BLANK + 1)) & ~less_mask(octets, k, np.int8(0))
        return ~blanks & (_EVERY >> np.uint64(64 - min(64, stop - k)))
    found = np.uint64(0)
    for j in range(stop - k):
        found |= np.uint64(octets[k + j] > _BLANK) << np.uint64(j)
    return found


@inlined
def _lowest(bits: np.uint64) -> int:
    """Return the place of the lowest bit that is set, 64 without any."""
    return int(popcount(~bits & (bits - np.uint64(1))))
