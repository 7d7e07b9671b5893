"""Windows along the variants: each chunk with what its windows reach, in passes of bounded size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask.base import compute, tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from genobit.lazy.passes import JOBS
from genobit.lazy.tiles import Band, whole_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from genobit.lazy.tiles import Planes


def in_windows(
    function: Callable[..., Any],
    planes: Planes,
    last: NDArray[np.int64],
    along: NDArray[Any],
    size: int = JOBS,
) -> Iterator[tuple[int, Any]]:
    """Run ``function(planes of the chunks its windows reach, last, along, rows)`` of each chunk.

    Parameters
    ----------
    function
        ``rows`` are those of the chunk; ``last``, counted from its first row, and ``along`` are of
        all rows up to the last that its windows reach, which may lie inside the last chunk.
    planes
        (rows, words) each, lazy. What is held of them is that of one pass; a chunk at the end of
        one that windows reach across is computed again for the next.
    last
        Last row in the window of each row; it never decreases.
    along
        Values of each row.
    size
        Most chunks of a pass.

    Yields
    ------
        First row of each chunk that has rows, and what the function returned, in their order.
    """
    planes = whole_rows(planes)
    spans = [s for s in Band(planes[0].chunks[0], last).chunks() if s[1] < s[2]]
    for begin in range(0, len(spans), size):
        part = spans[begin : begin + size]
        name = "genobit-windows-" + tokenize(function, [p.name for p in planes], last, begin, size)
        layer: dict[Any, Any] = {}
        for i, start, stop, final in part:
            blocks = [[(p.name, k, 0) for p in planes] for k in range(i, final + 1)]
            reached = slice(start, int(last[stop - 1]) + 1)
            layer[name, i] = (
                function,
                blocks,
                last[reached] - start,
                along[reached],
                stop - start,
            )
        graph = HighLevelGraph.from_collections(name, layer, dependencies=list(planes))
        results = compute(*[Delayed(key, graph, layer=name) for key in layer])
        yield from zip([start for _, start, _, _ in part], results, strict=True)
