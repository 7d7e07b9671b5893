"""Sums over variants for every pair of samples, as a lazy graph of tiles.

A leaf is one tile of samples and some chunks of variants. The sums of leaves are added one by one.
A run holds one sum of each tile, and the sums and planes of some leaves, so the number of variants
is unbounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial as partial_of
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.engine.schedule.graphs import named_layer, sources
from genobit.engine.schedule.pair_tasks import Chain, PairTasks, Steps

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.planes import PlaneRows

Sums = tuple["NDArray[Any] | None", ...]
"""Counts of a leaf: arrays whose last axes are rows and columns, or None for a count that is
absent."""
Partial = Callable[..., Sums]
Finish = Callable[["Summed"], "NDArray[Any]"]

FAN_IN = 4
LEAF_BITS = 2**26
"""Calls of one side of a leaf: a task of about 0.5 s on tiles of 2,048 samples."""


class Summed(NamedTuple):
    """What a tile of pairs is made of."""

    sums: list[Any]
    """`Sums` of each group."""
    rows: list[NDArray[Any]]
    """Blocks of ``per_sample`` of the rows."""
    columns: list[NDArray[Any]]
    whole: list[NDArray[Any]]
    """Complete arrays."""


class SampleChunks(NamedTuple):
    """Planes of samples, cut into tiles of samples and chunks of variants."""

    planes: tuple[da.Array, ...]
    """Carrier, hom_alt and optionally called: uint64 (samples, words).

    Each chunk of variants starts a new word. The last word of a chunk is padded with zeros.
    """
    variants: tuple[int, ...]
    """Variants in each chunk of words."""
    copies: da.Array
    """Copies of the counted allele: int64 (variants,), chunks as ``variants``."""
    called: da.Array
    """Samples with a call: int64 (variants,), chunks as ``variants``."""

    @property
    def tiles(self) -> tuple[int, ...]:
        """Samples in each tile."""
        return self.planes[0].chunks[0]


def planes_of(planes: Sequence[NDArray[np.uint64]], bits: int) -> PlaneRows:
    """Return blocks of carrier, hom_alt and optionally called as `PlaneRows` for the kernels."""
    from genobit.engine.bits.planes import PlaneRows

    carrier, hom_alt, *called = planes
    # `by_samples` broadcasts one row (stride 0) if no call is missing.
    missing = any(plane.strides[0] or not plane.size for plane in called)
    carrier, hom_alt = np.ascontiguousarray(carrier), np.ascontiguousarray(hom_alt)
    present = np.ascontiguousarray(called[0]) if missing else None
    return PlaneRows(haplotypes=False, bits=bits, planes=(carrier, hom_alt), called=present)


def _leaf(
    partial: Partial,
    bits: list[int],
    a: list[Any],
    b: list[Any] | None,
    along: list[Any],
    after: object = None,
) -> Sums:
    """Return the sums of some chunks, from the variants, rows, columns and ``along`` of each chunk.

    ``after`` is a dependency only.
    """
    columns = [None] * len(a) if b is None else b
    return partial(
        [
            (planes_of(x, n), None if y is None else planes_of(y, n), *others)
            for n, x, y, others in zip(bits, a, columns, along, strict=True)
        ]
    )


def _wide_leaf(
    partial: Partial,
    bits: list[int],
    a: list[Any],
    b: list[Any] | None,
    along: list[Any],
    after: object = None,
) -> Sums:
    """Return the sums of `_leaf` as int64, for totals that could overflow int32."""
    return tuple(
        array.astype(np.int64) if array is not None and array.dtype == np.int32 else array
        for array in _leaf(partial, bits, a, b, along, after)
    )


def added(*parts: Sums) -> Sums:
    """Add sums in the order given."""
    out = []
    for arrays in zip(*parts, strict=True):
        present = [array for array in arrays if array is not None]
        total = present[0].copy() if len(present) > 1 else present[0] if present else None
        for array in present[1:]:
            total += array
        out.append(total)
    return tuple(out)


def _continued(leaf: Callable[..., Sums], before: Sums, *inputs: Any) -> Sums:
    """Return the sum up to and including a leaf, in the memory of the leaf's own sums."""
    out = list(leaf(*inputs))
    for k, (total, array) in enumerate(zip(before, out, strict=True)):
        if total is None or array is None:
            out[k] = total if array is None else array
        elif array.dtype == total.dtype and array.flags.writeable:
            # x + y has the same bits as y + x, of floats too.
            np.add(array, total, out=array)
        else:
            (out[k],) = added((total,), (array,))
    return tuple(out)


