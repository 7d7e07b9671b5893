"""Check chunks of planes, select their bits, and make dosages of haplotypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import MaterializedLayer

from genobit.engine.bits.layout import CALLED, PREFIX, Layout, require_sound, tail_mask, words_for
from genobit.engine.schedule.blocks import joined
from genobit.engine.schedule.packing import DaskPlanes, named

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sound(plane: da.Array, layout: Layout, name: str) -> da.Array:
    """Return the plane ``name`` (rows, words) with a check of each chunk when it is computed.

    Chunks that are in memory, as after ``persist``, are checked at once.
    """
    held = _held(plane)
    if held is not None:
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


def _held(array: da.Array) -> dict[tuple[int, int], NDArray[np.uint64]] | None:
    """Return the chunks by place if the graph holds all of them, else None."""
    layer = array.dask.layers.get(array.name)
    if not isinstance(layer, MaterializedLayer):
        return None
    blocks = {key[1:]: getattr(task, "value", task) for key, task in layer.items()}
    return blocks if all(isinstance(block, np.ndarray) for block in blocks.values()) else None


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
