"""Sums of r2 of each row with the others in its window.

Every r2 is rounded to a multiple of 2^-36 before it is added. Sums below 2^17 are then exact in any
order, so a score is the same for every chunking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.gemm.products import BandRows
from genobit.engine.pairwise.statistic import band_columns, blocks, in_window
from genobit.engine.simd.jit import njit
from genobit.ld.kernels import r2
from genobit.ld.kernels.row_pairs import pair_rows, polymorphic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows

ROUND = 1.5 * 2.0 ** (52 - 36)
"""Adding and subtracting this constant rounds a double to a multiple of 2^-36."""


@njit
def _add(
    values: NDArray[np.floating],
    top: int,
    left: int,
    last: NDArray[np.int64],
    shift: int,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> None:
    """Add pairs i < shift + j, j <= last[i], of a block to sums and counts (2, ...) of both."""
    for i in range(values.shape[0]):
        row = top + i
        first, stop = in_window(row, last[row], shift, left, values.shape[1])
        total = number = 0.0
        for j in range(first, stop):
            value = values[i, j]
            here = 1.0 if value == value else 0.0  # noqa: PLR0124 - NaN
            rounded = (value + ROUND) - ROUND if here else 0.0
            total += rounded
            number += here
            columns[0, left + j] += rounded
            columns[1, left + j] += here
        rows[0, row] += total
        rows[1, row] += number


def scores(
    a: PlaneRows, b: PlaneRows | None, last: NDArray[np.int64], shift: int, *, adjust: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sum of r2 and number of pairs with r2, for rows of ``a`` and of ``b``: (2, rows).

    The arguments a, b, last and shift are those of `genobit.ld.kernels.pairs.pairs`. Without ``b``
    the sum includes each row itself, and the second result is empty. With ``adjust`` the bias of r2
    is subtracted.
    """
    rows = np.zeros((2, a.planes[0].shape[0]))
    columns = rows if b is None else np.zeros((2, b.planes[0].shape[0]))
    if b is None:
        own = pair_rows([a])
        known = polymorphic(own) & (own.counts[:, 0] > (2 if adjust else 0))
        rows += known
    for part, others, values in blocks(
        r2.statistic("r2_adjusted" if adjust else "r2", a, b),
        a,
        b,
        dtype=np.float64,
        upper=b is None,
        band_rows=BandRows(last, shift),
        columns=band_columns(last + shift),
    ):
        _add(values, part.start, others.start, last, shift, rows, columns)
    return rows, columns[:, :0] if b is None else columns
