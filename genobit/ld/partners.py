"""Partners of a few variants in linkage disequilibrium: the best pairs of each, strongest first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.pairs.parts import Columns, as_frame
from genobit.engine.schedule.blocks import as_rows, ordered
from genobit.engine.schedule.graphs import Grid, List, Sources, TaskRef, full, sources
from genobit.engine.schedule.tiles import whole_rows
from genobit.ld.matrix import check_statistic, labelled_pairs, taken

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
    rows = arrays[0].chunks[0]
    edges = np.cumsum([0, *rows])
    # The first variant whose window has variant i: windows are symmetric.
    first = np.searchsorted(last, np.arange(last.size))
    chunk = np.searchsorted(edges, chosen, side="right") - 1
    holding, starts = np.unique(chunk, return_index=True)
    groups = np.split(chosen, starts[1:]) if chosen.size else []
    ends = [np.array([first[group[0]], last[group[-1]]]) for group in groups]
    spans = [np.searchsorted(edges, pair, side="right") - [1, 0] for pair in ends]
    columns = np.array(spans, np.int64).reshape(-1, 2)
    function = partial(_tile, layout=layout, minimum=minimum, top=top, statistic=statistic)
    make = partial(
        _coupled, function=function, planes=sources(arrays), edges=edges, holding=holding,
        groups=groups, first=first, last=last, along=labels,
    )  # fmt: skip
    tiles = Grid(arrays, "genobit-partners", columns, make)
    merge = partial(_merged, tiles=tiles.name, columns=columns, statistic=statistic, top=top)
    best = Grid([], "genobit-best", full(len(groups), 1), merge)
    empty = [np.zeros((0, layout.words), np.uint64)] * len(layout.planes)
    nothing, none = np.zeros(0, np.int64), {name: x[:0] for name, x in labels.items()}
    example = function(empty, empty, nothing, nothing, nothing, 0, 0, none, none)
    return list(best), best.graph(tiles.graph()), example


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
    (top, left), right = edges[[i, j]].tolist(), int(edges[j + 1])
    return (
        function,
        layer.blocks(planes, i),
        layer.blocks(planes, j),
        chosen - top,
        first[chosen],
        last[chosen],
        top,
        left,
        {name: values[chosen] for name, values in along.items()},
        {name: values[left:right] for name, values in along.items()},
    )


def _tile(
    a: list[Any],
    b: list[Any],
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    start: int,
    shift: int,
    left: dict[str, NDArray[Any]],
    right: dict[str, NDArray[Any]],
    *,
    layout: Layout,
    minimum: float,
    top: int | None,
    statistic: str,
) -> Columns:
    """Return the pairs of some rows of a chunk with the rows of another, from first to last.

    Row 0 of ``a`` is the variant ``start``, row 0 of ``b`` the variant ``shift``.
    """
    from genobit.ld.kernels import pairs

    chosen, others = as_rows([plane[rows] for plane in a], layout), as_rows(b, layout)
    stop = np.minimum(last - shift, len(b[0]) - 1)
    # A shift past all rows makes every other row a later one.
    i, j, found = pairs.pairs(chosen, others, stop, rows.size, minimum, taken(statistic))
    inside = (j + shift >= first[i]) & (j + shift != rows[i] + start)
    i, j, found = i[inside], j[inside], found[inside]
    columns = labelled_pairs(i, j, found, left, right, taken(statistic))
    return _best(columns, i, j, statistic, top)


def _merged(
    _: Grid, k: int, __: int, *, tiles: str, columns: NDArray[np.int64], statistic: str,
    top: int | None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the call that merges the tiles of a chunk with chosen variants."""
    parts = List(*[TaskRef((tiles, k, j)) for j in range(*columns[k].tolist())])
    return partial(_merge, statistic=statistic, top=top), parts


def _merge(parts: list[Columns], *, statistic: str, top: int | None) -> Columns:
    """Return the best pairs of each variant, of all its tiles."""
    import pandas as pd

    frame = pd.concat([as_frame(part) for part in parts], ignore_index=True)
    every = np.arange(len(frame))
    labels = {name: (frame[name].to_numpy(), every) for name in parts[0].labels}
    values = {name: frame[name].to_numpy() for name in parts[0].values}
    ends = frame["variant_0"].to_numpy(), frame["variant_1"].to_numpy()
    return _best(Columns(labels, values), *ends, statistic, top)


def _best(
    columns: Columns,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    statistic: str,
    top: int | None,
) -> Columns:
    """Return the ``top`` strongest pairs of each first variant; pairs of one value by position."""
    order = np.lexsort((second, -columns.values[statistic], first))
    if top is not None:
        begin = np.searchsorted(first[order], first[order])
        order = order[np.arange(order.size) - begin < top]
    labels = {name: (of, places[order]) for name, (of, places) in columns.labels.items()}
    return Columns(labels, {name: values[order] for name, values in columns.values.items()})
