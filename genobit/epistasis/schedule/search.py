"""Search of all combinations of variants for the best, on the active dask scheduler.

- `variants` gathers the planes of the variants once, with 2 or 3 bits per call. Every worker gets
  them.
- `units` divides the search into units of work, and searches one unit.
- `waves` makes the tasks: units in waves, whose rankings are merged as a tree.

A score that ``top`` combinations reach is passed to later units as a threshold. It makes them
faster and never changes the result. Combinations are ranked by score, then by the positions of
their members. The ranking is therefore the same for any division, number of threads and scheduler.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.progress import bar
from genobit.engine.schedule.checkpoints import Checkpoint, digest
from genobit.engine.schedule.computing import as_completed, shared
from genobit.epistasis.kernels.search import Best, search
from genobit.epistasis.schedule.estimates import check_duration, check_memory, estimated
from genobit.epistasis.schedule.units import Score, Work, chosen
from genobit.epistasis.schedule.waves import (
    Outcome,
    Shared,
    batch_of,
    batches,
    empty_outcome,
    merge_outcomes,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from genobit.engine.schedule.costs import Estimate
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.variants import Scope


class SearchError(RuntimeError):
    """Error of a unit of a search; ``ranking`` holds the result of the other units."""

    def __init__(self, message: str, ranking: Best) -> None:
        super().__init__(message)
        self.ranking = ranking


class Run:
    """State of a run: the total of the finished waves, and the units finished since."""

    def __init__(self, work: Work, checkpoint: Checkpoint | None) -> None:
        self.work = work
        self.checkpoint = checkpoint
        self.total = empty_outcome(work.cut.order)
        self.fresh: dict[int, Outcome] = {}
        self.bar: Any = None

    def resumed(self, units: range, finished: set[int]) -> dict[int, Outcome]:
        """Begin a batch of units; return the outcomes of those that the checkpoint holds."""
        kept = {unit: self._read(unit) for unit in finished.intersection(units)}
        self.total, self.fresh = replace(self.total, done=frozenset()), {}
        if len(kept) == len(units):
            self.total = merge_outcomes([self.total, *kept.values()], self.work.top)
        else:
            self.fresh = dict(kept)
        return kept

    def _read(self, unit: int) -> Outcome:
        if self.checkpoint is None:
            msg = "no folder keeps units"
            raise RuntimeError(msg)
        arrays: dict[str, Any] = self.checkpoint.read(unit)
        arrays |= {name: int(arrays[name]) for name in ("searched", "scored", "unfit")}
        return Outcome(Best(**arrays), self.work.cut.weight(unit), frozenset([unit]))

    def see(self, units: Mapping[Any, int], key: Any, result: Outcome) -> None:
        """Take the result of a task: a unit, if ``units`` has its number, or a total."""
        if key in units:
            self._add(units[key], result)
        else:
            self._replace(result)

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

    def stop(self) -> None:
        """Add the units finished since the last total; the run has been interrupted."""
        # The interrupt may come within `_replace`: do not count a unit twice.
        fresh = [part for k, part in self.fresh.items() if k not in self.total.done]
        self.total = merge_outcomes([self.total, *fresh], self.work.top)

    def ranking(self) -> Best:
        """Return the ranking; raises SearchError if a unit has failed."""
        done, every = self.total.weight, self.work.cut.combinations
        ranking = self.total.found._replace(fraction=done / every if done < every else 1.0)
        if self.total.failures:
            unit, error = self.total.failures[0]
            where = (
                "its .ranking is what the others found"
                if self.checkpoint is None
                else f"{self.checkpoint.folder} holds the others: the same call goes on from there"
            )
            msg = f"unit {unit} of {self.work.cut.units} failed with {error!r}; {where}"
            raise SearchError(msg, ranking) from error
        return ranking


class CombinationSearch:
    """Search of all combinations of ``order`` variants, or those of a scope, for the ``top`` best.

    - classes: planes of the variants by class, from `gathered`
    - order: members of a combination, at least 2
    - score: function that scores a block, by default `genobit.epistasis.kernels.search.search`
    - held: bytes that ``score`` holds
    - times: how many times as long as a table a combination takes; units are smaller by this factor
    - about: further JSON values that identify the search in a checkpoint
    """

    def __init__(
        self,
        classes: Classes,
        order: int,
        top: int,
        *,
        score: Score = search,
        scope: Scope | None = None,
        held: int = 0,
        times: int = 1,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self._about = dict(about or {})
        if scope is not None:
            classes = scope.arranged(classes)
        self.classes = classes
        self._held = held
        variants = classes.planes[0].shape[1]
        parts = order - 1 if scope is not None and scope.smaller else None
        cut = chosen(variants, order, classes.sizes, complete=classes.complete, p=parts)
        if scope is not None and scope.smaller:
            # All other combinations hold no member of the sets.
            begin = variants - scope.both if scope.both else 0
            cut = cut._replace(reach=scope.smaller, begin=begin)
        cut = cut._replace(unit=max(1, cut.unit // times))
        # A ranking has at most as many rows as there are combinations.
        top = min(top, max(cut.combinations, 1))
        self.work = Work(cut, top, score, scope)

    def estimate(self, *, checkpoint: str | os.PathLike[str] | None = None) -> Estimate:
        """Estimate the time and memory of the search on the active scheduler.

        Units that the folder ``checkpoint`` holds take no time. Raises MemoryError past
        ``get_options().eager_limit``.
        """
        finished: set[int] = set()
        if checkpoint is not None and Path(checkpoint).expanduser().is_dir():
            with Checkpoint(checkpoint, self.question()) as kept:
                finished = kept.units()
        return estimated(self.classes, self.work, self._held, finished)

    def question(self) -> dict[str, Any]:
        """Return everything that determines the result; a checkpoint refuses another search."""
        cut, top, score, scope = self.work
        return {
            **self._about,
            "order": cut.order,
            "top": top,
            "variants": cut.variants,
            "class_sizes": list(self.classes.sizes),
            "score": _name(score),
            "scope": None if scope is None else scope.digest(),
            "genotypes_by_class": digest(self.classes.planes),
            "cut": list(cut),
        }

    def run(
        self,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> Best:
        """Run the search on the active dask scheduler and return the ranking.

        Ctrl-C returns the ranking of the finished units. The folder ``checkpoint`` keeps finished
        units.

        Raises MemoryError past ``get_options().eager_limit``, and SearchError with a partial
        ranking if a unit fails. Raises ValueError past ``get_options().longest_search``, and for a
        folder with another search or damaged files. Raises RuntimeError if another run uses the
        folder.
        """
        cut = self.work.cut
        check_memory(cut, self.work.top, self.classes, self._held)
        folder: AbstractContextManager[Checkpoint | None] = (
            nullcontext() if checkpoint is None else Checkpoint(checkpoint, self.question())
        )
        with folder as kept:
            finished = set() if kept is None else kept.units()
            check_duration(self.classes, self.work, self._held, finished)
            run = Run(self.work, kept)
            with bar(
                progress=progress,
                # Units from a checkpoint must not count in the estimate of the time left.
                initial=sum(map(cut.weight, finished)),
                total=cut.combinations,
                desc="combinations",
                unit="",
                unit_scale=True,
            ) as run.bar:
                try:
                    inputs = shared(Shared(self.classes, self.work))
                    for waves in batches(cut.units):
                        units = range(waves[0].start, waves[-1].stop)
                        resumed = run.resumed(units, finished)
                        if len(resumed) < len(units):
                            batch = batch_of(inputs, self.work, run.total, waves, resumed)
                            numbers = {task.key: unit for unit, task in batch.units.items()}
                            see, last = partial(run.see, numbers), batch.totals[-1]
                            as_completed(batch.asked(each=kept is not None), see, last=last)
                        if run.total.failures:
                            break
                except KeyboardInterrupt:
                    run.stop()
            return run.ranking()


def _name(score: Score) -> str:
    """Return the name of a function and its bound arguments, the same in every process."""
    if not isinstance(score, partial):
        return f"{score.__module__}.{score.__qualname__}"
    bound = [*score.args, *score.keywords.items()]
    return f"{_name(score.func)}{bound!r}"
