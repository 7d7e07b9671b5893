"""Lazy tiles of a matrix product: squares, bands, and pairs of chunks of a band."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import getitem
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask import local, threaded
from dask._task_spec import List, Task, TaskRef
from dask.base import get_scheduler
from dask.highlevelgraph import HighLevelGraph

from genobit.engine.schedule.computing import compute, counting
from genobit.engine.schedule.graphs import Tasks

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.schedule.graphs import Key

Planes = Sequence[da.Array]
"""Planes of an operand, each (rows, words), with the same row chunks."""
Along = Mapping[str, "NDArray[Any]"]
"""Values of each row by name, such as labels and positions."""


def whole_rows(planes: Planes) -> list[da.Array]:
    """Return the planes with one chunk along the words and the row chunks of the first."""
    rows = planes[0].chunks[0]
    # Leave a single chunk of unknown width: dask cannot rechunk it.
    return [
        plane
        if plane.chunks[0] == rows and plane.numblocks[1] == 1
        else plane.rechunk({0: rows, 1: -1})
        for plane in planes
    ]


def _transposed(tile: NDArray[Any]) -> NDArray[Any]:
    from genobit.engine.bits.transpose import transposed

    return transposed(tile)


def _transposed_of(tile: Sequence[NDArray[Any]], which: int) -> NDArray[Any]:
    return _transposed(tile[which])


@dataclass(eq=False)
class _Tiles(Tasks):
    """Tasks of a product: ``function(planes of a's chunk i, planes of b's chunk j)``.

    Without ``b``, only tiles on and above the diagonal are computed, and ``function(planes, None)``
    computes one on the diagonal. Tiles below it are transposes, if the layer has them.
    """

    prefix = "genobit-square"
    function: Callable[..., Any]
    first: tuple[str, ...]
    second: tuple[str, ...]
    chunks: tuple[tuple[int, ...], tuple[int, ...]]
    symmetric: bool
    below: bool
    """Whether the layer has tiles below the diagonal."""

    def every_key(self) -> Iterator[tuple[str, int, int]]:
        rows, columns = map(len, self.chunks)
        for i in range(rows):
            for j in range(0 if self.below else i, columns):
                yield self.name, i, j

    def __len__(self) -> int:
        rows, columns = map(len, self.chunks)
        return rows * columns if self.below else rows * (rows + 1) // 2

    def __contains__(self, key: object) -> bool:
        if not (isinstance(key, tuple) and len(key) == 3 and key[0] == self.name):
            return False
        i, j = key[1:]
        rows, columns = map(len, self.chunks)
        return 0 <= i < rows and 0 <= j < columns and (self.below or i <= j)

    def task(self, key: Key) -> Task:
        _, i, j = key
        if self.symmetric and i > j:
            return Task(key, _transposed, TaskRef((self.name, j, i)))
        second = None if self.symmetric and i == j else self.blocks((j, 0), self.second)
        return Task(key, self.function, self.blocks((i, 0), self.first), second)


def _tiles(
    function: Callable[..., Any], a: Planes, b: Planes | None, *, transposes: bool
) -> _Tiles:
    first = whole_rows(a)
    second = first if b is None else whole_rows(b)
    return _Tiles(
        [*first, *second],
        function,
        tuple(plane.name for plane in first),
        tuple(plane.name for plane in second),
        (first[0].chunks[0], second[0].chunks[0]),
        symmetric=b is None,
        below=transposes or b is not None,
    )


@dataclass(eq=False)
class _Parts(Tasks):
    """One of the arrays that each task of `_Tiles` returns, as a whole matrix."""

    prefix = "genobit-part"
    tiles: str
    which: int
    mirror: int
    """Index of the array whose transpose fills the tiles below the diagonal."""
    shape: tuple[int, int]
    symmetric: bool

    def every_key(self) -> Iterator[tuple[str, int, int]]:
        rows, columns = self.shape
        return ((self.name, i, j) for i in range(rows) for j in range(columns))

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1]

    def __contains__(self, key: object) -> bool:
        if not (isinstance(key, tuple) and len(key) == 3 and key[0] == self.name):
            return False
        return 0 <= key[1] < self.shape[0] and 0 <= key[2] < self.shape[1]

    def task(self, key: Key) -> Task:
        _, i, j = key
        if self.symmetric and i > j:
            return Task(key, _transposed_of, TaskRef((self.tiles, j, i)), self.mirror)
        return Task(key, getitem, TaskRef((self.tiles, i, j)), self.which)


def square(
    function: Callable[..., NDArray[Any]],
    a: Planes,
    b: Planes | None,
    dtype: DTypeLike,
) -> da.Array:
    """Return the matrix with tiles ``function(planes of a's chunk i, planes of b's chunk j)``.

    Without ``b`` the matrix is symmetric. Tiles on and above the diagonal are computed, and the
    others are transposes of the same tasks. A tile on the diagonal is ``function(planes, None)``.
    """
    tiles = _tiles(function, a, b, transposes=True)
    return da.Array(tiles.graph(), tiles.name, chunks=tiles.chunks, dtype=dtype)


def squares(
    function: Callable[..., Sequence[NDArray[Any]]],
    a: Planes,
    b: Planes | None,
    dtypes: Sequence[DTypeLike],
    mirrors: Sequence[int] | None = None,
) -> list[da.Array]:
    """Return several matrices of the same tasks: ``function`` returns one tile for each matrix.

    Computing the matrices together runs each task once. One matrix alone still runs the tasks that
    it needs. Each matrix has its dtype in ``dtypes``. For pairs with a value in each direction,
    ``mirrors`` gives the matrix whose transpose fills each one below the diagonal (default:
    itself).
    """
    tiles = _tiles(function, a, b, transposes=False)
    base = tiles.graph()
    rows, columns = map(len, tiles.chunks)
    matrices = []
    for k, dtype in enumerate(dtypes):
        mirror = k if mirrors is None else mirrors[k]
        part = _Parts((), tiles.name, k, mirror, (rows, columns), tiles.symmetric)
        layers: dict[str, Any] = {**base.layers, part.name: part}
        graph = HighLevelGraph(layers, {**base.dependencies, part.name: {tiles.name}})
        matrices.append(da.Array(graph, part.name, chunks=tiles.chunks, dtype=dtype))
    return matrices


def in_memory(*arrays: da.Array) -> list[NDArray[Any]]:
    """Compute arrays of tiles in one pass, each thread writing into the results.

    ``array.compute()`` first computes all tiles and then copies them on one thread. It holds the
    tiles twice, and the copy takes as long as a third of the work of two threads. Schedulers that
    do not share this process's memory have no other way.
    """
    if get_scheduler(collections=arrays) not in {threaded.get, local.get_sync}:
        return [np.asarray(array) for array in compute(*arrays)]
    # An array can occur twice, such as the labels of a square; da.store() writes it only once.
    different = {array.name: array for array in arrays}
    out = {name: np.empty(array.shape, array.dtype) for name, array in different.items()}
    with counting(*arrays) as callbacks:
        da.store(list(different.values()), list(out.values()), lock=False, **callbacks)
    return [out[array.name] for array in arrays]


class Band:
    """Chunks of rows that a window couples.

    ``last[i]`` is the last row in the window of row i (i itself if the window has no other row). It
    never decreases.
    """

    def __init__(self, rows: tuple[int, ...], last: NDArray[np.int64]) -> None:
        self.edges = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        self.last = last

    def chunks(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (chunk, start, stop, last chunk that its windows reach) for each chunk of rows."""
        for i in range(len(self.edges) - 1):
            start, stop = int(self.edges[i]), int(self.edges[i + 1])
            # A chunk without rows reaches itself.
            reach = int(self.last[stop - 1]) if stop > start else start
            final = int(np.searchsorted(self.edges, reach, side="right")) - 1
            yield i, start, stop, min(max(final, i), len(self.edges) - 2)


