"""Pairs of rows whose r2 is at least a minimum: blocks of counts or of values -> a list of pairs.

Most pairs of a window are far below the minimum. Rows without missing calls are tested on their
counts in float32 registers, and nothing is written. Only pairs that may reach the minimum are
computed exactly, one by one, as in `genobit.ld.kernels.r2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from genobit.engine.gemm.products import BandRows
from genobit.engine.pairwise.statistic import Float, band_columns, blocks, in_window
from genobit.engine.simd.count_lanes import RATIO_LANES, abs_ge_mask, load_ratios, splat_ratio
from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import multiply_add
from genobit.ld.kernels import r2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genobit.engine.bits.planes import PlaneRows

Found = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows of both sides (2, pairs), and the statistic of each pair."""
STRETCH = 8 * RATIO_LANES
"""Pairs of a row that are tested together; testing one register at a time takes twice as long."""
SLACK, UNIT = 1 - 2.0**-18, 2.0**-21
"""Tolerances of the float32 test: it lowers the least |r| to this share, and by UNIT of the bits.
They exceed the rounding errors: three roundings to float32 for the first, five for the second."""


@njit
def _collect(
    values: Float,
    top: int,
    left: int,
    last: NDArray[np.int64],
    shift: int,
    minimum: np.float32,
    squared: bool,
    found: NDArray[np.int64],
    kept: NDArray[np.float64],
) -> int:
    """Collect pairs i < shift + j, j <= last[i], of a block whose value is at least the minimum.

    The value, or its square if ``squared``, is compared as float32. Returns the number of pairs.
    """
    k = 0
    for i in range(values.shape[0]):
        row = top + i
        first, stop = in_window(row, last[row], shift, left, values.shape[1])
        for j in range(first, stop):
            value = values[i, j]
            if np.float32(value * value if squared else value) >= minimum:
                found[0, k] = row
                found[1, k] = left + j
                kept[k] = value
                k += 1
    return k


@njit
def _near(
    counts: NDArray[Any],
    j: int,
    minus: Any,
    share: NDArray[np.float32],
    wanted: Any,
    width: NDArray[np.float32],
    margin: Any,
) -> int:
    """Return a bit mask of the pairs of a register, from column j, that may reach the minimum."""
    covariance = multiply_add(minus, load_ratios(share, j), load_ratios(counts, j))
    return abs_ge_mask(covariance, multiply_add(wanted, load_ratios(width, j), margin))


@njit
def _keep(
    r: float,
    row: int,
    column: int,
    minimum: np.float32,
    k: int,
    found: NDArray[np.int64],
    kept: NDArray[np.float64],
) -> int:
    """Store a pair at index k if its r2 is at least the minimum; returns the number of pairs."""
    if not np.float32(r * r) >= minimum:  # true for NaN too
        return k
    found[0, k] = row
    found[1, k] = column
    kept[k] = r
    return k + 1


