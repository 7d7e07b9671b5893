"""A glance at an array: some of its rows, and only where that is cheap.

May import: dask. What is in memory is read as it is. Of a lazy array some chunks are computed, on
threads of this process, where a row of chunks is small and takes few tasks; nothing otherwise.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import compute, optimize

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST_BYTES = 2**26
"""Of a row of chunks: 64 MiB are read in a tenth of a second."""
MOST_TASKS = 64
"""For a row of chunks; more are an analysis of their own."""
MOST_CHUNKS = 10_000
"""Of the array; finding the tasks of one chunk takes time for each of all."""
MOST_ROWS = 4_096
SECONDS = 0.4
"""After which no further chunk is computed; what a glance may take."""


class Glance(NamedTuple):
    """What was seen of each row that was looked at."""

    seen: list[NDArray[Any]]
    rows: int
    """Looked at, of all."""


def glance(
    arrays: list[Any], look: Callable[..., NDArray[Any]], most_bytes: int = MOST_BYTES
) -> Glance | None:
    """Look at some rows of arrays that share their first axis.

    Parameters
    ----------
    arrays
        numpy or dask, of as many rows each.
    look
        Blocks of the same rows of each array -> what is wanted of them.
    most_bytes
        That a row of chunks may have.

    Returns
    -------
        What ``look`` gave for rows spread over all, evenly; None where it would not be cheap.
    """
    if any(not array.size > 0 for array in arrays):  # nothing there, or chunks of unknown size
        return None
    rows = arrays[0].shape[0]
    if not any(isinstance(array, da.Array) for array in arrays):
        step = max(1, -(-rows // MOST_ROWS), -(-sum(a.nbytes for a in arrays) // most_bytes))
        chosen = [np.asarray(array[::step]) for array in arrays]
        return Glance([look(*chosen)], len(chosen[0]))
    return _of_chunks(arrays, look, most_bytes)


def _of_chunks(
    arrays: list[Any], look: Callable[..., NDArray[Any]], most_bytes: int
) -> Glance | None:
    lazy = [x if isinstance(x, da.Array) else da.from_array(x) for x in arrays]
    chunks = lazy[0].chunks[0]
    if any(x.chunks[0] != chunks for x in lazy) or sum(x.npartitions for x in lazy) > MOST_CHUNKS:
        return None
    per_row = sum(x.nbytes for x in lazy) // lazy[0].shape[0]
    if per_row * max(chunks) > most_bytes:
        return None
    step = max(1, -(-sum(chunks) // MOST_ROWS))
    found, start = Glance([], 0), time.perf_counter()
    for k in _spread(len(chunks)):
        parts = [x.blocks[k] for x in lazy]
        if not found.seen:
            parts = list(optimize(*parts))
            tasks = {key: task for part in parts for key, task in part.__dask_graph__().items()}
            if len(tasks) > MOST_TASKS or any(_is_remote(task) for task in tasks.values()):
                return None
        blocks = [block[::step] for block in compute(*parts, scheduler="threads")]
        found = Glance([*found.seen, look(*blocks)], found.rows + len(blocks[0]))
        if time.perf_counter() - start > SECONDS:
            break
    return found


def _is_remote(task: Any) -> bool:
    """Whether a task is a value that a cluster holds: threads of this process cannot have it."""
    return type(getattr(task, "value", task)).__module__.startswith("distributed")


def _spread(count: int) -> list[int]:
    """Numbers below a count, the first, the last and ever finer between them; 16 at most."""
    order = [0, count - 1]
    for parts in (2, 4, 8, 16):
        order += [count * k // parts for k in range(1, parts)]
    return list(dict.fromkeys(k for k in order if 0 <= k < count))[:16]