@dataclass(eq=False)
class _Bands(Tasks):
    """One task per chunk of rows, with the planes of all chunks that its windows reach."""

    prefix = "genobit-band"
    function: Callable[..., Any]
    planes: tuple[str, ...]
    rows: tuple[int, ...]
    last: NDArray[np.int64]
    width: int

    @cached_property
    def spans(self) -> list[tuple[int, int, int, int]]:
        return list(Band(self.rows, self.last).chunks())

    def every_key(self) -> Iterator[tuple[str, int, int]]:
        return ((self.name, i, 0) for i in range(len(self.spans)))

    def __len__(self) -> int:
        return len(self.spans)

    def __contains__(self, key: object) -> bool:
        if not (isinstance(key, tuple) and len(key) == 3 and key[0] == self.name):
            return False
        return 0 <= key[1] < len(self.spans) and key[2] == 0

    def task(self, key: Key) -> Task:
        i, start, stop, final = self.spans[key[1]]
        reach = int(self.last[stop - 1]) - start + 1 if stop > start else 0
        blocks = List(*[self.blocks((k, 0), self.planes) for k in range(i, final + 1)])
        within = self.last[start:stop] - start
        return Task(key, self.function, blocks, within, reach, self.width)


def band(
    function: Callable[..., NDArray[Any]],
    planes: Planes,
    last: NDArray[np.int64],
    width: int,
    dtype: DTypeLike,
) -> da.Array:
    """Return the (rows, width) array of a window.

    Chunk i is ``function(planes of the chunks its windows reach, last, reach, width)``. The rows of
    ``last`` count from the first row of chunk i, and ``reach`` is the number of rows in its
    windows.
    """
    planes = whole_rows(planes)
    rows = planes[0].chunks[0]
    layer = _Bands(planes, function, tuple(plane.name for plane in planes), rows, last, width)
    chunks = (rows, (width,))
    return da.Array(layer.graph(), layer.name, chunks=chunks, dtype=dtype)


