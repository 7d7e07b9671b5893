"""Weighted sums of the bits of rows.

A table of the 256 sums of the weights of eight positions serves a byte of every row: eight
positions for one load and one addition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def _add_row_sums(words: NDArray[np.uint64], weights: NDArray[Any], out: NDArray[Any]) -> None:
    """Words (rows, n), weights (64 n,) -> out (rows,) += sum of the weights of each row's bits."""
    table = np.zeros((8, 256), weights.dtype)
    octet = np.uint64(255)
    for w in range(words.shape[1]):
        for b in range(8):
            known = 1
            for k in range(8):
                weight = weights[64 * w + 8 * b + k]
                for entry in range(known):
                    table[b, known + entry] = table[b, entry] + weight
                known *= 2
        for i in range(words.shape[0]):
            word = words[i, w]
            total = out[i]
            for b in range(8):
                total += table[b, np.intp(word >> np.uint64(8 * b) & octet)]
            out[i] = total


def add_row_sums(words: NDArray[np.uint64], weights: NDArray[Any], out: NDArray[Any]) -> None:
    """Add to each of ``out`` (rows,) the weights at the bits that are set in its row.

    Parameters
    ----------
    words
        uint64 (rows, words).
    weights
        (positions,), of the dtype of ``out``: int64 or float64.
    out
        (rows,).
    """
    padded = np.zeros(64 * words.shape[1], weights.dtype)
    padded[: weights.size] = weights
    _add_row_sums(words, padded, out)