def _add(parts: list[Sums]) -> Sums:
    return added(*parts)


def _finish(finish: Finish, a: list[Any], b: list[Any], whole: list[Any], *sums: Sums) -> Any:
    return finish(Summed(list(sums), a, b, whole))


def _mirrored(tile: NDArray[Any]) -> NDArray[Any]:
    from genobit.engine.bits.transpose import transposed

    if tile.ndim == 2:
        return transposed(tile)
    return np.stack([transposed(np.ascontiguousarray(part)) for part in tile])


def leaves(
    variants: Sequence[int], group: Sequence[int], rows: int, enough: int
) -> Iterator[list[int]]:
    """Yield runs of consecutive chunks with at least ``enough`` calls of ``rows`` samples each.

    ``variants`` lists the number of variants in each chunk. The last run may have fewer calls.
    """
    leaf: list[int] = []
    calls = 0
    for chunk in group:
        leaf.append(chunk)
        calls += rows * variants[chunk]
        if calls >= enough:
            yield leaf
            leaf, calls = [], 0
    if leaf:
        yield leaf


def leaf_calls(tiles: int) -> int:
    """Return the calls of one side of a leaf of a matrix with so many tiles along a side.

    A chunk of a single tile is a leaf (`by_samples.CHUNK_CALLS`), so that threads share the chunks
    evenly.
    """
    return LEAF_BITS if tiles > 1 else LEAF_BITS // 3


def tree(
    layer: dict[Any, Any],
    name: str,
    place: tuple[int, ...],
    keys: list[Any],
    add: Callable[[list[Any]], Any] = _add,
    fan_in: int = FAN_IN,
) -> Any:
    """Add tasks to the layer that sum ``keys`` in a tree, and return the key of the total."""
    level = 0
    while len(keys) > 1:
        above = []
        for k in range(0, len(keys), fan_in):
            key = (f"{name}-add", *place, level, k)
            layer[key] = (add, keys[k : k + fan_in])
            above.append(key)
        keys, level = above, level + 1
    return keys[0]


def pair_sums(
    partial: Partial,
    finish: Finish,
    samples: SampleChunks,
    *,
    along: Sequence[da.Array] = (),
    per_sample: Sequence[da.Array] = (),
    whole: Sequence[da.Array] = (),
    groups: Sequence[Sequence[int]] | None = None,
    layers: int | None = None,
    dtype: DTypeLike = np.float64,
) -> da.Array:
    """Return the lazy symmetric matrix of all pairs of samples, from sums over variants.

    A leaf calls ``partial(chunks) -> sums`` with a list of ``(a, b, *along)``: the rows of two
    tiles in one chunk of variants and the blocks of ``along``. If a tile is paired with itself,
    ``b`` is None. Sums are added over variants in any grouping.

    A tile is ``finish(summed)``, a `Summed`. It returns (rows, columns), or (layers, rows, columns)
    if ``layers`` is given.

    along: (variants, ...), chunks as ``samples.variants``; per_sample: (samples, ...), chunks as
    ``samples.tiles``; returns (samples, samples) or (layers, samples, samples).

    The sums of each of ``groups``, lists of chunks such as chromosomes, are kept apart (default:
    one group). Tiles on and above the diagonal are computed; the others are transposes of the same
    tasks.
    """
    tiles, parts = samples.tiles, [range(len(samples.variants))] if groups is None else groups
    whole = [array.rechunk(-1) for array in whole]
    leaf_of = _leaf if sum(samples.variants) < 2**31 else _wide_leaf
    sizes, enough = samples.variants, leaf_calls(len(tiles))
    chains = [_chain(list(leaves(sizes, g, max(tiles), enough)), sizes) for g in parts]
    leaf = partial_of(leaf_of, partial)
    continued = partial_of(_continued, leaf)
    steps = Steps(leaf, added, continued, partial_of(_finish, finish), _mirrored)
    arrays = samples.planes, along, per_sample, whole
    inputs = [array for group in arrays for array in group]
    named = map(sources, arrays)
    prefix = "genobit-pair-sums"
    layer = PairTasks(inputs, prefix, steps, len(tiles), chains, *named, layers is not None)
    first = () if layers is None else ((layers,),)
    return da.Array(layer.graph(), layer.name, chunks=(*first, tiles, tiles), dtype=dtype)


