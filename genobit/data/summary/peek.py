"""Read some rows of an array, if that is cheap.

An array in memory is read directly. A lazy array has some chunks computed on threads of this
process, but only if a row of chunks is small and takes few tasks.
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
"""Most bytes of a row of chunks. Reading 64 MiB takes 0.1 s."""
MOST_TASKS = 64
"""Most tasks of a row of chunks. More would be an analysis of its own."""
MOST_CHUNKS = 10_000
"""Most chunks of the array. Finding the tasks of one chunk takes time for every chunk."""
MOST_ROWS = 4_096
SECONDS = 0.4
"""Time limit of a look. No further chunk is computed after it."""


class Peek(NamedTuple):
    """Values of the rows that were read."""

    seen: list[NDArray[Any]]
    rows: int
    """Number of rows read."""


def peek(
    arrays: list[Any], look: Callable[..., NDArray[Any]], most_bytes: int = MOST_BYTES
) -> Peek | None:
    """Return ``look(*blocks)`` for rows spread evenly over the arrays, or None if it is not cheap.

    arrays: numpy or dask, with a common first axis. Each call of ``look`` takes blocks of the same
    rows of each array. A row of chunks has at most ``most_bytes``.
    """
    if any(not array.size > 0 for array in arrays):  # empty, or chunks of unknown size (nan)
        return None
    rows = arrays[0].shape[0]
    if not any(isinstance(array, da.Array) for array in arrays):
        step = max(1, -(-rows // MOST_ROWS), -(-sum(a.nbytes for a in arrays) // most_bytes))
        chosen = [np.asarray(array[::step]) for array in arrays]
        return Peek([look(*chosen)], len(chosen[0]))
    return _of_chunks(arrays, look, most_bytes)


def _of_chunks(
    arrays: list[Any], look: Callable[..., NDArray[Any]], most_bytes: int
) -> Peek | None:
    lazy = [x if isinstance(x, da.Array) else da.from_array(x) for x in arrays]
    chunks = lazy[0].chunks[0]
    if any(x.chunks[0] != chunks for x in lazy) or sum(x.npartitions for x in lazy) > MOST_CHUNKS:
        return None
    per_row = sum(x.nbytes for x in lazy) // lazy[0].shape[0]
    if per_row * max(chunks) > most_bytes:
        return None
    step = max(1, -(-sum(chunks) // MOST_ROWS))
    found, start = Peek([], 0), time.perf_counter()
    for k in _spread(len(chunks)):
        parts = [x.blocks[k] for x in lazy]
        if not found.seen:
            parts = list(optimize(*parts))
            tasks = {key: task for part in parts for key, task in part.__dask_graph__().items()}
            if len(tasks) > MOST_TASKS or any(_is_remote(task) for task in tasks.values()):
                return None
        blocks = [block[::step] for block in compute(*parts, scheduler="threads")]
        found = Peek([*found.seen, look(*blocks)], found.rows + len(blocks[0]))
        if time.perf_counter() - start > SECONDS:
            break
    return found


def _is_remote(task: Any) -> bool:
    """Return whether a task is a value held by a cluster, which threads here cannot read."""
    return type(getattr(task, "value", task)).__module__.startswith("distributed")


def _spread(count: int) -> list[int]:
    """Return at most 16 numbers below ``count``: the first, the last, then ever finer between."""
    order = [0, count - 1]
    for parts in (2, 4, 8, 16):
        order += [count * k // parts for k in range(1, parts)]
    return list(dict.fromkeys(k for k in order if 0 <= k < count))[:16]
