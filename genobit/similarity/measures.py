"""Similarity of binary rows: fingerprints of molecules, presence of genes, any sets of bits.

Let two rows of n positions have p and q bits set, x of them in both rows:

    tanimoto = jaccard = x / (p + q - x)        (Jaccard 1901; Rogers and Tanimoto 1960)
    hamming            = (n - p - q + 2 x) / n  (share of positions that agree; Hamming 1950)

All are similarities from 0 to 1, larger for rows that are more alike. Tanimoto and Jaccard are two
names of one measure; chemists call it Tanimoto. Two rows without set bits have Tanimoto similarity
0, as in RDKit.

Counts are integers, and each result is one division. With missing values, n, p, q and x are over
the positions present in both rows. A pair without such a position has NaN.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.checks import check_one_of, is_whole
from genobit.engine.schedule import tiles
from genobit.similarity import schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.array as da
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.planes import PlaneRows
    from genobit.engine.schedule.written_once import Place

LONG_NAMES = {
    "tanimoto": "Tanimoto similarity",
    "jaccard": "Jaccard similarity",
    "hamming": "share of positions that agree",
}
MISSING = {
    "pairwise": "pairwise complete: counts are over the positions present in both rows",
    "refuse": "refused",
}


def check(statistic: str, missing: str, dtype: DTypeLike, top: int | None) -> None:
    """Raise ValueError for an unknown statistic, rule, dtype or number of neighbours."""
    check_one_of("statistic", statistic, LONG_NAMES)
    check_one_of("missing", missing, MISSING)
    if np.dtype(dtype) not in {np.dtype("f4"), np.dtype("f8")}:
        msg = f"dtype={dtype!r} is neither 'float32' nor 'float64'"
        raise ValueError(msg)
    if top is not None and not is_whole(top):
        msg = f"top={top!r} is not a positive number of neighbours"
        raise ValueError(msg)


def _rows(blocks: Sequence[Any], bits: int) -> PlaneRows:
    from genobit.engine.bits.planes import PlaneRows

    planes = [np.ascontiguousarray(block) for block in blocks]
    return PlaneRows(
        haplotypes=True,
        bits=bits,
        planes=(planes[0],),
        called=planes[1] if len(planes) > 1 else None,
    )


def _tile(
    a: list[Any],
    b: list[Any] | None,
    place: Place | None = None,
    *,
    measure: str,
    bits: int,
    dtype: DTypeLike,
) -> NDArray[np.floating]:
    from genobit.engine.pairwise.statistic import square
    from genobit.similarity.kernels.similarity import statistic

    rows, others = _rows(a, bits), None if b is None else _rows(b, bits)
    return square(statistic(measure, rows, others), rows, others, dtype, place)


def matrix(
    planes: list[da.Array],
    other: list[da.Array] | None,
    bits: int,
    measure: str,
    dtype: DTypeLike,
) -> da.Array:
    """Return the lazy similarity of all rows with all rows of the planes, or of ``other``.

    ``planes`` and ``other`` come from `genobit.similarity.schedule.planes_of`; a row has ``bits``
    positions.
    """
    function = partial(_tile, measure=measure, bits=bits, dtype=dtype)
    return tiles.square(function, planes, other, dtype)


def _step(
    a: list[Any],
    b: list[Any],
    first: int,
    itself: int,
    found: tuple[NDArray[Any], NDArray[Any]],
    *,
    measure: str,
    bits: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    from genobit.similarity.kernels import similarity

    return similarity.nearest(measure, _rows(a, bits), _rows(b, bits), first, itself, found)


def _start(rows: int, *, top: int) -> tuple[NDArray[Any], NDArray[Any]]:
    from genobit.similarity.kernels.similarity import none_yet

    return none_yet(rows, top)


def _finish(
    found: tuple[NDArray[Any], NDArray[Any]], *, dtype: DTypeLike
) -> tuple[NDArray[Any], NDArray[Any]]:
    best, index = found
    return np.where(index < 0, np.nan, best).astype(dtype), index


def neighbours(
    planes: list[da.Array],
    other: list[da.Array] | None,
    bits: int,
    measure: str,
    dtype: DTypeLike,
    top: int,
) -> list[da.Array]:
    """Return similarities and row numbers of the top-k most similar rows of each row, lazy.

    Both are (rows, top), with similarities in descending order and ties in the order of the rows. A
    row is not its own neighbour. Neighbours come from ``other``, if given. If there are fewer rows
    than ``top``, similarities are NaN and numbers -1.
    """
    return schedule.nearest(
        partial(_step, measure=measure, bits=bits),
        planes,
        other,
        partial(_start, top=top),
        partial(_finish, dtype=dtype),
        top,
        dtype,
    )
