"""Write the records of a VCF as text."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MISSING, _FILL = -1, -2
_TAB, _NEWLINE, _COLON, _COMMA, _DOT, _ZERO, _MINUS = 9, 10, 58, 44, 46, 48, 45
_PHASED, _UNPHASED = 124, 47
_ONE, _TWO, _THREE, _CODES = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(12)
"""_CODES are missing, fill, and the alleles of one digit."""


def _diploid_texts() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return diploid calls with alleles of one digit as words of 4 bytes, and their lengths."""
    alleles = ("", ".", *"0123456789")
    texts = [
        "\t" + mark.join(filter(None, call)) for mark in "/|" for call in product(alleles, repeat=2)
    ]
    return np.array(texts, "S4").view("<u4"), np.array([*map(len, texts)], np.uint8)


_WORDS, _LENGTHS = _diploid_texts()


@njit
def write_lines(
    heads: NDArray[np.uint8],
    edges: NDArray[np.int64],
    calls: NDArray[np.signedinteger],
    phased: NDArray[np.bool_],
    fields: NDArray[np.int32],
    widths: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> int:
    """Write the lines of variants into ``out``; return their bytes.

    heads: the columns up to FORMAT, those of row i from edges[i] to edges[i + 1]; calls: (rows,
    samples, ploidy), -1 is missing and -2 is left out; phased: (rows, samples); fields: (rows,
    samples, sum of widths), the values of each field after GT, -2 is left out.
    """
    rows, samples, ploidy = calls.shape
    at = 0
    for i in range(rows):
        for k in range(edges[i], edges[i + 1]):
            out[at] = heads[k]
            at += 1
        for s in range(samples):
            if ploidy == 2 and max(calls[i, s, 0], calls[i, s, 1]) < 10:
                # A table of words takes a third of the time of a loop over alleles. Unsigned
                # indices need no test for negative ones, and LLVM joins the four stores.
                a, b = np.uint64(calls[i, s, 0] - _FILL), np.uint64(calls[i, s, 1] - _FILL)
                key, place = (np.uint64(phased[i, s]) * _CODES + a) * _CODES + b, np.uint64(at)
                word = _WORDS[key]
                out[place] = word & 255
                out[place + _ONE] = word >> 8 & 255
                out[place + _TWO] = word >> 16 & 255
                out[place + _THREE] = word >> 24
                at += _LENGTHS[key]
            else:
                at = _write_call(calls[i, s], phased[i, s], out, at)
            if widths.size:
                at = _write_fields(fields[i, s], widths, out, at)
        out[at] = _NEWLINE
        at += 1
    return at


@njit
def _write_call(
    call: NDArray[np.signedinteger], phased: bool, out: NDArray[np.uint8], at: int
) -> int:
    """Write a tab and a call at ``at``; return where it ends."""
    separator = _TAB
    for allele in call:
        if allele != _FILL:
            out[at] = separator
            separator = _PHASED if phased else _UNPHASED
            at = _write_number(allele, out, at + 1)
    return at


@njit
def _write_fields(
    values: NDArray[np.int32], widths: NDArray[np.int64], out: NDArray[np.uint8], at: int
) -> int:
    """Write the lists of the fields of a call at ``at``; return where they end."""
    start = 0
    for width in widths:
        at = _write_list(values[start : start + width], out, at)
        start += width
    return at


@njit
def _write_list(values: NDArray[np.int32], out: NDArray[np.uint8], at: int) -> int:
    """Write a colon and a list at ``at``, a dot if it is empty; return where it ends."""
    separator = _COLON
    for value in values:
        if value != _FILL:
            out[at] = separator
            separator = _COMMA
            at = _write_number(value, out, at + 1)
    if separator == _COLON:
        out[at], out[at + 1] = _COLON, _DOT
        at += 2
    return at


@njit
def _write_number(value: int, out: NDArray[np.uint8], at: int) -> int:
    """Write a whole number at ``at``, a dot for -1; return where it ends."""
    if 0 <= value < 10:
        out[at] = _ZERO + value
        return at + 1
    if value == _MISSING:
        out[at] = _DOT
        return at + 1
    rest = abs(int(value))
    if value < 0:
        out[at] = _MINUS
        at += 1
    end = at
    while True:
        out[end] = _ZERO + rest % 10
        end += 1
        rest //= 10
        if rest == 0:
            break
    # The digits were written from the last to the first.
    out[at:end] = out[at:end][::-1].copy()
    return end
