"""A cluster that is simulated: how many workers three large analyses keep busy.

    python -m tests.benchmarks.simulated_cluster

A discrete-event model of dask.distributed: a scheduler hands out one task after another, each for
`DISPATCH` seconds of its own time; a worker fetches what the task takes, over its own link and from
a store that all share, then computes. docs/internals/scale.md has the table, the assumptions, and
where the times of tasks come from.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from genobit.epistasis.schedule.units import LONGEST, SECONDS
from genobit.epistasis.schedule.waves import BATCH, largest_wave

DISPATCH = 0.4e-3
"""Seconds of the scheduler for a task; dask's documentation says 0.2 to 1 ms."""
LINK = 1.25e9
"""Bytes a second to a worker: 10 Gbit/s."""
STORE = 20e9
"""Bytes a second from the file system and from workers to each other, all together."""
SPREAD = 0.1
"""Standard deviation of the logarithm of a task's time."""
STRAGGLERS = 1e-3
"""Share of tasks that take ten times as long."""
WORKERS = (1, 3, 10, 30, 100, 300, 1000)
MOST = 100_000
"""Tasks that are simulated at most: the rest of a long run goes on like them."""


@dataclass(frozen=True)
class Job:
    """An analysis as a scheduler sees it."""

    name: str
    tasks: float
    seconds: float
    """Of a task on one core."""
    moved: float
    """Bytes that a task fetches; what it fetched before is forgotten."""
    wave: int = 0
    """Tasks of a wave, which waits for the end of the wave before the last; 0 for all in one."""
    batch: int = 0
    """Waves of a graph; the next graph waits for the end of this one."""


def search(seconds: float) -> Job:
    """A search of combinations that takes a million seconds, in units of so many."""
    units = round(1e6 / seconds)
    name = f"epistasis of order 3, {units:,} units of {seconds:g} s"
    return Job(name, units, seconds, 1e4, largest_wave(units), BATCH)


JOBS = (
    Job("GRM, tiles of 2,048, leaves of 32,768 variants", 655_000, 0.53, 4 * 2048 * 4096),
    Job("GRM, tiles of 4,096, leaves of 32,768 variants", 165_000, 2.0, 4 * 4096 * 4096),
    Job("GRM, tiles of 4,096, leaves of 131,072 variants", 45_000, 8.0, 4 * 4096 * 16384),
    Job("banded LD, chunks of 2,048 variants", 4_883, 9.2, 2 * 2 * 2048 * 62_500),
    search(SECONDS),
    search(LONGEST),
)


def efficiency(job: Job, workers: int, seed: int = 1) -> float:
    """Share of the time of so many workers in which they compute."""
    rng = np.random.default_rng(seed)
    count = int(min(job.tasks, MOST))
    times = job.seconds * rng.lognormal(-(SPREAD**2) / 2, SPREAD, count)
    times[rng.uniform(size=count) < STRAGGLERS] *= 10
    free = [0.0] * workers
    scheduler = store = last = 0.0
    # When the last task of each wave, and of those before it, was done.
    ends: list[float] = []
    for k, seconds in enumerate(times.tolist()):
        ready = max(heapq.heappop(free), _ready(job, k, ends))
        scheduler = max(scheduler, ready) + DISPATCH if job.wave else scheduler + DISPATCH
        begun = max(scheduler, ready)
        store = max(store, begun) + job.moved / STORE
        end = max(begun + job.moved / LINK, store) + seconds
        heapq.heappush(free, end)
        last = max(last, end)
        if job.wave and (k + 1) % job.wave == 0:
            ends.append(last)
    return float(times.sum()) / (workers * last)


def _ready(job: Job, k: int, ends: list[float]) -> float:
    """When a task may begin at the earliest."""
    if not job.wave:
        return 0.0
    wave = k // job.wave
    first = wave - wave % job.batch
    before = [ends[wave - 2]] if wave > 1 else []
    return max([*before, *([ends[first - 1]] if first else [])], default=0.0)


def main() -> None:
    print("| analysis | " + " | ".join(f"{w:,}" for w in WORKERS) + " |")
    print("|---|" + "---:|" * len(WORKERS))
    for job in JOBS:
        shares = [f"{100 * efficiency(job, workers):.0f}%" for workers in WORKERS]
        print(f"| {job.name} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
