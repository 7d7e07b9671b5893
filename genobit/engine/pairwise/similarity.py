"""Similarity of rows of bits, from blocks of counts, and the nearest neighbours of each row.

Let n be the number of positions present in both rows, p and q the set bits of each row there, and x
the bits set in both. The Tanimoto coefficient is x / (p + q - x). The share of positions that agree
is (n - p - q + 2 x) / n. Both are one division of integers, so equal fractions give equal floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise import blocks as pair_blocks
from genobit.engine.pairwise.blocks import Float, Values
from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genobit.engine.bits.planes import Rows

TANIMOTO, AGREEMENT = 0, 1
MEASURES = {"tanimoto": TANIMOTO, "jaccard": TANIMOTO, "hamming": AGREEMENT}
NO_NEIGHBOUR = -1
Count = int | np.int64


def packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack bits (rows, n) into words (rows, ceil(n / 64)) with zero padding bits."""
    rows, n = bits.shape
    octets = np.zeros((rows, -(-n // 64) * 8), np.uint8)
    octets[:, : -(-n // 8)] = np.packbits(bits, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


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


def blocks(
    measure: str, a: Rows, b: Rows | None, dtype: DTypeLike, *, upper: bool
) -> Iterator[Values]:
    """Yield blocks of the similarity of the rows of ``a`` and ``b``, or of ``a`` with itself."""
    code = MEASURES[measure]
    other = a if b is None else b
    if not (a.complete() and other.complete()):

        def missing(counts: NDArray[np.int32], _: slice, __: slice, out: Float) -> None:
            _missing_block(counts, code, out)

        present = stacked(*a.planes, a.every())
        second = None if b is None else stacked(*b.planes, b.every())
        yield from pair_blocks.of_groups(missing, present, second, 2, dtype=dtype, upper=upper)
        return
    p = count_rows(a.planes[0])
    q = p if b is None else count_rows(b.planes[0])

    def complete(counts: NDArray[np.int32], rows: slice, columns: slice, out: Float) -> None:
        _complete_block(counts, code, a.bits, p[rows], q[columns], out)

    second = None if b is None else b.planes
    yield from pair_blocks.of_groups(complete, a.planes, second, 1, dtype=dtype, upper=upper)


def square(measure: str, a: Rows, b: Rows | None, dtype: DTypeLike) -> Float:
    """Return the similarity of every row of ``a`` with every row of ``b``, or of ``a``."""
    other = a if b is None else b
    return pair_blocks.square(
        blocks(measure, a, b, dtype, upper=b is None),
        a.planes[0].shape[0],
        other.planes[0].shape[0],
        dtype,
        symmetric=b is None,
    )


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
    a: Rows,
    b: Rows,
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
    for rows, columns, values in blocks(measure, a, b, np.float64, upper=False):
        _insert(values, rows.start, first + columns.start, itself, best, index)
    return best, index
