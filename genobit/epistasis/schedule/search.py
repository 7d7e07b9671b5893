"""The best of all combinations of variants, unit by unit on whatever scheduler of dask is active.

Planes of the variants are gathered once (`genobit.epistasis.schedule.planes`; 2 or 3 bits a call) and
go to every worker.
Units (`genobit.epistasis.schedule.units`) run in waves whose rankings are merged as a tree
(`genobit.epistasis.schedule.waves`); the score that so many combinations are known to reach is handed
to later units: it makes them faster and never changes the answer. Ranked is by score, then by the
members' positions, so the ranking is the same for every cut, number of threads and schedule.
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
    """All combinations of an order, or those of a scope, gone through for the best.

    Parameters
    ----------
    classes
        Planes of the variants by class, see `gathered`.
    order
        Members of a combination, at least 2.
    top
        How many of the best to keep.
    score
        What scores a block, `genobit.epistasis.kernels.search.search` by default.
    scope
        Which combinations; all by default.
    lowest
        A score that all reach.
    p
        Members of first parts, if not the cheapest.
    unit
        Combinations of a unit, if not as many as take a tenth of a second to a second.
    held
        Bytes that ``score`` holds.
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
        # No ranking is longer than there are combinations.
        top = min(top, max(cut.combinations, 1))
        self.work = Work(cut, top, score or search, lowest, scope)

    @property
    def total(self) -> int:
        """Combinations of the variants, with those that the scope leaves out."""
        return self.work.cut.combinations

    def estimate(
        self,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """Estimate what the search, or the rest of one, will take on the active scheduler.

        Parameters
        ----------
        checkpoint, about
            As for `run`. Units that the folder holds take no time.

        Raises
        ------
        MemoryError
            If it would take more memory than ``get_options().eager_limit``.
        """
        finished: set[int] = set()
        if checkpoint is not None and Path(checkpoint).expanduser().is_dir():
            with Checkpoint(checkpoint, {**(about or {}), **self.question()}) as kept:
                finished = kept.units()
        return estimated(self.classes, self.work, self._held, finished)

    def question(self) -> dict[str, Any]:
        """What is asked, for a checkpoint to tell it from other questions."""
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
        """Search, on the scheduler of dask that is active.

        Ctrl-C ends it with the ranking of what is done, and so does an error, within `SearchError`.

        Parameters
        ----------
        checkpoint
            A folder where finished units are kept, and taken from if they are there.
        about
            What else tells this question from others, as JSON can say it.
        progress
            Whether to show a bar, with an estimate of the time left; None for what
            `get_options` says.

        Raises
        ------
        MemoryError
            Before it starts, if it would take more than ``get_options().eager_limit``.
        SearchError
            If a unit fails.
        ValueError
            If it would take longer than ``get_options().longest_search``, or if the folder holds
            another run, something else or a damaged file.
        RuntimeError
            If another run is at work in the folder.
        """
        check_memory(self.work.cut, self.work.top, self.classes, self._held)
        if checkpoint is None:
            check_duration(self.classes, self.work, self._held, set())
            return Run(self.classes, self.work, None, progress=progress).ranking()
        with Checkpoint(checkpoint, {**(about or {}), **self.question()}) as kept:
            check_duration(self.classes, self.work, self._held, kept.units())
            return Run(self.classes, self.work, kept, progress=progress).ranking()


def _name(score: Score) -> str:
    """A function and what is bound of its arguments, the same in every process."""
    from functools import partial

    if not isinstance(score, partial):
        return f"{score.__module__}.{score.__qualname__}"
    bound = [*score.args, *score.keywords.items()]
    return f"{_name(score.func)}{bound!r}"
