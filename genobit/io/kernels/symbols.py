"""Take the symbols of alignments from the bytes of a file: measure spans, copy them, count them.

A span is a range of bytes with symbols of one taxon; blanks and line ends in it do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LINE_FEED, _BLANK = 10, 32


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
    filled = np.zeros(out.shape[0], np.int64)
    # Equal neighbours are common: four tables keep one addition from waiting for another.
    parts = np.zeros((4, 256), np.int64)
    for k in range(spans.shape[0]):
        taxon, at = spans[k, 0], filled[spans[k, 0]]
        row = out[taxon]
        block = data[spans[k, 1] : spans[k, 2]]
        whole = block.size - block.size % 4
        for j in range(0, whole, 4):
            for lane in range(4):
                parts[lane, block[j + lane]] += 1
        for j in range(whole, block.size):
            parts[0, block[j]] += 1
        for byte in block:
            if byte > _BLANK:
                row[at] = byte
                at += 1
        filled[taxon] = at
    counts += parts.sum(axis=0)


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
    """Write start and stop of each line that is not blank to ``out`` (lines, 2); return how many.

    The lines of an ``out`` without room are counted only.
    """
    number, first, filled = 0, start, False
    for k in range(start, stop + 1):
        if k < stop and data[k] != _LINE_FEED:
            filled |= data[k] > _BLANK
            continue
        if filled:
            if number < out.shape[0]:
                out[number, 0], out[number, 1] = first, k
            number += 1
        first, filled = k + 1, False
    return number
