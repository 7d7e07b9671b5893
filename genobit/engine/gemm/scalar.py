"""Products by scalar popcount, one word at a time: for any CPU, and as reference for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def multiply_and(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add popcount(a & b) over n to counts (m, k), on and above the diagonal, from row ``tops``.

    a: (m, n); b: (k, n); tops: (k,), which never decreases.
    """
    for i in range(a.shape[0]):
        for j in range(max(0, i + diagonal), np.searchsorted(tops, i, side="right")):
            total = np.uint64(0)
            for w in range(a.shape[1]):
                total += popcount(a[i, w] & b[j, w])
            counts[i, j] += np.int32(total)


@njit
def multiply_ternary(
    a_mask: NDArray[np.uint64],
    a_sign: NDArray[np.uint64],
    b_mask: NDArray[np.uint64],
    b_sign: NDArray[np.uint64],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add sums of products of values in {-1, 0, 1} to counts (m, k); a_* (m, n), b_* (k, n)."""
    for i in range(a_mask.shape[0]):
        for j in range(max(0, i + diagonal), np.searchsorted(tops, i, side="right")):
            both = np.uint64(0)
            differ = np.uint64(0)
            for w in range(a_mask.shape[1]):
                present = a_mask[i, w] & b_mask[j, w]
                both += popcount(present)
                differ += popcount(present & (a_sign[i, w] ^ b_sign[j, w]))
            counts[i, j] += np.int32(both) - 2 * np.int32(differ)
