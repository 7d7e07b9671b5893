"""Passes over chunks of rows or of sites in order, with few chunks in memory at a time.

`in_windows` gives each chunk with the chunks that its windows reach. `row_chunks` and `row_windows`
stream planes, for passes in which each chunk depends on the one before. `by_sites` calls a function
on each chunk of sites of an alignment.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import Delayed

from genobit.engine.bits.layout import words_for
from genobit.engine.options import get_options
from genobit.engine.schedule.batches import JOBS, computed, in_groups
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.schedule.tiles import as_rows, held_blocks, ordered, reached, whole_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.engine.bits.planes import PlaneRows
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


GROUP_BYTES = 2**26
"""Most bytes of planes computed at a time. Small chunks are grouped: dask takes 1 ms per call."""


def row_chunks(planes: Mapping[str, da.Array], layout: Layout) -> Iterator[tuple[int, PlaneRows]]:
    """Yield (first row, rows) of each chunk in order, computing some chunks at a time.

    planes: (rows, words) each, by name.
    """
    arrays = whole_rows(ordered(planes, layout))
    rows = np.array(arrays[0].chunks[0])
    edges = np.concatenate([[0], np.cumsum(rows)])
    # Rows per group: each has layout.words words in every plane.
    most = max(int(rows.max(initial=1)), GROUP_BYTES // (8 * layout.words * len(arrays)))
    held = [held_blocks(array) for array in arrays]
    k = 0
    while k < rows.size:
        stop = max(k + 1, int(np.searchsorted(edges, edges[k] + most, side="right")) - 1)
        group = range(k, stop)
        parts: list[list[Any]] = [[blocks.get((c, 0)) for blocks in held] for c in group]
        if any(block is None for blocks in parts for block in blocks):
            name, graph = named_layer("genobit-stream", _together, arrays, group)
            (parts,) = compute(Delayed(name, graph, layer=name))
        for chunk, blocks in zip(group, parts, strict=True):
            yield int(edges[chunk]), as_rows(blocks, layout)
        k = stop


def _together(name: str, arrays: list[da.Array], chunks: range) -> dict[Any, Any]:
    """Return one task for all chunks; a task each would cost dask as much as the kernels take."""
    return {name: (list, [[(array.name, c, 0) for array in arrays] for c in chunks])}


def row_windows(
    planes: Mapping[str, da.Array],
    layout: Layout,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
) -> Iterator[PlaneRows]:
    """Yield the rows of each window in order, from ``starts[k]`` up to ``stops[k]``.

    starts, stops: (windows,) int64, never decreasing. Holds the rows from the window's first row to
    the end of the current chunk.
    """
    held: PlaneRows | None = None
    base = k = 0
    for start, rows in row_chunks(planes, layout):
        if k == starts.size:
            return
        first = int(starts[k])
        stop = start + rows.planes[0].shape[0]
        if first >= start:
            held = rows.part(first - start, stop - start)
        else:
            held = _joined(held, first - base, rows)
        base = first
        while k < starts.size and stops[k] <= stop:
            yield held.part(int(starts[k]) - base, int(stops[k]) - base)
            k += 1


def _joined(held: PlaneRows | None, start: int, rows: PlaneRows) -> PlaneRows:
    """Return the held rows from ``start`` on, followed by ``rows``."""
    if held is None:
        return rows
    kept = held.part(start, held.planes[0].shape[0])
    planes = zip(kept.planes, rows.planes, strict=True)
    called = None
    if kept.called is not None and rows.called is not None:
        called = np.concatenate([kept.called, rows.called])
    return rows._replace(planes=tuple(np.concatenate(both) for both in planes), called=called)


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
