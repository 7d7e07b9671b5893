"""Compute the tiles of an upper triangle in batches of bounded size, and reduce each batch.

The tiles on and above the diagonal of ``width`` x ``width`` tiles are numbered row by row, as jobs.
The tile in row y and column x, x >= y, is job

    J = y (2 width - y + 1) / 2 + x - y

An integer square root finds the row of job J, counted from the last job: the last r + 1 rows hold
(r + 1)(r + 2) / 2 tiles. All arithmetic is exact for integers of any size. A scheduler can
therefore hand out ranges of integers, and each worker finds its own tiles.

A batch is a range of jobs, run on any active dask scheduler. Several tiles are computed at a time,
and only the results of one batch are held.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.base import persist
from dask.delayed import Delayed

from genobit.engine.options import get_options
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import at_a_time, named_layer
from genobit.engine.schedule.tiles import whole_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dask.highlevelgraph import HighLevelGraph

    from genobit.engine.schedule.tiles import Planes


def count_jobs(width: int) -> int:
    """Count the tiles on and above the diagonal of ``width`` x ``width``.

    Examples
    --------
    >>> count_jobs(3)
    6
    """
    if width < 0:
        msg = f"width={width} of a triangle is negative: it is a number of tiles"
        raise ValueError(msg)
    return width * (width + 1) // 2


def tile_of(job: int, width: int) -> tuple[int, int]:
    """Return row and column of a job's tile. Raises IndexError for a job outside the triangle.

    Examples
    --------
    >>> [tile_of(job, 3) for job in range(6)]
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    """
    last = count_jobs(width) - 1
    if not 0 <= job <= last:
        msg = f"job {job} is outside the {last + 1} tiles of a triangle {width} wide"
        raise IndexError(msg)
    y = width - 1 - (math.isqrt(8 * (last - job) + 1) - 1) // 2
    return y, job - y * (2 * width - y + 1) // 2 + y


def tiles_of(part: range, width: int) -> Iterator[tuple[int, int]]:
    """Yield row and column of each job in a range, in order.

    Examples
    --------
    >>> list(tiles_of(range(1, 4), 3))
    [(0, 1), (0, 2), (1, 1)]
    """
    if not part:
        return
    y, x = tile_of(part.start, width)
    for _ in part:
        yield y, x
        x += 1
        if x == width:
            y += 1
            x = y


def shares(total: int, workers: int) -> list[range]:
    """Split jobs into one range per worker, with sizes that differ by at most one.

    Examples
    --------
    >>> shares(7, 3)
    [range(0, 3), range(3, 5), range(5, 7)]
    """
    if workers < 1:
        msg = f"workers={workers}: jobs are shared among one worker or more"
        raise ValueError(msg)
    size, more = divmod(total, workers)
    edges = [worker * size + min(worker, more) for worker in range(workers + 1)]
    return [range(edges[k], edges[k + 1]) for k in range(workers)]


def batches_of(part: range, size: int) -> Iterator[range]:
    """Split a range of jobs into batches of at most ``size``.

    Examples
    --------
    >>> list(batches_of(range(3, 8), 2))
    [range(3, 5), range(5, 7), range(7, 8)]
    """
    if size < 1:
        msg = f"size={size}: a batch holds one job or more"
        raise ValueError(msg)
    for start in range(part.start, part.stop, size):
        yield range(start, min(start + size, part.stop))


GROUP = 1024
"""Tasks handed to a scheduler at a time, for small results."""
JOBS = 32
"""Jobs of a batch: enough that the threads of one machine seldom wait for each other."""
TIMED = 0.1
"""Shortest reliable timing, in seconds."""


def in_groups(keys: Sequence[Any], graph: HighLevelGraph, size: int = GROUP) -> Iterator[Any]:
    """Yield the results of many tasks in order, with at most one group in memory.

    A group has ``size`` tasks, or fewer if a layer of the graph says so.

    dask takes 0.2 ms and 3 KB for a `Delayed` of each task, which is too much for a million tasks.
    """
    size = at_a_time(graph, size)
    for start in range(0, len(keys), size):
        part = list(keys[start : start + size])
        name, whole = named_layer("genobit-group", _group, part, above=graph)
        yield from compute(Delayed(name, whole, layer=name))[0]


def _group(name: str, keys: list[Any]) -> dict[Any, Any]:
    return {name: (list, keys)}


def computed(
    prefix: str,
    function: Callable[..., Any],
    planes: Planes,
    arguments: Sequence[tuple[Any, ...]],
) -> tuple[Any, ...]:
    """Compute ``function(*each)`` for each of ``arguments``, as separate results of one call.

    Arguments may contain keys of the chunks of ``planes``.
    """
    name, graph = named_layer(prefix, _calls, function, planes, arguments)
    return compute(*[Delayed((name, k), graph, layer=name) for k in range(len(arguments))])


def _calls(
    name: str, function: Callable[..., Any], _: Planes, arguments: Sequence[tuple[Any, ...]]
) -> dict[Any, Any]:
    return {(name, k): (function, *each) for k, each in enumerate(arguments)}


class Batch:
    """Results of one batch."""

    def __init__(self, part: range, results: list[Any], pairs: int) -> None:
        self.part = part
        """Jobs of the batch."""
        self.results = results
        """Result of each job, in the order of jobs."""
        self.pairs = pairs
        """Number of pairs of different rows in these tiles."""


def in_batches(
    function: Callable[..., Any],
    planes: Planes,
    arguments: Callable[[], tuple[Any, ...]] = tuple,
    jobs: range | None = None,
    size: int = JOBS,
) -> Iterator[Batch]:
    """Yield a `Batch` at a time, with ``function`` of each tile on or above the diagonal.

    planes: (rows, words) each, lazy.

    The call is ``function(planes of i, planes of j or None, first row, first column,
    *arguments())``. A tile on the diagonal has no second planes. Before each batch, ``arguments``
    is called, so that it can use earlier results. The range ``jobs`` selects the jobs of one worker
    (default: all), and a batch has at most ``size`` jobs.

    Planes of at most ``get_options().eager_limit`` bytes are computed once and held. Larger planes
    are computed again for every batch, which costs little compared with the tiles.
    """
    planes = whole_rows(planes)
    if sum(plane.nbytes for plane in planes) <= get_options().eager_limit:
        planes = list(persist(*planes))
    edges = np.concatenate([[0], np.cumsum(planes[0].chunks[0])]).tolist()
    spans = list(itertools.pairwise(edges))
    jobs = range(count_jobs(len(spans))) if jobs is None else jobs
    for part in batches_of(jobs, size):
        found = arguments()
        inputs, pairs = [], 0
        for i, j in tiles_of(part, len(spans)):
            first, second = ([(plane.name, k, 0) for plane in planes] for k in (i, j))
            beside = None if i == j else second
            inputs.append((first, beside, spans[i][0], spans[j][0], *found))
            rows, columns = (spans[k][1] - spans[k][0] for k in (i, j))
            pairs += rows * (rows - 1) // 2 if i == j else rows * columns
        results = computed("genobit-batch", function, planes, inputs)
        yield Batch(part, list(results), pairs)


def seconds_of_pair(function: Callable[..., Any], planes: Planes) -> float:
    """Return the seconds that a function of `in_batches` takes per pair on one thread.

    It times pairs of the first two rows, then of four times as many, until a timing is reliable.
    """
    block = [np.asarray(plane) for plane in compute(*[x.blocks[0] for x in whole_rows(planes)])]
    rows = min(2, len(block[0]))
    while True:
        few = [plane[:rows] for plane in block]
        # The first call of a size may compile a kernel, so it is not timed.
        function(few, few, 0, 0)
        start = time.perf_counter()
        function(few, few, 0, 0)
        spent = time.perf_counter() - start
        if spent > TIMED or rows == len(block[0]):
            return spent / rows**2
        rows = min(4 * rows, len(block[0]))
