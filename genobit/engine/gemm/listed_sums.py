"""Exact sums of one row's weights over the calls of another row, where few calls are missing.

Products of digits (`exact`) pass over all variants of all pairs of rows. Here the missing calls of
each column are listed. The sum of a row's weights over all variants is the same for all columns.
The weights at the listed variants are subtracted from it.

The weights of 64 rows at 1,024 variants are expanded to words: 512 KiB, which a second-level cache
holds. Eight registers sum the 64 rows over one list. A power of two is added to each weight. All
weights are then positive, and a sum of words is split into two halves of 32 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.words import count_rows, list_bits, transpose_eight
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    WORD_LANES,
    broadcast,
    load_words,
    unowned,
    zero_words,
)
from genobit.engine.simd.vector import choose, store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows

    Words = NDArray[np.uint64]

ROWS = 64
"""Rows whose sums fit registers: eight registers of eight words each."""
WORDS = 16
"""Most words of planes in a block."""
SUM_BITS = 57
"""Most binary digits of a weight whose sum over the variants of a word fits 64 bits."""
LARGEST_BITS = 55
"""Most binary digits of a weight: a block then has four words."""


@njit
def _list_blocks(
    mask: Words, words: int, starts: NDArray[np.int64], out: NDArray[np.uint16]
) -> None:
    """Write the variants that are set in mask (rows, n), counted from the start of their block.

    A block has ``words`` words. The list of row j in block k starts at ``starts[k rows + j]``.
    """
    rows, n = mask.shape
    of_block, place = np.empty(rows + 1, np.intp), 0
    for first in range(0, n, words):
        list_bits(mask[:, first : first + words], of_block, out[place:])
        for j in range(rows):
            starts[first // words * rows + j] = place + of_block[j]
        place += int(of_block[rows])
    starts[-1] = place


@njit
def _load_block(plane: Words, top: int, left: int, out: Words) -> None:
    """Write eight words from ``left`` of 64 rows to out (512,), zero where the plane ends."""
    rows, words = min(ROWS, plane.shape[0] - top), min(WORD_LANES, plane.shape[1] - left)
    out[:] = 0
    for r in range(rows):
        for k in range(words):
            out[r * WORD_LANES + k] = plane[top + r, left + k]


@njit
def _expand(
    planes: tuple[Words, Words, Words],
    top: int,
    words: tuple[int, int],
    weights: Words,
    out: Words,
) -> None:
    """Write the weights of 64 rows' calls in ``words`` (start, stop): 64 for each variant.

    planes: carrier, hom_alt, called. weights: (64 n, 4), of a missing call and dosages 0, 1 and 2.
    """
    size, place = ROWS * WORD_LANES, 0
    one, two = np.empty(size, np.uint64), np.empty(size, np.uint64)
    called = np.empty(size, np.uint64)
    for left in range(words[0], words[1], WORD_LANES):
        _load_block(planes[0], top, left, one)
        _load_block(planes[1], top, left, two)
        _load_block(planes[2], top, left, called)
        transpose_eight(one)
        transpose_eight(two)
        transpose_eight(called)
        for w in range(left, min(left + WORD_LANES, words[1])):
            for b in range(64):
                k, line = b * WORD_LANES + w - left, weights[64 * w + b]
                for lane in range(0, ROWS, WORD_LANES):
                    shift = np.uint64(lane)
                    value = choose(called[k] >> shift, broadcast(line[1]), broadcast(line[0]))
                    value = choose(one[k] >> shift, broadcast(line[2]), value)
                    value = choose(two[k] >> shift, broadcast(line[3]), value)
                    store(out, place, value)
                    place += WORD_LANES


@njit
def _sum_lines(
    lines: Words, positions: NDArray[np.uint16], first: int, last: int, out: Words
) -> None:
    """Write the sum of the lines at ``positions[first:last]`` to out (64,)."""
    a, b, c, d = zero_words(), zero_words(), zero_words(), zero_words()
    e, f, g, h = zero_words(), zero_words(), zero_words(), zero_words()
    for k in range(first, last):
        at = ROWS * np.intp(positions[k])
        a = a + load_words(lines, at)
        b = b + load_words(lines, at + WORD_LANES)
        c = c + load_words(lines, at + 2 * WORD_LANES)
        d = d + load_words(lines, at + 3 * WORD_LANES)
        e = e + load_words(lines, at + 4 * WORD_LANES)
        f = f + load_words(lines, at + 5 * WORD_LANES)
        g = g + load_words(lines, at + 6 * WORD_LANES)
        h = h + load_words(lines, at + 7 * WORD_LANES)
    store(out, 0, a)
    store(out, WORD_LANES, b)
    store(out, 2 * WORD_LANES, c)
    store(out, 3 * WORD_LANES, d)
    store(out, 4 * WORD_LANES, e)
    store(out, 5 * WORD_LANES, f)
    store(out, 6 * WORD_LANES, g)
    store(out, 7 * WORD_LANES, h)


@njit
def _add_unlisted(
    planes: tuple[Words, Words, Words],
    weights: Words,
    words: int,
    starts: NDArray[np.int64],
    positions: NDArray[np.uint16],
    every: NDArray[np.uint16],
    surplus: NDArray[np.int64],
    upper: bool,
    out: NDArray[np.int64],
) -> None:
    """Add to out (2, m, k) the sums over all variants less those over a column's list.

    - planes, weights: as in `_expand`.
    - starts, positions: a list for each column, or none (`_list_blocks`).
    - every: all variants of a block.
    - surplus: the share of the added power of two in the sums of each list, and last of all
      variants, in units of 2**32.
    """
    (m, n), k, lists = planes[0].shape, out.shape[2], surplus.shape[0] - 1
    lines = np.empty(64 * words * ROWS, np.uint64)
    sums = np.empty(ROWS, np.uint64)
    halves = np.empty((2, lists + 1, ROWS), np.int64)
    listed, all_, low = unowned(positions), unowned(every), np.uint64(0xFFFFFFFF)
    for top in range(0, m, ROWS):
        left = top if upper else 0
        halves[:] = 0
        for first in range(0, n, words):
            last, block = min(first + words, n), first // words * lists
            _expand(planes, top, (first, last), weights, lines)
            for j in range(min(left, lists), lists + 1):
                if j < lists:
                    _sum_lines(lines, listed, starts[block + j], starts[block + j + 1], sums)
                else:
                    _sum_lines(lines, all_, 0, 64 * (last - first), sums)
                for r in range(ROWS):
                    halves[0, j, r] += np.int64(sums[r] & low)
                    halves[1, j, r] += np.int64(sums[r] >> np.uint64(32))
        for h in range(2):
            for r in range(min(ROWS, m - top)):
                total = halves[h, lists, r] - h * surplus[lists]
                row = out[h, top + r]
                for j in range(left, k):
                    row[j] += total
                    if lists:
                        row[j] -= halves[h, j, r] - h * surplus[j]


def add_unlisted(
    a: PlaneRows,
    listed: Words | None,
    weights: NDArray[np.int64],
    upper: bool,
    out: NDArray[np.int64],
) -> None:
    """Add sums of a's weights over the variants that a column does not list to out (2, m, k).

    listed: a plane of k rows, or None if no column lists a variant. weights: (3, variants), of at
    most `LARGEST_BITS` digits. The unit of ``out[0]`` is 1, that of ``out[1]`` is 2**32. With
    ``upper``, entries with ``row > column`` get arbitrary numbers.
    """
    n = a.planes[0].shape[1]
    mask = np.zeros((0, n), np.uint64) if listed is None else listed
    bits = max(32, added_bits(weights))
    words = min(WORDS, 2 ** (SUM_BITS - bits))
    counts = count_rows(mask)
    starts = np.empty(-(-n // words) * len(mask) + 1, np.int64)
    positions = np.empty(counts.sum(), np.uint16)
    _list_blocks(mask, words, starts, positions)
    lines = np.full((64 * n, 4), 1 << bits)
    lines[: weights.shape[1], 1:] += weights.T
    surplus = np.append(counts, 64 * n) << (bits - 32)
    carrier, hom_alt = a.planes
    planes = (carrier, hom_alt, a.call_mask())
    every = np.arange(64 * words, dtype=np.uint16)
    positive = lines.view(np.uint64)
    _add_unlisted(planes, positive, words, starts, positions, every, surplus, upper, out)


def added_bits(weights: NDArray[np.int64]) -> int:
    """Return b such that all weights plus 2**b are positive and below 2**(b + 1)."""
    return int(np.abs(weights).max(initial=0)).bit_length()
