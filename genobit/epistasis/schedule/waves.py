"""Task graphs of a search: units in waves, rankings merged as a tree, thresholds passed on.

A unit gets a threshold: the score that ``top`` combinations reach in the waves before the previous
one. No worker therefore waits for the end of a wave. The waves depend only on the number of units.
A unit thus gets the same threshold, and finds the same, on any scheduler and in a resumed run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from genobit.engine.schedule.computing import client_of
from genobit.engine.schedule.pair_sums import tree
from genobit.epistasis.schedule.units import merged, none_of, search_unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.units import Work

WAVE = 64
"""Units of a wave in a run that is not long."""
WAVES = 256
"""Waves of a long run: a threshold reaches other units after about a hundredth of the run."""
LARGEST = 2048
"""Most units of a wave: 4,096 units may be in progress, and a graph holds 16 such waves."""
FIRST = 4
"""Units of the first wave, which has no threshold."""
BATCH = 16
"""Waves of a graph: workers idle for about one unit in a thousand, at the end of the graph."""
FAN_IN = 8
"""Rankings that a task merges."""


@dataclass(frozen=True, eq=False)  # not a NamedTuple: dask looks for keys within tuples
class Outcome:
    """Merged result of some units."""

    found: Best
    weight: int = 0
    """Combinations of the finished units."""
    done: frozenset[int] = frozenset()
    """Finished units of this graph."""
    failures: tuple[tuple[int, Exception], ...] = ()
    """Units that failed, with their errors."""


@dataclass(frozen=True)
class Known:
    """Information from earlier waves for a unit."""

    threshold: float
    failed: bool
    """Whether a unit has failed; later units then do nothing."""


@dataclass(frozen=True, eq=False)
class Shared:
    """Input of all units."""

    classes: Classes
    work: Work


def empty_outcome(order: int) -> Outcome:
    """Return an empty outcome."""
    return Outcome(none_of(order))


def merge_outcomes(parts: Sequence[Outcome], top: int) -> Outcome:
    """Merge several outcomes."""
    return Outcome(
        merged([part.found for part in parts], top),
        sum(part.weight for part in parts),
        frozenset().union(*(part.done for part in parts)),
        tuple(failure for part in parts for failure in part.failures),
    )


def known_after(part: Outcome, top: int) -> Known:
    """Return the threshold for later units, and whether a unit has failed."""
    whole = part.found.scores.size == top
    return Known(float(part.found.scores[-1]) if whole else 0.0, bool(part.failures))


def run_unit(shared: Shared, unit: int, handed: Known) -> Outcome:
    """Search a unit; do nothing if an earlier one has failed.

    The error of a unit is part of the outcome, so that other units are not lost.
    """
    cut, none = shared.work.cut, empty_outcome(shared.work.cut.order)
    if handed.failed:
        return none
    try:
        found = search_unit(shared.classes, shared.work, unit, handed.threshold)
    except Exception as error:
        if _interrupted(error):
            raise KeyboardInterrupt from error
        return replace(none, failures=((unit, error),))
    return Outcome(found, cut.weight(unit), frozenset([unit]))


def _interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C interrupted compiled code of a unit in the main thread.

    Python wraps the KeyboardInterrupt in a SystemError, once for each function on the stack.
    """
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def largest_wave(units: int) -> int:
    """Return the units of the longest waves; only the last wave may have up to half more."""
    return min(LARGEST, max(WAVE, units // WAVES))


def batches(units: int) -> Iterator[list[range]]:
    """Yield all units as batches of waves.

    The last units take longest, because their first parts meet few last parts. A short last wave
    would leave workers idle, so it joins the wave before it.
    """
    start, size, most = 0, FIRST, largest_wave(units)
    while start < units:
        batch: list[range] = []
        while start < units and len(batch) < BATCH:
            stop = start + size
            batch.append(range(start, units if stop + size // 2 >= units else stop))
            start, size = batch[-1].stop, min(2 * size, most)
        yield batch


class Batch(NamedTuple):
    """The tasks of some waves."""

    units: dict[int, Delayed]
    """Tasks of the units; each returns an `Outcome`."""
    totals: list[Delayed]
    """Tasks of the merged `Outcome` at the end of each wave."""

    def asked(self, *, each: bool) -> list[Delayed]:
        """Return the tasks whose results a run takes.

        A cluster returns the results of units only if ``each``; local schedulers always do.
        """
        alone = client_of() is not None and not each
        return self.totals if alone else [*self.totals, *self.units.values()]


def batch_of(
    shared: Delayed,
    work: Work,
    before: Outcome,
    waves: Sequence[range],
    resumed: Mapping[int, Outcome],
) -> Batch:
    """Return the tasks of some waves.

    - shared: a task with a `Shared`; ``work`` is its work
    - before: the outcome of all earlier batches
    - resumed: the outcomes of finished units
    """
    name = f"genobit-combinations-{uuid4().hex}"
    layer: dict[Any, Any] = {}
    units: dict[int, str] = {}
    totals: list[str] = []
    add = partial(merge_outcomes, top=work.top)
    hand_on = partial(known_after, top=work.top)
    handed: Any = hand_on(before)
    total: Any = before
    for k, wave in enumerate(waves):
        left = {unit: f"{name}-unit-{unit}" for unit in wave if unit not in resumed}
        layer |= {key: (run_unit, shared.key, unit, handed) for unit, key in left.items()}
        kept = [resumed[unit] for unit in wave if unit in resumed]
        keys = [*left.values(), *([add(kept)] if kept else [])]
        # The next wave gets the threshold from before this wave, so it need not wait.
        layer[handed := f"{name}-known-{k}"] = (hand_on, total)
        found = tree(layer, name, (k,), keys, add, FAN_IN)
        layer[key := f"{name}-total-{k}"] = (add, [total, found])
        units |= left
        totals.append(total := key)
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[shared])
    return Batch(
        {unit: Delayed(key, graph, layer=name) for unit, key in units.items()},
        [Delayed(key, graph, layer=name) for key in totals],
    )
