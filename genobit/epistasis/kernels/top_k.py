"""Scores that may be among the best so far, and where each was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 4
"""Times as many as are asked for are kept before the rest is dropped."""


class Kept(NamedTuple):
    """Scores and where they were found, in no order."""

    scores: NDArray[np.float64]
    places: NDArray[np.int64]
    """(2, room): number of the first part and of the last."""
    held: int


@njit
def none_kept(top: int, more: int) -> Kept:
    """Room for the scores of ``more`` pairs beside those kept."""
    room = ROOM * top + more
    return Kept(np.empty(room, np.float64), np.empty((2, room), np.int64), 0)


@njit
def keep(kept: Kept, score: float, i: int, k: int) -> Kept:
    """One more."""
    scores, places, held = kept
    scores[held], places[0, held], places[1, held] = score, i, k
    return Kept(scores, places, held + 1)


@njit
def trimmed(kept: Kept, top: int, threshold: float, more: int) -> tuple[Kept, float]:
    """Without what cannot be among the best, if there are many; the threshold that is reached.

    There is room for ``more`` again.
    """
    scores, places, held = kept
    if held < ROOM * top:
        return kept, threshold
    # What ties with the last of the best stays, for others decide by their variants.
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
