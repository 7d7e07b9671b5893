"""Merge sort in vector registers that counts exchanges, which are the discordant pairs.

Liu, Pan, Green, Aluru 2017 sort packed pairs of ranks by bitonic merges in registers. They skip a
merge if the last key of one run is not larger than the first key of the next. Here the exchanges
are counted in registers too. The lowest bit of a key flags the second run. The sum of the places of
the flagged keys gives the number of keys that they pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import reduce_add, store
from genobit.kendall.kernels.bitonic_sort import (
    BLOCK,
    LANES,
    RUN,
    load_lanes,
    merge_lanes,
    sort_block,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def _write(
    keys: Any, places: Any, sums: Any, constants: NDArray[Any], out: NDArray[Any], place: int
) -> tuple[Any, Any]:
    """Write a register of merged keys without flags; add the places of the flagged keys."""
    flags = keys & load_lanes(constants, 2 * LANES)
    store(out, place, keys ^ flags)
    # The mask has all bits set where the key is of the second run, whose place counts.
    sums = sums + (places & (load_lanes(constants, 3 * LANES) - flags))
    return places + load_lanes(constants, LANES), sums


@njit
def _next(
    keys: NDArray[Any], left: int, right: int, constants: NDArray[Any]
) -> tuple[Any, Any, Any]:
    """Load from the run whose next key is smaller; flag the keys if it is the second run."""
    from_right: Any = np.intp(keys[left] > keys[right])
    source = right if from_right else left
    # The constants end in eight ones and eight zeros, so the flag is loaded without a branch.
    block = load_lanes(keys, source) | load_lanes(constants, (3 - from_right) * LANES)
    return block, left + (1 - from_right) * LANES, right + from_right * LANES


@njit
def _first(keys: NDArray[Any], start: int, middle: int, constants: NDArray[Any]) -> tuple[Any, Any]:
    """Load and merge the first registers of two runs."""
    return merge_lanes(
        load_lanes(keys, start), load_lanes(keys, middle) | load_lanes(constants, 2 * LANES)
    )


@njit
def _finish(
    keys: NDArray[Any],
    left: int,
    middle: int,
    right: int,
    stop: int,
    later: Any,
    places: Any,
    sums: Any,
    constants: NDArray[Any],
    out: NDArray[Any],
) -> Any:
    """Merge the rest of two runs with the register in hand; returns the sum of flagged places."""
    place = left + right - middle - LANES
    while left < middle and right < stop:
        block, left, right = _next(keys, left, right, constants)
        sooner, later = merge_lanes(later, block)
        places, sums = _write(sooner, places, sums, constants, out, place)
        place += LANES
    flag = load_lanes(constants, (2 if left >= middle else 3) * LANES)
    source, end = (right, stop) if left >= middle else (left, middle)
    while source < end:
        sooner, later = merge_lanes(later, load_lanes(keys, source) | flag)
        places, sums = _write(sooner, places, sums, constants, out, place)
        place += LANES
        source += LANES
    places, sums = _write(later, places, sums, constants, out, place)
    return reduce_add(sums)


@njit
def _exchanges(first: int, second: int, places: int) -> Any:
    """Return the exchanges from the lengths of two runs and the places of the second run's keys.

    ``places`` is the sum of the places. A place less the earlier keys of the second run is the
    number of earlier keys of the first run.
    """
    return np.int64(first) * second - (places - np.int64(second) * (second - 1) // 2)


@njit
def _merge(
    keys: NDArray[Any],
    start: int,
    middle: int,
    stop: int,
    constants: NDArray[Any],
    out: NDArray[Any],
) -> Any:
    """Merge two sorted runs of multiples of eight keys, lowest bits 0; returns the exchanges.

    ``constants`` holds 0 to 7, eight eights, eight ones and eight zeros.
    """
    sooner, later = _first(keys, start, middle, constants)
    places, sums = load_lanes(constants, 0), load_lanes(constants, 3 * LANES)
    places, sums = _write(sooner, places, sums, constants, out, start)
    left, right = start + LANES, middle + LANES
    total = _finish(keys, left, middle, right, stop, later, places, sums, constants, out)
    return _exchanges(middle - start, stop - middle, total)


@njit
def _merge_both(
    keys: NDArray[Any],
    start: int,
    width: int,
    stop: int,
    constants: NDArray[Any],
    out: NDArray[Any],
) -> Any:
    """Apply `_merge` to two pairs of neighbouring runs, alternating between them.

    The runs start at ``start``, + width, + 2 width and + 3 width, and end at ``stop``. The steps of
    one merge depend on each other, but the two merges are independent. Alternating takes a fifth
    less time for 17,941 keys.
    """
    middle, start_b, middle_b = start + width, start + 2 * width, start + 3 * width
    sooner, later = _first(keys, start, middle, constants)
    sooner_b, later_b = _first(keys, start_b, middle_b, constants)
    places, sums = load_lanes(constants, 0), load_lanes(constants, 3 * LANES)
    sums_b = sums
    _, sums_b = _write(sooner_b, places, sums_b, constants, out, start_b)
    places, sums = _write(sooner, places, sums, constants, out, start)
    left, right, place = start + LANES, middle + LANES, LANES
    left_b, right_b = start_b + LANES, middle_b + LANES
    while left < middle and right < start_b and left_b < middle_b and right_b < stop:
        block, left, right = _next(keys, left, right, constants)
        block_b, left_b, right_b = _next(keys, left_b, right_b, constants)
        sooner, later = merge_lanes(later, block)
        sooner_b, later_b = merge_lanes(later_b, block_b)
        _, sums_b = _write(sooner_b, places, sums_b, constants, out, start_b + place)
        places, sums = _write(sooner, places, sums, constants, out, start + place)
        place += LANES
    total = _finish(keys, left, middle, right, start_b, later, places, sums, constants, out)
    total_b = _finish(
        keys, left_b, middle_b, right_b, stop, later_b, places, sums_b, constants, out
    )
    return _exchanges(width, width, total) + _exchanges(width, stop - middle_b, total_b)


@njit
def _level(
    keys: NDArray[Any], n: int, width: int, constants: NDArray[Any], out: NDArray[Any]
) -> Any:
    """Merge runs of one width in pairs; returns the number of exchanges."""
    exchanges = np.int64(0)
    # With the literal 0 numba would compile the merges a second time.
    start: Any = np.intp(0)
    while start < n:
        middle, stop = min(start + width, n), min(start + 2 * width, n)
        after = min(start + 4 * width, n)
        if middle == stop or keys[middle - 1] <= keys[middle]:
            for k in range(start, stop, LANES):
                store(out, k, load_lanes(keys, k))
        elif stop + width < after and keys[stop + width - 1] > keys[stop + width]:
            exchanges += _merge_both(keys, start, width, after, constants, out)
            stop = after
        else:
            exchanges += _merge(keys, start, middle, stop, constants, out)
        start = stop
    return exchanges


@njit
def count_exchanges(
    keys: NDArray[Any], other: NDArray[Any], n: int, constants: NDArray[Any]
) -> tuple[Any, bool]:
    """Sort n keys; returns the number of exchanges, and whether ``other`` holds the sorted keys.

    Overwrites both arrays; n is a multiple of `bitonic_sort.BLOCK`.
    """
    exchanges = 0
    for start in range(0, n, BLOCK):
        exchanges += sort_block(keys, start)
    swapped = False
    width: Any = np.intp(RUN)
    while width < n:
        exchanges += _level(keys, n, width, constants, other)
        keys, other = other, keys
        swapped = not swapped
        width *= 2
    return exchanges, swapped


def constants(dtype: Any) -> NDArray[Any]:
    """Return 0 to 7, eight eights, eight ones and eight zeros."""
    values = [*range(LANES), *[LANES] * LANES, *[1] * LANES, *[0] * LANES]
    return np.array(values, dtype)
