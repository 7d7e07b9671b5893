"""Top-k buffer: scores that may be among the best so far, with the parts of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 4
"""Multiple of ``top`` that the buffer holds before it drops the rest."""


class Kept(NamedTuple):
    """Scores and the parts of each, unsorted."""

    scores: NDArray[np.float64]
    places: NDArray[np.int64]
    """(2, room): number of the first part, number of the last part."""
    held: int


@njit
def none_kept(top: int, more: int) -> Kept:
    """Return an empty buffer with room for ``more`` pairs beside those that it keeps."""
    room = ROOM * top + more
    return Kept(np.empty(room, np.float64), np.empty((2, room), np.int64), 0)


@njit
def keep(kept: Kept, score: float, i: int, k: int) -> Kept:
    """Return the buffer with one more score."""
    scores, places, held = kept
    scores[held], places[0, held], places[1, held] = score, i, k
    return Kept(scores, places, held + 1)


@njit
def trimmed(kept: Kept, top: int, threshold: float, more: int) -> tuple[Kept, float]:
    """Return the buffer, cut to the best if it is full, and the threshold that they reach.

    The buffer has room for ``more`` pairs again.
    """
    scores, places, held = kept
    if held < ROOM * top:
        return kept, threshold
    # Keep ties with the last of the best: the caller breaks ties by variants.
    last = np.partition(scores[:held], held - top)[held - top]
    threshold = max(threshold, last)
    left = 0
    for h in range(held):
        if scores[h] >= threshold:
            scores[left] = scores[h]
            places[:, left] = places[:, h]
            left += 1
    if left + more > scores.shape[0]:
        wider = np.empty(2 * left + more, np.float64)
        wider[:left] = scores[:left]
        further = np.empty((2, 2 * left + more), np.int64)
        further[:, :left] = places[:, :left]
        return Kept(wider, further, left), threshold
    return Kept(scores, places, left), threshold
