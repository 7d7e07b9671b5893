"""Blocks of planes, and lazy tiles of a matrix product: squares, bands, pairs of chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import MaterializedLayer

from genobit.engine.bits.layout import CALLED, Layout
from genobit.engine.schedule.computing import compute, in_this_process
from genobit.engine.schedule.dask_private import DataNode, List, TaskRef
from genobit.engine.schedule.graphs import Grid, Sources, full, named_layer, sources, upper
from genobit.engine.schedule.written_once import Place, is_square
from genobit.engine.schedule.written_once import square as written_square

if TYPE_CHECKING:
    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.planes import PlaneRows


def joined(blocks: Any) -> NDArray[Any]:
    """Return the blocks of the last dimensions as one array, without copying a single block.

    dask (``concatenate=True``) copies even a single block. For genotypes that takes as long as a
    pass over them.
    """
    while isinstance(blocks, list) and len(blocks) == 1:
        (blocks,) = blocks
    return np.block(blocks) if isinstance(blocks, list) else blocks


def in_chunks(array: NDArray[Any], rows: int) -> da.Array:
    """Return an array (n, words) as a dask array in chunks of ``rows`` rows, without a copy.

    `dask.array.from_array` would copy it, which takes a thirtieth of the time of a table of pairs
    and doubles the memory. The chunks are views: they show values that are written before the
    computation.
    """
    n = array.shape[0]
    sizes = tuple(min(rows, n - start) for start in range(0, max(n, 1), rows))
    name, graph = named_layer("genobit-rows", _parts, array, rows)
    return da.Array(graph, name, (sizes, array.shape[1:]), array.dtype)


def held_blocks(array: da.Array) -> dict[tuple[int, ...], NDArray[Any]]:
    """Return the chunks that the graph itself holds, as after ``persist``, by their places.

    dask would take 0.2 ms for each.
    """
    layer = array.dask.layers.get(array.name)
    if not isinstance(layer, MaterializedLayer):
        return {}
    # All keys of a materialized layer are its own.
    blocks = {key[1:]: getattr(node, "value", node) for key, node in layer.items()}
    return {place: block for place, block in blocks.items() if isinstance(block, np.ndarray)}


def from_reader(source: Any, chunks: Any, name: str | None = None) -> da.Array:
    """Return an object with ``shape``, ``dtype``, ``ndim`` and slices as a dask array.

    Each task holds the object and reads its own slice.
    """
    array: da.Array = da.from_array(
        source,
        chunks=chunks,
        name=name,
        asarray=False,
        fancy=False,
        inline_array=True,
        meta=np.empty((0,) * source.ndim, source.dtype),
    )
    return array


def _parts(name: str, array: NDArray[Any], rows: int) -> dict[Any, Any]:
    starts = range(0, max(array.shape[0], 1), rows)
    return {
        (name, k, 0): DataNode((name, k, 0), array[start : start + rows])
        for k, start in enumerate(starts)
    }


def ordered(planes: Mapping[str, da.Array], layout: Layout) -> list[da.Array]:
    """Return the planes of a layout in its order, then ``called`` if calls can be missing."""
    names = [*layout.planes, *([CALLED] if CALLED in planes else [])]
    return [planes[name] for name in names]


def as_rows(blocks: Sequence[Any], layout: Layout) -> PlaneRows:
    """Return blocks of planes in the order of `ordered` as `PlaneRows`."""
    from genobit.engine.bits.planes import PlaneRows

    arrays = [np.ascontiguousarray(block) for block in blocks]
    n = len(layout.planes)
    called = arrays[n] if len(arrays) > n else None
    return PlaneRows(layout.kind == "haplotype", layout.bits, tuple(arrays[:n]), called)


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


def _transposed(tile: NDArray[Any], place: Place | None = None) -> NDArray[Any]:
    """Return the transpose of a tile above the diagonal; one in the result has written it."""
    from genobit.engine.bits.transpose import transposed

    if place is None:
        return transposed(tile)
    view = place.view(*tile.shape[::-1])
    if tile.base is not place.whole:
        view[...] = transposed(tile)
    return view


def _one(tile: Sequence[NDArray[Any]], which: int, place: Place | None = None) -> NDArray[Any]:
    """Return one of the matrices of a tile."""
    if place is None:
        return tile[which]
    out = place.view(*tile[which].shape)
    out[...] = tile[which]
    return out


def _one_transposed(
    tile: Sequence[NDArray[Any]], which: int, place: Place | None = None
) -> NDArray[Any]:
    """Return the transpose of one of the matrices of a tile."""
    return _one([_transposed(tile[which])], 0, place)


def _tile(
    layer: Grid, i: int, j: int, *, function: Callable[..., Any], a: Sources, b: Sources | None
) -> tuple[Any, ...]:
    """Return ``function(planes of a's chunk i, planes of b's chunk j)``, or a transpose without b.

    Without ``b``, the function gets None in place of a second operand on the diagonal.
    """
    if b is None and i > j:
        return _transposed, TaskRef((layer.name, j, i))
    second = None if b is None and i == j else layer.blocks(a if b is None else b, j)
    return function, layer.blocks(a, i), second


def _tiles(
    function: Callable[..., Any], a: Planes, b: Planes | None, *, transposes: bool
) -> tuple[Grid, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the layer and the chunks of a product.

    Without ``b``, it has the tiles below the diagonal only if ``transposes``.
    """
    first = whole_rows(a)
    second = first if b is None else whole_rows(b)
    chunks = first[0].chunks[0], second[0].chunks[0]
    rows, columns = map(len, chunks)
    keys = full(rows, columns) if transposes or b is not None else upper(rows)
    others = None if b is None else sources(second)
    make = partial(_tile, function=function, a=sources(first), b=others)
    return Grid([*first, *second], "genobit-square", keys, make), chunks


