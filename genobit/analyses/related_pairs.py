"""Pairs of samples of which a matrix says more than a threshold, as a long table made by tiles."""

from __future__ import annotations

import itertools
import numbers
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import compute, tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from genobit.analyses import relatives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import dask.dataframe as dd
    from numpy.typing import NDArray

    from genobit.lazy.pair_sums import SampleChunks

Labels = dict[str, "NDArray[Any]"]


def check_minimum(
    name: str, minimum: Any, remedy: str = "give the smallest value that counts"
) -> None:
    """Refuse a threshold that is no finite number.

    Raises
    ------
    TypeError
        For what is no number, True and False among it.
    ValueError
        For NaN and infinities.
    """
    if isinstance(minimum, bool | np.bool_) or not isinstance(minimum, numbers.Real):
        msg = f"{name}={minimum!r} is not a number: {remedy}"
        raise TypeError(msg)
    if not np.isfinite(float(minimum)):
        msg = f"{name}={minimum!r} is not a finite number: {remedy}"
        raise ValueError(msg)


def _tiles(matrix: da.Array) -> Iterator[tuple[int, int, slice, slice]]:
    """Of each tile on or above the diagonal its place, and its samples as rows and as columns."""
    edges = np.concatenate([[0], np.cumsum(matrix.chunks[0])]).tolist()
    spans = [slice(*pair) for pair in itertools.pairwise(edges)]
    for i, rows in enumerate(spans):
        for j in range(i, len(spans)):
            yield i, j, rows, spans[j]


def _each_tile(
    function: Callable[..., Any],
    matrix: da.Array,
    arguments: Callable[[slice, slice], tuple[Any, ...]],
) -> list[Delayed]:
    """``function(tile, first row, first column, *arguments(rows, columns))`` of the triangle."""
    name = "genobit-related-" + tokenize(function, matrix.name)
    layer: dict[Any, Any] = {}
    for i, j, rows, columns in _tiles(matrix):
        layer[name, len(layer)] = (
            function,
            (matrix.name, i, j),
            rows.start,
            columns.start,
            *arguments(rows, columns),
        )
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[matrix])
    return [Delayed(key, graph, layer=name) for key in layer]


def _above(
    wanted: NDArray[np.bool_], top: int, left: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples i < j of what is wanted of a tile whose first are ``top`` and ``left``, sorted."""
    rows, columns = np.nonzero(wanted)
    pair = rows + top < columns + left
    return rows[pair] + top, columns[pair] + left


def _table(
    tile: NDArray[Any], top: int, left: int, a: Labels, b: Labels, method: str, minimum: float
) -> Any:
    import pandas as pd

    values = tile["kinship"] if method == "king" else tile
    first, second = _above(values >= minimum, top, left)
    i, j = first - top, second - left
    columns: dict[str, Any] = {"samples_0": first, "samples_1": second}
    for name, labels in a.items():
        columns[f"{name}_0"], columns[f"{name}_1"] = labels[i], b[name][j]
    columns[method] = values[i, j]
    if method == "king":
        columns["ibs0"], columns["variants"] = tile["ibs0"][i, j], tile["variants"][i, j]
        columns["degree"] = relatives.degree_of(columns[method]).astype(object)
    return pd.DataFrame(columns)


def table(
    matrix: da.Array, method: str, minimum: float, labels: Mapping[str, NDArray[Any]]
) -> dd.DataFrame:
    """Pairs of samples whose value in a symmetric matrix is at least ``minimum``.

    Parameters
    ----------
    matrix
        (samples, samples), float64; of method "king" what `relatives.shared` returns.
    method
        Name of the column of values.
    minimum
        Smallest value of a pair in the table.
    labels
        Columns that describe a sample, each (samples,).

    Returns
    -------
        Lazy dask DataFrame, a partition for each tile on or above the diagonal, in which each
        pair of different samples stands once, the earlier sample first, sorted.

    Raises
    ------
    ValueError
        For a minimum that is no finite number.
    """
    import dask.dataframe as dd

    check_minimum("minimum", minimum)

    def arguments(rows: slice, columns: slice) -> tuple[Any, ...]:
        a, b = ({k: v[part] for k, v in labels.items()} for part in (rows, columns))
        return a, b, method, float(minimum)

    none = {name: values[:0] for name, values in labels.items()}
    empty = _table(np.empty((0, 0), matrix.dtype), 0, 0, none, none, method, 0.0)
    return dd.from_delayed(_each_tile(_table, matrix, arguments), meta=empty, verify_meta=False)


def _closer(
    tile: NDArray[np.float64], top: int, left: int, kinship: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return _above(tile > kinship, top, left)


def relatives_above(samples: SampleChunks, kinship: float) -> NDArray[np.int64]:
    """Pairs of samples whose KING-robust kinship is above a threshold, found tile by tile.

    Returns
    -------
        int64 (2, pairs), the earlier sample of each pair in the first row.
    """
    matrix = relatives.king(samples)

    parts = compute(*_each_tile(_closer, matrix, lambda *_: (float(kinship),)))
    found = [np.stack(part).astype(np.int64) for part in parts]
    return np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
