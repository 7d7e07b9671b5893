"""How a ratio is taken: both sides in turn on one pinned core, the median of the rounds."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import dask

from . import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


GIGA = 1e9


class Row(NamedTuple):
    """A line of the report: a rate or time here, what it is compared with, and their ratio."""

    table: str
    what: str
    value: float
    unit: str
    against: str
    ratio: float | None = None
    wanted: float | None = None
    """The ratio that the project holds itself to, if any."""


def seconds(call: Callable[[], Any]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median(call: Callable[[], Any], rounds: int) -> float:
    """Median time of a call after one that does not count (compilation, page faults)."""
    call()
    return statistics.median(seconds(call) for _ in range(rounds))


def rates(calls: dict[str, tuple[Callable[[], Any], float]], rounds: int) -> dict[str, list[float]]:
    """Work per second of each call, round by round, all calls in each round."""
    for call, _ in calls.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, (call, work) in calls.items():
            found[name].append(work / seconds(call))
    return found


def ratio(numerator: list[float], denominator: list[float]) -> float:
    """Median of the ratios of the rounds: what changed the clock changed both sides."""
    return statistics.median(a / b for a, b in zip(numerator, denominator, strict=True))


def compared(
    table: str,
    what: str,
    unit: str,
    at: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    work: float,
    wanted: float | None = None,
) -> Row:
    """Compare the work per second of two calls that take turns."""
    found = rates({"ours": (ours, work), "theirs": (theirs, work)}, 5)
    rate = statistics.median(found["ours"])
    return Row(table, what, rate, unit, at, ratio(found["ours"], found["theirs"]), wanted)


def command(*arguments: object) -> Callable[[], Any]:
    """Return a call that runs a program, and raises if it fails."""
    words = [str(argument) for argument in arguments]
    return lambda: subprocess.run(words, capture_output=True, check=True)


def against_program(
    table: str, what: str, at: str, ours: Callable[[], Any], theirs: Callable[[], Any]
) -> Row:
    """Compare the seconds of a call on one thread with those of a program."""
    with dask.config.set(scheduler="synchronous"):
        mine = median(ours, 3)
    other = median(theirs, 3)
    return Row(table, what, mine, "s", f"{at} ({other:.2f} s)", other / mine)


def best_limit(found: dict[str, list[float]], product: str) -> tuple[str, list[float]]:
    """The faster of the scalar and the vector register limit of a product."""
    names = [f"scalar {product}", f"vector {product}"]
    name = max(names, key=lambda n: statistics.median(found[n]))
    return name, found[name]


def against_registers(table: str, what: str, call: Callable[[], Any], bits: float) -> Row:
    """Compare a calculation of so many bits with the fastest AND and count of this core."""
    calls = {name: probe for name, probe in limits.work().items() if name.endswith("and")}
    calls["ours"] = (call, bits)
    with dask.config.set(scheduler="synchronous"):
        found = rates(calls, 5)
    name = max((n for n in found if n != "ours"), key=lambda n: statistics.median(found[n]))
    rate, limit = statistics.median(found["ours"]) / GIGA, statistics.median(found[name]) / GIGA
    at = f"register limit, {name} ({limit:.0f} Gbit/s)"
    return Row(table, what, rate, "Gbit/s", at, ratio(found["ours"], found[name]))


def pin() -> str:
    """Keep this process on one core; returns what was done, for the report."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned: this system has no sched_setaffinity"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return f"pinned to core {core}"


@contextlib.contextmanager
def cores(count: int) -> Iterator[bool]:
    """Let the process use more cores for a while; yields whether there are that many."""
    if not hasattr(os, "sched_setaffinity"):
        yield (os.cpu_count() or 1) >= count
        return
    before = os.sched_getaffinity(0)
    available = sorted(range(os.cpu_count() or 1))[-count:]
    os.sched_setaffinity(0, set(available))
    try:
        yield len(os.sched_getaffinity(0)) >= count
    finally:
        os.sched_setaffinity(0, before)


def one_thread() -> contextlib.AbstractContextManager[Any]:
    """Keep BLAS to one thread, where threadpoolctl is installed to ask it."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(1)  # type: ignore[no-any-return]
