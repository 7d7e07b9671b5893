"""Planes of the variants of a search, split by class: in memory or in memory-mapped files."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import delayed

from genobit.engine.options import get_options
from genobit.engine.schedule import streaming
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.memory_mapped import Spilled
from genobit.engine.schedule.rows import as_rows, ordered
from genobit.engine.schedule.tiles import whole_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.kernels.tables import Classes


def gathered(
    planes: Mapping[str, da.Array], layout: Layout, classes: NDArray[np.integer], count: int
) -> Classes:
    """Compute the dosage planes of each class, in memory or past ``eager_limit`` in files.

    classes: (samples,) class numbers, -1 to leave a sample out; count: number of classes. Raises
    MemoryError past ``eager_limit`` if ``spill_to`` names no folder, and OSError if the folder has
    no room.
    """
    from genobit.epistasis.kernels.tables import Classes

    sizes = tuple(int(np.count_nonzero(classes == k)) for k in range(count))
    ready = whole_rows(ordered(planes, layout))
    classes = np.asarray(classes, np.int64)
    chunks = [plane.to_delayed()[:, 0] for plane in ready]
    task = delayed(_chunk_by_class, pure=True)
    parts = [task(list(blocks), layout, classes, count) for blocks in zip(*chunks, strict=True)]
    if _spill(len(ready), ready[0].shape[0], sizes):
        return _spilled(parts, ready[0].chunks[0], sizes)
    done = compute(*parts)
    if not all(part.complete for part in done):
        done = tuple(_with_called(part) if part.complete else part for part in done)
    return Classes(
        tuple(np.concatenate([part.planes[k] for part in done], axis=1) for k in range(count)),
        sizes,
    )


def _spill(planes: int, variants: int, sizes: Sequence[int]) -> bool:
    """Return whether planes go to files; raises MemoryError if they must but may not."""
    size = 8 * planes * variants * sum(-(-size // 64) for size in sizes)
    options = get_options()
    if size <= options.eager_limit:
        return False
    if options.spill_to is not None:
        return True
    msg = (
        f"the genotypes of {variants:,} variants and {sum(sizes):,} samples take "
        f"{size / 2**20:,.0f} MiB, packed, more than eager_limit "
        f"({options.eager_limit / 2**20:,.0f} MiB): select variants, name a folder for them, "
        "gb.set_options(spill_to=...), or raise gb.set_options(eager_limit=...)"
    )
    raise MemoryError(msg)


def _spilled(parts: Sequence[Any], rows: Sequence[int], sizes: tuple[int, ...]) -> Classes:
    """Write the planes of each class to files, some chunks of variants at a time."""
    from genobit.epistasis.kernels.tables import Classes

    starts = np.concatenate([[0], np.cumsum(rows)]).tolist()
    shapes = [(3, starts[-1], -(-size // 64)) for size in sizes]
    chunk = 24 * max(rows) * sum(words for *_, words in shapes)
    together = max(1, streaming.GROUP_BYTES // max(chunk, 1))
    folder: Any = get_options().spill_to
    complete: list[bool] = []
    with ExitStack() as stack:
        files = [stack.enter_context(Spilled(folder, shape)) for shape in shapes]
        for k in range(0, len(parts), together):
            done = compute(*parts[k : k + together])
            for start, part in zip(starts[k:], done, strict=False):
                _write(files, start, part)
            complete += [part.complete for part in done]
        if not all(complete):
            # Complete chunks need a called plane, too, if any chunk has missing calls.
            for k in np.flatnonzero(complete).tolist():
                for file, size in zip(files, sizes, strict=True):
                    file.write(0, starts[k], _every(rows[k], size))
        return Classes(tuple(file.mapped(int(all(complete))) for file in files), sizes)


def _write(files: Sequence[Spilled], start: int, part: Classes) -> None:
    """Write the planes of a chunk; two planes go to the last two of three places."""
    for file, planes in zip(files, part.planes, strict=True):
        for kind, plane in enumerate(planes, 3 - len(planes)):
            file.write(kind, start, plane)


def _chunk_by_class(
    blocks: list[Any], layout: Layout, classes: NDArray[np.int64], count: int
) -> Classes:
    from genobit.engine.bits.words import count_rows
    from genobit.epistasis.kernels.tables import Classes, by_class

    found = by_class(as_rows(blocks, layout), classes, count)
    if found.complete:
        return found
    full = all(
        (count_rows(planes[0]) == size).all()
        for planes, size in zip(found.planes, found.sizes, strict=True)
    )
    # If all missing calls are of samples that are left out, the planes count as complete.
    return Classes(tuple(p[1:] for p in found.planes), found.sizes) if full else found


def _with_called(part: Classes) -> Classes:
    from genobit.epistasis.kernels.tables import Classes

    planes = [
        np.concatenate([_every(both.shape[1], size)[None], both])
        for both, size in zip(part.planes, part.sizes, strict=True)
    ]
    return Classes(tuple(planes), part.sizes)


def _every(variants: int, samples: int) -> NDArray[np.uint64]:
    """Return a plane with all samples of a class set: (variants, words)."""
    from genobit.engine.bits.planes import all_called

    return np.tile(all_called(samples, -(-samples // 64)), (variants, 1))
