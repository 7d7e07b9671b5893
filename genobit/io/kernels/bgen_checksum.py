"""Checksum of the genotypes of one variant as a BGEN file stores them, from their probabilities.

An Adler-32 has the sum of all bytes, and the sum of the bytes times their distance from the end.
Both follow from the probabilities of diploid samples, because all bytes of their block do.
"""

from __future__ import annotations

import numpy as np

from genobit.engine.simd.jit import njit

_PRIME = 65521
_BLOCK = 512
"""Samples whose weighted sums of bytes fit 32 bits."""
_ZERO, _HALF = np.float32(0), np.float32(0.5)
_BYTE, _EIGHT = np.int32(255), np.int32(8)
_DIPLOID, _MISSING = 2, 128
"""Ploidy of a sample, and the number added to it if the sample is missing."""


@njit
def _sums(values: np.ndarray, width: int, size: int) -> tuple[int, int, int, int]:
    """Return the sums of bytes and of bytes times index, and those of missing samples.

    values: (width * samples,) float32; width: 3 unphased, 4 phased. A sample is stored as two
    numbers of ``size`` bytes: its columns 0 and 1, or 0 and 2 if phased.
    """
    n = values.size // width
    scale, one = np.float32((1 << 8 * size) - 1), np.int32(size)
    total, weighted, missing, where = 0, 0, 0, 0
    for start in range(0, n, _BLOCK):
        block = values[width * start : width * min(start + _BLOCK, n)]
        plain, inner, parts = np.int32(0), np.int32(0), np.int32(0)
        absent, absent_at = np.int32(0), np.int32(0)
        for i in range(block.size // width):
            # LLVM gathers columns, which takes four times as long, unless all of them are read.
            if width == 3:
                first, second, rest = block[3 * i], block[3 * i + 1], block[3 * i + 2]
            else:
                first, second = block[4 * i], block[4 * i + 2]
                rest = block[4 * i + 1] + block[4 * i + 3]
            k, none = np.int32(i), np.int32(np.isnan(rest))
            x, y = first * scale + _HALF, second * scale + _HALF
            # NaN is not above zero, and missing samples are stored as zero.
            p = np.int32(x if x > _ZERO else _ZERO)  # noqa: FURB136 - max leaves NaN open
            q = np.int32(y if y > _ZERO else _ZERO)  # noqa: FURB136
            # numba adds int32 in int64, which halves the numbers in a register.
            above, low, high = np.int32(p >> _EIGHT), np.int32(q & _BYTE), np.int32(q >> _EIGHT)
            all_bytes = np.int32((p & _BYTE) + above + low + high)
            plain = np.int32(plain + all_bytes)
            inner = np.int32(inner + k * all_bytes)
            parts = np.int32(parts + above + one * low + (one + np.int32(1)) * high)
            absent = np.int32(absent + none)
            absent_at = np.int32(absent_at + k * none)
        total += int(plain)
        weighted += 2 * size * (start * int(plain) + int(inner)) + int(parts)
        missing += int(absent)
        where += start * int(absent) + int(absent_at)
    return total, weighted, missing, where


@njit
def stored_checksum(probabilities: np.ndarray, size: int) -> int:
    """Return the Adler-32 of a variant of diploid samples, with ``size`` bytes (1 or 2) a number.

    probabilities: (samples, 3) float32, or (samples, 4) if the variant is phased.
    """
    n, width = probabilities.shape
    phased = width == 4
    pairs, weighted, missing, where = _sums(probabilities.reshape(-1), width, size)
    length = 10 + n + 2 * n * size
    # The numbers of samples and alleles, the least and the greatest ploidy.
    head = (n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255, 2, 0, _DIPLOID, _DIPLOID)
    low, high = 1, length
    for k, byte in enumerate(head):
        low += byte
        high += (length - k) * byte
    ploidies = _DIPLOID * n + _MISSING * missing
    low += ploidies + phased + 8 * size + pairs
    high += (length - 8) * ploidies - _DIPLOID * (n * (n - 1) // 2) - _MISSING * where
    high += (length - 8 - n) * phased + (length - 9 - n) * 8 * size
    high += (length - 10 - n) * pairs - weighted
    return high % _PRIME << 16 | low % _PRIME
