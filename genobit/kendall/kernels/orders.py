"""Kendall scores by Four Russians tables over orders, for CPUs without a vector popcount.

See `lonesum_tables` for the tables. Observations are split into groups, and the pairs between two
groups are a unit. A unit has 3 x 3 pairs for rows without ties and 2 x 3 pairs for rows with ties.
Columns may have ties and missing values in both cases, so only one side needs to be free of ties.
Rows with missing values go to `signs`, because their sign patterns need not come from an order.

The signs and tables of a panel of columns cover only a few units at a time. Memory therefore does
not grow with the square of the observations.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.gemm.four_russians import add_entries
from genobit.engine.gemm.sum_tables import COLUMNS, LANES, UNITS
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import aligned
from genobit.kendall.kernels import signs
from genobit.kendall.kernels.lonesum_tables import (
    STRICT,
    WEAK,
    WIDTH,
    Shape,
    build_table,
    place_rows,
    sign_units,
)
from genobit.kendall.kernels.ranks import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4096
"""Most rows that share a table: their totals, 256 KiB, fit in a second-level cache."""
PLACES = 2**24
"""Most bytes of the places of rows, which are read once for every panel of columns."""
SIXTEEN_BITS = 0xFFFF


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of ranks (m, n) and (k, n) to out (m, k); ``upper`` skips column < row."""
    if not upper and _work(b, len(a)) < _work(a, len(b)):
        turned = np.empty((b.shape[0], a.shape[0]), np.int64)
        score_pairs(b, a, upper, turned)
        out[:] = turned.T
        return
    kinds = _kinds(a)
    order = np.argsort(kinds, kind="stable")
    if upper and (np.diff(kinds) < 0).any():
        _in_order(a, order, out)
        return
    rows = a if (order == np.arange(order.size)).all() else a[order]
    edges = np.searchsorted(kinds[order], [0, 1, 2, 3])
    for kind, (start, stop) in enumerate(itertools.pairwise(edges)):
        if start == stop:
            continue
        part = out[start:stop] if rows is a else np.empty((stop - start, b.shape[0]), np.int64)
        left = start if upper else 0
        if kind == 2:
            signs.score_pairs(rows[start:stop], b[left:], upper, part[:, left:])
        else:
            _score(rows[start:stop], b[left:], upper, (STRICT, WEAK)[kind], part[:, left:])
        if rows is not a:
            out[order[start:stop]] = part


def _in_order(a: NDArray[Any], order: NDArray[np.intp], out: NDArray[np.int64]) -> None:
    """Sort the rows by kind, so that each kind is a block of the triangle."""
    ordered = np.empty_like(out)
    score_pairs(a[order], a[order], True, ordered)
    mirror(ordered, 0, 0, ordered)
    out[np.ix_(order, order)] = ordered


