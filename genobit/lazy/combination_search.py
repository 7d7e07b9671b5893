"""The best of all combinations of variants, unit by unit on whatever scheduler of dask is active.

Planes of the variants are gathered to memory once (2 or 3 bits a call) and go to every worker.
Units (`genobit.lazy.combination_units`) run in waves of bounded size; the score that so many
combinations are known to reach after a wave is handed to the units of the next: it makes them
faster and never changes the answer. Ranked is by score, then by the members' positions, so the
ranking is the same for every cut, number of threads and schedule.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import numpy as np
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from genobit.lazy.checkpoints import Checkpoint
from genobit.lazy.combination_units import Cut
from genobit.lazy.rows import as_rows, ordered

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.kernels.combination_tables import Classes
    from genobit.kernels.epistasis import Best
    from genobit.lazy.combination_scope import Scope
    from genobit.packing import Layout

WAVE = 32
"""Most units in flight."""

Score = Callable[..., "Best"]
"""``score(classes, first, last, top, threshold, allowed)``, as `genobit.kernels.epistasis.search`;
a function of a module or a partial of one, since it goes to other processes."""


class Found(NamedTuple):
    """The best combinations of some units, best first."""

    scores: NDArray[np.float64]
    members: NDArray[np.int64]
    """(combinations, order), positions ascending."""
    searched: int
    """Combinations in the scope."""
    scored: int
    """Those of them that came past the bound."""
    maxima: NDArray[np.float64]
    """The largest score under each permutation, where the score has permutations."""


class Failure(NamedTuple):
    """Why a unit gave nothing."""

    error: Exception


class Work(NamedTuple):
    """What a worker needs to know beside the planes."""

    cut: Cut
    top: int
    score: Score
    lowest: float
    """A score that all reach: where thresholds start."""
    scope: Scope | None


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

    ready = whole_rows(ordered(planes, layout))
    classes = np.asarray(classes, np.int64)
    chunks = [plane.to_delayed()[:, 0] for plane in ready]
    task = delayed(_chunk_by_class, pure=True)
    parts = dask.compute(
        *[task(list(blocks), layout, classes, count) for blocks in zip(*chunks, strict=True)]
    )
    sizes = tuple(int(np.count_nonzero(classes == k)) for k in range(count))
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


def size_of(variants: int, sizes: Sequence[int], *, complete: bool) -> int:
    """Bytes of the planes of so many variants."""
    return variants * sum(-(-size // 64) for size in sizes) * 8 * (2 if complete else 3)


def best_of(
    scores: NDArray[np.float64], members: NDArray[np.int64], top: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The best, best first; of equal scores those with the lowest positions."""
    if scores.size > top:
        least = np.partition(scores, scores.size - top)[scores.size - top]
        near = scores >= least
        scores, members = scores[near], members[near]
    order = np.lexsort((*members.T[::-1], -scores))[:top]
    return scores[order], members[order]


def merged(parts: Sequence[Found], top: int) -> Found:
    """The best of several."""
    scores, members = best_of(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.members for part in parts]),
        top,
    )
    return Found(
        scores,
        members,
        sum(part.searched for part in parts),
        sum(part.scored for part in parts),
        np.maximum.reduce([part.maxima for part in parts]) if parts else np.empty(0),
    )


def searched_unit(classes: Classes, work: Work, unit: int, threshold: float) -> Found | Failure:
    """The best combinations of a unit; an error is returned, for the others not to be lost."""
    try:
        return _search_unit(classes, work, unit, threshold)
    except Exception as error:  # noqa: BLE001 - raised again when the others are safe
        return Failure(error)


def _search_unit(classes: Classes, work: Work, unit: int, threshold: float) -> Found:
    cut, scope = work.cut, work.scope
    found = Found(np.empty(0), np.empty((0, cut.order), np.int64), 0, 0, np.empty(0))
    searched = 0
    threshold = max(threshold, work.lowest)
    for first, last in blocks(cut, unit, scope):
        allowed = None
        if scope is not None and not scope.free:
            allowed = scope.allowed(first, last)
            searched += int(np.count_nonzero(allowed))
            if not allowed.any():
                continue
        best = work.score(classes, first, last, work.top, threshold, allowed)
        members = best.members if scope is None else scope.original(best.members)
        maxima = getattr(best, "maxima", found.maxima)
        if not found.maxima.size:
            found = found._replace(maxima=np.full(maxima.shape, -np.inf))
        found = merged([found, Found(best.scores, members, 0, best.scored, maxima)], work.top)
        if found.scores.size == work.top:
            threshold = max(threshold, float(found.scores[-1]))
    return found._replace(searched=cut.weight(unit) if scope is None or scope.free else searched)


