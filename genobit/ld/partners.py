"""Partners of a few variants in linkage disequilibrium: the best pairs of each, strongest first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.pairs.parts import Columns, as_frame
from genobit.engine.schedule.dask_private import List, TaskRef
from genobit.engine.schedule.graphs import Grid, Sources, full, sources
from genobit.engine.schedule.tiles import along_of, ordered, whole_rows
from genobit.ld.matrix import check_statistic, pairs_tile, taken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.ld.matrix import Planes


def partner_tiles(
    planes: Planes,
    layout: Layout,
    last: NDArray[np.int64],
    chosen: NDArray[np.int64],
    minimum: float,
    top: int | None,
    labels: Mapping[str, NDArray[Any]],
    statistic: str,
) -> tuple[list[Any], HighLevelGraph, Columns]:
    """Return keys and graph of the pairs of chosen variants with the variants in their windows.

    chosen: (variants,) int64, ascending. There is one result for each chunk with a chosen variant,
    merged from one task for each chunk that their windows reach. Otherwise as `pair_tiles`.
    """
    check_statistic(statistic, layout.kind)
    arrays = whole_rows(ordered(planes, layout))
    edges = np.cumsum([0, *arrays[0].chunks[0]])
    # The first variant whose window has variant i: windows are symmetric.
    first = np.searchsorted(last, np.arange(last.size))
    chunk = np.searchsorted(edges, chosen, side="right") - 1
    holding, starts = np.unique(chunk, return_index=True)
    groups = np.split(chosen, starts)[1:]
    ends = np.reshape([(first[group[0]], last[group[-1]]) for group in groups], (-1, 2))
    columns = np.searchsorted(edges, ends, side="right") - np.array([1, 0])
    best = partial(_best, statistic=statistic, top=top)
    function = partial(_tile, best=best, layout=layout, minimum=minimum, statistic=statistic)
    make = partial(
        _coupled, function=function, planes=sources(arrays), edges=edges, holding=holding,
        groups=groups, first=first, last=last, along=labels,
    )  # fmt: skip
    tiles = Grid(arrays, "genobit-partners", columns, make)
    merge = partial(_merged, best=best, tiles=tiles.name, columns=columns)
    merged = Grid([], "genobit-best", full(len(groups), 1), merge)
    empty = [np.zeros((0, layout.words), np.uint64)] * len(layout.planes)
    nothing, none = np.zeros(0, np.int64), along_of(labels, slice(0))
    example = function(empty, empty, nothing, nothing, nothing, nothing, none, none)
    return list(merged), merged.graph(tiles.graph()), example


def _coupled(
    layer: Grid,
    k: int,
    j: int,
    *,
    function: Callable[..., Columns],
    planes: Sources,
    edges: NDArray[np.int64],
    holding: NDArray[np.int64],
    groups: list[NDArray[np.int64]],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    along: Mapping[str, NDArray[Any]],
) -> tuple[Any, ...]:
    """Return the call for the chosen variants of one chunk and the variants of another."""
    i, chosen = int(holding[k]), groups[k]
    left, right = edges[j : j + 2].tolist()
    return (
        function,
        layer.blocks(planes, i),
        layer.blocks(planes, j),
        chosen - edges[i],
        chosen - left,
        first[chosen] - left,
        last[chosen] - left,
        along_of(along, chosen),
        along_of(along, slice(left, right)),
    )


def _tile(
    a: list[Any],
    b: list[Any],
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    left: dict[str, NDArray[Any]],
    right: dict[str, NDArray[Any]],
    *,
    best: Callable[..., Columns],
    layout: Layout,
    minimum: float,
    statistic: str,
) -> Columns:
    """Return the best pairs of some rows of ``a`` with rows of ``b``, from first to last.

    rows, own: (rows,), where the rows are in ``a``, and where they would be in ``b``.
    """
    chosen, stop = [plane[rows] for plane in a], np.minimum(last, len(b[0]) - 1)
    # A shift past all rows makes every other row a later one.
    found = pairs_tile(
        chosen, b, stop, rows.size, left, right,
        layout=layout, minimum=minimum, statistic=taken(statistic),
    )  # fmt: skip
    (_, i), (_, j) = (found.labels[f"variant_{side}"] for side in (0, 1))
    return best(found, np.flatnonzero((j >= first[i]) & (j != own[i])))


def _merged(
    _: Grid, k: int, __: int, *, best: Callable[..., Columns], tiles: str,
    columns: NDArray[np.int64],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the call that merges the tiles of a chunk with chosen variants."""
    parts = List(*[TaskRef((tiles, k, j)) for j in range(*columns[k].tolist())])
    return partial(_merge, best=best), parts


def _merge(parts: list[Columns], *, best: Callable[..., Columns]) -> Columns:
    """Return the best pairs of each variant, of all its tiles."""
    import pandas as pd

    frame = pd.concat([as_frame(part) for part in parts], ignore_index=True)
    every = np.arange(len(frame))
    labels = {name: (frame[name].to_numpy(), every) for name in parts[0].labels}
    values = {name: frame[name].to_numpy() for name in parts[0].values}
    return best(Columns(labels, values), every)


def _best(columns: Columns, rows: NDArray[np.int64], *, statistic: str, top: int | None) -> Columns:
    """Return the ``top`` strongest pairs of each first variant among some rows, strongest first.

    Pairs of one value are in the order of the second variant.
    """
    ends = (columns.labels[f"variant_{side}"] for side in (0, 1))
    first, second = (values[places[rows]] for values, places in ends)
    order = np.lexsort((second, -columns.values[statistic][rows], first))
    if top is not None:
        begin = np.searchsorted(first[order], first[order])
        order = order[np.arange(order.size) - begin < top]
    rows = rows[order]
    labels = {name: (values, places[rows]) for name, (values, places) in columns.labels.items()}
    return Columns(labels, {name: values[rows] for name, values in columns.values.items()})
