"""Kendall scores by comparing all pairs of observations: O(n^2), the simplest kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.ranks import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def _score(x: NDArray[np.int32], y: NDArray[np.int32], n: int) -> Any:
    """Return the score of n observations without missing values."""
    score = np.int64(0)
    for k in range(1, n):
        first, second = x[k], y[k]
        # Branch-free signs and 32-bit sums let the compiler vectorise the loop.
        part = np.int32(0)
        for h in range(k):
            sign_x = np.int32(first > x[h]) - np.int32(first < x[h])
            sign_y = np.int32(second > y[h]) - np.int32(second < y[h])
            part = np.int32(part + sign_x * sign_y)
        score += part
    return score


@njit
def _scores(
    a: NDArray[Any], b: NDArray[Any], absent: int, upper: bool, out: NDArray[np.int64]
) -> None:
    x, y = np.empty(a.shape[1], np.int32), np.empty(a.shape[1], np.int32)
    for i in range(a.shape[0]):
        for j in range(i if upper else 0, b.shape[0]):
            n = 0
            for k in range(a.shape[1]):
                x[n], y[n] = a[i, k], b[j, k]
                n += (a[i, k] != absent) & (b[j, k] != absent)
            out[i, j] = _score(x, y, n)


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of the rows of ``a`` with those of ``b`` to ``out``.

    a: (rows, n), b: (columns, n); writes out (rows, columns), with ``upper`` only where row <=
    column.
    """
    _scores(a, b, missing(a), upper, out)
