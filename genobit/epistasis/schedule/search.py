"""Search of all combinations of variants for the best, on the active dask scheduler.

- `planes` gathers the planes of the variants once, with 2 or 3 bits per call. Every worker gets
  them.
- `units` divides the search into units of work.
- `waves` runs the units in waves and merges their rankings as a tree.

A score that ``top`` combinations reach is passed to later units as a threshold. It makes them
faster and never changes the result. Combinations are ranked by score, then by the positions of
their members. The ranking is therefore the same for any division, number of threads and scheduler.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from genobit.engine.schedule.checkpoints import Checkpoint
from genobit.epistasis.schedule.blocks import Score, Work
from genobit.epistasis.schedule.estimates import Estimate, check_duration, check_memory, estimated
from genobit.epistasis.schedule.runs import Ranking, Run

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.scope import Scope


class CombinationSearch:
    """Search of all combinations of ``order`` variants, or those of a scope, for the ``top`` best.

    - classes: planes of the variants by class, from `gathered`
    - order: members of a combination, at least 2
    - score: function that scores a block, by default `genobit.epistasis.kernels.search.search`
    - lowest: a score that all combinations reach
    - p: members of a first part, by default the cheapest
    - unit: combinations of a unit, by default as many as take 0.1 to 1 second
    - held: bytes that ``score`` holds
    """

    def __init__(
        self,
        classes: Classes,
        order: int,
        top: int,
        *,
        score: Score | None = None,
        scope: Scope | None = None,
        lowest: float = 0.0,
        p: int | None = None,
        unit: int | None = None,
        held: int = 0,
    ) -> None:
        from genobit.epistasis.kernels.search import search
        from genobit.epistasis.schedule.scope import limited
        from genobit.epistasis.schedule.units import chosen

        if scope is not None:
            classes = scope.arranged(classes)
        self.classes = classes
        self._held = held
        variants = classes.planes[0].shape[1]
        if scope is not None and scope.smaller:
            p = order - 1
        cut = chosen(variants, order, classes.sizes, complete=classes.complete, p=p)
        cut = limited(cut, scope)
        if unit is not None:
            cut = cut._replace(unit=unit)
        # A ranking has at most as many rows as there are combinations.
        top = min(top, max(cut.combinations, 1))
        self.work = Work(cut, top, score or search, lowest, scope)

    @property
    def total(self) -> int:
        """Number of combinations, including some that the scope leaves out."""
        return self.work.cut.combinations

    def estimate(
        self,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """Estimate the time and memory of the search on the active scheduler.

        Units that the folder ``checkpoint`` holds take no time. Raises MemoryError past
        ``get_options().eager_limit``.
        """
        finished: set[int] = set()
        if checkpoint is not None and Path(checkpoint).expanduser().is_dir():
            with Checkpoint(checkpoint, {**(about or {}), **self.question()}) as kept:
                finished = kept.units()
        return estimated(self.classes, self.work, self._held, finished)

    def question(self) -> dict[str, Any]:
        """Return everything that determines the result; a checkpoint refuses another search."""
        from importlib.metadata import version

        from genobit.engine.schedule.checkpoints import digest

        cut, top, score, lowest, scope = self.work
        return {
            "genobit": version("genobit"),
            "order": cut.order,
            "top": top,
            "variants": cut.variants,
            "class_sizes": list(self.classes.sizes),
            "score": _name(score),
            "lowest": repr(lowest),
            "scope": None if scope is None else scope.digest(),
            "genotypes_by_class": digest(self.classes.planes),
            "cut": list(cut),
        }

    def run(
        self,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        about: Mapping[str, Any] | None = None,
        progress: bool | None = None,
    ) -> Ranking:
        """Run the search on the active dask scheduler and return the ranking.

        Ctrl-C returns the ranking of the finished units. The folder ``checkpoint`` keeps finished
        units. The JSON values ``about`` also identify the search.

        Raises MemoryError past ``get_options().eager_limit``, and SearchError with a partial
        ranking if a unit fails. Raises ValueError past ``get_options().longest_search``, and for a
        folder with another search or damaged files. Raises RuntimeError if another run uses the
        folder.
        """
        check_memory(self.work.cut, self.work.top, self.classes, self._held)
        if checkpoint is None:
            check_duration(self.classes, self.work, self._held, set())
            return Run(self.classes, self.work, None, progress=progress).ranking()
        with Checkpoint(checkpoint, {**(about or {}), **self.question()}) as kept:
            check_duration(self.classes, self.work, self._held, kept.units())
            return Run(self.classes, self.work, kept, progress=progress).ranking()


def _name(score: Score) -> str:
    """Return the name of a function and its bound arguments, the same in every process."""
    from functools import partial

    if not isinstance(score, partial):
        return f"{score.__module__}.{score.__qualname__}"
    bound = [*score.args, *score.keywords.items()]
    return f"{_name(score.func)}{bound!r}"
