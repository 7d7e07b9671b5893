"""Runs of a search of combinations on the active dask scheduler.

If a run is stopped, its result is the last total (`genobit.epistasis.schedule.waves`) and the units
finished since.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.progress import bar
from genobit.epistasis.schedule.blocks import Found
from genobit.epistasis.schedule.waves import (
    Outcome,
    added,
    batch_of,
    batches,
    computed,
    nothing,
    shared_by_all,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.schedule.checkpoints import Checkpoint
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.blocks import Work


class Ranking(NamedTuple):
    """Ranking of a search, complete or partial."""

    scores: NDArray[np.float64]
    """(rank,), descending."""
    members: NDArray[np.int64]
    """(rank, order), positions ascending."""
    combinations: int
    """Number of combinations searched."""
    scored: int
    """Number of combinations that passed the bound."""
    fraction: float
    """Fraction of the work that is done; 1 for a complete ranking."""
    maxima: NDArray[np.float64]
    """The largest score under each permutation."""

    @property
    def partial(self) -> bool:
        """Whether the search was stopped before its end."""
        return self.fraction < 1


class SearchError(RuntimeError):
    """Error of a unit of a search; ``ranking`` holds the result of the other units."""

    def __init__(self, message: str, ranking: Ranking) -> None:
        super().__init__(message)
        self.ranking = ranking


class Run:
    """State of one run of a search: finished units and their merged result."""

    def __init__(
        self, classes: Classes, work: Work, checkpoint: Checkpoint | None, *, progress: bool | None
    ) -> None:
        self.classes = classes
        self.work = work
        self.checkpoint = checkpoint
        self.progress = progress
        self.total = nothing(work.cut.order)
        self.fresh: dict[int, Outcome] = {}
        self.bar: Any = None

    def ranking(self) -> Ranking:
        """Compute the unfinished units and return the ranking; raises SearchError if one fails."""
        finished = set() if self.checkpoint is None else self.checkpoint.units()
        with bar(
            progress=self.progress,
            # Units from a checkpoint must not count in the estimate of the time left.
            initial=sum(self.work.cut.weight(unit) for unit in finished),
            total=self.work.cut.combinations,
            desc="combinations",
            unit="",
            unit_scale=True,
        ) as self.bar:
            try:
                self._search(finished)
            except KeyboardInterrupt:
                # The interrupt may come within `_replace`: do not count a unit twice.
                fresh = [part for k, part in self.fresh.items() if k not in self.total.done]
                self.total = added([self.total, *fresh], self.work.top)
        if self.total.failures:
            unit, error = self.total.failures[0]
            where = (
                "its .ranking is what the others found"
                if self.checkpoint is None
                else f"{self.checkpoint.folder} holds the others: the same call goes on from there"
            )
            msg = f"unit {unit} of {self.work.cut.units} failed with {error!r}; {where}"
            raise SearchError(msg, self._ranking()) from error
        return self._ranking()

    def _ranking(self) -> Ranking:
        found, done, every = self.total.found, self.total.weight, self.work.cut.combinations
        fraction = done / every if done < every else 1.0
        return Ranking(
            found.scores, found.members, found.searched, found.scored, fraction, found.maxima
        )

    def _search(self, finished: set[int]) -> None:
        """Run all batches; finished units do not change the division into batches."""
        shared = shared_by_all(self.classes, self.work)
        for waves in batches(self.work.cut.units):
            units = range(waves[0].start, waves[-1].stop)
            resumed = {unit: self._resumed(unit) for unit in finished.intersection(units)}
            self.total, self.fresh = replace(self.total, done=frozenset()), {}
            if len(resumed) == len(units):
                self.total = added([self.total, *resumed.values()], self.work.top)
                continue
            self.fresh = dict(resumed)
            batch = batch_of(shared, self.work, self.total, waves, resumed)
            each = self.checkpoint is not None
            computed(batch, each=each, unit=self._add, total=self._replace)
            if self.total.failures:
                return

    def _resumed(self, unit: int) -> Outcome:
        if self.checkpoint is None:
            msg = "no folder keeps units"
            raise RuntimeError(msg)
        arrays: dict[str, Any] = self.checkpoint.read(unit)
        arrays |= {name: int(arrays[name]) for name in ("searched", "scored")}
        return Outcome(Found(**arrays), self.work.cut.weight(unit), frozenset([unit]))

    def _add(self, unit: int, part: Outcome) -> None:
        """Keep the result of a unit, and write it to the checkpoint."""
        if self.checkpoint is not None and part.done:
            arrays = part.found._asdict()
            self.checkpoint.write(unit, {name: np.asarray(x) for name, x in arrays.items()})
        if unit not in self.total.done:
            self.fresh[unit] = part
            self.bar.update(part.weight)

    def _replace(self, total: Outcome) -> None:
        """Take the total at the end of a wave, unless a later one has arrived from the cluster."""
        if len(total.done) + len(total.failures) <= len(self.total.done):
            return
        before = self.total.weight + sum(part.weight for part in self.fresh.values())
        self.total = total
        self.fresh = {unit: part for unit, part in self.fresh.items() if unit not in total.done}
        now = total.weight + sum(part.weight for part in self.fresh.values())
        self.bar.update(now - before)