def _work(rows: NDArray[Any], columns: int) -> float:
    """Estimate the relative cost of ``rows`` as rows; ties and missing values raise it."""
    pairs = (9, 6, 0.1)[_kinds(rows).max(initial=0)]
    # Building a table takes as long as adding its entries to 600 rows.
    return -(-columns // COLUMNS) * (len(rows) + 600) / pairs


def _kinds(ranks: NDArray[Any]) -> NDArray[np.int8]:
    """Return for each variable 0, 1 if it has ties, or 2 if it has missing values."""
    none = (ranks == missing(ranks)).any(axis=1)
    # Dense ranks without ties reach n - 1.
    tied = ranks.max(axis=1, initial=0) < ranks.shape[1] - 1
    return np.where(none, 2, tied).astype(np.int8)


def _score(
    a: NDArray[Any], b: NDArray[Any], upper: bool, shape: Shape, out: NDArray[np.int64]
) -> None:
    panels = -(-b.shape[0] // COLUMNS)
    columns = _panels(b, panels, shape.height)
    out[:] = 0
    for top in range(0, a.shape[0], ROWS):
        rows = a[top : top + ROWS]
        first = top // COLUMNS if upper else 0
        diagonal = top - first * COLUMNS if upper else -(2**62)
        part = out[top : top + ROWS, first * COLUMNS :]
        low, high = (side[first:] for side in columns)
        _score_rows(_lanes(rows, shape.height), low, high, shape, diagonal, part)
    if shape is STRICT:
        # Score = agreements - disagreements = 2 agreements - untied pairs.
        out[:] *= 2
        out[:] -= signs.untied_pairs(b)


def _observations(n: int, height: int) -> int:
    """Round the number of observations up to whole groups of either size."""
    return max(-(-n // height) * height, -(-n // WIDTH) * WIDTH, 2 * WIDTH)


def _signed(ranks: NDArray[Any]) -> NDArray[Any]:
    """Map unsigned ranks to signed integers of the same order."""
    narrow = ranks.dtype == np.uint16
    signed, sign = (np.int16, np.uint16(2**15)) if narrow else (np.int32, np.uint32(2**31))
    return (ranks ^ sign).view(signed)


def _lanes(ranks: NDArray[Any], height: int) -> NDArray[Any]:
    """Return ranks (rows, n) as signed (observations, rows), padded to whole registers."""
    rows, n = ranks.shape
    out = np.zeros((_observations(n, height), -(-rows // LANES) * LANES), _signed(ranks[:0]).dtype)
    out[:n, :rows] = _signed(ranks).T
    return out


def _panels(ranks: NDArray[Any], panels: int, height: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return ranks (columns, n) as two signed arrays (panels, observations, COLUMNS), low and high.

    Missing and padding observations hold the lowest number in one and the highest in the other, so
    their pairs have no sign. Columns are dealt to lanes in the order of
    `genobit.engine.simd.registers.add_bytes`.
    """
    n = ranks.shape[1]
    padded = np.full((panels * COLUMNS, _observations(n, height)), missing(ranks), ranks.dtype)
    padded[: ranks.shape[0], :n] = ranks
    lane = np.arange(LANES)
    dealt = (lane >> 1) + (lane & 1) * (LANES // 2)
    dealt = np.concatenate([dealt, LANES + dealt])
    high = padded.reshape(panels, COLUMNS, -1)[:, dealt].transpose(0, 2, 1)
    low = np.where(high == missing(ranks), ranks.dtype.type(0), high)
    return tuple(_signed(np.ascontiguousarray(side)) for side in (low, high))  # type: ignore[return-value]


def _score_rows(
    ranks: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    shape: Shape,
    diagonal: int,
    out: NDArray[np.int64],
) -> None:
    rows, width = ranks.shape[1], shape.sets * UNITS
    # 16-bit sums hold the entries of a block of units.
    largest = SIXTEEN_BITS // (255 // width)
    block = max(1, min(largest, PLACES // (2 * rows)) // width) * width
    places = np.empty((block // UNITS, rows), np.uint64)
    units = np.empty((block, 2), np.intp)
    work = (
        aligned((UNITS * shape.step,), np.uint8),
        (
            aligned((WIDTH * shape.states * COLUMNS,), np.uint8),
            aligned((shape.states**2 * COLUMNS,), np.uint8),
        ),
        aligned((width * shape.height * WIDTH * COLUMNS,), np.uint8),
        aligned((rows, COLUMNS), np.uint8),
        aligned((rows, COLUMNS), np.uint16),
    )
    tables = (shape.height, shape.states, tuple(shape.first), tuple(shape.both))
    at = (0, 0)
    while at[0] >= 0:
        count, at = _units(ranks.shape[0], shape.height, *at, units)
        used = -(-count // width) * width
        # Pad with empty units: the last observation does not come before the first.
        units[count:used] = ranks.shape[0] - shape.height, 0
        place_rows(ranks, units[:used], shape.height, places[: used // UNITS])
        _add_panels(
            places,
            units[:used],
            low,
            high,
            tables,
            shape.step,
            width,
            diagonal,
            work,
            shape.bias * used,
            out,
        )


@njit
def _units(
    observations: int, height: int, first: int, second: int, units: NDArray[np.intp]
) -> tuple[int, tuple[int, int]]:
    """Write the next units from groups ``first`` and ``second``; returns count and next groups."""
    count = 0
    groups, others = observations // height, observations // WIDTH
    second = max(second, (height * first + 1) // WIDTH)
    while first < groups and count < units.shape[0]:
        if second < others:
            units[count, 0], units[count, 1] = height * first, WIDTH * second
            count += 1
            second += 1
        if second >= others:
            first += 1
            second = (height * first + 1) // WIDTH
    return count, (first if first < groups else -1, second)


@njit
def _add_panels(
    places: NDArray[np.uint64],
    units: NDArray[np.intp],
    low: NDArray[Any],
    high: NDArray[Any],
    shape: Any,
    step: int,
    width: int,
    diagonal: int,
    work: Any,
    bias: int,
    out: NDArray[np.int64],
) -> None:
    """Add the entries of ``units`` for all rows and panels to ``out``, less ``bias``."""
    tables, parts, values, totals, sums = work
    for panel in range(low.shape[0]):
        rows = min(out.shape[0], (panel + 1) * COLUMNS - diagonal)
        if rows <= 0:
            continue
        sums[:rows] = 0
        for start in range(0, units.shape[0], width):
            sign_units(low[panel], high[panel], units[start : start + width], shape[0], values)
            for k in range(0, width, UNITS):
                for unit in range(UNITS):
                    build_table(values, k + unit, shape, parts, tables, unit * step)
                line = places[(start + k) // UNITS, :rows]
                if k + UNITS < width:
                    add_entries(line, None, tables, step, k == 0, totals[:rows], None)
                else:
                    add_entries(line, None, tables, step, k == 0, totals[:rows], sums[:rows])
        left = panel * COLUMNS
        for i in range(rows):
            for j in range(min(COLUMNS, out.shape[1] - left)):
                out[i, left + j] += np.int64(sums[i, j]) - bias
