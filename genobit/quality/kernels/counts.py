"""Counts of genotypes in rows of planes, for sets of samples or variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMPTY, MASKED, WHOLE, FIRST = 0, 1, 2, 3
"""How a set is counted: not at all, by its mask, without a mask, or as the first set was."""


@njit
def _count_whole(
    carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64], called: NDArray[np.uint64]
) -> tuple[np.int64, np.int64, np.int64]:
    """Return the bits of three rows (words,); one loop a plane lets LLVM vectorise it."""
    a, b, c = np.uint64(0), np.uint64(0), np.uint64(0)
    for w in range(carrier.shape[0]):
        a += popcount(carrier[w])
    for w in range(hom_alt.shape[0]):
        b += popcount(hom_alt[w])
    for w in range(called.shape[0]):
        c += popcount(called[w])
    return np.int64(a), np.int64(b), np.int64(c)


@njit
def _count_masked(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    mask: NDArray[np.uint64],
) -> tuple[np.int64, np.int64, np.int64]:
    a, b, c = np.uint64(0), np.uint64(0), np.uint64(0)
    for w in range(carrier.shape[0]):
        a += popcount(carrier[w] & mask[w])
    for w in range(hom_alt.shape[0]):
        b += popcount(hom_alt[w] & mask[w])
    for w in range(called.shape[0]):
        c += popcount(called[w] & mask[w])
    return np.int64(a), np.int64(b), np.int64(c)


@njit
def count_genotypes(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    complete: bool,
    kinds: NDArray[np.uint8],
    masks: NDArray[np.uint64],
    how: NDArray[np.uint8],
    sizes: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Count carriers, homozygotes and calls of each row in each set of its kind.

    Shapes: planes (rows, words); kinds (rows,); masks (kinds, sets, words); how, sizes (kinds,
    sets); out (rows, sets, 3). ``complete`` means that no call is missing: ``called`` is then not
    read, and the calls of a set are its size.
    """
    for i in range(carrier.shape[0]):
        kind = kinds[i]
        calls = called[i, :0] if complete else called[i]
        for s in range(how.shape[1]):
            rule = how[kind, s]
            if rule == FIRST:
                out[i, s] = out[i, 0]
                continue
            a, b, c = np.int64(0), np.int64(0), np.int64(0)
            if rule == WHOLE:
                a, b, c = _count_whole(carrier[i], hom_alt[i], calls)
            elif rule == MASKED:
                a, b, c = _count_masked(carrier[i], hom_alt[i], calls, masks[kind, s])
            out[i, s, 0], out[i, s, 1] = a, b
            out[i, s, 2] = sizes[kind, s] if complete else c


@njit
def sum_over_missing(
    called: NDArray[np.uint64], mask: NDArray[np.uint64], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the sum of weights over the missing calls of each row, int64 (rows,).

    Shapes: called (rows, words); mask (words,), the columns that count; weights (64 words,).
    """
    one = np.uint64(1)
    sums = np.zeros(called.shape[0], np.int64)
    for i in range(called.shape[0]):
        total = 0
        for w in range(called.shape[1]):
            missing = mask[w] & ~called[i, w]
            while missing:
                lowest = missing & (~missing + one)
                total += weights[64 * w + np.intp(popcount(lowest - one))]
                missing ^= lowest
        sums[i] = total
    return sums