@dataclass(eq=False)
class _Coupled(Tasks):
    """One task per pair of chunks that a window couples."""

    prefix = "genobit-pairs"
    function: Callable[..., Any]
    planes: tuple[str, ...]
    rows: tuple[int, ...]
    last: NDArray[np.int64]
    along: Along

    @cached_property
    def schedule(self) -> Band:
        return Band(self.rows, self.last)

    @cached_property
    def spans(self) -> list[tuple[int, int, int, int]]:
        return list(self.schedule.chunks())

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """Number of tasks in the row chunks before each row chunk."""
        return np.cumsum([0, *(final - i + 1 for i, _, _, final in self.spans)])

    def every_key(self) -> Iterator[tuple[str, int]]:
        return ((self.name, number) for number in range(len(self)))

    def __len__(self) -> int:
        return int(self.before[-1])

    def __contains__(self, key: object) -> bool:
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] == self.name):
            return False
        return 0 <= key[1] < len(self)

    def task(self, key: Key) -> Task:
        number = key[1]
        i = int(np.searchsorted(self.before, number, side="right")) - 1
        j = i + number - int(self.before[i])
        _, start, stop, _ = self.spans[i]
        left, right = (int(edge) for edge in self.schedule.edges[j : j + 2])
        return Task(
            key,
            self.function,
            self.blocks((i, 0), self.planes),
            None if i == j else self.blocks((j, 0), self.planes),
            self.last[start:stop] - left,
            left - start,
            {name: values[start:stop] for name, values in self.along.items()},
            {name: values[left:right] for name, values in self.along.items()},
        )


def band_tiles(
    function: Callable[..., Any],
    planes: Planes,
    last: NDArray[np.int64],
    along: Along,
) -> tuple[list[Any], HighLevelGraph]:
    """Return keys and graph of one task per pair of chunks that a window couples.

    Task (i, j) is ``function(planes of i, planes of j, last, shift, along of i, along of j)``. The
    second planes are None if i = j. The values of ``last`` index chunk j's rows, and ``shift`` is
    the distance between the first rows of the chunks.
    """
    planes = whole_rows(planes)
    names = tuple(plane.name for plane in planes)
    layer = _Coupled(planes, function, names, planes[0].chunks[0], last, along)
    return list(layer), layer.graph()
