"""The best of all combinations of variants, unit by unit on whatever scheduler of dask is active.

Planes of the variants are gathered to memory once (2 or 3 bits a call) and go to every worker.
Units (`genobit.lazy.combination_units`) run in waves whose rankings are merged as a tree
(`genobit.lazy.combination_waves`); the score that so many combinations are known to reach is handed
to later units: it makes them faster and never changes the answer. Ranked is by score, then by the
members' positions, so the ranking is the same for every cut, number of threads and schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dask.base import compute
from dask.delayed import delayed

from genobit.lazy.checkpoints import Checkpoint
from genobit.lazy.combination_blocks import Again, Score, Work
from genobit.lazy.combination_estimates import Estimate, check_memory, estimated
from genobit.lazy.combination_runs import Ranking, Run
from genobit.lazy.rows import as_rows, ordered
from genobit.options import get_options

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.kernels.combination_tables import Classes
    from genobit.lazy.combination_scope import Scope
    from genobit.packing import Layout


def gathered(
    planes: Mapping[str, da.Array], layout: Layout, classes: NDArray[np.integer], count: int
) -> Classes:
    """Planes of dosages in memory, the samples of each class apart.

    Parameters
    ----------
    planes, layout
        Of the variants, dosages.
    classes
        Of each sample the number of its class, or -1 to leave it out.
    count
        Number of classes.
    """
    from genobit.kernels.combination_tables import Classes
    from genobit.lazy.tiles import whole_rows

    sizes = tuple(int(np.count_nonzero(classes == k)) for k in range(count))
    check_planes(planes, sizes)
    ready = whole_rows(ordered(planes, layout))
    classes = np.asarray(classes, np.int64)
    chunks = [plane.to_delayed()[:, 0] for plane in ready]
    task = delayed(_chunk_by_class, pure=True)
    parts = compute(
        *[task(list(blocks), layout, classes, count) for blocks in zip(*chunks, strict=True)]
    )
    if not all(part.complete for part in parts):
        parts = tuple(_with_called(part) if part.complete else part for part in parts)
    return Classes(
        tuple(np.concatenate([part.planes[k] for part in parts], axis=1) for k in range(count)),
        sizes,
    )


def _chunk_by_class(
    blocks: list[Any], layout: Layout, classes: NDArray[np.int64], count: int
) -> Classes:
    from genobit.kernels.bits import count_rows
    from genobit.kernels.combination_tables import Classes, by_class

    found = by_class(as_rows(blocks, layout), classes, count)
    if found.complete:
        return found
    full = all(
        (count_rows(planes[0]) == size).all()
        for planes, size in zip(found.planes, found.sizes, strict=True)
    )
    # What is missing is of samples that are left out.
    return Classes(tuple(p[1:] for p in found.planes), found.sizes) if full else found


def _with_called(part: Classes) -> Classes:
    from genobit.kernels.combination_tables import Classes
    from genobit.kernels.rows import Rows

    planes = []
    for both, size in zip(part.planes, part.sizes, strict=True):
        called = Rows(haplotypes=False, bits=size, planes=tuple(both), called=None).every()
        planes.append(np.concatenate([called[None], both]))
    return Classes(tuple(planes), part.sizes)


def check_planes(planes: Mapping[str, da.Array], sizes: Sequence[int]) -> None:
    """Refuse planes that do not fit in memory, before they are computed.

    Raises
    ------
    MemoryError
        If they take more than ``get_options().eager_limit``.
    """
    variants = next(iter(planes.values())).shape[0]
    size = 8 * len(planes) * variants * sum(-(-size // 64) for size in sizes)
    limit = get_options().eager_limit
    if size > limit:
        msg = (
            f"the genotypes of {variants:,} variants and {sum(sizes):,} samples take "
            f"{size / 2**20:,.0f} MiB, packed, more than eager_limit ({limit / 2**20:,.0f} MiB): "
            "select variants, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)


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
        What scores a block, `genobit.kernels.epistasis.search` by default.
    again
        What scores given combinations with the same bits, by default by mutual information.
    scope
        Which combinations; all by default.
    lowest
        A score that all reach.
    p
        Members of first parts, if not the cheapest.
    unit
        Combinations of a unit, if not as many as take a tenth of a second.
    """

    def __init__(
        self,
        classes: Classes,
        order: int,
        top: int,
        *,
        score: Score | None = None,
        again: Again | None = None,
        scope: Scope | None = None,
        lowest: float = 0.0,
        p: int | None = None,
        unit: int | None = None,
    ) -> None:
        from genobit.kernels.combination_cells import scored_again
        from genobit.kernels.epistasis import search
        from genobit.lazy.combination_scope import limited
        from genobit.lazy.combination_units import chosen

        if scope is not None:
            classes = scope.arranged(classes)
        self.classes = classes
        variants = classes.planes[0].shape[1]
        if scope is not None and scope.smaller:
            p = order - 1
        cut = chosen(variants, order, classes.sizes, complete=classes.complete, p=p)
        cut = limited(cut, scope)
        if unit is not None:
            cut = cut._replace(unit=unit)
        self.work = Work(cut, top, score or search, lowest, scope, again or scored_again)

    @property
    def total(self) -> int:
        """Combinations of the variants, with those that the scope leaves out."""
        return self.work.cut.combinations

    def estimate(self) -> Estimate:
        """What the search will take on the scheduler that is active.

        Raises
        ------
        MemoryError
            If it would take more memory than ``get_options().eager_limit``.
        """
        return estimated(self.classes, self.work)

    def question(self) -> dict[str, Any]:
        """What is asked, for a checkpoint to tell it from other questions."""
        from importlib.metadata import version

        from genobit.lazy.checkpoints import digest

        cut, top, score, lowest, scope, _ = self.work
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
            If the folder holds another run, something else or a damaged file.
        RuntimeError
            If another run is at work in the folder.
        """
        planes = sum(plane.nbytes for plane in self.classes.planes)
        check_memory(self.work.cut, self.work.top, planes)
        if checkpoint is None:
            return Run(self.classes, self.work, None, progress=progress).ranking()
        with Checkpoint(checkpoint, {**(about or {}), **self.question()}) as kept:
            return Run(self.classes, self.work, kept, progress=progress).ranking()


def _name(score: Score) -> str:
    """A function and what is bound of its arguments, the same in every process."""
    from functools import partial

    if not isinstance(score, partial):
        return f"{score.__module__}.{score.__qualname__}"
    bound = [*score.args, *score.keywords.items()]
    return f"{_name(score.func)}{bound!r}"
