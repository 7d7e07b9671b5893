"""Alignments in chunks of sites: a function of each, of which few are held at a time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.names import named_layer
from genobit.engine.schedule.passes import in_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import dask.array as da
    from numpy.typing import NDArray

GROUP = 64
"""Chunks handed to a scheduler at a time: it holds some of them for each of its threads."""
FEW = 4
"""The same where much is left of each: dask takes 3 ms for one, 0.7 ms for each of four."""


def whole_columns(array: da.Array) -> da.Array:
    """An alignment (taxa, sites) in chunks of all taxa, none of them empty.

    Raises
    ------
    ValueError
        For chunks of unknown size.
    """
    sizes = array.chunks[1]
    if np.isnan(array.shape).any():
        msg = (
            "the alignment has chunks of unknown size: give it sizes by "
            "aln.data.compute_chunk_sizes()"
        )
        raise ValueError(msg)
    wanted: dict[int, Any] = {0: -1}
    if 0 in sizes and array.shape[1]:
        wanted[1] = tuple(size for size in sizes if size)
    return array.rechunk(wanted)


def by_sites(
    function: Callable[..., Any],
    array: da.Array,
    each: NDArray[Any] | None = None,
    group: int = GROUP,
) -> Iterator[tuple[int, Any]]:
    """Call ``function(chunk, first site)`` for each chunk, on whatever scheduler is active.

    Parameters
    ----------
    function
        Of a chunk and the number of its first site.
    array
        (taxa, sites), as `whole_columns` gives it.
    each
        A value for each site, of which the function gets those of its chunk as a third argument;
        the function of no values gets none.
    group
        Most results that are held.

    Yields
    ------
        First site, and what the function made of the chunk, in order.

    Raises
    ------
    ValueError, TypeError
        Of the function, for the first chunk that it refuses, whichever was computed first.
    """
    starts = np.concatenate([[0], np.cumsum(array.chunks[1])]).tolist()
    name, graph = named_layer("genobit-sites", _tasks, function, array, starts, each)
    keys = [(name, chunk) for chunk in range(len(starts) - 1)]
    for first, found in zip(starts[:-1], in_groups(keys, graph, group), strict=True):
        if isinstance(found, _Fault):
            raise found.error
        yield first, found


def _tasks(
    name: str,
    function: Callable[..., Any],
    array: da.Array,
    starts: list[int],
    each: NDArray[Any] | None,
) -> dict[Any, Any]:
    layer: dict[Any, Any] = {}
    for chunk, (first, stop) in enumerate(itertools.pairwise(starts)):
        more = () if each is None else (each[first:stop],)
        layer[name, chunk] = (_tried, function, (array.name, 0, chunk), first, *more)
    return layer


@dataclass(frozen=True, eq=False)  # dask looks for keys within tuples
class _Fault:
    """What is wrong with a chunk."""

    error: Exception


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """The error itself of a chunk that is refused: others may come earlier in the alignment."""
    try:
        return function(*arguments)
    except (ValueError, TypeError) as error:
        return _Fault(error)


def one_by_one(array: da.Array) -> Iterator[tuple[int, Any]]:
    """Each chunk itself and its first site, one in memory at a time."""
    first = 0
    for chunk, size in enumerate(array.chunks[1]):
        yield first, compute(array.blocks[:, chunk])[0]
        first += size
