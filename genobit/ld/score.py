"""LD scores: the sum of r2 of a variant with all variants in its window, itself included.

    score_i = sum_j r2_ij,   adjusted   sum_j r2_ij - (1 - r2_ij) / (n_ij - 2)

as in `ldsc --l2` (Bulik-Sullivan et al. 2015). n_ij is the number of samples, or haplotypes, with
calls at both variants. A pair without r2 adds nothing and is not counted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule import tiles
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.schedule.tiles import as_rows, ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout


def _tile(
    a: list[Any],
    b: list[Any] | None,
    last: NDArray[np.int64],
    shift: int,
    *_: object,
    layout: Layout,
    adjust: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from genobit.ld.kernels import score

    other = None if b is None else as_rows(b, layout)
    return score.scores(as_rows(a, layout), other, last, shift, adjust=adjust)


def _total(as_rows_of: list[Any], as_columns_of: list[Any]) -> NDArray[np.float64]:
    """Return sum and count (rows, 2) of a chunk, from its tiles as rows and as columns."""
    total = sum(tile[0] for tile in as_rows_of) + sum(tile[1] for tile in as_columns_of)
    total[0, total[1] == 0] = np.nan
    return np.ascontiguousarray(total.T)


def _totals(
    name: str, as_rows_of: list[list[Any]], as_columns_of: list[list[Any]]
) -> dict[Any, Any]:
    tiles_of = zip(as_rows_of, as_columns_of, strict=True)
    return {(name, i, 0): (_total, *both) for i, both in enumerate(tiles_of)}


def scores(
    planes: Mapping[str, da.Array], layout: Layout, last: NDArray[np.int64], *, adjust: bool
) -> da.Array:
    """Return score and number of variants in it, float64 (variants, 2), lazy.

    A variant without any r2 has NaN and 0. With ``adjust`` the bias of r2 is subtracted. The planes
    and ``last`` are those of `genobit.ld.matrix.band`.
    """
    arrays = tiles.whole_rows(ordered(planes, layout))
    function = partial(_tile, layout=layout, adjust=adjust)
    keys, graph = tiles.band_tiles(function, arrays, last, {})
    rows = arrays[0].chunks[0]
    as_rows_of: list[list[Any]] = [[] for _ in rows]
    as_columns_of: list[list[Any]] = [[] for _ in rows]
    for key in keys:
        _, i, j = key
        as_rows_of[i].append(key)
        if j > i:
            as_columns_of[j].append(key)
    name, whole = named_layer("genobit-scores", _totals, as_rows_of, as_columns_of, above=graph)
    return da.Array(whole, name, chunks=(rows, (2,)), dtype=np.float64)
