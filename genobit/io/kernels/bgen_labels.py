"""Find the labels of the variants of a BGEN file in a window of its bytes.

The scan stops before any variant that is not plain: one that the window does not hold whole, whose
labels are not ASCII, or whose sizes cannot be right. A slower parser reads it or raises the error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

_SHORT, _LONG = 2, 4
"""Bytes of numbers before labels."""
_VARIANT, _RSID, _CONTIG, _ALLELES, _POSITION, _COUNT, _PARTS = 0, 2, 4, 6, 12, 13, 14
"""Indices into the parts of a variant: the first edges of labels, with room for a third allele, the
place of its position, and its number of alleles."""
WHOLE, CUT, ODD = range(3)
"""Why the scan stops: after the last variant, at the end of the window, or at a variant that is not
plain."""


class Sizes(NamedTuple):
    """What the header and the file system say of a file."""

    file: int
    variants: int
    samples: int
    layout: int
    compressed: bool


class Labels(NamedTuple):
    """Labels and offsets of variants. Edges are places in ``text``."""

    offset: np.ndarray
    """Place of each variant in the file: (variants,) int64."""
    position: np.ndarray
    """(variants,) int64."""
    alleles: np.ndarray
    """Number of alleles: (variants,) int64."""
    contig: np.ndarray
    """Edges of the contig: (variants, 2) int64, equal for neighbours on one contig."""
    edges: np.ndarray
    """Edges of rsid, first and second allele, which are neighbours: (variants, 4) int64. Alleles
    are empty if there are more or fewer than two."""
    text: np.ndarray
    """Bytes with room for the window, uint8."""


@njit
def scan_labels(
    data: np.ndarray, at: int, base: int, first: int, used: int, sizes: Sizes, found: Labels
) -> tuple[int, int, int, int]:
    """Write the labels of variants from ``first`` on; return the next, its place, `used` and why.

    data: (n,) bytes of the file from place ``base`` on; at: index of the first variant in it;
    used: bytes of ``found.text`` that hold labels.
    """
    parts = np.empty(_PARTS, np.int64)
    k = first
    while k < sizes.variants and at <= data.size:
        after = _parse(data, at, sizes, parts)
        if after == -CUT:
            break
        if after == -ODD or base + after > sizes.file:
            return k, base + at, used, ODD
        found.offset[k], found.alleles[k] = base + at, parts[_COUNT]
        found.position[k] = _number(data, parts[_POSITION], _LONG)
        used = _write_contig(data, parts[_CONTIG], parts[_CONTIG + 1], used, k, found)
        used = _write_names(data, parts, used, k, found)
        at, k = after, k + 1
    return k, base + at, used, CUT if k < sizes.variants else WHOLE


@njit
def _number(data: np.ndarray, at: int, size: int) -> Any:
    """Return an unsigned number of ``size`` bytes, the lowest first."""
    value = np.int64(0)
    for k in range(size):
        value |= np.int64(data[at + k]) << (8 * k)
    return value


@njit
def _parse(data: np.ndarray, at: int, sizes: Sizes, parts: np.ndarray) -> int:
    """Write where the labels of a variant are in the data; return its end, -`CUT` or -`ODD`."""
    if sizes.layout == 1:
        if at + _LONG > data.size:
            return -CUT
        if _number(data, at, _LONG) != sizes.samples:
            return -ODD
        at += _LONG
    for place in (_VARIANT, _RSID, _CONTIG):
        at = _parse_label(data, at, _SHORT, place, parts)
        if at < 0:
            return at
    if at + _LONG + _SHORT > data.size:
        return -CUT
    parts[_POSITION] = at
    at += _LONG
    alleles = 2
    if sizes.layout == 2:
        alleles = _number(data, at, _SHORT)
        at += _SHORT
    parts[_COUNT] = alleles
    for k in range(alleles):
        at = _parse_label(data, at, _LONG, _ALLELES + 2 * min(k, 2), parts)
        if at < 0:
            return at
    return _end(data, at, alleles, sizes)


@njit
def _parse_label(data: np.ndarray, at: int, size: int, place: int, parts: np.ndarray) -> int:
    """Write the edges of a label after its length; return where it ends, -`CUT` or -`ODD`."""
    start = at + size
    if start > data.size:
        return -CUT
    end = start + _number(data, at, size)
    if end > data.size:
        return -CUT
    for k in range(start, end):
        if data[k] > 127:
            return -ODD
    parts[place], parts[place + 1] = start, end
    return end


@njit
def _end(data: np.ndarray, at: int, alleles: int, sizes: Sizes) -> int:
    """Return where genotypes end that begin at ``at``, -`CUT`, or -`ODD` for impossible sizes."""
    if sizes.layout == 1 and not sizes.compressed:
        return at + 6 * sizes.samples
    if at + 2 * _LONG > data.size:
        return -CUT
    length = _number(data, at, _LONG)
    if sizes.layout == 2:
        size = _number(data, at + _LONG, _LONG) if sizes.compressed else length
        least = 10 + sizes.samples
        # At most 63 probabilities of 32 bits for each sample.
        most = least + 63 * _LONG * sizes.samples
        if length < _LONG or (alleles == 2 and not least <= size <= most):
            return -ODD
    return at + _LONG + length


@njit
def _write_contig(data: np.ndarray, start: int, end: int, used: int, k: int, found: Labels) -> int:
    """Write a contig that is not that of the variant before; return the bytes used."""
    if k > 0:
        first, last = found.contig[k - 1]
        equal = last - first == end - start
        for i in range(end - start):
            equal = equal and found.text[first + i] == data[start + i]
        if equal:
            found.contig[k, 0], found.contig[k, 1] = first, last
            return used
    after = _copy(data, start, end, used, found.text)
    found.contig[k, 0], found.contig[k, 1] = used, after
    return after


@njit
def _write_names(data: np.ndarray, parts: np.ndarray, used: int, k: int, found: Labels) -> int:
    """Write the rsid and two alleles; return the bytes used."""
    found.edges[k, 0] = used
    used = _copy(data, parts[_RSID], parts[_RSID + 1], used, found.text)
    found.edges[k, 1:] = used
    if parts[_COUNT] == 2:
        for i in range(2):
            place = _ALLELES + 2 * i
            used = _copy(data, parts[place], parts[place + 1], used, found.text)
            found.edges[k, 2 + i] = used
    return used


@njit
def _copy(data: np.ndarray, start: int, end: int, used: int, text: np.ndarray) -> int:
    for i in range(end - start):
        text[used + i] = data[start + i]
    return used + end - start
