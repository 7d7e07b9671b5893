"""Find the pairs of variables above a threshold of Kendall's tau, without the full matrix.

Tiles are computed in batches of bounded size, and each is reduced at once to its candidate pairs.
q-values are those of Benjamini and Hochberg over all pairs that have a tau
(`genobit.kendall.false_discovery`). Memory holds the ranks or planes of the variables, the tiles in
flight, the candidate pairs, and the distinct p-values below the cutoff known so far.
"""

from __future__ import annotations

import numbers
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.checks import check_number
from genobit.engine.files import replacing
from genobit.engine.options import get_options, in_units, more_than
from genobit.engine.progress import bar
from genobit.engine.schedule import triangle
from genobit.engine.schedule.batches import JOBS, Batch, in_batches, seconds_of_pair
from genobit.engine.schedule.computing import threads
from genobit.engine.schedule.costs import check_time, surely_short
from genobit.kendall.false_discovery import FalseDiscovery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from genobit.engine.schedule.tiles import Planes

    Columns = dict[str, NDArray[Any]]

BYTES = 64
"""Bytes per pair in a table: two positions, two references to names, tau, n, p- and q-value."""
ROWS = 2**14
"""Fewest rows per Parquet write: the writer keeps the index of all row groups in memory."""
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
        """Return the question with validated limits as plain Python numbers, for file metadata.

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
    question: PairQuery,
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
    if question.threshold is not None:
        known &= np.abs(value) >= question.threshold
    i, j = np.nonzero(known)
    first, second, name = question.columns
    columns = {first: i + top, second: j + left, name: value[i, j], "n": n[i, j]}
    if bound is not None:
        columns["pvalue"] = p[0][i, j]
    return _Kept(columns, values, counts, tests)


def _concatenated(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Search:
    """Search over all pairs of some variables, or over one worker's share, in batches.

    function: planes of some rows and of other rows (None: the same rows) -> value, n and, if the
    question has ``fdr``, p-value of their pairs, each (rows, columns).
    planes: (variables, words) each.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[NDArray[Any]]],
        planes: Planes,
        question: PairQuery,
        *,
        progress: bool | None = None,
    ) -> None:
        self.question = question.checked()
        chunks = planes[0].chunks[0]
        worker, workers = self.question.share
        self._jobs = triangle.shares(triangle.jobs(len(chunks)), workers)[worker]
        self.pairs = _pairs(self._jobs, chunks)
        self.tests = 0
        self._function = partial(_reduced, function=function, question=self.question)
        self._planes = planes
        self._progress = progress
        self._discovery = None if question.fdr is None else FalseDiscovery(question.fdr, self.pairs)

    def _check_duration(self) -> None:
        """Raise ValueError if the search would exceed ``get_options().longest_search``."""
        workers = max(1, min(threads(), len(self._jobs)))
        row = sum(plane.shape[1] * plane.dtype.itemsize for plane in self._planes)
        if surely_short(self.pairs * row**2 * SECONDS / workers):
            return
        function = partial(self._function, bound=self._bound())
        check_time(
            f"kendall_pairs of {self.pairs:,} pairs",
            self.pairs * seconds_of_pair(function, self._planes) / workers,
            workers,
            "fewer variables; fewer observations; share=(k, of) on several machines; or a cluster",
        )

    def _batches(self) -> Iterator[Batch]:
        jobs = self._jobs
        batches = in_batches(self._function, self._planes, lambda: (self._bound(),), jobs, JOBS)
        with bar(progress=self._progress, total=len(jobs), desc="pairs", unit="tile") as steps:
            for each in batches:
                yield each
                steps.update(len(each.part))

    def _bound(self) -> float | None:
        return None if self._discovery is None else self._discovery.bound

    def parts(self, *, learn: bool = True) -> Iterator[Columns]:
        """Yield the columns of the candidate pairs of each batch, in the order of jobs.

        With ``fdr`` only `found` decides which candidates stay. ``learn=False`` keeps the bound and
        the tests that an earlier round collected.
        """
        if not self._jobs:
            # With more workers than tiles, yield an empty part that still has the columns.
            yield _nothing(self.question)
        for each in self._batches():
            if learn:
                self._learn(each)
            yield _concatenated([kept.columns for kept in each.results])

    def _learn(self, each: Batch) -> None:
        tests = sum(kept.tests for kept in each.results)
        self.tests += tests
        if self._discovery is not None:
            values = np.concatenate([kept.values for kept in each.results])
            counts = np.concatenate([kept.counts for kept in each.results])
            self._discovery.add(values, counts, tests, each.pairs)

    def found(self) -> Columns:
        """Return the columns of all pairs that pass the limits, sorted by position.

        If the candidates outgrow memory before the cutoff is known, they are dropped, and a second
        round finds them again with the final cutoff.

        Raises MemoryError before computing anything if all pairs are requested and exceed
        ``get_options().eager_limit``; otherwise as soon as the result exceeds it. Raises ValueError
        if the search would exceed ``get_options().longest_search``.
        """
        if self.question.everything:
            self._check(self.pairs, "all pairs are asked for")
        self._check_duration()
        kept: list[Columns] | None = []
        pruned = self._bound()
        for part in self.parts():
            self._check(0, f"of {self.tests:,} pairs so far")
            if kept is None:
                continue
            kept.append(part)
            bound = self._bound()
            if bound is not None and pruned is not None and bound < 0.9 * pruned:
                kept = [_where(columns, columns["pvalue"] <= bound) for columns in kept]
                pruned = bound
            if self._discovery is not None and self._size(_length(kept)) > self._limit():
                kept = None
            else:
                self._check(_length(kept), f"of {self.tests:,} pairs so far")
        if kept is None:
            kept = []
            for part in self.parts(learn=False):
                kept.append(self._standing(part))
                self._check(_length(kept), f"of {self.tests:,} pairs")
        columns = self._standing(_concatenated(kept))
        first, second, _ = self.question.columns
        return _where(columns, np.lexsort((columns[second], columns[first])))

    def _standing(self, columns: Columns) -> Columns:
        """Return the candidates that pass ``fdr`` once all tests are known, with q-values."""
        if self._discovery is None:
            return columns
        qvalues = self._discovery.qvalues(columns["pvalue"])
        return _where({**columns, "qvalue": qvalues}, qvalues <= self._discovery.fdr)

    def _size(self, pairs: int) -> int:
        return pairs * BYTES + (0 if self._discovery is None else self._discovery.nbytes)

    def _limit(self) -> int:
        return get_options().eager_limit

    def _check(self, pairs: int, when: str) -> None:
        limit, size = self._limit(), self._size(pairs)
        if size <= limit:
            return
        others = size - pairs * BYTES
        pvalues = f", {in_units(others)} of it different p-values" if others else ""
        msg = (
            f"the table of pairs takes {more_than(size, limit)}{pvalues}: {when}, it has "
            f"{pairs:,} pairs. Ask for a larger threshold= or a smaller fdr=, stream to a file "
            "with fdr=None and parquet=, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)

    def to_parquet(self, path: Path, names: NDArray[Any], attrs: dict[str, Any]) -> None:
        """Write the pairs to a Parquet file, batch by batch, in the order of jobs.

        An existing file is replaced when the new one is complete. ``names`` are the labels of the
        variables. ``attrs`` are stored with the table, and ``pairs_tested`` is added.

        Raises ValueError with ``fdr``, as q-values are unknown before the last batch, and for a
        search longer than ``get_options().longest_search``. Raises FileNotFoundError or
        IsADirectoryError for an unusable path, before anything is computed.
        """
        if self._discovery is not None:
            msg = (
                f"parquet= streams pairs as they come, but fdr={self.question.fdr} selects pairs "
                "only after the last one: give fdr=None, or write the table with "
                ".to_parquet()"
            )
            raise ValueError(msg)
        _check_path(path)
        self._check_duration()
        with replacing(path) as (unfinished,):
            self._write(unfinished, names, attrs)

    def _write(self, path: Path, names: NDArray[Any], attrs: dict[str, Any]) -> None:
        import json

        import pyarrow as pa
        import pyarrow.parquet as pq

        writer = None
        try:
            for part in _together(self.parts()):
                table = pa.table(_named(part, names, self.question))
                if writer is None:
                    # With a schema stored by Arrow, pyarrow ignores other metadata on reading.
                    writer = pq.ParquetWriter(path, table.schema, store_schema=False)
                writer.write_table(table)
            if writer is not None:
                about = json.dumps({**attrs, "pairs_tested": self.tests})
                # pandas reads DataFrame.attrs from this key.
                writer.add_key_value_metadata({"PANDAS_ATTRS": about})
        finally:
            if writer is not None:
                writer.close()


def _together(parts: Iterable[Columns]) -> Iterator[Columns]:
    """Yield the parts in order, joined until each has at least `ROWS` pairs."""
    held: list[Columns] = []
    for part in parts:
        held.append(part)
        if _length(held) >= ROWS:
            yield _concatenated(held)
            held = []
    if held:
        yield _concatenated(held)


def _pairs(jobs: range, chunks: tuple[int, ...]) -> int:
    """Count the pairs of different variables in the tiles of some jobs."""
    return sum(
        chunks[y] * (chunks[y] - 1) // 2 if x == y else chunks[y] * chunks[x]
        for y, x in triangle.tiles_of(jobs, len(chunks))
    )


def _nothing(question: PairQuery) -> Columns:
    first, second, name = question.columns
    kinds = {first: np.int64, second: np.int64, name: np.float64, "n": np.int32}
    return {column: np.empty(0, kind) for column, kind in kinds.items()}


def _check_path(path: Path) -> None:
    if not path.parent.is_dir():
        msg = f"parquet={str(path)!r}: there is no folder {str(path.parent)!r}, make it first"
        raise FileNotFoundError(msg)
    if path.is_dir():
        msg = f"parquet={str(path)!r} is a folder: name a file in it"
        raise IsADirectoryError(msg)


def _named(part: Columns, names: NDArray[Any], question: PairQuery) -> dict[str, Any]:
    import pyarrow as pa

    first, second, _ = question.columns
    texts = {
        f"name_{side}": pa.array(names[part[end]], pa.string())
        for side, end in enumerate((first, second))
    }
    ends = {end: part[end] for end in (first, second)}
    return {**ends, **texts, **{name: x for name, x in part.items() if name not in ends}}


def _where(columns: Columns, which: NDArray[Any]) -> Columns:
    return {name: values[which] for name, values in columns.items()}


def _length(parts: Sequence[Columns]) -> int:
    return sum(len(next(iter(part.values()))) for part in parts)
