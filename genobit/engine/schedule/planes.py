"""Check, select and recode lazy calls and planes, and join those of several files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from genobit.engine.bits.layout import CALLED, PREFIX, Layout, require_sound, tail_mask, words_for
from genobit.engine.schedule.packing import DaskPlanes, named
from genobit.engine.schedule.tiles import held_blocks, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def sound(plane: da.Array, layout: Layout, name: str) -> da.Array:
    """Return the plane ``name`` (rows, words) with a check of each chunk when it is computed.

    Chunks that are in memory, as after ``persist``, are checked at once.
    """
    held = held_blocks(plane)
    if len(held) == plane.npartitions:
        edges = np.cumsum([0, *plane.chunks[0]])
        for (i, j), words in held.items():
            last = j == plane.numblocks[1] - 1
            require_sound(words, layout, PREFIX + name, int(edges[i]), last=last)
        return plane
    starts = np.cumsum([0, *plane.chunks[0][:-1]])
    ends = np.arange(plane.numblocks[1]) == plane.numblocks[1] - 1
    return da.blockwise(
        _sound,
        "vw",
        plane,
        "vw",
        da.from_array(starts, chunks=1),
        "v",
        da.from_array(ends, chunks=1),
        "w",
        align_arrays=False,
        dtype=np.uint64,
        meta=np.empty((0, 0), np.uint64),
        layout=layout,
        plane=PREFIX + name,
    )


def _sound(
    words: NDArray[np.uint64],
    start: NDArray[np.int64],
    end: NDArray[np.bool_],
    *,
    layout: Layout,
    plane: str,
) -> NDArray[np.uint64]:
    require_sound(words, layout, plane, int(start[0]), last=bool(end[0]))
    return words


def select_bits(plane: da.Array, bits: NDArray[np.int64]) -> da.Array:
    """Return planes of the bits at these positions, in this order."""
    if np.array_equal(bits, np.arange(bits.size)):
        some = plane[:, : words_for(bits.size)].rechunk({1: -1})
        return some.map_blocks(_first, bits.size, dtype=np.uint64)
    return plane.rechunk({1: -1}).map_blocks(
        _select, bits, dtype=np.uint64, chunks=(plane.chunks[0], (words_for(bits.size),))
    )


def _first(plane: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Return the first ``bits`` bits of each row, with the last word masked."""
    out = plane.copy()
    out[:, -1] &= tail_mask(bits)
    return out


def _select(plane: NDArray[np.uint64], bits: NDArray[np.int64]) -> NDArray[np.uint64]:
    from genobit.engine.bits.words import select_bits as kernel

    return kernel(np.ascontiguousarray(plane), bits)


def as_dosages(planes: DaskPlanes, samples: int) -> DaskPlanes:
    """Convert diploid haplotype planes to dosage planes."""
    alt, called = planes["alt"], planes.get(CALLED)
    arrays = [alt.rechunk({1: -1})] + ([] if called is None else [called.rechunk({1: -1})])
    stacked = da.blockwise(
        _pair,
        "pvw",
        *[x for array in arrays for x in (array, "vx")],
        new_axes={"p": 3, "w": words_for(samples)},
        dtype=np.uint64,
        meta=np.empty((0, 0, 0), np.uint64),
        samples=samples,
    )
    names = ("carrier", "hom_alt", CALLED)
    return named(stacked, names[:2] if called is None else names)


def _pair(*blocks: Any, samples: int) -> NDArray[np.uint64]:
    from genobit.engine.bits.pack import pair_haplotypes

    alt, *rest = (joined(plane) for plane in blocks)
    called = rest[0] if rest else np.full_like(alt, ~np.uint64(0))
    planes = np.empty((3, alt.shape[0], words_for(samples)), np.uint64)
    pair_haplotypes(np.ascontiguousarray(alt), np.ascontiguousarray(called), planes)
    planes[2, :, -1] &= tail_mask(samples)
    return planes


class _Joined(MaterializedLayer):
    """The layer of `joined_rows`, with the arrays that it joins, as a reader made them."""

    parts: Sequence[Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the parts: workers only need the tasks."""
        return MaterializedLayer, (self.mapping, self.annotations)


def joined_rows(arrays: Sequence[da.Array], parts: Sequence[Any] | None) -> da.Array:
    """Return arrays below each other; `parts_of` returns ``parts`` of the unchanged result."""
    found: da.Array = da.concatenate(arrays, axis=0)
    if parts is None or len(arrays) == 1:
        return found
    layer = _Joined(found.dask.layers[found.name].mapping)
    layer.parts = parts
    graph = HighLevelGraph({**found.dask.layers, found.name: layer}, found.dask.dependencies)
    return da.Array(graph, found.name, found.chunks, found.dtype)


def parts_of(array: da.Array) -> Sequence[Any] | None:
    """Return the parts of an array that `joined_rows` made, or None for others."""
    layer = array.dask.layers.get(array.name)
    return layer.parts if isinstance(layer, _Joined) else None


def taken(array: da.Array, places: NDArray[np.intp], axis: int, missing: Any) -> da.Array:
    """Return the members of an axis at ``places``, with ``missing`` where a place is negative."""
    if np.array_equal(places, np.arange(array.shape[axis])):
        return array
    found = da.take(array, np.maximum(places, 0), axis=axis)
    lacking = places < 0
    if not lacking.any():
        return found
    along = [1] * array.ndim
    along[axis] = -1
    mask = da.from_array(lacking.reshape(along), chunks=-1)
    filled: da.Array = da.where(mask, np.asarray(missing, array.dtype), found)
    return filled.astype(array.dtype)


def recoded(calls: da.Array, codes: NDArray[np.int16]) -> da.Array:
    """Return calls (variants, samples, ploidy) by ``codes`` (variants, alleles); others stay.

    A negative code is that of an allele that no call may have.
    """
    if codes.max(initial=0) > np.iinfo(calls.dtype).max:
        calls = calls.astype(codes.dtype)
    if (codes == np.arange(codes.shape[1])).all():
        return calls
    rows = da.from_array(np.arange(len(codes)), chunks=(calls.chunks[0],))
    found: da.Array = da.blockwise(
        _recoded, "vsp",
        calls, "vsp",
        da.from_array(codes, chunks=(calls.chunks[0], -1)), "va",
        rows, "v",
        concatenate=True, align_arrays=False, dtype=calls.dtype,
        meta=np.empty((0, 0, 0), calls.dtype),
    )  # fmt: skip
    return found


def _recoded(
    calls: NDArray[Any], codes: NDArray[np.int16], variants: NDArray[np.int64]
) -> NDArray[Any]:
    unnamed = calls >= codes.shape[1]
    changed = np.flatnonzero((codes != np.arange(codes.shape[1])).any(axis=1))
    out = calls.copy()
    some = calls[changed]
    new = some.copy()
    for allele in range(codes.shape[1]):
        code = codes[changed, allele, None, None]
        here = some == allele
        np.copyto(new, code.astype(calls.dtype), where=here)
        unnamed[changed] |= here & (code < 0)
    out[changed] = new
    wrong = np.argwhere(unnamed)
    if wrong.size:
        i, s, h = wrong[0]
        msg = (
            f"call_genotype is {calls[i, s, h]} at variants={variants[i]}, samples={s}, and "
            "variant_allele has no name for this allele: name all alleles"
        )
        raise ValueError(msg)
    return out
