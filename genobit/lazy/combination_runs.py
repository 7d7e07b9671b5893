"""Runs of a search of combinations: waves of units on the scheduler of dask that is active.

Waves have the same units whether some are finished or none, and what a unit is handed was found by
the waves before: so it finds the same in a run that was stopped and resumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from dask.base import compute, get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from genobit.lazy.combination_blocks import Failure, Found, Work, merged, searched_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.kernels.combination_tables import Classes
    from genobit.lazy.checkpoints import Checkpoint

WAVE = 64
"""Most units in flight."""


class Ranking(NamedTuple):
    """What a search found, all of it or what was done when it was stopped."""

    scores: NDArray[np.float64]
    """(rank,), descending."""
    members: NDArray[np.int64]
    """(rank, order), positions ascending."""
    combinations: int
    """How many were searched."""
    scored: int
    """Those that came past the bound."""
    fraction: float
    """Part of the work that was done: 1 if the ranking is whole."""
    maxima: NDArray[np.float64]
    """The largest score under each permutation."""

    @property
    def partial(self) -> bool:
        """Whether the search was stopped."""
        return self.fraction < 1


class SearchError(RuntimeError):
    """A unit failed; ``ranking`` is what the others found."""

    def __init__(self, message: str, ranking: Ranking) -> None:
        super().__init__(message)
        self.ranking = ranking


class Run:
    """One run of a search: what is done, and what it found."""

    def __init__(
        self, classes: Classes, work: Work, checkpoint: Checkpoint | None, *, progress: bool
    ) -> None:
        self.classes = classes
        self.work = work
        self.checkpoint = checkpoint
        self.progress = progress
        empty = np.empty((0, self.work.cut.order), np.int64)
        self.found = Found(np.empty(0), empty, 0, 0, np.empty(0))
        self.fresh: dict[int, Found] = {}
        self.failures: dict[int, Exception] = {}
        self.weight = 0
        self.bar: Any = None

    def ranking(self) -> Ranking:
        """Compute what is left, and rank all.

        Raises
        ------
        SearchError
            If a unit fails.
        """
        from tqdm import tqdm

        finished = set() if self.checkpoint is None else self.checkpoint.units()
        with tqdm(
            # What was done before says nothing of the time that is left.
            initial=sum(self.work.cut.weight(unit) for unit in finished),
            total=self.work.cut.combinations,
            desc="combinations",
            unit="",
            unit_scale=True,
            disable=not self.progress,
        ) as self.bar:
            try:
                self._waves(finished)
            except KeyboardInterrupt:
                self._merge()
        if self.failures:
            unit, error = next(iter(self.failures.items()))
            where = (
                "its .ranking is what the others found"
                if self.checkpoint is None
                else f"{self.checkpoint.folder} holds the others: the same call goes on from there"
            )
            msg = f"unit {unit} of {self.work.cut.units} failed with {error!r}; {where}"
            raise SearchError(msg, self._ranking()) from error
        return self._ranking()

    def _ranking(self) -> Ranking:
        found, total = self.found, self.work.cut.combinations
        fraction = self.weight / total if self.weight < total else 1.0
        return Ranking(
            found.scores, found.members, found.searched, found.scored, fraction, found.maxima
        )

    def _waves(self, finished: set[int]) -> None:
        """Units in their order, in the same waves whether some are finished or none.

        So a unit is handed the same threshold in a run that was stopped, and finds the same.
        """
        planes = _shared(self.classes)
        units, size = self.work.cut.units, 4
        start = 0
        while start < units and not self.failures:
            wave = range(start, min(start + size, units))
            for unit in finished.intersection(wave):
                self._resume(unit)
            left = [unit for unit in wave if unit not in finished]
            if left:
                self._wave(planes, left)
            self._merge()
            start, size = wave.stop, min(2 * size, WAVE)

    def _resume(self, unit: int) -> None:
        if self.checkpoint is None:
            return
        arrays: dict[str, Any] = self.checkpoint.read(unit)
        arrays |= {name: int(arrays[name]) for name in ("searched", "scored")}
        self.fresh[unit] = Found(**arrays)
        self.weight += self.work.cut.weight(unit)

    def _wave(self, planes: Any, wave: list[int]) -> None:
        """Compute some units; what is done is kept even if the rest is interrupted."""
        name = f"genobit-combinations-{uuid4().hex}"
        task = delayed(searched_unit, pure=False)
        units = {f"{name}-{unit}": unit for unit in wave}
        tasks: list[Delayed] = [
            task(planes, self.work, unit, self._threshold(), dask_key_name=key)
            for key, unit in units.items()
        ]

        def note(key: Any, result: Any, *_: Any) -> None:
            if key in units:
                self._add(units[key], result)

        # Local schedulers tell of each unit, others when the wave is done.
        with Callback(posttask=note):
            results = compute(*tasks)
        for unit, result in zip(wave, results, strict=True):
            if unit not in self.fresh and unit not in self.failures:
                self._add(unit, result)

    def _threshold(self) -> float:
        whole = self.found.scores.size == self.work.top
        return float(self.found.scores[-1]) if whole else self.work.lowest

    def _add(self, unit: int, result: Found | Failure) -> None:
        if isinstance(result, Failure):
            self.failures[unit] = result.error
            return
        if self.checkpoint is not None:
            self.checkpoint.write(
                unit, {name: np.asarray(value) for name, value in result._asdict().items()}
            )
        self.fresh[unit] = result
        weight = self.work.cut.weight(unit)
        self.weight += weight
        self.bar.update(weight)

    def _merge(self) -> None:
        parts = [self.found, *self.fresh.values()]
        permutations = max(part.maxima.size for part in parts)
        parts = [
            part if part.maxima.size else part._replace(maxima=np.full(permutations, -np.inf))
            for part in parts
        ]
        self.found = merged(parts, self.work.top)
        self.fresh = {}


def _shared(classes: Classes) -> Any:
    """The planes where tasks find them: with a cluster a copy on each worker."""
    client: Any = getattr(get_scheduler(), "__self__", None)
    if hasattr(client, "scatter"):
        # In a list: of a tuple each element would be scattered by itself.
        return client.scatter([classes], broadcast=True, hash=False)[0]
    return delayed(classes, traverse=False, name=f"genobit-planes-{uuid4().hex}")
