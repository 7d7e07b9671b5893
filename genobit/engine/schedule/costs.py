"""What the edge of a tile costs: bytes moved against seconds of work.

A task of tiles with an edge of e rows, each of d calls, works for e^2 d / rate seconds and is sent
2 e d planes / 8 bytes. So the share of a worker's time that is work grows with the edge, and with
it what a worker holds, while the tasks become too few for all workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.options import get_options, in_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

EDGES = (256, 512, 1024, 2048, 4096, 8192)
RATES = {"ld": 1.1e11, "grm": 2.6e11}
"""Pairs of calls a second of one core (Zen 3): of r2 by haplotypes or dosages, 2,048 x 1,000 pairs
of 32,768 samples in 0.6 s; of products of dosages, 2,048^2 x 32,768 in 0.53 s."""
BANDWIDTH = 1.25e9
"""Bytes a second to a worker: 10 Gbit/s. Threads of one process move nothing."""
DISPATCH = 1e-3
"""Seconds of a task that are dask's."""
MEMORY = 2**30
"""Most bytes that a task is meant to hold."""
GAIN = 0.1
"""Share of the time by which another edge must be cheaper to be advised: the model is no better."""


@dataclass(frozen=True)
class Edge:
    """A choice: tiles of so many rows."""

    rows: int
    tasks: int
    seconds: float
    """Of work in a task."""
    moved: int
    """Bytes that a task is sent."""
    held: int
    """Bytes that a task holds."""

    @property
    def each(self) -> float:
        """Seconds of a task, with what is not work."""
        return self.seconds + self.moved / BANDWIDTH + DISPATCH

    def total(self, workers: int) -> float:
        """Seconds of all tasks."""
        return -(-self.tasks // workers) * self.each


@dataclass(frozen=True)
class Explanation:
    """What edges of tiles would cost, which is in force and which is the cheapest."""

    what: str
    size: tuple[int, int]
    """Rows of the matrix, and calls of a row."""
    workers: int
    """Threads of the cluster or of this machine."""
    taken: int
    """The edge in force."""
    edges: tuple[Edge, ...]

    @property
    def best(self) -> int:
        """The cheapest edge of those that fit, the smaller of two."""
        fitting = [edge for edge in self.edges if edge.held <= MEMORY] or [self.edges[0]]
        return min(fitting, key=lambda edge: (edge.total(self.workers), edge.rows)).rows

    @property
    def reason(self) -> str:
        """Why the edge in force stays, or another is advised.

        None is taken unless "auto" is asked for: the number of threads would decide on the order
        in which weighted sums are rounded.
        """
        edges = {edge.rows: edge for edge in self.edges}
        taken, best = edges[self.taken], edges[self.best]
        limit = in_units(MEMORY)
        remedy = f"gb.set_options(chunk_rows={best.rows}), then pack and compute again"
        if taken is best:
            return f"{taken.rows:,} rows stay: the cheapest of those that hold at most {limit}"
        if taken.held > MEMORY:
            return f"{taken.rows:,} rows hold more than {limit} a task: {remedy}"
        gain = 1 - best.total(self.workers) / taken.total(self.workers)
        less = f"{best.rows:,} rows would take {gain:.0%} less time"
        if gain < GAIN:
            return f"{taken.rows:,} rows stay: {less}, and the model is good to {GAIN:.0%}"
        return f"{less}: {remedy}"

    def __repr__(self) -> str:
        """List the edges that were weighed, and why one of them."""
        rows, depth = self.size
        lines = [
            f"{self.what} of {rows:,} rows of {depth:,} calls, {self.workers:,} threads",
            "   edge       tasks  s/task   moved/task    held/task   work    total",
        ]
        for edge in self.edges:
            marks = [
                *(["in force"] if edge.rows == self.taken else []),
                *(["cheapest"] if edge.rows == self.best else []),
                *([f"more than {in_units(MEMORY)}"] if edge.held > MEMORY else []),
            ]
            lines.append(
                f"  {edge.rows:>5,} {edge.tasks:>11,} {edge.seconds:>7.3g} "
                f"{in_units(edge.moved):>12} {in_units(edge.held):>12} "
                f"{edge.seconds / edge.each:>6.0%} {_duration(edge.total(self.workers)):>8}"
                + (f"  <- {', '.join(marks)}" if marks else "")
            )
        return "\n".join([*lines, self.reason])


def _duration(seconds: float) -> str:
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def in_this_process() -> bool:
    """Whether the scheduler that is active runs tasks as threads of this process."""
    from dask import local, threaded
    from dask.base import get_scheduler

    return get_scheduler() in {None, threaded.get, local.get_sync}


def threads() -> int:
    """Tasks that the active scheduler runs at a time, on this machine or on a cluster."""
    import dask
    from dask import local
    from dask.base import get_scheduler

    scheduler: Any = get_scheduler()
    client: Any = getattr(scheduler, "__self__", None)
    if hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    if scheduler is local.get_sync:
        return 1
    pool = dask.config.get("pool", None)
    known = dask.config.get("num_workers", None) or getattr(pool, "_max_workers", None)
    return int(known or dask.system.CPU_COUNT or 1)


def explained(
    what: str,
    rows: int,
    depth: int,
    planes: int,
    *,
    parts: Callable[[int], int] = lambda _: 1,
    taken: int | None = None,
    tiles: Callable[[int], int] | None = None,
    described: str | None = None,
) -> Explanation:
    """Costs of the triangle of a matrix of all pairs of rows, or of other tiles.

    Parameters
    ----------
    what
        "ld" or "grm".
    rows, depth
        Rows of the matrix, and calls of each.
    planes
        Bits of a call.
    parts
        In how many tasks, whose sums are added, the calls of the rows of an edge are cut.
    taken
        The edge in force, by default that of the options.
    tiles
        How many tiles of an edge there are: `triangle` by default, `band` or `rectangle`.
    described
        What to call the matrix, by default ``what``.
    """
    taken = get_options().edge if taken is None else taken
    # An edge past the rows is that of the rows.
    choices = sorted({min(edge, max(1, rows)) for edge in (*EDGES, taken)})
    tiles = triangle(rows) if tiles is None else tiles
    edges = tuple(
        _edge(what, edge, tiles(edge) * parts(edge), -(-depth // parts(edge)), planes)
        for edge in choices
    )
    return Explanation(described or what, (rows, depth), threads(), min(taken, max(1, rows)), edges)


def triangle(rows: int) -> Callable[[int], int]:
    """Tiles of an edge in the triangle of a matrix of all pairs of rows.

    Examples
    --------
    >>> triangle(10)(4)
    6
    """
    return lambda edge: -(-rows // edge) * (-(-rows // edge) + 1) // 2


def rectangle(rows: int, columns: int) -> Callable[[int], int]:
    """Tiles of an edge in a matrix of rows and other columns.

    Examples
    --------
    >>> rectangle(10, 3)(4)
    3
    """
    return lambda edge: -(-rows // edge) * -(-columns // edge)


def band(last: NDArray[np.int64]) -> Callable[[int], int]:
    """Tiles of an edge in a band, where ``last`` is the last partner of each row.

    Examples
    --------
    >>> import numpy as np
    >>> band(np.array([1, 2, 3, 3]))(2), band(np.array([1, 1, 3, 3]))(2)
    (3, 2)
    """

    def tiles(edge: int) -> int:
        ends = np.minimum(np.arange(edge, last.size + edge, edge), last.size) - 1
        return int((last[ends] // edge - np.arange(ends.size) + 1).sum())

    return tiles


def _edge(what: str, edge: int, tasks: int, depth: int, planes: int) -> Edge:
    moved = 2 * edge * depth * planes // 8
    return Edge(
        edge,
        tasks,
        edge * edge * depth / RATES[what],
        moved,
        moved + 8 * edge * edge,
    )


def sums_explained(
    samples: int, variants: Sequence[int], planes: int, taken: int | None = None
) -> Explanation:
    """Costs of sums over ``variants``, so many in each chunk, for all pairs of samples."""
    from genobit.engine.schedule.pair_sums import LEAF_BITS, leaves

    def parts(edge: int) -> int:
        return sum(1 for _ in leaves(variants, range(len(variants)), edge, LEAF_BITS))

    return explained("grm", samples, sum(variants), planes, parts=parts, taken=taken)


def chunk_of_variants(variants: int, depth: int, planes: int) -> int | None:
    """Variants in a chunk of planes where the option is "auto": the cheapest for r2.

    In whole words, as chunks are cut.
    """
    if not _is_auto():
        return None
    return 64 * words_for(explained("ld", variants, depth, planes).best)


def edge_of_samples(samples: int, variants: Sequence[int], planes: int) -> int:
    """Samples in an edge of a tile: those of the option, of "auto" the cheapest for sums."""
    if not _is_auto():
        return get_options().edge
    return sums_explained(samples, variants, planes).best


def _is_auto() -> bool:
    return get_options().chunk_rows == "auto"
