"""Digests of the data that a dask graph computes with, a chunk at a time.

Two runs with equal digests computed with equal data, wherever these came from. Names of dask arrays
cannot tell: they hold the path of a file, or a random number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dask.core import flatten, toposort
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from genobit.engine.schedule.checkpoints import digest
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import Tasks
from genobit.engine.schedule.names import layer_name, named_layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.array as da


class Passes(MaterializedLayer):
    """Tasks that use each chunk of their inputs many times, as those of `Tasks` do."""


def digest_of_chunks(arrays: Sequence[da.Array]) -> str:
    """Return a digest of all chunks of arrays. Memory holds the chunks being computed."""
    graph = HighLevelGraph.merge(*(array.dask for array in arrays))
    return _digest(graph, [key for array in arrays for key in flatten(array.__dask_keys__())])


def digest_of_inputs(arrays: Sequence[da.Array]) -> str | None:
    """Return a digest of what the costly layers of arrays take, such as bit planes.

    Costly are products and searches over pairs of chunks. Returns None without such a layer: the
    arrays then take little longer to compute than to compare.
    """
    if not arrays:
        return None
    graph = HighLevelGraph.merge(*(array.dask for array in arrays))
    costly: set[str] = set()
    for name in toposort(dict(graph.dependencies)):
        layer = graph.layers[name]
        own = isinstance(layer, Passes) or (isinstance(layer, Tasks) and layer.costly)
        if own or not costly.isdisjoint(graph.dependencies[name]):
            costly.add(name)
    if not costly:
        return None
    taken = {below for name in costly for below in graph.dependencies[name]} - costly
    keys = [
        key
        for name, layer in graph.layers.items()
        if name in taken
        for key in sorted(layer.get_output_keys(), key=_place)
    ]
    return _digest(graph, keys)


def _place(key: Any) -> str:
    """Return where a chunk stands in its array; names differ between runs."""
    return repr(key[1:]) if isinstance(key, tuple) else ""


def _digest(graph: HighLevelGraph, keys: list[Any]) -> str:
    name, whole = named_layer("genobit-digest", _digests, keys, above=graph)
    (found,) = compute(Delayed(name, whole, layer=name))
    return digest(found)


def _digests(name: str, keys: list[Any]) -> dict[Any, Any]:
    layer: dict[Any, Any] = {(name, k): (_digest_of, key) for k, key in enumerate(keys)}
    layer[name] = (list, list(layer))
    return layer


def _digest_of(chunk: Any) -> str:
    return digest([chunk]) if isinstance(chunk, np.ndarray) else layer_name("value", chunk)
