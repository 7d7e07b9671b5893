"""Read the bytes of a BGEN file: where the genotypes of variants begin, and their probabilities.

The format is that of https://www.chg.ox.ac.uk/~gav/bgen_format/spec/latest.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MISSING, _PLOIDY = np.uint8(128), np.uint8(63)
"""The bit of a missing sample, and those of its number of copies."""
_DAMAGED = -1
FINE, OTHER, STATED, COPIES, SIZE, SUM = range(6)
"""What is wrong with genotypes: other samples or alleles, impossible bits or phase, more than two
copies, other bytes than the ploidies need, or probabilities that do not add up to 1."""
_MOST_BITS = 32


@njit
def _number(data: NDArray[np.uint8], at: int, size: int) -> Any:
    """Return the little-endian number of ``size`` bytes at an offset; 0 behind the end."""
    value = np.int64(0)
    if at + size <= data.size:
        for k in range(size):
            value |= np.int64(data[at + k]) << 8 * k
    return value


@njit
def find_blocks(data: NDArray[np.uint8], layout: int, fixed: int, found: NDArray[np.int64]) -> Any:
    """Fill found (variants, 3) with the start of variants and the start and end of their genotypes.

    ``fixed`` is the size of genotypes that state none, or 0. Returns how many variants are whole.
    """
    at = 0
    for k in range(found.shape[0]):
        found[k, 0] = at
        if layout == 1:
            at += 4
        for _ in range(3):
            at += 2 + _number(data, at, 2)
        alleles = 2
        at += 4
        if layout == 2:
            alleles = _number(data, at, 2)
            at += 2
        for _ in range(alleles):
            at += 4 + _number(data, at, 4)
        size = fixed
        if not fixed:
            size = _number(data, at, 4)
            at += 4
        found[k, 1] = at
        at += size
        found[k, 2] = at
        if at > data.size:
            return k
    return found.shape[0]


@njit
def three_shares(data: NDArray[np.uint8], out: NDArray[np.float32]) -> None:
    """Fill out (3 samples,) with the probabilities of layout 1; NaN for a missing sample."""
    for s in range(out.size // 3):
        total = 0
        for k in range(3):
            value = _number(data, 6 * s + 2 * k, 2)
            total += value
            out[3 * s + k] = np.float32(value / 32768)
        if total == 0:
            out[3 * s : 3 * s + 3] = np.nan


@njit
def _all_diploid(ploidies: NDArray[np.uint8]) -> bool:
    other = np.uint8(0)
    for s in range(ploidies.size):
        other |= (ploidies[s] & ~_MISSING) ^ np.uint8(2)
    return other == 0


@njit
def _eight_bits(
    ploidies: NDArray[np.uint8], data: NDArray[np.uint8], phased: bool, out: NDArray[np.float32]
) -> None:
    """Fill the probabilities of diploid samples from one byte each: the usual file."""
    whole = np.float32(255)
    for s in range(ploidies.size):
        first, second = np.float32(data[2 * s]), np.float32(data[2 * s + 1])
        lost = np.float32(np.nan) if ploidies[s] & _MISSING else np.float32(0)
        if phased:
            out[4 * s] = first / whole + lost
            out[4 * s + 1] = (whole - first) / whole + lost
            out[4 * s + 2] = second / whole + lost
            out[4 * s + 3] = (whole - second) / whole + lost
        else:
            out[3 * s] = first / whole + lost
            out[3 * s + 1] = second / whole + lost
            out[3 * s + 2] = (whole - first - second) / whole + lost


@njit
def _bits_at(data: NDArray[np.uint8], start: Any, bits: int) -> Any:
    """Return the number of ``bits`` bits from a bit on."""
    first, shift = start >> 3, start & 7
    value = np.uint64(0)
    for k in range((shift + bits + 7) >> 3):
        value |= np.uint64(data[first + k]) << np.uint64(8 * k)
    return np.int64(value >> np.uint64(shift) & (np.uint64(1) << np.uint64(bits)) - np.uint64(1))


@njit
def shares(
    ploidies: NDArray[np.uint8],
    data: NDArray[np.uint8],
    bits: int,
    phased: bool,
    out: NDArray[np.float32],
) -> Any:
    """Fill out (samples, 2 to 4) with the probabilities of layout 2; NaN if missing or absent.

    Returns the most copies of a sample; nothing is filled if they are more than two. Returns
    `_DAMAGED` if ``data`` does not have their bytes, or ``out`` not their columns.
    """
    n, width = out.shape
    flat = out.reshape(-1)
    if bits == 8 and width > 2 and data.size == 2 * n and _all_diploid(ploidies):
        _eight_bits(ploidies, data, phased, flat)
        return 2
    numbers, most = np.intp(0), np.intp(0)
    for s in range(n):
        copies = np.intp(ploidies[s] & _PLOIDY)
        numbers += copies
        most = max(most, copies)
    if most > 2:
        return most
    if (numbers * bits + 7) >> 3 != data.size or (most == 2 and width == 2):
        return _DAMAGED
    whole, at = (1 << bits) - 1, np.intp(0)
    out[:] = np.nan
    for s in range(n):
        copies = np.intp(ploidies[s] & _PLOIDY)
        first = _bits_at(data, at, bits) if copies > 0 else 0
        second = _bits_at(data, at + bits, bits) if copies > 1 else 0
        at += copies * bits
        if copies == 0 or ploidies[s] & _MISSING:
            continue
        out[s, 0] = first / whole
        if copies == 1 or phased:
            out[s, 1] = (whole - first) / whole
        if copies == 2 and phased:
            out[s, 2] = second / whole
            out[s, 3] = (whole - second) / whole
        elif copies == 2:
            out[s, 1] = second / whole
            out[s, 2] = (whole - first - second) / whole
    return most


@njit
def read_shares(
    data: NDArray[np.uint8], layout: int, samples: int, room: NDArray[np.float32]
) -> tuple[int, int, bool]:
    """Fill room with the probabilities (samples, 2 to 4) of the inflated genotypes of a variant.

    Returns the fault or 0, the number of columns, and whether the calls are phased.
    """
    if layout == 1:
        three_shares(data, room[: 3 * samples])
        return FINE, 3, False
    if data.size < 10 + samples or _number(data, 0, 4) != samples or _number(data, 4, 2) != 2:
        return OTHER, 0, False
    phased, bits = data[8 + samples], data[9 + samples]
    if phased > 1 or not 1 <= bits <= _MOST_BITS:
        return STATED, 0, False
    width = 2 if data[7] < 2 else 4 if phased else 3
    found = room[: width * samples].reshape(samples, width)
    most = shares(data[8 : 8 + samples], data[10 + samples :], int(bits), phased == 1, found)
    fault = COPIES if most > 2 else SIZE if most == _DAMAGED else FINE
    return fault, width, phased == 1
