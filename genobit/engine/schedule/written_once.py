"""Matrices whose tiles are written straight into the result, by ``.compute()`` in this process.

dask computes all tiles, holds them, and then copies them into the result on one thread. For r2 of
10,000 variants the copy took longer than the product.

`square` returns a dask array that assembles itself. Its tiles, computed by threads of this process,
go to one array. In other processes nothing changes: a `Result` that was sent has no memory. If dask
replaces a task, its tile is copied into the result at the end.
"""

from __future__ import annotations

import copy
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph

from genobit.engine.schedule.graphs import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike, NDArray


Chunks = tuple[tuple[int, ...], ...]


class Place(NamedTuple):
    """Where a tile stands in a result."""

    whole: NDArray[Any]
    """The result, (rows, columns)."""
    top: int
    left: int
    symmetric: bool
    """Whether a tile also fills the place of its transpose."""

    def view(self, rows: int, columns: int) -> NDArray[Any]:
        """Return the part of the result that a tile of this shape fills."""
        return self.whole[self.top : self.top + rows, self.left : self.left + columns]


def memory(shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
    """Return uninitialised memory; tests put values there that no tile has."""
    return np.empty(shape, dtype)


class Result:
    """Memory of a result of some chunks. The first tile makes it; without chunks there is none."""

    def __init__(
        self,
        chunks: Chunks = (),
        dtype: DTypeLike = np.float32,
        *,
        symmetric: bool = False,
    ) -> None:
        self._edges = [np.cumsum([0, *sizes]).tolist() for sizes in chunks]
        self._dtype, self._symmetric = dtype, symmetric
        self._lock = threading.Lock()
        self.array: NDArray[Any] | None = None

    def place(self, i: int, j: int) -> Place | None:
        """Return where tile (i, j) stands, None without memory."""
        if not self._edges:
            return None
        rows, columns = self._edges
        with self._lock:
            if self.array is None:
                self.array = memory((rows[-1], columns[-1]), self._dtype)
        return Place(self.array, rows[i], columns[j], self._symmetric)

    def __reduce__(self) -> tuple[type[Result], tuple[()]]:
        """Go to another process without memory."""
        return Result, ()


def _assembled(
    tiles: Sequence[Sequence[NDArray[Any]]],
    result: Result,
    _name: str,
    join: Callable[..., Any],
    *arguments: Any,
) -> Any:
    """Return the array of the result with all tiles; without memory, join them as dask does."""
    whole = result.array
    if whole is None:
        return join(tiles, *arguments)
    for i, row in enumerate(tiles):
        for j, tile in enumerate(row):
            place = result.place(i, j)
            if tile.base is not whole and place is not None:
                place.view(*tile.shape)[...] = tile
    return whole


class _Optimizer:
    """Lets the tiles of the squares that are computed write to their results.

    dask optimizes arrays together whose optimizers are equal. This one equals the optimizer of
    all other arrays, so that a square and arrays computed from it share their tiles.
    """

    def __eq__(self, other: object) -> bool:
        """Return whether the other is an optimizer of arrays."""
        return other is self or other is da.Array.__dask_optimize__

    def __hash__(self) -> int:
        """Return the hash of dask's optimizer."""
        return hash(da.Array.__dask_optimize__)

    def __call__(self, graph: Any, keys: Any, **options: Any) -> Any:
        """Replace the layers of squares, then optimize as dask does."""
        keys = list(flatten(keys)) if isinstance(keys, (list, set)) else [keys]
        if isinstance(graph, HighLevelGraph):
            layers = dict(graph.layers)
            for key in keys:
                # The task that dask makes of `assemble`; if it has another form, dask joins tiles.
                last: Any = graph.layers.get(key, {}).get(key)
                if getattr(last, "func", None) is _assembled:
                    _, result, name, *_ = last.args
                    layer = layers.get(name)
                    # A square that is asked for twice is written once, and then copied.
                    if isinstance(layer, Grid) and layer is graph.layers[name]:
                        layers[name] = _writing(layer, result)
            graph = HighLevelGraph(layers, graph.dependencies)
        return da.Array.__dask_optimize__(graph, keys, **options)


_optimizer = _Optimizer()


def _writing(layer: Grid, result: Result) -> Grid:
    """Return the layer of a square, with tasks that write to a result."""
    writing: Grid = copy.copy(layer)
    writing.make = partial(_write_task, make=layer.make, result=result)
    return writing


def _write_task(
    layer: Grid, i: int, j: int, *, make: Callable[..., Any], result: Result
) -> tuple[Any, ...]:
    function, *arguments = make(layer, i, j)
    return _write, result, i, j, function, *arguments


def _write(result: Result, i: int, j: int, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments, place=result.place(i, j))


def square(
    graph: HighLevelGraph, name: str, chunks: Chunks, dtype: DTypeLike, *, symmetric: bool = False
) -> da.Array:
    """Return the array of a `Grid` whose tile functions take ``place=`` and return a view of it.

    If it is ``symmetric``, tiles on and above the diagonal write the others.
    """
    array = da.Array(graph, name, chunks=chunks, dtype=dtype)
    join, arguments = array.__dask_postcompute__()

    def assemble() -> tuple[Any, tuple[Any, ...]]:
        result = Result(chunks, dtype, symmetric=symmetric)
        return _assembled, (result, name, join, *arguments)

    # On this array alone: xarray refuses a subclass beside arrays of dask.
    vars(array).update(__dask_postcompute__=assemble, __dask_optimize__=_optimizer)
    return array


def is_square(array: da.Array) -> bool:
    """Return whether the tiles of an array are written to its result."""
    return vars(array).get("__dask_optimize__") is _optimizer
