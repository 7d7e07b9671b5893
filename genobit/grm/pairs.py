"""Long table of the pairs of samples whose value in a matrix reaches a threshold, tile by tile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.pairs.parts import Columns
from genobit.engine.schedule.batches import in_groups
from genobit.engine.schedule.dask_private import TaskRef
from genobit.engine.schedule.graphs import Grid, upper
from genobit.engine.schedule.tiles import along_of
from genobit.grm.kinship import degree_of, king

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import NDArray

    from genobit.engine.schedule.pair_sums import SampleChunks


def _tile(
    _: Grid,
    i: int,
    j: int,
    *,
    function: Callable[..., Any],
    matrix: str,
    edges: NDArray[np.int64],
    labels: Mapping[str, NDArray[Any]],
) -> tuple[Any, ...]:
    """Return ``function(tile, first row, first column, labels of rows, labels of columns)``."""
    rows, columns = (slice(*edges[k : k + 2].tolist()) for k in (i, j))
    a, b = (along_of(labels, part) for part in (rows, columns))
    return function, TaskRef((matrix, i, j)), rows.start, columns.start, a, b


def tile_tasks(
    function: Callable[..., Any], matrix: da.Array, labels: Mapping[str, NDArray[Any]]
) -> tuple[list[Any], HighLevelGraph]:
    """Return keys and graph of one task per tile on or above the diagonal.

    A task is ``function(tile, first row, first column, labels of rows, labels of columns)``.
    """
    layer = _triangle(function, matrix, labels)
    return list(layer), layer.graph()


def _triangle(
    function: Callable[..., Any], matrix: da.Array, labels: Mapping[str, NDArray[Any]]
) -> Grid:
    """Return one task per tile on or above the diagonal."""
    edges = np.cumsum([0, *matrix.chunks[0]])
    make = partial(_tile, function=function, matrix=matrix.name, edges=edges, labels=labels)
    return Grid([matrix], "genobit-related", upper(matrix.numblocks[0]), make)


def above_diagonal(
    wanted: NDArray[np.bool_], top: int, left: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the samples i < j of each wanted pair of a tile, sorted, two int64 (pairs,).

    wanted: (rows, columns); ``top`` and ``left`` are the first samples of the tile.
    """
    rows, columns = np.nonzero(wanted)
    pair = rows + top < columns + left
    return rows[pair] + top, columns[pair] + left


def _table(
    tile: NDArray[Any],
    top: int,
    left: int,
    a: Mapping[str, NDArray[Any]],
    b: Mapping[str, NDArray[Any]],
    *,
    method: str,
    threshold: float,
) -> Columns:
    values = tile["kinship"] if method == "king" else tile
    first, second = above_diagonal(values >= threshold, top, left)
    i, j = first - top, second - left
    labels = {}
    for name, of_rows in a.items():
        labels[f"{name}_0"], labels[f"{name}_1"] = (of_rows, i), (b[name], j)
    found: dict[str, NDArray[Any]] = {method: values[i, j]}
    if method == "king":
        found["ibs0"], found["variants"] = tile["ibs0"][i, j], tile["variants"][i, j]
        found["degree"] = degree_of(found[method]).astype(object)
    return Columns(labels, found)


def pair_tiles(
    matrix: da.Array,
    method: str,
    threshold: float,
    labels: Mapping[str, NDArray[Any]],
) -> tuple[list[Any], HighLevelGraph, Columns]:
    """Return keys and graph of the columns of the pairs whose value is at least ``threshold``.

    matrix: (samples, samples) float64, or the result of `kinship.shared` for method "king". The
    value column is named ``method``. ``labels`` are columns that describe a sample, each
    (samples,).

    There is one task for each tile on or above the diagonal. Each pair of different samples is
    listed once, the earlier sample first. The third value has the columns without rows.
    """
    function = partial(_table, method=method, threshold=threshold)
    none = {name: values[:0] for name, values in labels.items()}
    empty = function(np.empty((0, 0), matrix.dtype), 0, 0, none, none)
    return *tile_tasks(function, matrix, labels), empty


def _closer(
    tile: NDArray[np.float64], top: int, left: int, *_: Any, kinship: float
) -> tuple[NDArray[np.int64], dict[int, NDArray[np.bool_]]]:
    pairs = np.stack(above_diagonal(tile > kinship, top, left)).astype(np.int64)
    known = ~np.isnan(tile)
    if top == left:
        np.fill_diagonal(known, val=False)
    return pairs, {top: np.any(known, axis=1), left: np.any(known, axis=0)}


def relatives_above(
    samples: SampleChunks, kinship: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the pairs with KING-robust kinship above a threshold: int64 (2, pairs), by tiles.

    The first row holds the earlier sample of each pair. The second result marks the samples
    (samples,) that have a kinship with another sample.
    """
    matrix = king(samples)
    compared = np.zeros(len(matrix), bool)
    found = [np.empty((2, 0), np.int64)]
    parts = in_groups(*tile_tasks(partial(_closer, kinship=float(kinship)), matrix, {}))
    for pairs, of_side in parts:
        found.append(pairs)
        for start, known in of_side.items():
            compared[start : start + known.size] |= known
    return np.concatenate(found, axis=1), compared
