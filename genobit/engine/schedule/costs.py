"""Estimates of calls, the cost model of the edge of tiles, and the limit on the time of a search.

The model weighs bytes moved against seconds of work. A task of tiles with an edge of e rows, each
of d calls, works for e^2 d / rate seconds and receives 2 e d planes / 8 bytes. A longer edge raises
the share of a worker's time that is work. It also raises the memory of a worker, and leaves too few
tasks for all workers.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine import machine
from genobit.engine.bits.layout import words_for
from genobit.engine.options import get_options, in_units
from genobit.engine.schedule.computing import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


EDGES = (256, 512, 1024, 2048, 4096, 8192)
MEMORY = 2**30
"""Most bytes that a task should hold."""
GAIN = 0.1
"""Least relative saving for which another edge is advised. The model is no more accurate."""
QUICK = 30
"""A search is not timed if its estimate is this many times shorter than the limit."""
_UNITS = (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60))
MANY_YEARS = 1e6


@dataclass(frozen=True)
class TileSize:
    """Cost of tiles with this many rows."""

    rows: int
    tasks: int
    seconds: float
    """Work of a task, in seconds."""
    moved: int
    """Bytes sent to a task."""
    held: int
    """Bytes that a task holds."""

    @property
    def each(self) -> float:
        """Seconds per task, including transfer and dispatch."""
        return self.seconds + self.moved / machine.BANDWIDTH + machine.DISPATCH

    def total(self, workers: int) -> float:
        """Return the seconds of all tasks on this many workers."""
        return -(-self.tasks // workers) * self.each


@dataclass(frozen=True)
class TileCosts:
    """Estimated cost of several tile edges (rows per tile), with the current and cheapest edge."""

    workers: int
    """Threads of the cluster or of this machine."""
    taken: int
    """The current edge."""
    edges: tuple[TileSize, ...]

    @property
    def best(self) -> int:
        """The cheapest edge that fits in memory; the smaller one if two cost the same."""
        fitting = [edge for edge in self.edges if edge.held <= MEMORY] or [self.edges[0]]
        return min(fitting, key=lambda edge: (edge.total(self.workers), edge.rows)).rows

    @property
    def reason(self) -> str:
        """Why the current edge stays, or why another is advised.

        Another edge is only used if the user asks for "auto": a choice by the number of threads
        would change the order in which weighted sums are rounded.
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

    @property
    def lines(self) -> tuple[str, ...]:
        """The edges with their costs relative to the current one, and the reason for the choice."""
        now = next(edge for edge in self.edges if edge.rows == self.taken).total(self.workers)
        lines = ["   edge       tasks   moved/task    held/task   work    time"]
        for edge in self.edges:
            marks = [
                *(["in force"] if edge.rows == self.taken else []),
                *(["cheapest"] if edge.rows == self.best else []),
                *([f"more than {in_units(MEMORY)}"] if edge.held > MEMORY else []),
            ]
            lines.append(
                f"  {edge.rows:>5,} {edge.tasks:>11,} "
                f"{in_units(edge.moved):>12} {in_units(edge.held):>12} "
                f"{edge.seconds / edge.each:>6.0%} {edge.total(self.workers) / now:>7.0%}"
                + (f"  <- {', '.join(marks)}" if marks else "")
            )
        return (*lines, self.reason)


