"""Blocks of arrays: join them, make them of an array or a file, and convert them to `PlaneRows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import CALLED, Layout
from genobit.engine.schedule.graphs import DataNode
from genobit.engine.schedule.names import named_layer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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