def blocks(
    cut: Cut, unit: int, scope: Scope | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """First parts and last parts whose pairs hold all combinations of a unit, each once.

    A pair whose last part begins before the first one ends is no combination.
    """
    from genobit.kernels.combinations import combinations

    parts = cut.range_of(unit)
    for start in range(parts.start, parts.stop, cut.rows):
        first = combinations(start, min(cut.rows, parts.stop - start), cut.p)
        if scope is not None:
            first = scope.whole(first)
        if not len(first):
            continue
        count = cut.last_parts(int(first[0, -1]))
        pieces = -(-count // cut.columns)
        edges = [count * k // pieces for k in range(pieces + 1)]
        for left, right in itertools.pairwise(edges):
            # Numbered from the end: the members change places with their mirror images.
            last = cut.variants - 1 - combinations(left, right - left, cut.q)[:, ::-1]
            # The largest start comes first; what ends after it meets none of these.
            rows = int(np.searchsorted(first[:, -1], last[0, 0]))
            if scope is not None:
                last = scope.whole(last)
            if len(last) and rows:
                yield first[:rows], np.ascontiguousarray(last)


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
    scope
        Which combinations; all by default.
    lowest
        A score that all reach.
    p
        Members of first parts, if not the cheapest.
    unit
        Combinations of a unit, if not as many as take half a second.
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
    ) -> None:
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
        self.work = Work(cut, top, score or search, lowest, scope)

    @property
    def total(self) -> int:
        """Combinations of the variants, with those that the scope leaves out."""
        return self.work.cut.combinations

    def question(self) -> dict[str, Any]:
        """What is asked, for a checkpoint to tell it from other questions."""
        from importlib.metadata import version

        from genobit.lazy.checkpoints import digest

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
        progress: bool = False,
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
            Whether to show a bar on standard error, with an estimate of the time left.

        Raises
        ------
        SearchError
            If a unit fails.
        ValueError
            If the folder holds another run, something else or a damaged file.
        RuntimeError
            If another run is at work in the folder.
        """
        if checkpoint is None:
            return _Run(self, None, progress=progress).ranking()
        with Checkpoint(checkpoint, {**(about or {}), **self.question()}) as kept:
            return _Run(self, kept, progress=progress).ranking()


def _name(score: Score) -> str:
    """A function and what is bound of its arguments, the same in every process."""
    from functools import partial

    if not isinstance(score, partial):
        return f"{score.__module__}.{score.__qualname__}"
    bound = [*score.args, *score.keywords.items()]
    return f"{_name(score.func)}{bound!r}"


class _Run:
    """One run of a search: what is done, and what it found."""

    def __init__(
        self, search: CombinationSearch, checkpoint: Checkpoint | None, *, progress: bool
    ) -> None:
        self.search = search
        self.work = search.work
        self.checkpoint = checkpoint
        self.progress = progress
        empty = np.empty((0, self.work.cut.order), np.int64)
        self.found = Found(np.empty(0), empty, 0, 0, np.empty(0))
        self.fresh: dict[int, Found] = {}
        self.failures: dict[int, Exception] = {}
        self.weight = 0
        self.bar: Any = None

    def ranking(self) -> Ranking:
        from tqdm import tqdm

        with tqdm(
            total=self.search.total,
            desc="combinations",
            unit="",
            unit_scale=True,
            disable=not self.progress,
        ) as self.bar:
            try:
                self._waves()
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
        found, total = self.found, self.search.total
        fraction = self.weight / total if self.weight < total else 1.0
        return Ranking(
            found.scores, found.members, found.searched, found.scored, fraction, found.maxima
        )

    def _waves(self) -> None:
        """Units in their order, in the same waves whether some are finished or none.

        So a unit is handed the same threshold in a run that was stopped, and finds the same.
        """
        planes = _shared(self.search.classes)
        finished = set() if self.checkpoint is None else self.checkpoint.units()
        units, size = self.work.cut.units, 2
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
        arrays = self.checkpoint.read(unit)
        counts = (int(arrays[name]) for name in ("searched", "scored"))
        self.fresh[unit] = Found(arrays["scores"], arrays["members"], *counts, arrays["maxima"])
        weight = self.work.cut.weight(unit)
        self.weight += weight
        # What was done before says nothing of the time that is left.
        self.bar.initial += weight
        self.bar.update(weight)

    def _wave(self, planes: Any, wave: list[int]) -> None:
        """Compute some units; what is done is kept even if the rest is interrupted."""
        from uuid import uuid4

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
            results = dask.compute(*tasks)
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
    from uuid import uuid4

    client = getattr(get_scheduler(), "__self__", None)
    if hasattr(client, "scatter"):
        return client.scatter(classes, broadcast=True, hash=False)
    return delayed(classes, traverse=False, name=f"genobit-planes-{uuid4().hex}")
