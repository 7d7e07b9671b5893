"""Planes chunk by chunk, for passes in which each chunk follows on the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from dask.base import compute, tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from genobit.lazy.rows import as_rows, ordered
from genobit.lazy.tiles import whole_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import dask.array as da

    from genobit.kernels.rows import Rows
    from genobit.packing import Layout

GROUP_BYTES = 2**26
"""Most bytes of planes computed at a time: many small chunks, as dask takes 1 ms for each call."""


def row_chunks(planes: Mapping[str, da.Array], layout: Layout) -> Iterator[tuple[int, Rows]]:
    """Compute planes some chunks at a time, in order.

    Parameters
    ----------
    planes
        By name, each (rows, words).
    layout
        Of them.

    Yields
    ------
        First row of a chunk, and its rows.
    """
    arrays = whole_rows(ordered(planes, layout))
    rows = np.array(arrays[0].chunks[0])
    edges = np.concatenate([[0], np.cumsum(rows)])
    # The words of a row, in all planes.
    most = max(int(rows.max(initial=1)), GROUP_BYTES // (8 * layout.words * len(arrays)))
    k = 0
    while k < rows.size:
        stop = max(k + 1, int(np.searchsorted(edges, edges[k] + most, side="right")) - 1)
        group = range(k, stop)
        name = "genobit-stream-" + tokenize([array.name for array in arrays], k, stop)
        layer = {(name, c): (list, [(array.name, c, 0) for array in arrays]) for c in group}
        graph = HighLevelGraph.from_collections(name, layer, dependencies=arrays)
        parts = compute(*[Delayed(key, graph, layer=name) for key in layer])
        for chunk, blocks in zip(group, parts, strict=True):
            yield int(edges[chunk]), as_rows(blocks, layout)
        k = stop
