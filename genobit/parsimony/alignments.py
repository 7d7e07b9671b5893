"""Alignments (taxa, sites) in memory, or lazy ones a chunk after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.data import characters
from genobit.data.characters import sets_in
from genobit.engine.schedule.sites import FEW, by_sites, one_by_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding


def decided(
    values: NDArray[Any] | da.Array,
    kind: str | None,
    states: Sequence[Any] | None,
    gap: str,
    taxa: Sequence[str],
) -> Coding:
    """Decide what the entries of an alignment stand for, the same for every way to cut it.

    Parameters
    ----------
    values
        The alignment. A lazy one is gone through where the coding depends on what occurs.
    kind, states, gap, taxa
        As for `genobit.data.characters.state_sets`.

    Raises
    ------
    ValueError
        For an unknown kind, and more than 64 states.

    Examples
    --------
    >>> text = da.from_array(np.array([list("AC1")]), chunks=1)
    >>> decided(text, None, None, "missing", ["a"])
    Coding(kind='standard', symbols=('1', 'A', 'C'), gap='missing')
    """
    characters.check_asked(values, kind, gap)
    seen = characters.Seen({}, None)
    if not characters.is_told(values.dtype, kind, states):
        if isinstance(values, da.Array):
            parts = by_sites(partial(_seen, taxa=taxa), values)
            seen = characters.joined(part for _, part in parts)
        else:
            seen = characters.seen(values, taxa)
    coding = characters.coding_of(values.dtype, seen, kind, states, gap)
    characters.require_few_states(coding, seen, _parts(values), taxa)
    return coding


def _seen(values: NDArray[Any], first: int, *, taxa: Sequence[str]) -> characters.Seen:
    return characters.seen(values, taxa, first)


def _parts(values: NDArray[Any] | da.Array) -> Iterator[tuple[int, NDArray[Any]]]:
    """First site and entries of each part, one in memory at a time."""
    if isinstance(values, da.Array):
        yield from one_by_one(values)
    else:
        yield 0, values


def sets_by_sites(
    values: NDArray[Any] | da.Array, coding: Coding, taxa: Sequence[str]
) -> Iterator[NDArray[np.unsignedinteger]]:
    """State sets of an alignment in memory, or of a chunk after the other."""
    if not isinstance(values, da.Array):
        yield sets_in(values, coding, taxa)
        return
    for _, sets in by_sites(partial(_sets, coding=coding, taxa=taxa), values, group=FEW):
        yield sets


def _sets(values: NDArray[Any], first: int, *, coding: Coding, taxa: Sequence[str]) -> NDArray[Any]:
    return sets_in(values, coding, taxa, first)
