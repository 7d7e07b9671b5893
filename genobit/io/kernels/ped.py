"""Read the genotypes of .ped and .tped text into rows of a .bed, in one pass over the bytes.

Codes of calls are those of `genobit.io.kernels.bed`. The first allele of a variant in the file is
A2 and the second one is A1, until the counts are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

FINE, SHORT, LONG, HALF, THIRD, NOT_TWO = range(6)
"""What is wrong with a line: too few or too many fields, a call of one allele, a third allele, or a
joined genotype that is not two characters."""
_TAB, _LINE_FEED, _BLANK, _HASH, _ZERO = 9, 10, 32, 35, 48
_HOM_A2, _HET, _HOM_A1, _MISSING = np.uint8(3), np.uint8(2), np.uint8(0), np.uint8(1)


class Found(NamedTuple):
    """What the pass fills, and what counts in it."""

    alleles: NDArray[np.int64]
    """Start and length of the first and second allele of each variant: (variants, 2, 2)."""
    counts: NDArray[np.int64]
    """Homozygotes of both alleles, of all samples and by ``weights``: (variants, 2, 2)."""
    rows: NDArray[np.uint8]
    """Rows of a .bed, which begin as zeros: (variants, bytes)."""
    kinds: NDArray[np.uint8]
    """Kind of the chromosome of each variant: (variants,)."""
    weights: NDArray[np.int64]
    """What a homozygote counts: (kinds, samples)."""


@njit
def _next(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, int]:
    """Return where the next field of a line begins and ends; equal at the end of the line."""
    while at < end and data[at] <= _BLANK:
        at += 1
    start = at
    while at < end and data[at] > _BLANK:
        at += 1
    return start, at


@njit
def copy_heads(
    data: NDArray[np.uint8], width: int, lines: NDArray[np.int64], heads: NDArray[np.uint8]
) -> tuple[int, int]:
    """Fill the lines of data that are neither empty nor comments, and copy their first fields.

    lines: (lines, 3), number, start and end of each; heads: up to ``width`` fields of each line,
    with a tab between them. Returns the numbers of lines and of bytes that are filled.
    """
    count, used, start, number = 0, 0, 0, 0
    while start < data.size:
        number += 1
        end = start
        while end < data.size and data[end] != _LINE_FEED:
            end += 1
        first, at = _next(data, start, end)
        if first < at and data[first] != _HASH:
            lines[count, 0], lines[count, 1], lines[count, 2] = number, start, end
            count += 1
            left = width
            while first < at and left:
                for k in range(first, at):
                    heads[used] = data[k]
                    used += 1
                heads[used] = _TAB
                used += 1
                left -= 1
                first, at = _next(data, at, end)
            heads[used - 1] = _LINE_FEED
        start = end + 1
    return count, used


@njit
def _allele(data: NDArray[np.uint8], start: int, end: int, known: NDArray[np.int64]) -> int:
    """Return the number of an allele of a variant, which is added; -1 missing, 2 for a third."""
    size = end - start
    if size == 1 and data[start] == _ZERO:
        return -1
    for k in range(2):
        if known[k, 1] == 0:
            known[k, 0], known[k, 1] = start, size
            return k
        same = known[k, 1] == size
        for i in range(size if same else 0):
            same = same and data[known[k, 0] + i] == data[start + i]
        if same:
            return k
    return 2


@njit
def _add(
    data: NDArray[np.uint8],
    edges: tuple[int, int, int, int],
    v: int,
    s: int,
    found: Found,
) -> int:
    """Add a call, whose alleles are at these places of data; return what is wrong with it."""
    a = _allele(data, edges[0], edges[1], found.alleles[v])
    b = _allele(data, edges[2], edges[3], found.alleles[v])
    if (a < 0) != (b < 0):
        return HALF
    if a > 1 or b > 1:
        return THIRD
    code = _MISSING
    if a >= 0 and a != b:
        code = _HET
    elif a >= 0:
        code = _HOM_A1 if a == 1 else _HOM_A2
        found.counts[v, 0, a] += 1
        found.counts[v, 1, a] += found.weights[found.kinds[v], s]
    found.rows[v, s >> 2] |= np.uint8(code << np.uint8(2 * (s & 3)))
    return FINE


@njit
def read_pairs(
    data: NDArray[np.uint8],
    lines: NDArray[np.int64],
    skipped: int,
    pairs: int,
    by_variants: bool,
    joined: bool,
    found: Found,
) -> tuple[int, int, int]:
    """Fill `Found` from lines (lines, 2), their starts and ends in data; return what is wrong.

    A line has ``skipped`` fields and then ``pairs`` calls, of one variant or of one sample. A call
    is two fields, or one of two characters if ``joined``. Returns the fault, its line and its call.
    """
    for i in range(lines.shape[0]):
        at, end = lines[i, 0], lines[i, 1]
        for _ in range(skipped):
            _, at = _next(data, at, end)
        fault = FINE
        for j in range(pairs):
            start, at = _next(data, at, end)
            middle, other = at, start + 1
            if not joined:
                other, at = _next(data, at, end)
            elif start < at:
                middle = other
                fault = FINE if at - start == 2 else NOT_TWO
            v, s = (i, j) if by_variants else (j, i)
            if start == middle or other >= at:
                fault = SHORT if fault == FINE else fault
            if fault == FINE:
                fault = _add(data, (start, middle, other, at), v, s, found)
            if fault != FINE:
                return fault, i, j
        start, at = _next(data, at, end)
        if start < at:
            return LONG, i, pairs
    return FINE, 0, 0


def swapped(rows: NDArray[np.uint8]) -> NDArray[Any]:
    """Return rows of a .bed with A1 and A2 exchanged."""
    low, high = rows & 0x55, rows >> 1 & 0x55
    return rows ^ 3 * (~(low ^ high) & 0x55)
