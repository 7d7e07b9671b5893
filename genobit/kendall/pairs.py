"""Find the pairs of variables above a threshold of Kendall's tau, without the full matrix.

Tiles are computed in batches of bounded size, and each is reduced at once to its candidate pairs.
q-values are those of Benjamini and Hochberg over all pairs that have a tau
(`genobit.kendall.false_discovery`). Memory holds the ranks or planes of the variables, the tiles in
flight, the candidate pairs, and the distinct p-values below the cutoff known so far.
"""

from __future__ import annotations

import numbers
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.base import persist

from genobit.data.checks import check_number
from genobit.data.pairs.parts import Parts, identity
from genobit.engine.options import get_options, in_units, more_than
from genobit.engine.progress import bar
from genobit.engine.schedule.batches import (
    JOBS,
    Batch,
    batches_of,
    count_jobs,
    in_batches,
    seconds_of_pair,
    shares,
    tiles_of,
)
from genobit.engine.schedule.computing import threads
from genobit.engine.schedule.costs import check_time, surely_short
from genobit.engine.schedule.tiles import whole_rows
from genobit.kendall.false_discovery import FalseDiscovery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from genobit.engine.schedule.tiles import Planes

    Columns = dict[str, NDArray[Any]]

BYTES = 64
"""Bytes per pair in a table: two positions, two references to names, tau, n, p- and q-value."""
WHOLE = (0, 1)
"""The share of a single worker: all pairs."""
SECONDS = 2e-9
"""Upper bound on the seconds per pair, divided by the squared number of bytes of a row. The slowest
kernel, contingency tables of 1,000 levels, took 1.5e-9 on one core at 2.8 GHz."""
REMEDIES = {
    "threshold": "give the least absolute value of a pair, such as 0.6, or None for no limit",
    "fdr": "give the largest q-value of a pair, such as 0.01, or None for no limit",
}


class PairQuery(NamedTuple):
    """Limits, column names and share of a search over all pairs."""

    threshold: float | None
    """Smallest absolute value of a pair in the table; None for no limit."""
    fdr: float | None
    """Largest q-value of a pair in the table; None for no limit and no p-values."""
    columns: tuple[str, str, str]
    """Column names of the two positions and of the value."""
    share: tuple[int, int] = WHOLE
    """(k, of): the share of worker k, counted from 0, of ``of`` workers."""

    def checked(self) -> PairQuery:
        """Return the query with validated limits as plain Python numbers, for file metadata.

        Raises TypeError for limits or shares that are not numbers. Raises ValueError for
        ``threshold`` outside [0, 1], ``fdr`` outside (0, 1], a worker that does not exist, and
        ``fdr`` with a share.
        """
        limits: dict[str, float] = {}
        for name, number in (("threshold", self.threshold), ("fdr", self.fdr)):
            if number is None:
                continue
            check_number(name, number, REMEDIES[name])
            limits[name] = float(number)
            if not 0 <= number <= 1 or (name == "fdr" and number == 0):
                inside = "(0, 1]" if name == "fdr" else "[0, 1]"
                msg = f"{name}={number!r} is outside {inside}; None is no limit"
                raise ValueError(msg)
        share = _checked_share(self.share)
        if "fdr" in limits and share[1] > 1:
            msg = (
                f"share={share} with fdr={self.fdr}: q-values need the p-values of all pairs, and "
                "a share has only its own; give fdr=None and threshold="
            )
            raise ValueError(msg)
        return PairQuery(limits.get("threshold"), limits.get("fdr"), self.columns, share)

    @property
    def everything(self) -> bool:
        """Whether the limits keep every pair."""
        return not self.threshold and self.fdr in {None, 1}


def _checked_share(share: Any) -> tuple[int, int]:
    """Return (worker, workers) as integers with 0 <= worker < workers."""
    remedy = "share=(k, n) is the share of worker k of n, counted from 0, such as (0, 4) to (3, 4)"
    try:
        worker, workers = share
    except (TypeError, ValueError):
        worker = workers = None
    if any(isinstance(x, bool) or not isinstance(x, numbers.Integral) for x in (worker, workers)):
        msg = f"share={share!r} is not two whole numbers: {remedy}"
        raise TypeError(msg)
    if not 0 <= worker < workers:
        msg = f"share={share!r}: there is no such worker; {remedy}"
        raise ValueError(msg)
    return int(worker), int(workers)