def _part(
    _: Grid, i: int, j: int, *, tiles: str, which: int, mirror: int | None
) -> tuple[Any, ...]:
    """Return array ``which`` of a tile, or the transpose of array ``mirror`` below the diagonal."""
    if mirror is not None and i > j:
        return _one_transposed, TaskRef((tiles, j, i)), mirror
    return _one, TaskRef((tiles, i, j)), which


def square(
    function: Callable[..., NDArray[Any]],
    a: Planes,
    b: Planes | None,
    dtype: DTypeLike,
) -> da.Array:
    """Return the matrix with tiles ``function(planes of a's chunk i, planes of b's chunk j)``.

    Without ``b`` the matrix is symmetric. Tiles on and above the diagonal are computed, and the
    others are transposes of the same tasks. A tile on the diagonal is ``function(planes, None)``.

    The function also takes ``place=``. If this is not None, it writes the tile there, with the
    transpose if the matrix is symmetric, and returns ``place.view(*shape)``.
    """
    layer, chunks = _tiles(function, a, b, transposes=True)
    return written_square(layer.graph(), layer.name, chunks, dtype, symmetric=b is None)


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
    layer, chunks = _tiles(function, a, b, transposes=False)
    tiles, keys = layer.graph(), full(*map(len, chunks))
    matrices: list[da.Array] = []
    for k, dtype in enumerate(dtypes):
        mirror = None if b is not None else k if mirrors is None else mirrors[k]
        make = partial(_part, tiles=layer.name, which=k, mirror=mirror)
        part = Grid([], "genobit-part", keys, make)
        matrices.append(written_square(part.graph(tiles), part.name, chunks, dtype))
    return matrices


