"""Blocks of arrays: lists of them from `dask.array.blockwise`, and parts of one in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask._task_spec import DataNode

from genobit.engine.schedule.names import named_layer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def joined(blocks: Any) -> NDArray[Any]:
    """The blocks of the last dimensions as one array; itself where it is one.

    dask (``concatenate=True``) copies it then, too: of genotypes that is as long as a pass over
    them.
    """
    while isinstance(blocks, list) and len(blocks) == 1:
        (blocks,) = blocks
    return np.block(blocks) if isinstance(blocks, list) else blocks


def in_chunks(array: NDArray[Any], rows: int) -> da.Array:
    """An array (n, words) in chunks of so many rows, which are parts of it.

    `dask.array.from_array` would hold a copy of it: a thirtieth of the time of a table of pairs,
    and as much memory again. What is written into the array before it is computed counts.
    """
    n = array.shape[0]
    sizes = tuple(min(rows, n - start) for start in range(0, max(n, 1), rows))
    name, graph = named_layer("genobit-rows", _parts, array, rows)
    return da.Array(graph, name, (sizes, array.shape[1:]), array.dtype)


def _parts(name: str, array: NDArray[Any], rows: int) -> dict[Any, Any]:
    starts = range(0, max(array.shape[0], 1), rows)
    return {
        (name, k, 0): DataNode((name, k, 0), array[start : start + rows])
        for k, start in enumerate(starts)
    }
