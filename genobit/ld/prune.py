"""Pruning of variants in linkage disequilibrium, by the rule of ``plink --indep-pairwise``.

Windows slide over each contig; of a pair in one window whose r2 is above the limit, the variant
with the rarer minor allele goes (`genobit.ld.kernels.prune`). plink 1.9 and plink2 (in the order
that is called PLINK 1.x there) keep the same variants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.schedule.streaming import row_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.engine.bits.planes import Rows
    from genobit.ld.kernels.row_pairs import PairRows


BATCH_BYTES = 2**21
"""Least planes that are gone through at a time, as each call of a kernel from Python costs.

Of 8 MiB what one kernel makes ready has left the second cache before the next reads it: 1.07 times
as long.
"""


class Windows(NamedTuple):
    """Windows in the order in which they are gone through: first variant, and behind the last."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


def sliding_windows(
    reach: NDArray[np.int64], contig_starts: NDArray[np.int64], step: int
) -> Windows:
    """Windows that begin at every ``step``-th variant of a contig and show a pair not seen before.

    Parameters
    ----------
    reach
        Behind the last variant of a window that begins at each; non-decreasing.
    contig_starts
        First variant of each contig.
    step
        Variants from one window to the next.

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


def _batches(chunks: Iterator[tuple[int, Rows]]) -> Iterator[tuple[int, list[Rows]]]:
    """Small chunks together, with the first row of each lot."""
    batch: list[Rows] = []
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
    """Which variants are left, computed chunk by chunk: two of them and a window are held.

    Parameters
    ----------
    planes, layout
        As for `genobit.ld.matrix.matrix`.
    windows
        Of `sliding_windows`.
    limit
        Largest r2 of a pair that may stay together.
    frequency
        Of the minor allele of each variant, where it is not that of these planes.

    Returns
    -------
        bool (variants,).
    """
    from genobit.engine.gemm.scratch import Scratch
    from genobit.ld.kernels import prune as ld_prune
    from genobit.ld.kernels import row_pairs

    # In turn, as what is held is read while the next is made: in fresh memory of a first run rows
    # take three times as long to be made ready.
    memory, other = Scratch(), Scratch()
    n = next(iter(planes.values())).shape[0]
    keep = np.ones(n, bool)
    minor = np.empty(n) if frequency is None else frequency
    held: PairRows | None = None
    base = done = 0
    for start, chunks in _batches(row_chunks(planes, layout)):
        # What no window that is still to come begins before is let go.
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
