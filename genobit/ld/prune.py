"""Pruning of variants in linkage disequilibrium, by the rule of ``plink --indep-pairwise``.

Windows slide over each contig. If r2 of a pair in one window is above the limit, the variant with
the rarer minor allele is removed (`genobit.ld.kernels.prune`). The result is the same as from plink
1.9, and from plink2 if plink2 uses the order of PLINK 1.x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.schedule.passes import row_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.engine.bits.planes import PlaneRows
    from genobit.ld.kernels.row_pairs import PairRows


BATCH_BYTES = 2**21
"""Smallest batch of planes, because each call of a kernel from Python has a cost.

With 8 MiB, prepared rows leave the L2 cache before the next kernel reads them, and pruning takes
1.07 times as long.
"""


class Windows(NamedTuple):
    """Windows in the order of the pass: first variant, and one past the last."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


def sliding_windows(
    reach: NDArray[np.int64], contig_starts: NDArray[np.int64], step: int
) -> Windows:
    """Return the windows that start at every ``step``-th variant of a contig and add a new pair.

    One past the last variant of the window that starts at each variant is ``reach``; it never
    decreases. The first variant of each contig is in ``contig_starts``.

    Examples
    --------
    >>> sliding_windows(np.array([3, 4, 5, 5, 5]), np.array([0]), 2).starts
    array([0, 2])
    """
    stops = [*contig_starts[1:].tolist(), reach.size]
    firsts = [
        np.arange(start, stop, step) for start, stop in zip(contig_starts, stops, strict=True)
    ]
    starts = np.concatenate([np.empty(0, np.int64), *firsts]).astype(np.int64)
    ends = reach[starts]
    new = np.ones(starts.size, bool)
    new[1:] = ends[1:] > ends[:-1]
    return Windows(starts[new], ends[new])


def _batches(chunks: Iterator[tuple[int, PlaneRows]]) -> Iterator[tuple[int, list[PlaneRows]]]:
    """Join small chunks to batches of `BATCH_BYTES`, each with its first row."""
    batch: list[PlaneRows] = []
    start = size = 0
    for first, rows in chunks:
        start = start if batch else first
        batch.append(rows)
        size += sum(plane.nbytes for plane in rows.planes)
        if size >= BATCH_BYTES:
            yield start, batch
            batch, size = [], 0
    if batch:
        yield start, batch


def prune(
    planes: Mapping[str, da.Array],
    layout: Layout,
    windows: Windows,
    limit: float,
    frequency: NDArray[np.float64] | None,
) -> NDArray[np.bool_]:
    """Return which variants are left, bool (variants,); memory holds two chunks and a window.

    Pairs with an r2 up to ``limit`` may stay together. The minor allele frequency of each variant,
    ``frequency`` (variants,), is computed from the planes if it is None.
    """
    from genobit.engine.gemm.scratch import Scratch
    from genobit.ld.kernels import prune as ld_prune
    from genobit.ld.kernels import row_pairs

    # A double buffer: held rows are read while the next are prepared. Preparing rows in fresh
    # memory takes three times as long.
    memory, other = Scratch(), Scratch()
    n = next(iter(planes.values())).shape[0]
    keep = np.ones(n, bool)
    minor = np.empty(n) if frequency is None else frequency
    held: PairRows | None = None
    base = done = 0
    for start, chunks in _batches(row_chunks(planes, layout)):
        # Release the rows before the first window that is still to come.
        first = int(windows.starts[done]) if done < windows.starts.size else start
        first = min(first, start)
        held, base = row_pairs.pair_rows(chunks, held, first - base, memory), first
        memory, other = other, memory
        stop = base + held.total.size
        keep[start:stop] = row_pairs.polymorphic(held)[start - base :]
        if frequency is None:
            minor[start:stop] = row_pairs.minor_frequency(held)[start - base :]
        ready = int(np.searchsorted(windows.stops, stop, side="right"))
        part = slice(done, ready)
        ld_prune.prune(
            held,
            None if (held.spread >= 0).all() else held,
            base,
            int(windows.stops[done - 1]) if done else 0,
            windows.starts[part],
            windows.stops[part],
            limit * (1 + row_pairs.ROUNDING),
            minor,
            keep,
        )
        done = max(done, ready)
    return keep
