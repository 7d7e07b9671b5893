"""Similarity of rows of bits, from blocks of counts, and the nearest neighbours of each row.

Let n be the number of positions present in both rows, p and q the set bits of each row there, and x
the bits set in both. The Tanimoto coefficient is x / (p + q - x). The share of positions that agree
is (n - p - q + 2 x) / n. Both are one division of integers, so equal fractions give equal floats.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import Float, Margins, PairStatistic, blocks
from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from genobit.engine.bits.planes import PlaneRows, Planes

TANIMOTO, AGREEMENT = 0, 1
MEASURES = {"tanimoto": TANIMOTO, "jaccard": TANIMOTO, "hamming": AGREEMENT}
NO_NEIGHBOUR = -1
Count = int | np.int64


@njit
def _similarity(code: int, n: Count, p: Count, q: Count, x: Count) -> float:
    if n == 0:
        return np.nan
    if code == AGREEMENT:
        return (n - p - q + 2 * x) / n
    either = p + q - x
    return x / either if either > 0 else 0.0


@njit
def _complete_block(
    counts: NDArray[np.int32],
    code: int,
    n: int,
    p: NDArray[np.int64],
    q: NDArray[np.int64],
    out: Float,
) -> None:
    """Write similarities without missing bits to out (rows, columns).

    counts: (rows, columns) of bits set in both; p: (rows,); q: (columns,).
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = _similarity(code, n, p[i], q[j], np.int64(counts[i, j]))


@njit
def _missing_block(counts: NDArray[np.int32], code: int, out: Float) -> None:
    """Write similarities to out (rows, columns) from counts (2 rows, 2 columns).

    The counts are of interleaved planes: set and present.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            n = np.int64(counts[2 * i + 1, 2 * j + 1])
            p = np.int64(counts[2 * i, 2 * j + 1])
            q = np.int64(counts[2 * i + 1, 2 * j])
            out[i, j] = _similarity(code, n, p, q, np.int64(counts[2 * i, 2 * j]))


def statistic(measure: str, a: PlaneRows, b: PlaneRows | None = None) -> PairStatistic:
    """Return a similarity of `MEASURES`, for rows such as ``a`` and ``b``."""
    code = MEASURES[measure]
    if a.complete() and (b is None or b.complete()):
        epilogue = partial(_complete, code=code, n=a.bits)
        return PairStatistic(_set, epilogue, margins=_set_bits)
    return PairStatistic(_set_and_present, partial(_missing, code=code), 2)


def _set(rows: PlaneRows) -> Planes:
    return rows.planes


def _set_and_present(rows: PlaneRows) -> Planes:
    return stacked(*rows.planes, rows.call_mask())


def _set_bits(rows: PlaneRows) -> Margins:
    return (count_rows(rows.planes[0]),)


def _complete(
    counts: NDArray[np.int32], p: Margins, q: Margins, _: int, out: Float, *, code: int, n: int
) -> None:
    _complete_block(counts, code, n, p[0], q[0], out)


def _missing(
    counts: NDArray[np.int32], _: Margins, __: Margins, ___: int, out: Float, *, code: int
) -> None:
    _missing_block(counts, code, out)


@njit
def _insert(
    values: Float,
    top: int,
    left: int,
    itself: int,
    best: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """Insert a block's values into best (rows, k), largest first.

    ``left`` is the number of the block's first column. ``itself`` + row is the column number of the
    row itself, which is skipped. Columns come in ascending order and a value only passes smaller
    ones, so the first of equal values wins.
    """
    last = best.shape[1] - 1
    for i in range(values.shape[0]):
        row = top + i
        for j in range(values.shape[1]):
            value = values[i, j]
            if value > best[row, last] and left + j != itself + row:
                k = last
                while k > 0 and best[row, k - 1] < value:
                    best[row, k] = best[row, k - 1]
                    index[row, k] = index[row, k - 1]
                    k -= 1
                best[row, k] = value
                index[row, k] = left + j


def none_yet(rows: int, top: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return similarities (rows, top) below all real ones, and `NO_NEIGHBOUR` as their indices."""
    return np.full((rows, top), -1.0), np.full((rows, top), NO_NEIGHBOUR, np.int64)


def nearest(
    measure: str,
    a: PlaneRows,
    b: PlaneRows,
    first: int,
    itself: int,
    earlier: tuple[NDArray[Any], NDArray[Any]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the nearest neighbours of the rows of ``a``.

    Candidates are ``earlier`` neighbours and the rows of ``b``.

    - ``earlier``: similarities and numbers (rows, k), largest first; not changed.
    - ``first``: number of the first row of ``b``, after all earlier ones.
    - ``itself``: number of the first row of ``a`` among the neighbours; far below 0 if ``a`` is not
      among them.
    """
    best, index = (array.copy() for array in earlier)
    for rows, columns, values in blocks(statistic(measure, a, b), a, b, dtype=np.float64):
        _insert(values, rows.start, first + columns.start, itself, best, index)
    return best, index
