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
            run = min(_run(octets, k), stop - k)
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


@inlined
def _run(octets: NDArray[np.uint8], k: int) -> np.int64:
    """Return the number of symbols from ``k`` to the next blank, at most 64."""
    # Bytes past ASCII are negative.
    blanks = less_mask(octets, k, np.int8(_BLANK + 1)) & ~less_mask(octets, k, np.int8(0))
    # The lowest blank has as many bits below it; without a blank, all bits are set.
    return np.int64(popcount(~blanks & (blanks - np.uint64(1))))


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
    left = number
    for k in range(start, stop):
        if left == 0:
            return k
        left -= data[k] > _BLANK
    return stop if left == 0 else -1


@njit
def find_lines(data: NDArray[np.uint8], start: int, stop: int, out: NDArray[np.int64]) -> int:
    """Write the span of each line that is not blank to ``out`` (lines, 2); return how many."""
    number, first, filled = 0, start, False
    for k in range(start, stop + 1):
        if k < stop and data[k] != _LINE_FEED:
            filled |= data[k] > _BLANK
            continue
        if filled:
            out[number, 0], out[number, 1] = first, k
            number += 1
        first, filled = k + 1, False
    return number
