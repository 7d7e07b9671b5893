"""Columns of a sparse matrix as dense rows of a dask array, one task per chunk of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.graphs import Task
from genobit.engine.schedule.names import named_layer

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK_BYTES = 2**26
"""Most bytes of a dense chunk, unless one row is larger."""


def dense_rows(matrix: Any) -> da.Array:
    """Return the transpose of a scipy matrix (n, rows) as a lazy dense array (rows, n).

    A task holds only the entries of its own columns.
    """
    columns = matrix.tocsc(copy=False)
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    n, rows = columns.shape
    step = max(1, CHUNK_BYTES // max(1, n * columns.dtype.itemsize))
    sizes = tuple(min(step, rows - start) for start in range(0, max(rows, 1), step))
    parts = (columns.data, columns.indices, columns.indptr)
    name, graph = named_layer("genobit-dense", _tasks, *parts, n, sizes)
    return da.Array(graph, name, (sizes, (n,)), columns.dtype)


def _tasks(
    name: str,
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    sizes: tuple[int, ...],
) -> dict[Any, Any]:
    tasks: dict[Any, Any] = {}
    start = 0
    for k, size in enumerate(sizes):
        bounds = indptr[start : start + size + 1]
        entries = slice(int(bounds[0]), int(bounds[-1]))
        key = (name, k, 0)
        tasks[key] = Task(key, _dense, data[entries], indices[entries], np.diff(bounds), n)
        start += size
    return tasks


def _dense(data: NDArray[Any], indices: NDArray[Any], counts: NDArray[Any], n: int) -> NDArray[Any]:
    """Return rows (len(counts), n) with their entries in place, zero elsewhere."""
    out = np.zeros((counts.size, n), data.dtype)
    out[np.repeat(np.arange(counts.size), counts), indices] = data
    return out
