"""Transpose planes so that a row is a sample, chunk by chunk, for sums over variants.

Each chunk of variants starts at a word boundary, so chunks of any length transpose independently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.options import get_options
from genobit.engine.schedule.pair_sums import SampleChunks
from genobit.engine.schedule.tiles import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CHUNK_CALLS = 2**25
"""Calls in a chunk of variants: 8 MiB of .bed, and few enough tasks for a second's work."""


def variant_chunk(samples: int) -> int:
    """Return the variants per chunk for sums over variants: `CHUNK_CALLS`, in whole words."""
    return max(64, CHUNK_CALLS // samples // 64 * 64)


def from_variants(
    planes: Sequence[da.Array],
    samples: int,
    cuts: NDArray[np.int64] | None = None,
    *,
    tiled: bool = True,
) -> SampleChunks:
    """Transpose planes (variants, words) of ``samples`` bits.

    Chunks end at ``cuts``, the first variants of contigs. Without ``tiled``, all samples form one
    tile.
    """
    rows = planes[0].chunks[0] if cuts is None else _cut(planes[0].chunks[0], cuts)
    whole = [plane.rechunk({0: rows, 1: -1}) for plane in planes]
    words = tuple(words_for(size) for size in rows)
    turned = tuple(
        da.blockwise(
            turn,
            "sv",
            plane,
            "vw",
            new_axes={"s": samples},
            adjust_chunks={"v": words},
            dtype=np.uint64,
            meta=np.empty((0, 0), np.uint64),
            bits=samples,
        )
        for turn, plane in zip((_turned, _turned, _turned_called), whole, strict=False)
    )
    counts = da.blockwise(
        _counts,
        "cv",
        *[x for plane in whole for x in (plane, "vw")],
        new_axes={"c": 2},
        dtype=np.int64,
        meta=np.empty((0, 0), np.int64),
        samples=samples,
    )
    chunks = SampleChunks(turned, rows, counts[0], counts[1])
    return in_tiles(chunks, 1 if cuts is None else len(cuts)) if tiled else chunks


def from_samples(planes: Sequence[da.Array], variants: int, *, tiled: bool = True) -> SampleChunks:
    """Split planes (samples, words) of ``variants`` bits into chunks and, if ``tiled``, tiles."""
    samples, total = planes[0].shape
    chunk = variant_chunk(samples) // 64
    words = tuple(min(chunk, total - start) for start in range(0, total, chunk))
    bits = tuple(64 * size for size in words[:-1])
    bits = (*bits, variants - sum(bits))
    whole = [plane.rechunk({0: -1, 1: words}) for plane in planes]
    counts = da.blockwise(
        _counts_turned,
        "cv",
        *[x for plane in whole for x in (plane, "sv")],
        da.from_array(np.array(bits), chunks=1),
        "v",
        new_axes={"c": 2},
        adjust_chunks={"v": bits},
        align_arrays=False,
        dtype=np.int64,
        meta=np.empty((0, 0), np.int64),
    )
    # Cut tiles from the original chunks: slices of `whole` would hold chunks of all samples.
    cut = tuple(planes if tiled else whole)
    chunks = SampleChunks(cut, bits, counts[0], counts[1])
    return in_tiles(chunks, words=words) if tiled else chunks


def in_tiles(
    samples: SampleChunks, layers: int = 1, words: tuple[int, ...] | None = None
) -> SampleChunks:
    """Rechunk samples into tiles for sums over their pairs; each tile holds ``layers`` matrices.

    ``words`` also rechunks planes that are not yet split into chunks of variants.
    """
    n, planes = samples.planes[0].shape[0], samples.planes
    edge = get_options().edge
    if get_options().chunk_rows == "auto":
        from genobit.engine.schedule.costs import edge_of_samples

        edge = edge_of_samples(n, samples.variants, len(planes))
    tiles = _tiles(n, edge, layers)
    chunks = {0: tiles} if words is None else {0: tiles, 1: words}
    return samples._replace(planes=tuple(plane.rechunk(chunks) for plane in planes))


def to_variants(plane: da.Array, variants: int) -> da.Array:
    """Transpose a plane (samples, words) back: (variants, words of samples)."""
    samples, total = plane.shape
    chunk = variant_chunk(samples) // 64
    words = tuple(min(chunk, total - start) for start in range(0, total, chunk))
    whole = plane.rechunk({0: -1, 1: words})
    return da.blockwise(
        _turned,
        "vs",
        whole,
        "sv",
        adjust_chunks={
            "v": tuple(64 * size for size in words),
            "s": (words_for(samples),),
        },
        dtype=np.uint64,
        meta=np.empty((0, 0), np.uint64),
    )[:variants]


def _tiles(samples: int, edge: int, layers: int = 1) -> tuple[int, ...]:
    """Return nearly equal tile sizes of at most ``edge`` samples, smaller for several ``layers``.

    A tile of several layers then holds no more values than a tile of one.
    """
    most = max(min(64, edge), int(edge / layers**0.5))
    count = -(-samples // most)
    size = -(-samples // count)
    return tuple(min(size, samples - start) for start in range(0, samples, size))


def _cut(chunks: tuple[int, ...], cuts: NDArray[np.int64]) -> tuple[int, ...]:
    edges = np.union1d(np.cumsum((0, *chunks)), cuts)
    return tuple(int(size) for size in np.diff(edges))


def _turned(blocks: Any, bits: int | None = None) -> NDArray[np.uint64]:
    from genobit.engine.bits.words import transpose_bits

    plane = joined(blocks)
    return transpose_bits(np.ascontiguousarray(plane), bits or 64 * plane.shape[1])


def _turned_called(blocks: Any, bits: int) -> NDArray[np.uint64]:
    """Transpose ``called``; return one broadcast row (stride 0) if no call is missing."""
    from genobit.engine.bits.planes import PlaneRows, all_called

    plane = np.ascontiguousarray(joined(blocks))
    variants = plane.shape[0]
    if not (
        variants and PlaneRows(haplotypes=False, bits=bits, planes=(), called=plane).complete()
    ):
        return _turned(plane, bits)
    return np.broadcast_to(all_called(variants), (bits, words_for(variants)))


def _counts(*planes: Any, samples: int) -> NDArray[np.int64]:
    """Return copies and calls of each variant: int64 (2, variants)."""
    from genobit.engine.bits.words import count_rows

    counts = [count_rows(np.ascontiguousarray(joined(plane))) for plane in planes]
    copies = counts[0] + counts[1]
    return np.stack([copies, counts[2] if len(counts) > 2 else np.full_like(copies, samples)])


def _counts_turned(*blocks: Any) -> NDArray[np.int64]:
    *planes, bits = blocks
    turned = [_turned(plane)[: int(bits[0])] for plane in planes]
    return _counts(*turned, samples=joined(planes[0]).shape[0])