class _Kept(NamedTuple):
    """Candidate pairs of one tile, with its distinct p-values, their counts, and its tests."""

    columns: Columns
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    tests: int


def _reduced(
    a: Any,
    b: Any,
    top: int,
    left: int,
    bound: float | None,
    *,
    function: Callable[..., Sequence[NDArray[Any]]],
    query: PairQuery,
) -> _Kept:
    """Return the candidate pairs of a tile and its p-values up to the bound."""
    value, n, *p = function(a, b)
    known = ~np.isnan(value)
    if b is None:
        known = np.triu(known, 1)
    tests = int(np.count_nonzero(known))
    values, counts = np.empty(0), np.empty(0, np.int64)
    if bound is not None:
        known &= p[0] <= bound
        values, counts = np.unique(p[0][known], return_counts=True)
    if query.threshold is not None:
        known &= np.abs(value) >= query.threshold
    i, j = np.nonzero(known)
    first, second, name = query.columns
    columns = {first: i + top, second: j + left, name: value[i, j], "n": n[i, j]}
    if bound is not None:
        columns["pvalue"] = p[0][i, j]
    return _Kept(columns, values, counts, tests)


def _concatenated(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class SearchParts(Parts):
    """Pairs of some variables, or of one worker's share: a part for each batch of tiles.

    With a false discovery rate the table is one part, because q-values need all pairs.

    function: planes of some rows and of other rows (None: the same rows) -> value, n and, if the
    question has ``fdr``, p-value of their pairs, each (rows, columns).
    planes: (variables, words) each. ``names`` are the unique names of the variables. ``about``
    identifies the search for a resumed run.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[NDArray[Any]]],
        planes: Planes,
        query: PairQuery,
        names: NDArray[Any],
        about: Mapping[str, Any],
        *,
        progress: bool | None = None,
    ) -> None:
        self.query = query.checked()
        chunks = planes[0].chunks[0]
        worker, workers = self.query.share
        self._jobs = shares(count_jobs(len(chunks)), workers)[worker]
        self.pairs = _pairs(self._jobs, chunks)
        self._parts = list(batches_of(self._jobs, JOBS))
        self.count = len(self._parts) if self.query.fdr is None else 1
        self.tasks = len(self._jobs) + sum(len(plane.__dask_graph__()) for plane in planes)
        self._function = partial(_reduced, function=function, query=self.query)
        self._planes, self._names, self._about = planes, names, about
        self._progress = progress
        self.empty = self._frame(_nothing(self.query))

    @cached_property
    def _held(self) -> Planes:
        """The planes, computed once if they fit in memory."""
        planes = whole_rows(self._planes)
        fits = sum(plane.nbytes for plane in planes) <= get_options().eager_limit
        return list(persist(*planes)) if fits else planes

    def check(self, *, in_memory: bool) -> None:
        """Raise MemoryError for a table of all pairs that does not fit in memory.

        Raises ValueError if the search would exceed ``get_options().longest_search``.
        """
        if in_memory and self.query.everything:
            self._check_size(self.pairs, 0, "all pairs are asked for")
        workers = max(1, min(threads(), len(self._jobs)))
        row = sum(plane.shape[1] * plane.dtype.itemsize for plane in self._planes)
        if surely_short(self.pairs * row**2 * SECONDS / workers):
            return
        function = partial(self._function, bound=self.query.fdr)
        check_time(
            f"kendall_pairs of {self.pairs:,} pairs",
            self.pairs * seconds_of_pair(function, self._planes) / workers,
            workers,
            "fewer variables; fewer observations; share=(k, of) on several machines; or a cluster",
        )

    def question(self) -> dict[str, Any]:
        """Return what decides the table."""
        limits = {"threshold": self.query.threshold, "fdr": self.query.fdr}
        options = {**self._about, **limits, "share": list(self.query.share)}
        return identity(self._held, {"names": self._names}, options)

    def frames(self, numbers: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Compute some parts, and yield them in this order."""
        if self.query.fdr is not None:
            if numbers:
                yield self._discovered
            return
        for k in numbers:
            jobs = self._parts[k]
            for each in in_batches(self._function, self._held, lambda: (None,), jobs, JOBS):
                yield self._frame(_concatenated([kept.columns for kept in each.results]))

    @cached_property
    def _discovered(self) -> pd.DataFrame:
        """The pairs that pass the false discovery rate, sorted by position."""
        assert self.query.fdr is not None  # noqa: S101 - for the type checker
        self.check(in_memory=True)
        return self._discover(FalseDiscovery(self.query.fdr, self.pairs))

    def _discover(self, tests: FalseDiscovery) -> pd.DataFrame:
        """Collect candidate pairs while the bound on their p-values falls, then their q-values.

        If the candidates outgrow memory before the cutoff is known, they are dropped, and a second
        round finds them again with the final cutoff.
        """
        kept: list[Columns] | None = []
        pruned = tests.bound
        for each in self._batches(tests):
            values = np.concatenate([found.values for found in each.results])
            counts = np.concatenate([found.counts for found in each.results])
            tests.add(values, counts, sum(found.tests for found in each.results), each.pairs)
            self._check_size(0, tests.nbytes, f"of {tests.tests:,} pairs so far")
            if kept is None:
                continue
            kept.append(_concatenated([found.columns for found in each.results]))
            if tests.bound < 0.9 * pruned:
                pruned = tests.bound
                kept = [_where(columns, columns["pvalue"] <= pruned) for columns in kept]
            if _length(kept) * BYTES + tests.nbytes > get_options().eager_limit:
                kept = None
        if kept is None:
            kept = self._again(tests)
        columns = _standing(_concatenated(kept or [_nothing(self.query)]), tests)
        table = self._frame(columns)
        table.attrs["pairs_tested"] = tests.tests
        return table

    def _again(self, tests: FalseDiscovery) -> list[Columns]:
        """Find the pairs again whose p-values pass the final cutoff."""
        kept: list[Columns] = []
        for each in self._batches(tests):
            part = _concatenated([found.columns for found in each.results])
            kept.append(_standing(part, tests))
            self._check_size(_length(kept), tests.nbytes, f"of {tests.tests:,} pairs")
        return kept

    def _batches(self, tests: FalseDiscovery) -> Iterator[Batch]:
        jobs, function = self._jobs, self._function
        batches = in_batches(function, self._held, lambda: (tests.bound,), jobs, JOBS)
        with bar(progress=self._progress, total=len(jobs), desc="pairs", unit="tile") as steps:
            for each in batches:
                yield each
                steps.update(len(each.part))

    def _check_size(self, pairs: int, others: int, when: str) -> None:
        """Raise MemoryError if pairs and ``others`` bytes of p-values exceed ``eager_limit``."""
        limit, size = get_options().eager_limit, pairs * BYTES + others
        if size <= limit:
            return
        pvalues = f", {in_units(others)} of it different p-values" if others else ""
        msg = (
            f"the table of pairs takes {more_than(size, limit)}{pvalues}: {when}, it has "
            f"{pairs:,} pairs. Ask for a larger threshold= or a smaller fdr=, write a table with "
            "fdr=None by .to_parquet(folder), or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)

    def _frame(self, columns: Columns) -> pd.DataFrame:
        """Return columns as a table, with the names of both variables after the positions."""
        import pandas as pd

        ends = self.query.columns[:2]
        texts = {f"name_{k}": self._names[columns[end]] for k, end in enumerate(ends)}
        others = {name: x for name, x in columns.items() if name not in ends}
        return pd.DataFrame({end: columns[end] for end in ends} | texts | others)


def _standing(columns: Columns, tests: FalseDiscovery) -> Columns:
    """Return the candidates that pass the false discovery rate, with q-values."""
    qvalues = tests.qvalues(columns["pvalue"])
    return _where({**columns, "qvalue": qvalues}, qvalues <= tests.fdr)


def _pairs(jobs: range, chunks: tuple[int, ...]) -> int:
    """Count the pairs of different variables in the tiles of some jobs."""
    return sum(
        chunks[y] * (chunks[y] - 1) // 2 if x == y else chunks[y] * chunks[x]
        for y, x in tiles_of(jobs, len(chunks))
    )


def _nothing(query: PairQuery) -> Columns:
    first, second, name = query.columns
    kinds: dict[str, Any] = {first: np.int64, second: np.int64, name: np.float64, "n": np.int32}
    if query.fdr is not None:
        kinds |= {"pvalue": np.float64, "qvalue": np.float64}
    return {column: np.empty(0, kind) for column, kind in kinds.items()}


def _where(columns: Columns, which: NDArray[Any]) -> Columns:
    return {name: values[which] for name, values in columns.items()}


def _length(parts: Sequence[Columns]) -> int:
    return sum(len(next(iter(part.values()))) for part in parts)