def in_memory(*arrays: da.Array) -> list[NDArray[Any]]:
    """Compute arrays of tiles in one pass, each thread writing into the results.

    ``array.compute()`` does so for a square of tiles. For other arrays, it first computes all tiles
    and then copies them on one thread. Schedulers that do not share this process's memory have no
    other way.
    """
    if not in_this_process(*arrays):
        return [np.asarray(array) for array in compute(*arrays)]
    # An array can occur twice, such as the labels of a square.
    different = {array.name: array for array in arrays}
    squares = {name: array for name, array in different.items() if is_square(array)}
    others = {name: array for name, array in different.items() if name not in squares}
    out = {name: np.empty(array.shape, array.dtype) for name, array in others.items()}
    stored = []
    if others:
        stored = [da.store(list(others.values()), list(out.values()), lock=False, compute=False)]
    found = compute(*squares.values(), *stored)
    out |= dict(zip(squares, found[: len(squares)], strict=True))
    return [out[array.name] for array in arrays]


def reached(rows: tuple[int, ...], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return first row, row after the last, and last chunk that its windows reach, of each chunk.

    ``last[i]`` is the last row in the window of row i (i itself if the window has no other row). It
    never decreases. Returns (chunks, 3).
    """
    edges = np.cumsum([0, *rows])
    start, stop, chunk = edges[:-1], edges[1:], np.arange(len(rows))
    # A chunk without rows reaches itself.
    reach = np.where(stop > start, np.append(last, 0)[stop - 1], start)
    final = np.searchsorted(edges, reach, side="right") - 1
    return np.stack([start, stop, np.clip(final, chunk, len(rows) - 1)], axis=1)


def _in_band(
    layer: Grid,
    i: int,
    _: int,
    *,
    function: Callable[..., Any],
    planes: Sources,
    spans: NDArray[np.int64],
    last: NDArray[np.int64],
    width: int,
) -> tuple[Any, ...]:
    """Return the call for a chunk of rows, with the planes of all chunks its windows reach."""
    start, stop, final = spans[i].tolist()
    reach = int(last[stop - 1]) - start + 1 if stop > start else 0
    blocks = List(*[layer.blocks(planes, k) for k in range(i, final + 1)])
    return function, blocks, last[start:stop] - start, reach, width


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
    spans = reached(rows, last)
    inputs: dict[str, Any] = {"planes": sources(planes), "spans": spans, "last": last}
    make = partial(_in_band, function=function, width=width, **inputs)
    layer = Grid(planes, "genobit-band", full(len(rows), 1), make)
    chunks = (rows, (width,))
    return da.Array(layer.graph(), layer.name, chunks=chunks, dtype=dtype)


def along_of(along: Along, rows: slice | NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the labels of some rows."""
    return {name: values[rows] for name, values in along.items()}


def _coupled(
    layer: Grid,
    i: int,
    j: int,
    *,
    function: Callable[..., Any],
    planes: Sources,
    spans: NDArray[np.int64],
    last: NDArray[np.int64],
    along: Along,
) -> tuple[Any, ...]:
    """Return the call for two chunks that a window couples."""
    (start, stop, _), (left, right, _) = spans[[i, j]].tolist()
    return (
        function,
        layer.blocks(planes, i),
        None if i == j else layer.blocks(planes, j),
        last[start:stop] - left,
        left - start,
        along_of(along, slice(start, stop)),
        along_of(along, slice(left, right)),
    )


def band_tiles(
    function: Callable[..., Any],
    planes: Planes,
    last: NDArray[np.int64],
    along: Along,
) -> tuple[list[Any], HighLevelGraph]:
    """Return keys (name, i, j) and graph of one task per pair of chunks that a window couples.

    Task (i, j) is ``function(planes of i, planes of j, last, shift, along of i, along of j)``. The
    second planes are None if i = j. The values of ``last`` index chunk j's rows, and ``shift`` is
    the distance between the first rows of the chunks.
    """
    planes = whole_rows(planes)
    spans = reached(planes[0].chunks[0], last)
    inputs: dict[str, Any] = {"planes": sources(planes), "spans": spans, "last": last}
    make = partial(_coupled, function=function, along=along, **inputs)
    keys = np.stack([np.arange(len(spans)), spans[:, 2] + 1], axis=1)
    layer = Grid(planes, "genobit-pairs", keys, make)
    return list(layer), layer.graph()
