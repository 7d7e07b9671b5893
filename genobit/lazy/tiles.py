"""Schedules over the tiles of a product.

The square from its triangle, bands, and pairs of chunks of a band.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import getitem
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask import local, threaded
from dask.base import compute, get_scheduler, tokenize
from dask.highlevelgraph import HighLevelGraph

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

Planes = Sequence[da.Array]
"""Planes of an operand, each (rows, words), the same chunks of rows."""


def whole_rows(planes: Planes) -> list[da.Array]:
    """The planes with one chunk along the words and the row chunks of the first."""
    rows = planes[0].chunks[0]
    # One chunk of an unknown number of columns can stay, and cannot be rechunked.
    return [
        plane
        if plane.chunks[0] == rows and plane.numblocks[1] == 1
        else plane.rechunk({0: rows, 1: -1})
        for plane in planes
    ]


def _block(planes: Planes, i: int) -> list[tuple[str, int, int]]:
    return [(plane.name, i, 0) for plane in planes]


def _transposed(tile: NDArray[Any]) -> NDArray[Any]:
    from genobit.kernels.transpose import transposed

    return transposed(tile)


def _transposed_of(tile: Sequence[NDArray[Any]], which: int) -> NDArray[Any]:
    return _transposed(tile[which])


class _Tiles:
    """The tasks of a product: ``function(planes of a's chunk i, planes of b's chunk j)``.

    Without ``b`` only those on and above the diagonal, one on it by ``function(planes, None)``.
    """

    def __init__(self, function: Callable[..., Any], a: Planes, b: Planes | None) -> None:
        a = whole_rows(a)
        self.symmetric = b is None
        b = a if b is None else whole_rows(b)
        names = [plane.name for plane in a], [plane.name for plane in b]
        self.name = "genobit-square-" + tokenize(function, *names, self.symmetric)
        self.chunks = a[0].chunks[0], b[0].chunks[0]
        self.planes = [*a, *b]
        self.layer: dict[Any, Any] = {}
        for i in range(len(self.chunks[0])):
            for j in range(i if self.symmetric else 0, len(self.chunks[1])):
                second = None if self.symmetric and i == j else _block(b, j)
                self.layer[self.name, i, j] = (function, _block(a, i), second)

    def graph(self) -> HighLevelGraph:
        return HighLevelGraph.from_collections(self.name, self.layer, dependencies=self.planes)


def square(
    function: Callable[..., NDArray[Any]],
    a: Planes,
    b: Planes | None,
    dtype: DTypeLike,
) -> da.Array:
    """The matrix whose tile (i, j) is ``function(planes of a's chunk i, planes of b's chunk j)``.

    Without ``b`` the matrix is symmetric: tiles on and above the diagonal are computed (one on it
    by ``function(planes, None)``), and the others are the transposes of the same tasks.
    """
    tiles = _Tiles(function, a, b)
    for name, i, j in list(tiles.layer):
        if tiles.symmetric and i < j:
            tiles.layer[name, j, i] = (_transposed, (name, i, j))
    return da.Array(tiles.graph(), tiles.name, chunks=tiles.chunks, dtype=dtype)


def squares(
    function: Callable[..., Sequence[NDArray[Any]]],
    a: Planes,
    b: Planes | None,
    dtypes: Sequence[DTypeLike],
    mirrors: Sequence[int] | None = None,
) -> list[da.Array]:
    """Several matrices of the same tasks: ``function`` returns an array of the tile for each.

    Computed together they cost each task once; one alone takes of its tasks what it needs.

    Parameters
    ----------
    function, a, b
        As for `square`.
    dtypes
        Of the arrays that ``function`` returns, in their order.
    mirrors
        Which of these arrays each has the transpose of below the diagonal: itself by default;
        another where a pair has a value in either direction.
    """
    tiles = _Tiles(function, a, b)
    base = tiles.graph()
    matrices = []
    for k, dtype in enumerate(dtypes):
        name = f"{tiles.name}-{k}"
        layer: dict[Any, Any] = {}
        for _, i, j in tiles.layer:
            layer[name, i, j] = (getitem, (tiles.name, i, j), k)
            if tiles.symmetric and i < j:
                below = k if mirrors is None else mirrors[k]
                layer[name, j, i] = (_transposed_of, (tiles.name, i, j), below)
        layers: dict[str, Any] = {**base.layers, name: layer}
        graph = HighLevelGraph(layers, {**base.dependencies, name: {tiles.name}})
        matrices.append(da.Array(graph, name, chunks=tiles.chunks, dtype=dtype))
    return matrices


def in_memory(*arrays: da.Array) -> list[NDArray[Any]]:
    """Compute arrays of tiles, in one pass, each thread writing its own into the results.

    ``array.compute()`` first computes all tiles and then copies them together on one thread, which
    holds them twice and takes as long as a third of the work of two threads. Schedulers that do
    not share this process's memory have no other way.
    """
    if get_scheduler(collections=arrays) not in {threaded.get, local.get_sync}:
        return [np.asarray(array) for array in compute(*arrays)]
    # Labels stand on both sides of a square, and da.store() writes an array it meets twice once.
    different = {array.name: array for array in arrays}
    out = {name: np.empty(array.shape, array.dtype) for name, array in different.items()}
    da.store(list(different.values()), list(out.values()), lock=False)
    return [out[array.name] for array in arrays]


class Band:
    """Which chunks of rows a window couples.

    ``last[i]`` is the last row in the window of row i (row i itself where it is alone); it never
    decreases.
    """

    def __init__(self, rows: tuple[int, ...], last: NDArray[np.int64]) -> None:
        self.edges = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        self.last = last

    def chunks(self) -> Iterator[tuple[int, int, int, int]]:
        """Of each chunk.

        Its number, its rows start and stop, and the last chunk its windows reach.
        """
        for i in range(len(self.edges) - 1):
            start, stop = int(self.edges[i]), int(self.edges[i + 1])
            # A chunk without rows reaches itself.
            reach = int(self.last[stop - 1]) if stop > start else start
            final = int(np.searchsorted(self.edges, reach, side="right")) - 1
            yield i, start, stop, min(max(final, i), len(self.edges) - 2)


def band(
    function: Callable[..., NDArray[Any]],
    planes: Planes,
    last: NDArray[np.int64],
    width: int,
    dtype: DTypeLike,
) -> da.Array:
    """The (rows, width) array of a window.

    Its chunk i is ``function(planes of the chunks its windows reach, last, reach, width)``, where
    ``last`` counts from the first row of chunk i and ``reach`` is how many rows the windows take.
    """
    planes = whole_rows(planes)
    rows = planes[0].chunks[0]
    name = "genobit-band-" + tokenize(function, [p.name for p in planes], last, width)
    layer: dict[tuple[str, int, int], Any] = {}
    for i, start, stop, final in Band(rows, last).chunks():
        reach = int(last[stop - 1]) - start + 1 if stop > start else 0
        blocks = [_block(planes, k) for k in range(i, final + 1)]
        layer[name, i, 0] = (function, blocks, last[start:stop] - start, reach, width)
    graph = HighLevelGraph.from_collections(name, layer, dependencies=list(planes))
    return da.Array(graph, name, chunks=(rows, (width,)), dtype=dtype)


def band_tiles(
    function: Callable[..., Any],
    planes: Planes,
    last: NDArray[np.int64],
    labels: Callable[[slice], Any],
) -> tuple[list[Any], HighLevelGraph]:
    """Keys and graph of a task for each pair of chunks that a window couples.

    Task (i, j) is ``function(planes of i, planes of j, last, shift, labels of i, labels of j)``.
    ``last`` arrives as an index into chunk j's rows; ``shift`` is the distance between the first
    rows.
    """
    planes = whole_rows(planes)
    rows = planes[0].chunks[0]
    name = "genobit-pairs-" + tokenize(function, [p.name for p in planes], last)
    layer: dict[tuple[str, int], Any] = {}
    schedule = Band(rows, last)
    for i, start, stop, final in schedule.chunks():
        for j in range(i, final + 1):
            left, right = int(schedule.edges[j]), int(schedule.edges[j + 1])
            layer[name, len(layer)] = (
                function,
                _block(planes, i),
                None if i == j else _block(planes, j),
                last[start:stop] - left,
                left - start,
                labels(slice(start, stop)),
                labels(slice(left, right)),
            )
    graph = HighLevelGraph.from_collections(name, layer, dependencies=list(planes))
    return list(layer), graph
