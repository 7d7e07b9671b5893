"""Convert allele indices of pgenlib, int32 with -9 for missing, from and to int8 calls."""

from __future__ import annotations

import numpy as np

from genobit.engine.simd.jit import njit


@njit
def narrow_alleles(alleles: np.ndarray, calls: np.ndarray) -> None:
    """Write int32 allele indices (rows, n) into int8 ``calls``, -1 for any negative one.

    `numpy.maximum` with ``casting="unsafe"`` takes four times as long, for it casts in buffers.
    """
    for i in range(alleles.shape[0]):
        for k in range(alleles.shape[1]):
            calls[i, k] = max(alleles[i, k], -1)


FINE, ALLELE, VALUE, HALF = 0, 1, 2, 3
"""Rules that a call can break.

FINE: none; ALLELE: an allele above the limit; VALUE: a value below -2, or -2 in the first place;
HALF: one of two alleles is missing.
"""


@njit
def widen_calls(
    calls: np.ndarray, phased: np.ndarray, limits: np.ndarray, alleles: np.ndarray
) -> tuple[int, int, int]:
    """Write int8 calls (rows, samples, 1 or 2) into int32 ``alleles`` (rows, 2 * samples).

    The allele of a haploid call is written twice. A call without phase gets the lower allele first.
    Row i accepts alleles up to ``limits[i]``. Returns rule, row and sample.
    """
    rows, samples, ploidy = calls.shape
    for i in range(rows):
        limit = limits[i]
        for s in range(samples):
            a, b = np.int32(calls[i, s, 0]), np.int32(calls[i, s, ploidy - 1])
            if b == -2:
                b = a
            if a > limit or b > limit:
                return ALLELE, i, s
            if a < -1 or b < -1:
                return VALUE, i, s
            if (a < 0) != (b < 0):
                return HALF, i, s
            if a < 0:
                a, b = np.int32(-9), np.int32(-9)
            elif a > b and not phased[i, s]:
                a, b = b, a
            alleles[i, 2 * s] = a
            alleles[i, 2 * s + 1] = b
    return FINE, 0, 0
