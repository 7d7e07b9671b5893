"""Windows along the variants: each chunk with the chunks its windows reach, in bounded batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.options import get_options
from genobit.engine.schedule.batches import JOBS, computed
from genobit.engine.schedule.tiles import reached, whole_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.schedule.tiles import Planes

WIDE_ROWS = 16_384
"""Most rows of a wide chunk. Share of the throughput that the registers of an Emerald Rapids allow,
for windows of 1,000 and 5,000 haplotypes: chunks of 2,048 rows 0.60, of 8,192 0.72, of 16,384
0.73, of 32,768 0.75."""
WIDE_PAIRS = 2**24
"""Most pairs of a wide chunk. A table of 2^24 pairs takes about 600 MiB."""
WIDE_BYTES = 2**25
"""Most bytes of the planes of a wide chunk. A task holds two wide chunks."""


def wide_rows(last: NDArray[np.int64], bits: int) -> int:
    """Return the rows of a wide chunk, which pays off for narrow windows and short rows.

    last: (rows,) int64, last row in the window of each row. ``bits`` is the length of a row in each
    of up to three planes.
    """
    pairs = int((last - np.arange(len(last))).sum()) // max(1, len(last))
    octets = 24 * words_for(bits)
    return min(WIDE_ROWS, WIDE_PAIRS // max(1, pairs), WIDE_BYTES // max(1, octets))


def in_rows(planes: Mapping[str, da.Array], rows: int) -> dict[str, da.Array]:
    """Merge chunks of `chunk_rows` rows into chunks of up to ``rows`` rows.

    Planes with other chunk sizes, such as a user's own, are returned unchanged.
    """
    sizes = next(iter(planes.values())).chunks[0]
    together = rows // max(1, *sizes)
    if together < 2 or max(sizes) != get_options().edge:
        return dict(planes)
    wide = tuple(sum(sizes[k : k + together]) for k in range(0, len(sizes), together))
    return {name: plane.rechunk({0: wide}) for name, plane in planes.items()}


def in_windows(
    function: Callable[..., Any],
    planes: Planes,
    last: NDArray[np.int64],
    along: NDArray[Any],
) -> Iterator[tuple[int, Any]]:
    """Yield (first row, ``function(planes of reached chunks, last, along, rows)``) for each chunk.

    planes: (rows, words) each, lazy; last: (rows,) int64, last row in each row's window, never
    decreasing; along: (rows,).

    The call gets the chunk's number of rows as ``rows``, and ``last`` counted from its first row.
    Both ``last`` and ``along`` cover all rows up to the last one that the chunk's windows reach,
    which may lie inside a later chunk. Chunks without rows are skipped. Only the planes of one
    batch are held; a chunk that the windows of two batches reach is computed twice.
    """
    planes = whole_rows(planes)
    chunks = enumerate(reached(planes[0].chunks[0], last).tolist())
    spans = [(i, *span) for i, span in chunks if span[0] < span[1]]
    for begin in range(0, len(spans), JOBS):
        part = spans[begin : begin + JOBS]
        inputs = []
        for i, start, stop, final in part:
            blocks = [[(plane.name, k, 0) for plane in planes] for k in range(i, final + 1)]
            inside = slice(start, int(last[stop - 1]) + 1)
            inputs.append((blocks, last[inside] - start, along[inside], stop - start))
        results = computed("genobit-windows", function, planes, inputs)
        yield from zip([start for _, start, _, _ in part], results, strict=True)
