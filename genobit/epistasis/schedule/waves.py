"""Units of a search of combinations as one graph: rankings merged as a tree, scores handed on.

Units stand in waves, and a unit is handed the score that so many combinations of the waves before
the last one are known to reach. So no worker waits for the end of a wave: the units of the next one
need what is known already. Which waves there are follows from the number of units alone, so a unit
is handed the same score on any scheduler and in a run that was resumed, and finds the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from genobit.engine.schedule.as_completed import as_completed, client_of
from genobit.engine.schedule.pair_sums import tree
from genobit.epistasis.schedule.blocks import Failure, Found, merged, searched_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.blocks import Work

WAVE = 64
"""Units of a wave, of a run that is not long."""
WAVES = 256
"""Waves of a long run: what is found in a hundredth of it is not handed on at once."""
LARGEST = 2048
"""Most units of a wave: 4,096 are under way, and a graph holds 16 such waves."""
FIRST = 4
"""Units of the first wave: they know of no score."""
BATCH = 16
"""Waves of a graph: workers are idle for about a unit at its end, one of a thousand."""
FAN_IN = 8
"""Rankings that a task merges."""


@dataclass(frozen=True, eq=False)  # dask looks for keys within tuples
class Outcome:
    """What some units found."""

    found: Found
    weight: int = 0
    """Combinations of the units that are done."""
    done: frozenset[int] = frozenset()
    """Units of this graph that are done."""
    failures: tuple[tuple[int, Exception], ...] = ()
    """Units that failed, and why."""


@dataclass(frozen=True)
class Known:
    """What a unit is handed of those before it."""

    threshold: float
    failed: bool
    """There is no sense in going on."""


@dataclass(frozen=True, eq=False)
class Shared:
    """What all units need; one object, of which a cluster has a copy on each worker."""

    classes: Classes
    work: Work


def nothing(order: int) -> Outcome:
    """What no unit finds."""
    return Outcome(Found(np.empty(0), np.empty((0, order), np.int64), 0, 0, np.empty(0)))


def added(parts: Sequence[Outcome], top: int) -> Outcome:
    """What several found."""
    permutations = max(part.found.maxima.size for part in parts)
    none = np.full(permutations, -np.inf)
    found = [
        part.found if part.found.maxima.size else part.found._replace(maxima=none) for part in parts
    ]
    return Outcome(
        merged(found, top),
        sum(part.weight for part in parts),
        frozenset().union(*(part.done for part in parts)),
        tuple(failure for part in parts for failure in part.failures),
    )


def known(part: Outcome, top: int, lowest: float) -> Known:
    """What is handed to units after these."""
    whole = part.found.scores.size == top
    return Known(float(part.found.scores[-1]) if whole else lowest, bool(part.failures))


def searched(shared: Shared, unit: int, handed: Known) -> Outcome:
    """What a unit finds, which is nothing once another one has failed."""
    cut, none = shared.work.cut, nothing(shared.work.cut.order)
    if handed.failed:
        return none
    found = searched_unit(shared.classes, shared.work, unit, handed.threshold)
    if isinstance(found, Failure):
        return replace(none, failures=((unit, found.error),))
    return Outcome(found, cut.weight(unit), frozenset([unit]))


def largest_wave(units: int) -> int:
    """Units of the longest waves of a run of so many, but that the last has up to half more."""
    return min(LARGEST, max(WAVE, units // WAVES))


def batches(units: int) -> Iterator[list[range]]:
    """All units in waves, some of them at a time.

    The last units take longest, as their first parts meet few last ones: a wave of few of them
    would leave workers without work.
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
    """Of units, each a `Outcome`."""
    totals: list[Delayed]
    """Of all that is found by the end of each wave, as `Outcome`."""


def batch_of(
    shared: Any, work: Work, before: Outcome, waves: Sequence[range], resumed: Mapping[int, Outcome]
) -> Batch:
    """The graph of some waves.

    Parameters
    ----------
    shared
        A `Shared`: `dask.delayed`, or a future.
    work
        The same as in ``shared``.
    before
        All that the batches before this one found.
    waves
        Units of each wave.
    resumed
        Units that are finished already.
    """
    name = f"genobit-combinations-{uuid4().hex}"
    layer: dict[Any, Any] = {}
    units: dict[int, str] = {}
    totals: list[str] = []
    here = shared.key if isinstance(shared, Delayed) else shared
    add = partial(added, top=work.top)
    hand_on = partial(known, top=work.top, lowest=work.lowest)
    handed: Any = hand_on(before)
    total: Any = before
    for k, wave in enumerate(waves):
        left = {unit: f"{name}-unit-{unit}" for unit in wave if unit not in resumed}
        layer |= {key: (searched, here, unit, handed) for unit, key in left.items()}
        kept = [resumed[unit] for unit in wave if unit in resumed]
        keys = [*left.values(), *([add(kept)] if kept else [])]
        # What the next wave is handed was found before this one.
        layer[handed := f"{name}-known-{k}"] = (hand_on, total)
        found = tree(layer, name, (k,), keys, add, FAN_IN)
        layer[key := f"{name}-total-{k}"] = (add, [total, found])
        units |= left
        totals.append(total := key)
    above = [shared] if isinstance(shared, Delayed) else []
    graph = HighLevelGraph.from_collections(name, layer, dependencies=above)
    return Batch(
        {unit: Delayed(key, graph, layer=name) for unit, key in units.items()},
        [Delayed(key, graph, layer=name) for key in totals],
    )


def shared_by_all(classes: Classes, work: Work) -> Any:
    """What all units need where tasks find it: with a cluster a copy on each worker."""
    shared, client = Shared(classes, work), client_of()
    if client is not None:
        return client.scatter(shared, broadcast=True, hash=False)
    return delayed(shared, traverse=False, name=f"genobit-planes-{uuid4().hex}")


def computed(
    batch: Batch,
    *,
    each: bool,
    unit: Callable[[int, Outcome], None],
    total: Callable[[Outcome], None],
) -> None:
    """Compute a batch, and tell of units and totals as they are done.

    Local schedulers see all results go by. A cluster keeps them: it is asked for totals, and for
    what units found only if ``each``.
    """
    units = {task.key: number for number, task in batch.units.items()}
    totals = {task.key for task in batch.totals}

    def see(key: Any, result: Any) -> None:
        if key in totals:
            total(result)
        else:
            unit(units[key], result)

    tasks = [*batch.totals, *batch.units.values()]
    if client_of() is not None and not each:
        tasks = batch.totals
    as_completed(tasks, see, last=batch.totals[-1])
