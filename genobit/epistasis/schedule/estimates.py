"""Estimates of the size, time and memory of a search; those past a limit are refused.

Time is measured: a calibration searches a few blocks from the middle of the work, with the
threshold that the first block gives. If the search runs on threads, it times all of them at once.
"""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.gemm.scratch import Scratch
from genobit.engine.schedule.computing import in_this_process, threads
from genobit.engine.schedule.costs import Estimate, check_time, surely_short
from genobit.engine.schedule.memory_mapped import in_memory
from genobit.epistasis.schedule.units import LONGEST, blocks
from genobit.epistasis.schedule.waves import largest_wave

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.units import Cut, Work

SECONDS = 0.5
"""Duration of a calibration, without compilation."""
SAMPLED = 4096
"""Random parts that estimate the share within the limits of the scope."""
TRIED = 256
"""Most units in which a calibration looks for blocks within the limits of the scope."""
SPREAD = 8
"""Distance, in units, between the threads of a calibration."""


def words(work: Work) -> str:
    """Return the number of combinations as text; with a limit on r2 it is an upper bound."""
    cut, scope = work.cut, work.scope
    found = cut.combinations if scope is None else scope.count(cut.order)
    exact = scope is None or not scope.linked.size
    return f"{'' if exact else 'at most '}{found:,} combinations"