def _chain(groups: list[list[int]], variants: Sequence[int]) -> Chain:
    return Chain(groups, [[variants[k] for k in leaf] for leaf in groups])


def sample_sums(
    partial: Partial,
    samples: SampleChunks,
    *,
    along: Sequence[da.Array] = (),
    whole: Sequence[da.Array] = (),
    groups: Sequence[Sequence[int]] | None = None,
    columns: int | None = None,
    enough: int | None = None,
    dtype: DTypeLike = np.float64,
) -> da.Array:
    """Return lazy sums over variants for every sample: (samples, groups), a tree of additions.

    ``partial(chunks, *whole) -> (sums (samples,),)`` takes the chunks of `pair_sums`, with b None,
    and the complete arrays ``whole``. With ``columns`` its sums are (samples, columns), of one
    group. A leaf has at least ``enough`` calls (default: `LEAF_BITS`).
    """
    parts = [range(len(samples.variants))] if groups is None else groups
    most = max(samples.tiles)
    # Read at the call: tests set a smaller one.
    calls = LEAF_BITS if enough is None else enough
    cut = [list(leaves(samples.variants, group, most, calls)) for group in parts]
    inputs = partial, samples, along, [array.rechunk(-1) for array in whole], cut
    name, graph = named_layer("genobit-sample-sums", _sample_tasks, *inputs)
    return da.Array(graph, name, (samples.tiles, (columns or len(cut),)), dtype)


def _sample_tasks(
    name: str,
    partial: Partial,
    samples: SampleChunks,
    along: Sequence[da.Array],
    whole: Sequence[da.Array],
    cut: list[list[list[int]]],
) -> dict[Any, Any]:
    """Return leaves and additions for each tile of samples; ``cut`` lists each group's leaves."""
    complete = [(array.name, *(0,) * array.ndim) for array in whole]
    layer: dict[Any, Any] = {}
    for i in range(len(samples.tiles)):
        totals = []
        for g, group in enumerate(cut):
            keys = []
            for n, leaf in enumerate(group):
                bits = [samples.variants[k] for k in leaf]
                rows = [[(plane.name, i, k) for plane in samples.planes] for k in leaf]
                others = [
                    [(array.name, k, *(0,) * (array.ndim - 1)) for array in along] for k in leaf
                ]
                inputs = partial, bits, rows, others, complete
                layer[f"{name}-leaf", i, g, n] = (_sample_leaf, *inputs)
                keys.append((f"{name}-leaf", i, g, n))
            totals.append(tree(layer, name, (i, g), keys))
        layer[name, i, 0] = (_columns, totals)
    return layer


def _sample_leaf(
    partial: Partial, bits: list[int], a: list[Any], along: list[Any], whole: list[Any]
) -> Sums:
    return _leaf(lambda chunks: partial(chunks, *whole), bits, a, None, along)


def _columns(totals: list[Sums]) -> NDArray[Any]:
    sums = [total[0] for total in totals if total[0] is not None]
    return np.stack(sums, axis=1) if sums[0].ndim == 1 else sums[0]