@njit
def _collect_counts(
    counts: NDArray[Any],
    n: float,
    of_rows: tuple[NDArray[np.float64], NDArray[np.float64]],
    of_columns: tuple[NDArray[np.float64], NDArray[np.float64]],
    top: int,
    left: int,
    last: NDArray[np.int64],
    shift: int,
    minimum: np.float32,
    found: NDArray[np.int64],
    kept: NDArray[np.float64],
) -> int:
    """Collect pairs as `_collect` does for r, from sums of x y (rows, columns).

    ``of_rows`` and ``of_columns`` are the `r2.sums` of both.
    """
    (x, scale_x), (y, scale_y) = of_rows, of_columns
    k, columns = 0, counts.shape[1]
    whole = columns // RATIO_LANES * RATIO_LANES
    least, margin = np.sqrt(float(minimum)) * SLACK, splat_ratio(np.float32(-UNIT * n))
    # |xy - x y / n| >= (least / scale_x) / (n scale_y). Monomorphic rows have scale NaN: never.
    share, width = np.empty(columns, np.float32), np.empty(columns, np.float32)
    for j in range(columns):
        share[j], width[j] = y[j] / n, 1.0 / (n * scale_y[j])
    for i in range(counts.shape[0]):
        row, of_row = top + i, counts[i]
        first, stop = in_window(row, last[row], shift, left, columns)
        minus = splat_ratio(np.float32(-x[i]))
        wanted = splat_ratio(np.float32(least / scale_x[i]))
        for begin in range(first // RATIO_LANES * RATIO_LANES, min(stop, whole), STRETCH):
            end, reached = min(begin + STRETCH, whole), np.uint64(0)
            for j in range(begin, end, RATIO_LANES):
                reached |= _near(of_row, j, minus, share, wanted, width, margin)
            if not reached:
                continue
            for j in range(begin, end, RATIO_LANES):
                near = _near(of_row, j, minus, share, wanted, width, margin)
                # Counts outside the window are arbitrary.
                for h in range(max(j, first), min(j + RATIO_LANES, stop)):
                    if near >> np.uint64(h - j) & np.uint64(1):
                        r = r2.correlation(n, x[i], y[h], scale_x[i] * scale_y[h], of_row[h])
                        k = _keep(r, row, left + h, minimum, k, found, kept)
        for h in range(max(first, whole), stop):
            r = r2.correlation(n, x[i], y[h], scale_x[i] * scale_y[h], of_row[h])
            k = _keep(r, row, left + h, minimum, k, found, kept)
    return k


def pairs(
    a: PlaneRows,
    b: PlaneRows | None,
    last: NDArray[np.int64],
    shift: int,
    minimum: float,
    statistic: str = "r",
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return pairs of row i of ``a`` with rows up to last[i] of ``b`` and r2 at least ``minimum``.

    Three arrays, sorted by both rows: rows of ``a``, rows of ``b``, and the statistic (float64).
    The statistic is "r", whose square is compared, or "r2_em". Without ``b``, pairs are within
    ``a``. Row j of ``b`` is row shift + j counted from the start of ``a``. A pair is a row with a
    later row. The values of ``last`` never decrease.
    """
    first = 0
    if b is not None:
        # Windows reach only from the end of one chunk to the beginning of the next.
        first = int(last.searchsorted(0))
        a, b = a.part(first, last.size), b.part(0, int(last.max(initial=-1)) + 1)
        last, shift = last[first:], shift - first
    complete = a.complete() and (b is None or b.complete())
    kind = _of_counts if complete and statistic == "r" else _of_values
    parts = list(kind(a, b, last, shift, np.float32(minimum), statistic))
    both = np.concatenate([np.empty((2, 0), np.int64), *(part[0] for part in parts)], axis=1)
    values = np.concatenate([np.empty(0), *(part[1] for part in parts)])
    order = np.lexsort((both[1], both[0]))
    return both[0][order] + first, both[1][order], values[order]


def _of_values(
    a: PlaneRows,
    b: PlaneRows | None,
    last: NDArray[np.int64],
    shift: int,
    least: np.float32,
    statistic: str,
) -> Iterator[Found]:
    room = _Room()
    for rows, columns, values in blocks(
        r2.statistic(statistic, a, b),
        a,
        b,
        dtype=np.float64,
        upper=b is None,
        band_rows=BandRows(last, shift),
        columns=band_columns(last + shift),
    ):
        place = rows.start, columns.start, last, shift
        found = room.of(values.size)
        count = _collect(values, *place, least, statistic == "r", *found)
        if count:
            yield room.taken(count)


def _of_counts(
    a: PlaneRows,
    b: PlaneRows | None,
    last: NDArray[np.int64],
    shift: int,
    least: np.float32,
    __: str,
) -> Iterator[Found]:
    room, n = _Room(), float(a.bits)
    x, scale_x = r2.sums(a)
    y, scale_y = (x, scale_x) if b is None else r2.sums(b)
    for rows, columns, _, counts in r2.complete_counts(
        a,
        b,
        upper=b is None,
        band_rows=BandRows(last, shift),
        columns=band_columns(last + shift),
    ):
        of_rows, of_columns = (x[rows], scale_x[rows]), (y[columns], scale_y[columns])
        place = rows.start, columns.start, last, shift
        found = room.of(counts.size)
        count = _collect_counts(counts, n, of_rows, of_columns, *place, least, *found)
        if count:
            yield room.taken(count)


class _Room:
    """Reusable buffers for the pairs of one block after another."""

    def __init__(self) -> None:
        self._found, self._kept = np.empty((2, 0), np.int64), np.empty(0)

    def of(self, size: int) -> Found:
        """Return buffers for at least ``size`` pairs."""
        if self._kept.size < size:
            self._found, self._kept = np.empty((2, size), np.int64), np.empty(size)
        return self._found, self._kept

    def taken(self, count: int) -> Found:
        """Return a copy of the first ``count`` pairs."""
        return self._found[:, :count].copy(), self._kept[:count].copy()