def memory(cut: Cut, top: int, planes: int) -> int:
    """Return the bytes of a run, with ``planes`` bytes of planes.

    The run also holds blocks in progress and the rankings of two waves, or the tables of the final
    ranking if these are larger.
    """
    ranked = 8 * (1 + cut.order)
    # The last wave may have half as many units again.
    units = min(5 * largest_wave(cut.units) // 2, cut.units)
    flight = units * min(top, cut.unit) + 4 * min(top, cut.combinations)
    # A block keeps up to five times as many combinations as it returns.
    at_work = threads() * (cut.block_bytes + 5 * ranked * min(top, cut.unit))
    return planes + max(flight * ranked + at_work, ranking_bytes(cut, top))


def ranking_bytes(cut: Cut, top: int) -> int:
    """Return the bytes of the tables of the ranking."""
    return 4 * cut.classes * 3**cut.order * min(top, cut.combinations)


def check_memory(cut: Cut, top: int, classes: Classes, held: int = 0) -> int:
    """Return the bytes of a run, ``held`` bytes of the score included.

    Raises MemoryError past ``get_options().eager_limit``.
    """
    from genobit.engine.options import get_options, in_units, more_than

    planes = held + sum(in_memory(plane) for plane in classes.planes)
    size, limit = memory(cut, top, planes), get_options().eager_limit
    if size > limit:
        msg = (
            f"the search takes {more_than(size, limit)}: {in_units(planes)} of genotypes, "
            f"{threads()} workers with blocks of {in_units(cut.block_bytes)}, {top:,} "
            f"combinations with tables of {in_units(ranking_bytes(cut, top))}. Ask for a lower "
            "order= or top=, fewer variants (limits=gb.EpistasisLimits(prefilter=...)), fewer "
            "workers (dask.config.set(num_workers=...)), or raise "
            "gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    return size


def estimated(
    classes: Classes, work: Work, held: int = 0, finished: Collection[int] = ()
) -> Estimate:
    """Return the estimate of a search whose score holds ``held`` bytes.

    Finished units take no time.
    """
    cut, scope = work.cut, work.scope
    size = check_memory(cut, work.top, classes, held)
    disk = sum(plane.nbytes - in_memory(plane) for plane in classes.planes)
    found = cut.combinations if scope is None else scope.count(cut.order)
    left = cut.combinations - sum(map(cut.weight, finished))
    at_once = max(1, min(threads(), cut.units - len(finished)))
    seconds = _seconds_each(classes, work, at_once) * left / at_once if found and left else 0.0
    rest = (f"{len(finished):,} units are finished",) if finished else ()
    ranked = 8 * (1 + cut.order) * work.top + ranking_bytes(cut, work.top)
    return Estimate(words(work), seconds, at_once, cut.units, size, ranked, disk, rest)


def check_duration(classes: Classes, work: Work, held: int, finished: Collection[int]) -> None:
    """Raise ValueError if unfinished units take longer than ``get_options().longest_search``."""
    cut = work.cut
    if surely_short(cut.units * LONGEST / threads()):
        return
    found = estimated(classes, work, held, finished)
    rest = f", {len(finished):,} of {cut.units:,} units finished," if finished else ""
    check_time(
        f"the search of {found.what} of order {cut.order}{rest}",
        found.seconds,
        found.workers,
        "a lower order=; fewer variants (limits=gb.EpistasisLimits() with prefilter=, variants_0=, "
        "variants_1=, min_gap= or max_r2=, or ds.genobit.ld_prune() and a filter on allele "
        "frequency before the search); fewer permutations=; or checkpoint= with the threads of a "
        "cluster",
    )


def _seconds_each(classes: Classes, work: Work, at_once: int) -> float:
    """Return the seconds of a combination on one thread while ``at_once`` threads search."""
    middle = work.cut.units // 2
    # The first block compiles the kernels and finds a threshold for the blocks that are timed.
    teacher = next(_blocks(work, middle), None)
    if teacher is None:
        return 0.0
    scratch, threshold = Scratch(), 0.0
    for _ in range(2):
        _, threshold = _timed(classes, work, *teacher, threshold, scratch)
    # Threads share caches and memory bandwidth: a thread alone is faster than one of many.
    many = at_once if in_this_process() else 1
    with ThreadPoolExecutor(many) as pool:
        jobs = [SPREAD * k for k in range(many)]
        timed = list(pool.map(partial(_calibrated, classes, work, threshold), jobs))
    spent, done = (sum(column) for column in zip(*timed, strict=True))
    return spent / max(done, 1) * _share_within(work)


def _calibrated(classes: Classes, work: Work, threshold: float, ahead: int) -> tuple[float, int]:
    """Time blocks that begin ``ahead`` units past the middle; return seconds and pairs of parts."""
    units, scratch = work.cut.units, Scratch()
    spent, done = 0.0, 0
    for first, last in _blocks(work, min(units // 2 + ahead, units - 1)):
        elapsed, threshold = _timed(classes, work, first, last, threshold, scratch)
        spent, done = spent + elapsed, done + _pairs(first, last)
        if spent > SECONDS:
            break
    return spent, done


def _blocks(work: Work, start: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the blocks of unit ``start`` and of some units after it."""
    units = range(start, min(start + TRIED, work.cut.units))
    return itertools.chain.from_iterable(blocks(work.cut, unit, work.scope) for unit in units)


def _timed(
    classes: Classes,
    work: Work,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    threshold: float,
    scratch: Scratch,
) -> tuple[float, float]:
    """Return the seconds of a block, and the threshold after it."""
    scope, start = work.scope, time.perf_counter()
    allowed = None if scope is None or scope.unrestricted else scope.allowed(first, last)
    most = work.most(first, last)
    best = work.score(classes, first, last, most, threshold, allowed, scratch)
    elapsed = time.perf_counter() - start
    if best.scores.size >= work.top:
        least = np.partition(best.scores, -work.top)[-work.top]
        threshold = max(threshold, float(least))
    return elapsed, threshold


def _share_within(work: Work) -> float:
    """Return the approximate share of pairs whose parts are within the limits of the scope."""
    cut, scope = work.cut, work.scope
    share, rng = 1.0, np.random.default_rng(0)
    for size in (cut.p, cut.q):
        drawn = np.sort(rng.integers(0, cut.variants, (SAMPLED, size)), axis=1)
        parts = drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)]
        if scope is not None and len(parts):
            share *= len(scope.whole(parts)) / len(parts)
    return share


def _pairs(first: NDArray[np.int64], last: NDArray[np.int64]) -> int:
    """Return the number of pairs whose last part begins after the first part ends."""
    starts = np.sort(last[:, 0])
    return int((len(last) - np.searchsorted(starts, first[:, -1], side="right")).sum())
