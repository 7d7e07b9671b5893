"""Unique columns of an alignment for searches, gathered chunk by chunk if it is lazy."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.characters import sets_in
from genobit.data.coded_text import coded
from genobit.engine.options import get_options, more_than
from genobit.engine.schedule.memory_mapped import PlaneFile
from genobit.engine.schedule.passes import by_sites
from genobit.parsimony.kernels.patterns import Drawn, different

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding

PIECE = 2**18
"""Sites renumbered at a time."""
WIDEST = np.dtype(np.uint32)


class SitePatterns(NamedTuple):
    """Unique columns of an alignment, most frequent first."""

    sets: NDArray[np.unsignedinteger]
    """State sets in the smallest integer type, (taxa, columns)."""
    weights: NDArray[np.int64]
    """Summed weight of the sites of each column, (columns,)."""
    drawn: Drawn
    """Sites from which resamples are drawn; empty without resampling."""


class _Part(NamedTuple):
    """Unique columns of one chunk."""

    rows: NDArray[np.unsignedinteger]
    """State sets, (columns, taxa), in order of first appearance."""
    counts: NDArray[np.int64]
    """Number of sites of each column."""
    weights: NDArray[np.int64]
    """Summed weight of the sites of each column."""
    of_site: NDArray[np.unsignedinteger]
    """Column of each site that may be drawn."""


def site_patterns(
    values: NDArray[Any] | da.Array,
    coding: Coding,
    taxa: Sequence[str],
    weights: NDArray[np.int64] | None = None,
    *,
    resampled: bool = False,
) -> SitePatterns:
    """Return the unique columns of an alignment (taxa, sites), with summed weights, in memory.

    weights: (sites,), 1 by default. With ``resampled``, one number is kept for each site: one byte
    for up to 256 columns, two for up to 65,536, or in a file (`PatternIndex`).

    Raises MemoryError if the unique columns of a lazy alignment exceed
    ``get_options().eager_limit``, and OSError if the folder of ``spill_to`` has no room.

    Examples
    --------
    >>> from genobit.data.characters import Coding
    >>> dna = Coding("dna", tuple("ACGT"), "missing")
    >>> found = site_patterns(np.array([list("ACA"), list("ATA")]), dna, "ab", resampled=True)
    >>> found.sets.tolist(), found.weights.tolist(), found.drawn.of_site.tolist()
    ([[1, 2], [1, 8]], [2, 1], [0, 1, 0])
    """
    values, coding = coded(values, coding)
    of_part = partial(_part, coding=coding, taxa=taxa, resampled=resampled)
    sites = values.shape[1] if weights is None else int(np.count_nonzero(weights))
    with PatternIndex(sites if resampled else 0) as numbers:
        if isinstance(values, da.Array):
            whole = _joined(by_sites(of_part, values, weights), len(taxa), numbers)
        else:
            whole = of_part(values, 0, weights)
            numbers.append(whole.of_site)
        order = np.lexsort((np.arange(whole.counts.size), -whole.counts))
        of_site = numbers.renumbered(_ranks(order))
    each = None
    if resampled and weights is not None:
        each = _narrow(weights[weights > 0])
    sets = np.ascontiguousarray(whole.rows[order].T)
    return SitePatterns(sets, whole.weights[order], Drawn(of_site, each))


def _part(
    values: NDArray[Any],
    first: int,
    weights: NDArray[np.int64] | None = None,
    *,
    coding: Coding,
    taxa: Sequence[str],
    resampled: bool,
) -> _Part:
    sets = sets_in(values, coding, taxa, first)
    found = different(sets, np.ones(sets.shape[1], np.int64))
    # Reversed, so that the first index is written last and stays.
    place = np.empty(found.weights.size, np.int64)
    place[found.of_site[::-1]] = np.arange(found.of_site.size)[::-1]
    order = np.argsort(place)
    of_site = _ranks(order)[found.of_site]
    counts = totals = found.weights[order]
    if weights is not None:
        totals = np.zeros_like(counts)
        np.add.at(totals, of_site, weights)
        of_site = of_site[weights > 0]
    rows = np.ascontiguousarray(found.sets.T[order])
    return _Part(rows, counts, totals, of_site if resampled else of_site[:0].copy())


def _joined(parts: Iterable[tuple[int, _Part]], taxa: int, numbers: PatternIndex) -> _Part:
    """Merge the columns of all parts, in order of first appearance in the alignment."""
    columns: dict[bytes, int] = {}
    counts = weights = np.zeros(0, np.int64)
    width = np.dtype(np.uint8)
    for _, part in parts:
        width = part.rows.dtype
        each = [columns.setdefault(row.tobytes(), len(columns)) for row in part.rows]
        _require_room(len(columns), taxa)
        counts = _added(counts, len(columns), each, part.counts)
        weights = _added(weights, len(columns), each, part.weights)
        numbers.append(np.array(each, np.int64)[part.of_site])
    rows = np.frombuffer(b"".join(columns), width).reshape(len(columns), taxa)
    return _Part(rows, counts, weights, np.empty(0, np.uint8))


def _added(
    sums: NDArray[np.int64], size: int, at: list[int], more: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Add a part's sums to the sums of ``size`` columns; ``at`` has no repeats."""
    if size > sums.size:
        sums = np.append(sums, np.zeros(size - sums.size, np.int64))
    sums[at] += more
    return sums


