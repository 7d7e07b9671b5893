"""Tasks of quality control: counts of each chunk of variants, sums over chunks, and statistics.

dask's own blockwise layers take twice the time of the counts (100,000 variants of 2,500 samples,
Zen 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.dask_private import List, Task, TaskRef
from genobit.engine.schedule.graphs import Key, named_layer
from genobit.engine.schedule.packing import stack_of
from genobit.engine.schedule.tiles import joined, ordered, whole_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.layout import Layout

GROUP = 2**17
"""Variants in a chunk of statistics. Chunks of planes hold fewer, and a task for each of them and
each statistic would take dask longer than the counts."""
_PART_BYTES = 2**26
"""Bytes of partial sums that a task adds up, unless two take more."""


def counts_of_chunks(
    function: Callable[..., NDArray[np.int32]],
    fields: int,
    planes: Mapping[str, da.Array],
    kinds: NDArray[np.uint8],
    layout: Layout,
    *inputs: Any,
) -> da.Array:
    """Return ``function(planes, kinds, layout, *inputs)`` of each chunk: (fields, variants)."""
    arrays = _arrays(planes, layout)
    sizes = arrays[-1].chunks[-2]
    name, graph = named_layer(
        "genobit-counts", _count_tasks, function, arrays, sizes, kinds, layout, inputs
    )
    return da.Array(graph, name, ((fields,), sizes), np.int32)


def _arrays(planes: Mapping[str, da.Array], layout: Layout) -> list[da.Array]:
    """Return the stack of all planes if there is one, else the planes."""
    arrays = whole_rows(ordered(planes, layout))
    stack = stack_of(arrays)
    return arrays if stack is None else [stack]


def _count_tasks(
    name: str,
    function: Callable[..., NDArray[np.int32]],
    arrays: list[da.Array],
    sizes: tuple[int, ...],
    kinds: NDArray[np.uint8],
    layout: Layout,
    inputs: tuple[Any, ...],
) -> dict[Any, Any]:
    ends = np.cumsum(sizes)[:-1]
    return {
        (name, 0, k): Task((name, 0, k), function, _blocks(arrays, k), part, layout, *inputs)
        for k, part in enumerate(np.split(kinds, ends))
    }


def _blocks(arrays: list[da.Array], k: int) -> Any:
    """Return what a task takes as the planes of a chunk: a stack, or a list of blocks."""
    keys: list[Key] = [(x.name, *(0,) * (x.ndim - 2), k, 0) for x in arrays]
    refs = [TaskRef(key) for key in keys]
    return refs[0] if arrays[0].ndim == 3 else List(*refs)


def sums_of_chunks(
    function: Callable[..., NDArray[np.int64]],
    shape: tuple[int, int],
    planes: Mapping[str, da.Array],
    counts: da.Array,
    kinds: NDArray[np.uint8],
    layout: Layout,
    *inputs: Any,
) -> da.Array:
    """Return the sum over all chunks of ``function(planes, counts, kinds, layout, *inputs)``.

    Each value has the ``shape`` of the result, int64. ``counts`` are those of `counts_of_chunks`.
    """
    arrays = _arrays(planes, layout)
    fan_in = max(2, _PART_BYTES // (8 * shape[0] * shape[1] + 1))
    name, graph = named_layer(
        "genobit-sums", _sum_tasks, function, arrays, counts, kinds, fan_in, layout, inputs
    )
    return da.Array(graph, name, tuple((size,) for size in shape), np.int64)


def _sum_tasks(
    name: str,
    function: Callable[..., NDArray[np.int64]],
    arrays: list[da.Array],
    counts: da.Array,
    kinds: NDArray[np.uint8],
    fan_in: int,
    layout: Layout,
    inputs: tuple[Any, ...],
) -> dict[Any, Any]:
    layer: dict[Any, Any] = {}
    keys: list[Key] = []
    for k, part in enumerate(np.split(kinds, np.cumsum(counts.chunks[1])[:-1])):
        found = TaskRef((counts.name, 0, k))
        key = (f"{name}-part", 0, k)
        layer[key] = Task(key, function, _blocks(arrays, k), found, part, layout, *inputs)
        keys.append(key)
    level = 0
    while level == 0 or len(keys) > 1:
        groups = [keys[k : k + fan_in] for k in range(0, len(keys), fan_in)]
        level += 1
        keys = [(f"{name}-part", level, k) for k in range(len(groups))]
        if len(keys) == 1:
            keys = [(name, 0, 0)]
        for key, group in zip(keys, groups, strict=True):
            layer[key] = Task(key, _added, List(*map(TaskRef, group)))
    return layer


def _added(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def grouped(counts: da.Array) -> da.Array:
    """Join chunks of counts (fields, variants) to groups of up to `GROUP` variants."""
    groups: list[list[int]] = []
    rows = 0
    for k, size in enumerate(counts.chunks[1]):
        if not groups or rows + size > GROUP:
            groups.append([])
            rows = 0
        groups[-1].append(k)
        rows += size
    sizes = tuple(sum(counts.chunks[1][k] for k in group) for group in groups)
    name, graph = named_layer("genobit-grouped", _group_tasks, counts, groups)
    return da.Array(graph, name, (counts.chunks[0], sizes), counts.dtype)


def _group_tasks(name: str, counts: da.Array, groups: list[list[int]]) -> dict[Any, Any]:
    return {
        (name, 0, g): Task(
            (name, 0, g), np.concatenate, List(*(TaskRef((counts.name, 0, k)) for k in group)), 1
        )
        for g, group in enumerate(groups)
    }


def statistic(
    function: Callable[..., NDArray[Any]], fields: da.Array, dtype: DTypeLike, *inputs: Any
) -> da.Array:
    """Return ``function(block, *inputs)`` of each block of (fields, rows): (rows,)."""
    name, graph = named_layer("genobit-statistic", _statistic_tasks, function, fields, inputs)
    return da.Array(graph, name, fields.chunks[1:], dtype)


def _statistic_tasks(
    name: str, function: Callable[..., NDArray[Any]], fields: da.Array, inputs: tuple[Any, ...]
) -> dict[Any, Any]:
    return {
        (name, k): Task((name, k), function, TaskRef((fields.name, 0, k)), *inputs)
        for k in range(fields.numblocks[1])
    }


def contiguous(blocks: Any) -> list[NDArray[np.uint64]]:
    """Return the planes of a chunk, as a task gets them, as a list of contiguous arrays."""
    return [np.ascontiguousarray(joined(block)) for block in blocks]
