"""Kendall scores by merge sort: Knight's algorithm, O(n log n), one key at a time.

This is GSE, the generic sort-enabled algorithm of Liu, Pan, Green, Aluru 2017, which the kernel
"packed-merge" is compared with. Knight 1966: put the observations in the order of one variable,
then sort them by the other. The pairs that exchange places are the discordant pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.knight import NARROW, _deal, _gather, _order, _starts, _tied
from genobit.kendall.kernels.ranks import missing, ties

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


@njit
def _scores(
    a: NDArray[Any],
    b: NDArray[Any],
    absent: int,
    upper: bool,
    tied_a: NDArray[np.int64],
    tied_b: NDArray[np.int64],
    keys: NDArray[Any],
    other: NDArray[Any],
    out: NDArray[np.int64],
) -> None:
    """Write the scores of ``a`` (rows, n) with ``b`` (columns, n); tied_a, tied_b: tied pairs."""
    rows, n = a.shape
    shift = np.int64(keys.itemsize * 4)
    low, whole = (np.int64(1) << shift) - 1, np.int64(-1)
    starts = np.empty((rows, n + 1), np.int32)
    for i in range(rows):
        _starts(a[i], absent, starts[i])
    places, order = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    for j in range(b.shape[0]):
        y = b[j]
        of_y = _order(y, absent, places, order)
        for i in range(min(rows, j + 1) if upper else rows):
            if tied_b[j] == 0:
                count = _gather(a[i], absent, order[:of_y], shift, keys)
            else:
                count = _deal(a[i], y, absent, order[:of_y], starts[i], places, shift, keys)
            # Missing values leave fewer tied pairs.
            ties_of = tied_a[i] + tied_b[j]
            if count < n and ties_of > 0:
                ties_of = _tied(keys, count, low) if tied_b[j] > 0 else np.int64(0)
            exchanges, swapped = count_exchanges(keys, other, count)
            ordered = other if swapped else keys
            # Keys hold x first if y has no ties, else y first.
            if count < n and tied_a[i] + tied_b[j] > 0:
                ties_of += _tied(ordered, count, ~low)
            # Pairs tied in both count once.
            if tied_a[i] > 0 and tied_b[j] > 0:
                ties_of -= _tied(ordered, count, whole)
            out[i, j] = np.int64(count) * (count - 1) // 2 - ties_of - 2 * exchanges


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of the rows of ``a`` with those of ``b`` to ``out``.

    a: (rows, n), b: (columns, n); writes out (rows, columns), with ``upper`` only where row <=
    column.
    """
    keys, other = np.empty((2, max(a.shape[1], 1)), np.int32 if a.shape[1] <= NARROW else np.int64)
    _scores(a, b, missing(a), upper, ties(a).pairs, ties(b).pairs, keys, other, out)


def scores(a: NDArray[Any]) -> NDArray[np.int64]:
    """Return the scores of all pairs of rows, as `genobit.kendall.kernels.registry.scores`."""
    out = np.empty((len(a), len(a)), np.int64)
    score_pairs(a, a, True, out)
    mirror(out, 0, 0, out)
    return out
