"""What a search of combinations will take, known before it starts: how many, how long, how much.

Time is measured: a few blocks are searched here, of the middle of the work, with the threshold that
the first of them teaches.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import numpy as np
from dask.base import get_scheduler

from genobit.kernels.scratch import Scratch
from genobit.lazy.combination_blocks import blocks
from genobit.lazy.combination_waves import largest_wave
from genobit.lazy.spilled import in_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.kernels.combination_tables import Classes
    from genobit.lazy.combination_blocks import Work
    from genobit.lazy.combination_units import Cut

SECONDS = 0.5
"""Of a calibration, compiling left out."""


class Estimate(NamedTuple):
    """What a search will take."""

    combinations: int
    """How many are searched."""
    exact: bool
    """Whether it is that many, or at most: how many a limit on r2 leaves out is not known."""
    seconds: float
    """Of the whole run on these workers."""
    workers: int
    """Units at work at a time."""
    memory: int
    """Bytes: planes of the variants, blocks at work, rankings in flight, tables returned."""
    units: int
    """Pieces of work, each kept by a checkpoint."""
    disk: int = 0
    """Bytes of planes in files, where they are past ``eager_limit``."""

    def __repr__(self) -> str:
        """What a user wants to know, in a line."""
        return (
            f"{'' if self.exact else 'at most '}{self.combinations:,} combinations in "
            f"{self.units:,} unit{'' if self.units == 1 else 's'}: "
            f"about {duration(self.seconds)} on {self.workers} "
            f"worker{'' if self.workers == 1 else 's'}, {self.memory / 2**20:,.0f} MiB of memory"
            f"{f' and {self.disk / 2**20:,.0f} MiB of disk' if self.disk else ''}"
        )


def duration(seconds: float) -> str:
    """In the unit that suits it.

    Examples
    --------
    >>> duration(0.02), duration(90), duration(7200), duration(4e5)
    ('0.02 s', '1.5 min', '2.0 h', '4.6 days')
    """
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.2g} s"


def workers() -> int:
    """Units that the active scheduler has at work at a time."""
    scheduler: Any = get_scheduler()
    client: Any = getattr(scheduler, "__self__", None)
    if hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    if scheduler is dask.local.get_sync:
        return 1
    pool = dask.config.get("pool", None)
    known = dask.config.get("num_workers", None) or getattr(pool, "_max_workers", None)
    return int(known or dask.system.CPU_COUNT or os.cpu_count() or 1)


def memory(cut: Cut, top: int, planes: int) -> int:
    """Bytes of a run: planes in memory, blocks at work, the best of each unit of two waves.

    Or planes and the tables of the ranking, where these are more.
    """
    ranked = 8 * (1 + cut.order)
    # The last wave may have half as many units again.
    units = min(5 * largest_wave(cut.units) // 2, cut.units)
    flight = units * min(top, cut.unit) + 4 * min(top, cut.combinations)
    # A block keeps up to five times as many as it hands on.
    at_work = workers() * (cut.block_bytes + 5 * ranked * min(top, cut.unit))
    return planes + max(flight * ranked + at_work, ranking_bytes(cut, top))


def ranking_bytes(cut: Cut, top: int) -> int:
    """Of the tables that are returned."""
    return 4 * cut.classes * 3**cut.order * min(top, cut.combinations)


def check_memory(cut: Cut, top: int, classes: Classes, held: int = 0) -> int:
    """Bytes of a run that fits, with ``held`` of them beside the planes.

    Raises
    ------
    MemoryError
        If it takes more than ``get_options().eager_limit``.
    """
    from genobit.options import get_options, in_units, more_than

    planes = held + sum(in_memory(plane) for plane in classes.planes)
    size, limit = memory(cut, top, planes), get_options().eager_limit
    if size > limit:
        msg = (
            f"the search takes {more_than(size, limit)}: {in_units(planes)} of genotypes, "
            f"{workers()} workers with blocks of {in_units(cut.block_bytes)}, {top:,} "
            f"combinations with tables of {in_units(ranking_bytes(cut, top))}. Ask for a lower "
            "order= or top=, fewer variants (prefilter=), fewer workers "
            "(dask.config.set(num_workers=...)), or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    return size


def estimated(classes: Classes, work: Work, held: int = 0) -> Estimate:
    """The estimate of a search whose score holds so many bytes."""
    cut, scope = work.cut, work.scope
    size = check_memory(cut, work.top, classes, held)
    disk = sum(plane.nbytes - in_memory(plane) for plane in classes.planes)
    found = cut.combinations if scope is None else scope.count(cut.order)
    exact = scope is None or not scope.linked.size
    at_once = max(1, min(workers(), cut.units))
    seconds = _seconds_each(classes, work) * cut.combinations / at_once if found else 0.0
    return Estimate(found, exact, seconds, at_once, size, cut.units, disk)


def _seconds_each(classes: Classes, work: Work) -> float:
    """Of a combination, blocks in the middle of the work."""
    cut, scope = work.cut, work.scope
    threshold, spent, done = work.lowest, 0.0, 0
    first_time, scratch = True, Scratch()
    for unit in range(cut.units // 2, cut.units):
        for first, last in blocks(cut, unit, scope):
            # Small blocks cost more for what they hold: the first pass compiles, and teaches.
            for _ in range(2 if first_time else 1):
                start = time.perf_counter()
                allowed = None if scope is None or scope.free else scope.allowed(first, last)
                best = work.score(
                    classes, first, last, work.most(first, last), threshold, allowed, scratch
                )
                elapsed = time.perf_counter() - start
                if best.scores.size >= work.top:
                    least = np.partition(best.scores, -work.top)[-work.top]
                    threshold = max(threshold, float(least))
            first_time = False
            spent += elapsed
            done += _pairs(first, last)
            if spent > SECONDS:
                return spent / done
    return spent / max(done, 1)


def _pairs(first: NDArray[np.int64], last: NDArray[np.int64]) -> int:
    """Pairs of parts of which the last begins after the first ends."""
    starts = np.sort(last[:, 0])
    return int((len(last) - np.searchsorted(starts, first[:, -1], side="right")).sum())