def _ranks(order: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    """Return the rank of each column in an order, in the smallest integer type."""
    ranks = np.empty(order.size, np.min_scalar_type(max(order.size - 1, 0)))
    ranks[order] = np.arange(order.size)
    return ranks


def _narrow(numbers: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def _require_room(columns: int, taxa: int) -> None:
    size, limit = 8 * columns * taxa, get_options().eager_limit
    if size > limit:
        msg = (
            f"the different columns of the alignment, {columns:,} and more, take "
            f"{more_than(size, limit)}: search a part of the sites, leave out sites that are "
            "constant, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)


class PatternIndex(AbstractContextManager["PatternIndex"]):
    """Collects one number for each site, chunk by chunk, until all ``sites`` are there.

    The numbers are in a file in ``get_options().spill_to`` if that names a folder and they could
    take more than ``get_options().eager_limit`` bytes. Otherwise they are in memory.

    Examples
    --------
    >>> with PatternIndex(3) as numbers:
    ...     numbers.append(np.array([0, 1]))
    ...     numbers.append(np.array([0]))
    ...     numbers.renumbered(np.array([7, 5], np.uint8)).tolist()
    [7, 5, 7]
    """

    def __init__(self, sites: int) -> None:
        options = get_options()
        self._sites, self._done, self._stack = sites, 0, ExitStack()
        self._folder = options.spill_to if WIDEST.itemsize * sites > options.eager_limit else None
        self._values = np.empty(0 if self._folder else sites, np.uint8)
        self._file: PlaneFile | None = None
        if self._folder is not None:
            self._file = self._stack.enter_context(PlaneFile(self._folder, (1, sites, 1), WIDEST))

    def __exit__(self, *raised: object) -> None:
        """Close the file, and remove it after an error."""
        self._stack.__exit__(*raised)  # type: ignore[arg-type]

    def append(self, numbers: NDArray[np.integer]) -> None:
        """Add the numbers of the next sites."""
        if self._file is not None:
            self._file.write(0, self._done, numbers)
        else:
            width = np.min_scalar_type(numbers.max(initial=0))
            wider = np.promote_types(self._values.dtype, width)
            self._values = self._values.astype(wider, copy=False)
            self._values[self._done : self._done + numbers.size] = numbers
        self._done += numbers.size

    def renumbered(self, ranks: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
        """Return ``ranks[number]`` of each site, (sites,), or memory-mapped (1, sites, 1)."""
        if self._file is None or self._folder is None:
            # Ranks may need a wider type: they number all columns, also columns without a site.
            self._values = self._values.astype(ranks.dtype, copy=False)
            for start in range(0, self._sites, PIECE):
                piece = self._values[start : start + PIECE]
                piece[:] = ranks[piece]
            return self._values
        old = self._file.mapped()
        with PlaneFile(self._folder, old.shape, ranks.dtype) as file:
            for start in range(0, self._sites, PIECE):
                file.write(0, start, ranks[old[0, start : start + PIECE]])
            return file.mapped()
