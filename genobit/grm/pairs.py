"""Long table of the pairs of samples whose value in a matrix reaches a threshold, tile by tile."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask._task_spec import Task, TaskRef

from genobit.data.checks import check_minimum
from genobit.data.pair_tables import lazy_table
from genobit.engine.schedule import triangle
from genobit.engine.schedule.graphs import Tasks
from genobit.engine.schedule.passes import in_groups
from genobit.grm import kinship as relatives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import dask.dataframe as dd
    from numpy.typing import NDArray

    from genobit.engine.schedule.graphs import Key
    from genobit.engine.schedule.pair_sums import SampleChunks

Labels = dict[str, "NDArray[Any]"]


@dataclass(eq=False)
class _Triangle(Tasks):
    """Tasks of the tiles on and above the diagonal of a matrix.

    Each is ``function(tile, first row, first column, labels of rows, labels of columns)``.
    """

    prefix = "genobit-related"
    function: Callable[..., Any]
    matrix: str
    rows: tuple[int, ...]
    labels: Mapping[str, NDArray[Any]]

    @cached_property
    def spans(self) -> list[slice]:
        edges = np.concatenate([[0], np.cumsum(self.rows)]).tolist()
        return [slice(*pair) for pair in itertools.pairwise(edges)]

    def every_key(self) -> Iterator[Key]:
        return ((self.name, job) for job in range(len(self)))

    def __len__(self) -> int:
        return triangle.jobs(len(self.spans))

    def __contains__(self, key: object) -> bool:
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] == self.name):
            return False
        return 0 <= key[1] < len(self)

    def task(self, key: Key) -> Task:
        i, j = triangle.tile_of(key[1], len(self.spans))
        rows, columns = self.spans[i], self.spans[j]
        a, b = ({k: v[part] for k, v in self.labels.items()} for part in (rows, columns))
        tile = TaskRef((self.matrix, i, j))
        return Task(key, self.function, tile, rows.start, columns.start, a, b)


def _triangle(
    function: Callable[..., Any], matrix: da.Array, labels: Mapping[str, NDArray[Any]]
) -> _Triangle:
    return _Triangle([matrix], function, matrix.name, matrix.chunks[0], labels)


def _above(
    wanted: NDArray[np.bool_], top: int, left: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the samples i < j of each wanted pair of a tile, sorted, two int64 (pairs,).

    wanted: (rows, columns); ``top`` and ``left`` are the first samples of the tile.
    """
    rows, columns = np.nonzero(wanted)
    pair = rows + top < columns + left
    return rows[pair] + top, columns[pair] + left


def _table(
    tile: NDArray[Any], top: int, left: int, a: Labels, b: Labels, *, method: str, minimum: float
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
    """Return the pairs of samples whose value in a symmetric matrix is at least ``minimum``.

    matrix: (samples, samples) float64, or the result of `relatives.shared` for method "king". The
    value column is named ``method``. ``labels`` are columns that describe a sample, each
    (samples,).

    The result is a lazy dask DataFrame, with a partition for each tile on or above the diagonal.
    Each pair of different samples is listed once, the earlier sample first, in sorted order. Raises
    ValueError for a minimum that is not finite.
    """
    check_minimum("minimum", minimum)
    function = partial(_table, method=method, minimum=float(minimum))
    none = {name: values[:0] for name, values in labels.items()}
    empty = function(np.empty((0, 0), matrix.dtype), 0, 0, none, none)
    layer = _triangle(function, matrix, labels)
    return lazy_table(list(layer), layer.graph(), empty, "genobit-related-pairs")


def _closer(
    tile: NDArray[np.float64], top: int, left: int, *_: Labels, kinship: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return _above(tile > kinship, top, left)


def relatives_above(samples: SampleChunks, kinship: float) -> NDArray[np.int64]:
    """Return the pairs with KING-robust kinship above a threshold: int64 (2, pairs), by tiles.

    The first row holds the earlier sample of each pair.
    """
    matrix = relatives.king(samples)
    layer = _triangle(partial(_closer, kinship=float(kinship)), matrix, {})
    parts = in_groups(list(layer), layer.graph())
    found = [np.stack(part).astype(np.int64) for part in parts]
    return np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
