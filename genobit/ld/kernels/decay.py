"""Sums of a statistic of linkage by distance, of the pairs of a window, block by block.

Sums are of whole numbers, units of 2^-29, so that they do not depend on the order in which pairs
come: the same for every chunking. A unit is 2e-9, less than float32 keeps of a value, and the sum
of 2^33 pairs in one bin of one part of the genome still fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from genobit.engine.pairwise.blocks import BandRows, Float, band_columns
from genobit.engine.simd.jit import njit
from genobit.ld.kernels.r2 import blocks

if TYPE_CHECKING:
    from genobit.engine.bits.planes import Rows

UNIT = 2**29
"""Of the sums of values in [0, 1], and of distances as shares of the farthest."""
PAIRS, VALUE, DISTANCE = 0, 1, 2
"""What is summed in a bin."""


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

    Bins are (edges[b], edges[b + 1]]; the first has its lower edge too. A pair is of the part of
    its first row. Along a row distances do not decrease, so the bin is found by moving on.
    """
    bins = edges.shape[0] - 1
    share = UNIT / edges[bins]
    for i in range(values.shape[0]):
        row = top + i
        b = 0
        first = max(0, row + 1 - shift - left)
        for j in range(first, min(values.shape[1], last[row] + 1 - left)):
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
    a: Rows,
    b: Rows | None,
    last: NDArray[np.int64],
    shift: int,
    places: tuple[NDArray[np.float64], NDArray[np.float64]],
    part: NDArray[np.int64],
    edges: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Pairs of a window by the distance between them: (parts, bins, 3) sums of whole numbers.

    Parameters
    ----------
    statistic
        Of `genobit.ld.kernels.r2`, of values in [0, 1].
    a, b, last, shift
        As for `genobit.ld.kernels.pairs.pairs`.
    places
        Where each row of ``a`` is, and each of ``b``; they do not decrease within a window.
    part
        Which part of the genome each row of ``a`` belongs to, from 0, not decreasing.
    edges
        Of the bins, ascending.
    """
    parts = int(part[-1]) + 1 if part.size else 0
    sums = np.zeros((parts, edges.size - 1, 3), np.int64)
    for rows, columns, values in blocks(
        statistic,
        a,
        b,
        upper=b is None,
        rows_of=BandRows(last, shift),
        columns=band_columns(last + shift),
    ):
        _add(values, rows.start, columns.start, last, shift, *places, part, edges, sums)
    return sums
