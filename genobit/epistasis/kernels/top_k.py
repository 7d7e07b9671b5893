"""Pairs of parts that are combinations, and a top-k buffer of their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 4
"""Multiple of ``top`` that the buffer holds before it drops the rest."""
EVERY = np.empty((0, 0), np.bool_)
"""Value of ``allowed`` for a search of all pairs of parts."""


class Pairs(NamedTuple):
    """Pairs of first and last parts; a pair is a combination if its last part begins later."""

    ends: NDArray[np.int64]
    """Last variant of each first part, (m,)."""
    starts: NDArray[np.int64]
    """First variant of each last part, (n,)."""
    allowed: NDArray[np.bool_]
    """Which pairs the search includes, (m, n); `EVERY` for all."""


def pairs_of(
    first: NDArray[np.int64], last: NDArray[np.int64], allowed: NDArray[np.bool_] | None
) -> Pairs:
    """Return the pairs of first parts (m, p) and last parts (n, q), by default all."""
    return Pairs(first[:, -1].copy(), last[:, 0].copy(), EVERY if allowed is None else allowed)


@njit
def combines(pairs: Pairs, i: int, k: int) -> bool:
    """Return whether first part ``i`` and last part ``k`` form a combination of the search."""
    return pairs.starts[k] > pairs.ends[i] and (pairs.allowed.size == 0 or pairs.allowed[i, k])


class TopK(NamedTuple):
    """Scores and the parts of each, unsorted."""

    scores: NDArray[np.float64]
    places: NDArray[np.int64]
    """(2, room): number of the first part, number of the last part."""
    held: int


@njit
def empty_top_k(top: int, more: int) -> TopK:
    """Return an empty buffer with room for ``more`` pairs beside those that it keeps."""
    room = ROOM * top + more
    return TopK(np.empty(room, np.float64), np.empty((2, room), np.int64), 0)


@njit
def push(kept: TopK, score: float, i: int, k: int) -> TopK:
    """Return the buffer with one more score."""
    scores, places, held = kept
    scores[held], places[0, held], places[1, held] = score, i, k
    return TopK(scores, places, held + 1)


@njit
def compact(kept: TopK, top: int, threshold: float, more: int) -> tuple[TopK, float]:
    """Return the buffer, cut to the best if it is full, and the threshold that they reach.

    The buffer has room for ``more`` pairs again.
    """
    scores, places, held = kept
    if held < ROOM * top:
        return kept, threshold
    # Keep ties with the last of the best: the caller breaks ties by variants.
    threshold = max(threshold, _largest(scores, held, top))
    left = 0
    for h in range(held):
        if scores[h] >= threshold:
            scores[left], places[0, left], places[1, left] = scores[h], places[0, h], places[1, h]
            left += 1
    if left + more <= scores.shape[0]:
        return TopK(scores, places, left), threshold
    size = 2 * left + more
    wider, further = np.empty(size, np.float64), np.empty((2, size), np.int64)
    for h in range(left):
        wider[h], further[0, h], further[1, h] = scores[h], places[0, h], places[1, h]
    return TopK(wider, further, left), threshold


@njit
def _largest(scores: NDArray[np.float64], held: int, top: int) -> float:
    """Return the ``top``-th largest of the first ``held`` scores, by quickselect (Hoare 1961).

    The scores hold no NaN. ``np.partition`` compiles for a second.
    """
    values = np.empty(held, np.float64)
    for h in range(held):
        values[h] = scores[h]
    low, high, wanted = 0, held - 1, held - top
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return values[wanted]
