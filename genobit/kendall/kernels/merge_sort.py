"""Merge sort that counts exchanges of neighbours, which are the discordant pairs.

Knight 1966: put the observations in the order of one variable, then sort them by the other. The
pairs that exchange places are the discordant pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

RUN = 8
"""Keys per run sorted by insertion; 4 and 16 are slower."""


@njit
def _sort_runs(keys: NDArray[Any], n: int) -> Any:
    """Sort each run of keys by insertion; returns the number of exchanges."""
    exchanges = 0
    for start in range(0, n, RUN):
        for k in range(start + 1, min(start + RUN, n)):
            key = keys[k]
            place = k
            while place > start and keys[place - 1] > key:
                keys[place] = keys[place - 1]
                place -= 1
            keys[place] = key
            exchanges += k - place
    return exchanges


@njit
def _merge(keys: NDArray[Any], start: int, middle: int, stop: int, out: NDArray[Any]) -> Any:
    """Merge two sorted runs of keys into ``out``; returns the number of exchanges.

    The merge works from both ends at once and without branches on the keys, so its two chains of
    comparisons run in parallel. A written key of the second run adds the keys of the first run that
    it passes. At the front these are the keys still to be written, at the back those already
    written.
    """
    left, right = start, middle
    left_last, right_last = middle - 1, stop - 1
    exchanges = 0
    low, high = start, stop - 1
    half = min(middle - start, stop - middle)
    # Neither end can exhaust a run within the length of the shorter run.
    for _ in range(half):
        from_right: Any = np.intp(keys[left] > keys[right])
        out[low] = keys[right] if from_right else keys[left]
        exchanges += from_right * (middle - left)
        left += 1 - from_right
        right += from_right
        low += 1
        from_left: Any = np.intp(keys[left_last] > keys[right_last])
        out[high] = keys[left_last] if from_left else keys[right_last]
        exchanges += (1 - from_left) * (middle - 1 - left_last)
        left_last -= from_left
        right_last -= 1 - from_left
        high -= 1
    while low <= high:
        if right > right_last or (left <= left_last and keys[left] <= keys[right]):
            out[low] = keys[left]
            left += 1
        else:
            out[low] = keys[right]
            exchanges += middle - left
            right += 1
        low += 1
    return exchanges


@njit
def count_exchanges(keys: NDArray[Any], other: NDArray[Any], n: int) -> tuple[Any, bool]:
    """Sort n keys; returns the number of exchanges, and whether ``other`` holds the sorted keys.

    Overwrites both arrays.
    """
    exchanges = _sort_runs(keys, n)
    swapped = False
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            if middle == stop or keys[middle - 1] <= keys[middle]:
                for k in range(start, stop):
                    other[k] = keys[k]
            else:
                exchanges += _merge(keys, start, middle, stop, other)
        keys, other = other, keys
        swapped = not swapped
        width *= 2
    return exchanges, swapped
