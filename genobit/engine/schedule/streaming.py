"""Stream planes chunk by chunk, for passes in which each chunk depends on the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import MaterializedLayer

from genobit.engine.schedule.blocks import as_rows, ordered
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.names import named_layer
from genobit.engine.schedule.tiles import whole_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.engine.bits.planes import PlaneRows

GROUP_BYTES = 2**26
"""Most bytes of planes computed at a time. Small chunks are grouped: dask takes 1 ms per call."""


def row_chunks(planes: Mapping[str, da.Array], layout: Layout) -> Iterator[tuple[int, PlaneRows]]:
    """Yield (first row, rows) of each chunk in order, computing some chunks at a time.

    planes: (rows, words) each, by name.
    """
    arrays = whole_rows(ordered(planes, layout))
    rows = np.array(arrays[0].chunks[0])
    edges = np.concatenate([[0], np.cumsum(rows)])
    # Rows per group: each has layout.words words in every plane.
    most = max(int(rows.max(initial=1)), GROUP_BYTES // (8 * layout.words * len(arrays)))
    held = [_in_memory(array) for array in arrays]
    k = 0
    while k < rows.size:
        stop = max(k + 1, int(np.searchsorted(edges, edges[k] + most, side="right")) - 1)
        group = range(k, stop)
        parts: list[list[Any]] = [[blocks.get(c) for blocks in held] for c in group]
        if any(block is None for blocks in parts for block in blocks):
            name, graph = named_layer("genobit-stream", _together, arrays, group)
            (parts,) = compute(Delayed(name, graph, layer=name))
        for chunk, blocks in zip(group, parts, strict=True):
            yield int(edges[chunk]), as_rows(blocks, layout)
        k = stop


def _in_memory(array: da.Array) -> dict[int, NDArray[np.uint64]]:
    """Return the chunks that the graph itself holds, as after ``persist``.

    dask would take 0.2 ms for each.
    """
    layer = array.dask.layers.get(array.name)
    if not isinstance(layer, MaterializedLayer):
        return {}
    # All keys of a materialized layer are its own: (name, row chunk, word chunk).
    blocks = {key[1]: getattr(node, "value", node) for key, node in layer.items()}
    return {k: block for k, block in blocks.items() if isinstance(block, np.ndarray)}


def _together(name: str, arrays: list[da.Array], chunks: range) -> dict[Any, Any]:
    """Return one task for all chunks; a task each would cost dask as much as the kernels take."""
    return {name: (list, [[(array.name, c, 0) for array in arrays] for c in chunks])}


def row_windows(
    planes: Mapping[str, da.Array],
    layout: Layout,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
) -> Iterator[PlaneRows]:
    """Yield the rows of each window in order, from ``starts[k]`` up to ``stops[k]``.

    starts, stops: (windows,) int64, never decreasing. Holds the rows from the window's first row to
    the end of the current chunk.
    """
    held: PlaneRows | None = None
    base = k = 0
    for start, rows in row_chunks(planes, layout):
        if k == starts.size:
            return
        first = int(starts[k])
        stop = start + rows.planes[0].shape[0]
        held = _from(rows, first - start) if first >= start else _joined(held, first - base, rows)
        base = max(first, start) if first >= start else first
        while k < starts.size and stops[k] <= stop:
            yield _from(held, int(starts[k]) - base, int(stops[k]) - base)
            k += 1


def _from(rows: PlaneRows, start: int, stop: int | None = None) -> PlaneRows:
    part = slice(start, stop)
    called = None if rows.called is None else rows.called[part]
    return rows._replace(planes=tuple(plane[part] for plane in rows.planes), called=called)


def _joined(held: PlaneRows | None, start: int, rows: PlaneRows) -> PlaneRows:
    """Return the held rows from ``start`` on, followed by ``rows``."""
    if held is None:
        return rows
    kept = _from(held, start)
    planes = zip(kept.planes, rows.planes, strict=True)
    called = None
    if kept.called is not None and rows.called is not None:
        called = np.concatenate([kept.called, rows.called])
    return rows._replace(planes=tuple(np.concatenate(both) for both in planes), called=called)
