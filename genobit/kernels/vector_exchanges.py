"""Sorting by merging in vector registers, and the exchanges that it takes: discordant pairs.

Liu, Pan, Green, Aluru 2017 sort packed pairs of ranks by bitonic merges in registers, and skip a
merge where the last key of one run is no larger than the first of the next. Exchanges are counted
here without leaving the registers: the lowest bit of a key says which run it came from, and the sum
of the places of the keys of the second run is what each of them passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit._jit import njit
from genobit.kernels.rank_lanes import (
    BLOCK,
    LANES,
    RUN,
    load_lanes,
    merge_lanes,
    sort_block,
    store_lanes,
    sum_lanes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def _merge(
    keys: NDArray[Any],
    start: int,
    middle: int,
    stop: int,
    constants: NDArray[Any],
    out: NDArray[Any],
) -> Any:
    """Merge two sorted runs of multiples of eight keys, lowest bits zero; returns the exchanges.

    constants are 0 to 7, then eights, ones and zeros.
    """
    places, eights = load_lanes(constants, 0), load_lanes(constants, LANES)
    ones = load_lanes(constants, 2 * LANES)
    left, right, place = start + LANES, middle + LANES, start
    sums = load_lanes(constants, 3 * LANES)
    later = load_lanes(keys, start)
    block = load_lanes(keys, middle) | ones
    while True:
        sooner, later = merge_lanes(later, block)
        flags = sooner & ones
        # All bits where the key is of the second run: its place counts.
        sums = sums + (places & (load_lanes(constants, 3 * LANES) - flags))
        places = places + eights
        store_lanes(out, place, sooner ^ flags)
        place += LANES
        if left >= middle or right >= stop:
            break
        from_right: Any = np.intp(keys[left] > keys[right])
        source = right if from_right else left
        # Ones are the last constants but eight, zeros the last: the run's bit without a branch.
        block = load_lanes(keys, source) | load_lanes(constants, (3 - from_right) * LANES)
        right += from_right * LANES
        left += (1 - from_right) * LANES
    flag = load_lanes(constants, (2 if left >= middle else 3) * LANES)
    source, end = (right, stop) if left >= middle else (left, middle)
    while source < end:
        sooner, later = merge_lanes(later, load_lanes(keys, source) | flag)
        flags = sooner & ones
        sums = sums + (places & (load_lanes(constants, 3 * LANES) - flags))
        places = places + eights
        store_lanes(out, place, sooner ^ flags)
        place += LANES
        source += LANES
    flags = later & ones
    sums = sums + (places & (load_lanes(constants, 3 * LANES) - flags))
    store_lanes(out, place, later ^ flags)
    # Places of the second run less its own numbers are the keys of the first that go before.
    second = np.int64(stop - middle)
    before = sum_lanes(sums) - second * (second - 1) // 2
    return np.int64(middle - start) * second - before


@njit
def count_exchanges(
    keys: NDArray[Any], other: NDArray[Any], n: int, constants: NDArray[Any]
) -> tuple[Any, bool]:
    """Sort n keys; returns the exchanges, and whether the sorted keys are in ``other``.

    Both arrays are written to; n is a multiple of `rank_lanes.BLOCK`.
    """
    exchanges = 0
    for start in range(0, n, BLOCK):
        exchanges += sort_block(keys, start)
    swapped = False
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            if middle == stop or keys[middle - 1] <= keys[middle]:
                for k in range(start, stop, LANES):
                    store_lanes(other, k, load_lanes(keys, k))
            else:
                exchanges += _merge(keys, start, middle, stop, constants, other)
        keys, other = other, keys
        swapped = not swapped
        width *= 2
    return exchanges, swapped


def constants(dtype: Any) -> NDArray[Any]:
    """0 to 7, eights, ones and zeros."""
    values = [*range(LANES), *[LANES] * LANES, *[1] * LANES, *[0] * LANES]
    return np.array(values, dtype)
