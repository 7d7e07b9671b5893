"""Call a function on each chunk of sites of an alignment, with few chunks in memory at a time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.schedule.batches import in_groups
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.names import named_layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import dask.array as da
    from numpy.typing import NDArray

GROUP = 64
"""Chunks handed to a scheduler at a time. It holds some of them for each of its threads."""
FEW = 4
"""Group size for functions with large results. dask takes 3 ms for a group of one chunk, and 0.7 ms
per chunk for a group of four."""


def whole_columns(array: da.Array) -> da.Array:
    """Rechunk an alignment (taxa, sites) so that each chunk has all taxa and none is empty.

    Raises ValueError for chunks of unknown size.
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
    """Yield (first site, ``function(chunk, first site)``) for each chunk, in order.

    array: (taxa, sites) from `whole_columns`; each: (sites,).

    Runs on any active scheduler. With ``each``, the function gets the values of the chunk's sites
    as a third argument. At most ``group`` results are held. Raises the function's ValueError or
    TypeError for the first chunk in site order that it refuses, whichever chunk is computed first.
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
    """Error of a chunk."""

    error: Exception


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function and return its ValueError or TypeError instead of raising it.

    An earlier chunk of the alignment may still fail, and its error comes first.
    """
    try:
        return function(*arguments)
    except (ValueError, TypeError) as error:
        return _Fault(error)


def one_by_one(array: da.Array) -> Iterator[tuple[int, Any]]:
    """Yield (first site, chunk) with one computed chunk in memory at a time."""
    first = 0
    for chunk, size in enumerate(array.chunks[1]):
        yield first, compute(array.blocks[:, chunk])[0]
        first += size
