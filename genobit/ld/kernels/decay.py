"""Sums of an LD statistic by distance, over the pairs in windows, block by block.

The sums are integers in units of 2^-29, so they do not depend on the order of the pairs and are the
same for every chunking. A unit is 2e-9, less than the precision of a float32 value. The sum of 2^33
pairs in one bin of one part of the genome still fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from genobit.engine.gemm.products import BandRows
from genobit.engine.pairwise.statistic import Float, band_columns, blocks, in_window
from genobit.engine.simd.jit import njit
from genobit.ld.kernels import r2

if TYPE_CHECKING:
    from genobit.engine.bits.planes import PlaneRows

UNIT = 2**29
"""Units in 1: for sums of values in [0, 1], and of distances as shares of the farthest."""
PAIRS, VALUE, DISTANCE = 0, 1, 2
"""Index of each sum of a bin."""


@njit
def _add(
    values: Float,
    top: int,
    left: int,
    last: NDArray[np.int64],
    shift: int,
    place: NDArray[np.float64],
    other_place: NDArray[np.float64],
    part: NDArray[np.int64],
    edges: NDArray[np.float64],
    sums: NDArray[np.int64],
) -> None:
    """Add pairs i < shift + j, j <= last[i], of a block to their bins, sums (parts, bins, 3).

    Bins are (edges[b], edges[b + 1]]; the first includes its lower edge too. A pair belongs to the
    part of its first row. Distances never decrease along a row, so the search for a bin starts at
    the last one.
    """
    bins = edges.shape[0] - 1
    share = UNIT / edges[bins]
    for i in range(values.shape[0]):
        row = top + i
        b = 0
        first, stop = in_window(row, last[row], shift, left, values.shape[1])
        for j in range(first, stop):
            distance = other_place[left + j] - place[row]
            while b < bins and distance > edges[b + 1]:
                b += 1
            if b == bins:
                break
            value = float(values[i, j])
            if distance < edges[0] or np.isnan(value):
                continue
            sums[part[row], b, PAIRS] += 1
            sums[part[row], b, VALUE] += np.int64(np.rint(value * UNIT))
            sums[part[row], b, DISTANCE] += np.int64(np.rint(distance * share))


def sums_by_distance(
    statistic: str,
    a: PlaneRows,
    b: PlaneRows | None,
    last: NDArray[np.int64],
    shift: int,
    places: tuple[NDArray[np.float64], NDArray[np.float64]],
    part: NDArray[np.int64],
    edges: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the sums of the pairs in windows by their distance: (parts, bins, 3) int64.

    The statistic of `genobit.ld.kernels.r2` must be in [0, 1]. The arguments a, b, last and shift
    are those of `genobit.ld.kernels.pairs.pairs`. The positions of the rows of both, ``places``,
    never decrease within a window. The part of the genome of each row of ``a``, ``part``, counts
    from 0 and never decreases.
    """
    parts = int(part[-1]) + 1 if part.size else 0
    sums = np.zeros((parts, edges.size - 1, 3), np.int64)
    for rows, columns, values in blocks(
        r2.statistic(statistic, a, b),
        a,
        b,
        upper=b is None,
        band_rows=BandRows(last, shift),
        columns=band_columns(last + shift),
    ):
        _add(values, rows.start, columns.start, last, shift, *places, part, edges, sums)
    return sums
