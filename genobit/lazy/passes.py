"""Tiles of a triangle, computed in passes of bounded size and reduced as they come.

A pass is a range of jobs (`genobit.lazy.triangle`), run on whatever scheduler of dask is active, so
several tiles are in flight, and never more results than those of one pass are held.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.base import persist
from dask.delayed import Delayed

from genobit.lazy import triangle
from genobit.lazy.computing import compute
from genobit.lazy.names import named_layer
from genobit.lazy.tiles import whole_rows
from genobit.options import get_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dask.highlevelgraph import HighLevelGraph

    from genobit.lazy.tiles import Planes

GROUP = 1024
"""Tasks that are handed to a scheduler at a time, where each leaves little."""
JOBS = 32
"""Jobs of a pass: enough for the threads of one machine not to wait for each other for long."""
TIMED = 0.1
"""Shortest reliable timing, in seconds."""


def in_groups(keys: Sequence[Any], graph: HighLevelGraph, size: int = GROUP) -> Iterator[Any]:
    """Results of many tasks in their order, never more of them under way than a group.

    dask takes a `Delayed` for each at 0.2 ms and 3 KB, which a million of them do not allow.
    """
    for start in range(0, len(keys), size):
        part = list(keys[start : start + size])
        name, whole = named_layer("genobit-group", _group, part, above=graph)
        yield from compute(Delayed(name, whole, layer=name))[0]


def _group(name: str, keys: list[Any]) -> dict[Any, Any]:
    return {name: (list, keys)}


class Pass:
    """What a pass gave."""

    def __init__(self, part: range, results: list[Any], pairs: int) -> None:
        self.part = part
        """The jobs."""
        self.results = results
        """What the function returned of each, in the order of jobs."""
        self.pairs = pairs
        """Pairs of different rows in these tiles."""


def in_passes(
    function: Callable[..., Any],
    planes: Planes,
    arguments: Callable[[], tuple[Any, ...]] = tuple,
    jobs: range | None = None,
    size: int = JOBS,
) -> Iterator[Pass]:
    """Run ``function(planes of i, planes of j or None, first row, first column, *arguments())``.

    Parameters
    ----------
    function
        Of each tile on or above the diagonal; of one on it the second planes are None.
    planes
        (rows, words) each. They are computed once and held where they take no more than
        ``get_options().eager_limit``, else anew for every pass: what they cost is small beside
        what tiles make of them.
    arguments
        Asked before each pass, for what earlier passes have taught.
    jobs
        Which jobs, for one of several workers; all by default.
    size
        Most jobs of a pass.

    Yields
    ------
        A `Pass` at a time.
    """
    planes = whole_rows(planes)
    if sum(plane.nbytes for plane in planes) <= get_options().eager_limit:
        planes = list(persist(*planes))
    edges = np.concatenate([[0], np.cumsum(planes[0].chunks[0])]).tolist()
    spans = list(itertools.pairwise(edges))
    jobs = range(triangle.jobs(len(spans))) if jobs is None else jobs
    for part in triangle.passes(jobs, size):
        inputs = function, planes, spans, part, arguments()
        name, graph = named_layer("genobit-pass", _tasks, *inputs)
        pairs = 0
        for i, j in triangle.tiles_of(part, len(spans)):
            rows, columns = (spans[k][1] - spans[k][0] for k in (i, j))
            pairs += rows * (rows - 1) // 2 if i == j else rows * columns
        results = compute(*[Delayed((name, job), graph, layer=name) for job in part])
        yield Pass(part, list(results), pairs)


def seconds_of_pair(function: Callable[..., Any], planes: Planes) -> float:
    """Return the seconds that a function of `in_passes` takes for a pair on one thread.

    It times pairs of the first two rows, then of four times as many, until a timing is reliable.
    """
    block = [np.asarray(plane) for plane in compute(*[x.blocks[0] for x in whole_rows(planes)])]
    rows = min(2, len(block[0]))
    while True:
        few = [plane[:rows] for plane in block]
        # The first call of a size may compile the kernel that suits it, which is not timed.
        function(few, few, 0, 0)
        start = time.perf_counter()
        function(few, few, 0, 0)
        spent = time.perf_counter() - start
        if spent > TIMED or rows == len(block[0]):
            return spent / rows**2
        rows = min(4 * rows, len(block[0]))


def _tasks(
    name: str,
    function: Callable[..., Any],
    planes: list[Any],
    spans: list[tuple[int, int]],
    jobs: range,
    arguments: tuple[Any, ...],
) -> dict[Any, Any]:
    layer: dict[Any, Any] = {}
    for job, (i, j) in zip(jobs, triangle.tiles_of(jobs, len(spans)), strict=True):
        first, second = ([(plane.name, k, 0) for plane in planes] for k in (i, j))
        beside = None if i == j else second
        layer[name, job] = (function, first, beside, spans[i][0], spans[j][0], *arguments)
    return layer
