"""The different columns of an alignment for searches, gathered chunk by chunk from a lazy one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.analyses.characters import sets_in, width_of
from genobit.kernels.state_planes import Patterns, compressed
from genobit.lazy.sites import by_sites
from genobit.options import get_options, more_than

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.analyses.characters import Coding


def site_patterns(values: NDArray[Any] | da.Array, coding: Coding, taxa: Sequence[str]) -> Patterns:
    """The different columns, which stay in memory, each of the weight of its sites.

    Parameters
    ----------
    values
        The alignment (taxa, sites).
    coding, taxa
        What its entries stand for, and the names of its taxa.

    Raises
    ------
    MemoryError
        For a lazy alignment whose different columns take more than ``get_options().eager_limit``.

    Examples
    --------
    >>> from genobit.analyses.characters import Coding
    >>> dna = Coding("dna", tuple("ACGT"), "missing")
    >>> found = site_patterns(np.array([list("ACA"), list("ATA")]), dna, "ab")
    >>> found.sets.tolist(), found.of_site.tolist()
    ([[1, 2], [1, 8]], [0, 1, 0])
    """
    if not isinstance(values, da.Array):
        return _compressed(values, 0, coding=coding, taxa=taxa)
    columns: dict[bytes, int] = {}
    of_site = np.empty(values.shape[1], np.int64)
    # As few bytes a set as hold the states.
    width = width_of(len(coding.symbols))
    for first, part in by_sites(partial(_compressed, coding=coding, taxa=taxa), values):
        rows = np.ascontiguousarray(part.sets.T.astype(width))
        # In the order in which they come first in the alignment.
        _, sites = np.unique(part.of_site, return_index=True)
        numbers = np.empty(len(rows), np.int64)
        for pattern in np.argsort(sites):
            numbers[pattern] = columns.setdefault(rows[pattern].tobytes(), len(columns))
        of_site[first : first + part.of_site.size] = numbers[part.of_site]
        _require_room(len(columns), len(taxa))
    different = np.frombuffer(b"".join(columns), width).reshape(len(columns), len(taxa))
    # The columns once each, in the order and of the weight that they would have all together.
    once = compressed(different.T, np.bincount(of_site))
    return once._replace(of_site=once.of_site[of_site])


def _compressed(
    values: NDArray[Any], first: int, *, coding: Coding, taxa: Sequence[str]
) -> Patterns:
    sets = sets_in(values, coding, taxa, first)
    return compressed(sets, np.ones(sets.shape[1], np.int64))


def _require_room(columns: int, taxa: int) -> None:
    size, limit = 8 * columns * taxa, get_options().eager_limit
    if size > limit:
        msg = (
            f"the different columns of the alignment, {columns:,} and more, take "
            f"{more_than(size, limit)}: search a part of the sites, leave out sites that are "
            "constant, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