def tile_costs(
    what: str,
    rows: int,
    depth: int,
    planes: int,
    *,
    parts: Callable[[int], int] = lambda _: 1,
    taken: int | None = None,
    tiles: Callable[[int], int] | None = None,
) -> TileCosts:
    """Estimate the costs of the upper triangle of all pairs of rows, or of other tiles.

    The analysis ``what`` is "ld" or "grm". Each row has ``depth`` calls of ``planes`` bits. Each
    tile is split into ``parts(edge)`` tasks, whose sums are added. The edge in force is ``taken``
    (default: the option's). The number of tiles is ``tiles(edge)``: `triangle` (default), `band` or
    `rectangle`.
    """
    taken = get_options().edge if taken is None else taken
    # An edge longer than the matrix is cut to its rows.
    choices = sorted({min(edge, max(1, rows)) for edge in (*EDGES, taken)})
    tiles = triangle(rows) if tiles is None else tiles
    edges = tuple(
        _edge(what, edge, tiles(edge) * parts(edge), -(-depth // parts(edge)), planes)
        for edge in choices
    )
    return TileCosts(threads(), min(taken, max(1, rows)), edges)


def triangle(rows: int) -> Callable[[int], int]:
    """Return a function that counts the tiles of an edge in the upper triangle of all pairs.

    Examples
    --------
    >>> triangle(10)(4)
    6
    """
    return lambda edge: -(-rows // edge) * (-(-rows // edge) + 1) // 2


def rectangle(rows: int, columns: int) -> Callable[[int], int]:
    """Return a function that counts the tiles of an edge in a (rows, columns) matrix.

    Examples
    --------
    >>> rectangle(10, 3)(4)
    3
    """
    return lambda edge: -(-rows // edge) * -(-columns // edge)


def band(last: NDArray[np.int64]) -> Callable[[int], int]:
    """Return a function that counts the tiles of an edge in a band.

    ``last`` is the last partner of each row.

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


def of_rows(
    chosen: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> Callable[[int], int]:
    """Return a function that counts the tiles of an edge with the partners of some rows.

    chosen: ascending rows; first: first partner of each chosen row; last: last partner of each row.

    Examples
    --------
    >>> import numpy as np
    >>> of_rows(np.array([1, 2]), np.array([0, 1]), np.array([2, 3, 4, 4, 4]))(2)
    5
    """

    def tiles(edge: int) -> int:
        begin = np.flatnonzero(np.diff(chosen // edge, prepend=-1))
        end = np.append(begin[1:], chosen.size) - 1
        reach = last[chosen[end]] // edge
        return int((reach - first[begin] // edge + 1).sum())

    return tiles


def _edge(what: str, edge: int, tasks: int, depth: int, planes: int) -> TileSize:
    moved = 2 * edge * depth * planes // 8
    return TileSize(
        edge,
        tasks,
        edge * edge * depth / machine.TILES[what],
        moved,
        moved + 8 * edge * edge,
    )


def sum_costs(
    samples: int, variants: Sequence[int], planes: int, taken: int | None = None
) -> TileCosts:
    """Estimate the costs of sums over variants for all pairs of samples.

    ``variants`` lists the number of variants in each chunk.
    """
    from genobit.engine.schedule.pair_sums import leaf_calls, leaves

    def parts(edge: int) -> int:
        enough = leaf_calls(-(-samples // edge))
        return sum(1 for _ in leaves(variants, range(len(variants)), edge, enough))

    return tile_costs("grm", samples, sum(variants), planes, parts=parts, taken=taken)


def chunk_of_variants(variants: int, depth: int, planes: int) -> int:
    """Return the cheapest number of variants per chunk for r2, a multiple of 64.

    Chunks hold whole words.
    """
    return 64 * words_for(tile_costs("ld", variants, depth, planes).best)


def edge_of_samples(samples: int, variants: Sequence[int], planes: int) -> int:
    """Return the cheapest number of samples per tile edge for sums over variants."""
    return sum_costs(samples, variants, planes).best


def duration(seconds: float) -> str:
    """Format a duration in the largest unit that gives at least one.

    Examples
    --------
    >>> duration(0.02), duration(90), duration(7200), duration(4e5), duration(1e15)
    ('0.02 s', '1.5 min', '2.0 h', '4.6 days', '3e+07 years')
    """
    for unit, size in _UNITS:
        if seconds >= size:
            number = seconds / size
            return f"{number:.0e} {unit}" if number >= MANY_YEARS else f"{number:,.1f} {unit}"
    return f"{seconds:.2g} s"


def surely_short(seconds: float) -> bool:
    """Return whether a rough estimate is so far below the limit that timing is unnecessary."""
    longest = get_options().longest_search
    return longest is None or seconds * QUICK <= longest


def check_time(what: str, seconds: float, threads: int, remedies: str) -> None:
    """Raise ValueError if a search would take longer than ``get_options().longest_search``.

    The message gives the estimate and the remedies. Argument ``what`` names the search and its size
    ("4 combinations of order 2"). The estimate is ``seconds`` on ``threads`` threads of this
    machine or of the cluster. The text ``remedies`` completes the sentence "Ways to reduce it: ".
    """
    longest = get_options().longest_search
    if longest is None or seconds <= longest:
        return
    msg = (
        f"{what} would take about {duration(seconds)} on {threads:,} "
        f"thread{'' if threads == 1 else 's'}, longer than longest_search ({duration(longest)}). "
        f"Ways to reduce it: {remedies}. To run it anyway, raise "
        "gb.set_options(longest_search=...), for example to '2d', or give None for no limit"
    )
    raise ValueError(msg)


@dataclass(frozen=True)
class Estimate:
    """Estimated time, tasks and memory of a call.

    The methods of ``ds.genobit.estimate`` and ``da.genobit.estimate`` return it.

    Attributes
    ----------
    what
        Description of the work, such as "1,225 combinations".
    seconds
        Duration on ``workers`` threads, without compilation and without reading files.
    workers
        Threads of this machine or of the active cluster that have work.
    tasks
        Number of dask tasks. For a search, number of units of work.
    memory
        Bytes of memory while the call is computed, without the result.
    result
        Bytes of the result; 0 if its size depends on the data.
    disk
        Bytes of temporary files.
    details
        Further lines, such as tile sizes or kernels with their costs.

    Examples
    --------
    >>> Estimate("1,225 combinations", 0.5, 2, 3, 2**20, 4096)
    1,225 combinations
      time    0.5 s on 2 threads
      tasks   3
      memory  1.0 MiB
      result  4.0 KiB
    """

    what: str
    seconds: float
    workers: int
    tasks: int
    memory: int
    result: int = 0
    disk: int = 0
    details: tuple[str, ...] = ()

    @property
    def rows(self) -> dict[str, str]:
        """Time, tasks, memory and size of the result as text, by name."""
        threads = f"{self.workers:,} thread{'' if self.workers == 1 else 's'}"
        return {
            "time": f"{duration(self.seconds)} on {threads}",
            "tasks": f"{self.tasks:,}",
            "memory": in_units(self.memory),
            "result": in_units(self.result) if self.result else "depends on the data",
            **({"disk": in_units(self.disk)} if self.disk else {}),
        }

    def __repr__(self) -> str:
        """List the figures, one a line."""
        lines = [f"{name:<6}  {text}" for name, text in self.rows.items()]
        return "\n  ".join([self.what, *lines, *self.details])

    def _repr_html_(self) -> str:
        """Return the figures as a table."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self.rows.items()
        )
        details = html.escape("\n".join(self.details))
        below = f"<pre>{details}</pre>" if details else ""
        return f"<p><b>{html.escape(self.what)}</b></p><table>{rows}</table>{below}"
