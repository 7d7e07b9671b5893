"""Schedules over the tiles of a product.

The square from its triangle, bands, and pairs of chunks of a band.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    return [plane.rechunk({0: rows, 1: -1}) for plane in planes]


def _block(planes: Planes, i: int) -> list[tuple[str, int, int]]:
    return [(plane.name, i, 0) for plane in planes]


def _transposed(tile: NDArray[Any]) -> NDArray[Any]:
    from genobit.kernels.transpose import transposed

    return transposed(tile)


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
    a = whole_rows(a)
    symmetric = b is None
    b = a if b is None else whole_rows(b)
    name = "genobit-square-" + tokenize(function, [p.name for p in a], [p.name for p in b])
    rows, columns = a[0].chunks[0], b[0].chunks[0]
    layer: dict[tuple[str, int, int], Any] = {}
    for i in range(len(rows)):
        for j in range(i if symmetric else 0, len(columns)):
            second = None if symmetric and i == j else _block(b, j)
            layer[name, i, j] = (function, _block(a, i), second)
            if symmetric and i < j:
                layer[name, j, i] = (_transposed, (name, i, j))
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[*a, *b])
    return da.Array(graph, name, chunks=(rows, columns), dtype=dtype)


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
