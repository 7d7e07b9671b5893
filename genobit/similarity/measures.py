"""Similarity of binary rows: fingerprints of molecules, presence of genes, any sets of bits.

Of two rows with p and q bits set, x of them in both, over n positions:

    tanimoto = jaccard = x / (p + q - x)        (Jaccard 1901; Rogers and Tanimoto 1960)
    hamming            = (n - p - q + 2 x) / n  (share of positions that agree; Hamming 1950)

All are similarities, from 0 to 1, larger for rows that are more alike. The first two are one
number of sets, which chemists name after Tanimoto; two empty rows have 0, as in RDKit. Counts are
whole numbers and the result one division. Where values are missing, n, p, q and x are over the
positions present in both rows, and a pair without any has NaN.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.schedule import tiles
from genobit.similarity import schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.array as da
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.planes import Rows

LONG_NAMES = {
    "tanimoto": "Tanimoto similarity",
    "jaccard": "Jaccard similarity",
    "hamming": "share of positions that agree",
}
MISSING = {
    "pairwise": "pairwise complete: counts are over the positions present in both rows",
    "refuse": "refused",
}


def check(measure: str, missing: str, dtype: DTypeLike, top: int | None) -> None:
    """Refuse choices that do not exist.

    Raises
    ------
    ValueError
        For any of them.
    """
    if measure not in LONG_NAMES:
        msg = f"measure {measure!r} is not one of {', '.join(LONG_NAMES)}"
        raise ValueError(msg)
    if missing not in MISSING:
        msg = f"missing={missing!r} is not one of {', '.join(map(repr, MISSING))}"
        raise ValueError(msg)
    if np.dtype(dtype) not in {np.dtype("f4"), np.dtype("f8")}:
        msg = f"dtype={dtype!r} is neither 'float32' nor 'float64'"
        raise ValueError(msg)
    whole = isinstance(top, int | np.integer) and not isinstance(top, bool) and top > 0
    if top is not None and not whole:
        msg = f"top={top!r} is no positive number of neighbours"
        raise ValueError(msg)


def _rows(blocks: Sequence[Any], bits: int) -> Rows:
    from genobit.engine.bits.planes import Rows

    planes = [np.ascontiguousarray(block) for block in blocks]
    return Rows(
        haplotypes=True,
        bits=bits,
        planes=(planes[0],),
        called=planes[1] if len(planes) > 1 else None,
    )


def _tile(
    a: list[Any], b: list[Any] | None, *, measure: str, bits: int, dtype: DTypeLike
) -> NDArray[np.floating]:
    from genobit.engine.pairwise import similarity

    return similarity.square(measure, _rows(a, bits), None if b is None else _rows(b, bits), dtype)


def matrix(
    planes: list[da.Array],
    other: list[da.Array] | None,
    bits: int,
    measure: str,
    dtype: DTypeLike,
) -> da.Array:
    """The similarity of all rows with all rows, of the planes or of ``other``'s, lazy.

    Parameters
    ----------
    planes, other
        Of `genobit.similarity.schedule.planes_of`.
    bits
        Positions of a row.
    measure, dtype
        Which similarity, and of which type.
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
    from genobit.engine.pairwise import similarity

    return similarity.nearest(measure, _rows(a, bits), _rows(b, bits), first, itself, found)


def _start(rows: int, *, top: int) -> tuple[NDArray[Any], NDArray[Any]]:
    from genobit.engine.pairwise.similarity import none_yet

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
    """The ``top`` most similar rows of each, itself left out, or those of ``other``.

    Parameters
    ----------
    planes, other, bits, measure, dtype
        As for `matrix`.
    top
        How many.

    Returns
    -------
        Similarities, descending, and numbers of rows (rows, top), lazy. Equal similarities are in
        the order of the rows; where there are fewer rows, NaN and -1.
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
