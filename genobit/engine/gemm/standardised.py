"""Products with the matrix Z of standardised dosages, built in blocks from bit planes.

Z is (samples, variants) and never held whole. A call is one of the four values of its variant
(`dequantise.STATES`). Blocks are multiplied in float32 and added in float64. A sum over a million
variants then has the relative error of one block, about 1e-7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.gemm.dequantise import BLOCK, dequantised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows

Chunk = tuple["PlaneRows", "NDArray[np.float32]"]
"""Planes of samples at some variants, and the values (variants, 4) of the states of each
variant."""


def blocks(
    rows: PlaneRows, values: NDArray[np.float32]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield column ranges and columns of Z, about `BLOCK` elements at a time, all in one buffer."""
    samples, variants = rows.planes[0].shape[0], values.shape[0]
    width = max(1, min(max(64, BLOCK // samples // 64 * 64), variants))
    buffer = np.empty(samples * width, np.float32)
    for start in range(0, variants, width):
        some = values[start : start + width]
        out = buffer[: samples * len(some)].reshape(samples, -1)
        columns = slice(start, start + len(some))
        yield columns, dequantised(rows, some, first=start // 64, out=out)


def gram_times(
    chunks: Sequence[Chunk], q: NDArray[np.float64], *, diagonal: bool
) -> NDArray[np.float64]:
    """Return Z Z' q over the chunks: (samples, columns of q).

    With ``diagonal``, one more column holds the diagonal of Z Z'.
    """
    narrow = q.astype(np.float32)
    out = np.zeros((q.shape[0], q.shape[1] + diagonal))
    for rows, values in chunks:
        for _, z in blocks(rows, values):
            out[:, : q.shape[1]] += z @ (z.T @ narrow)
            if diagonal:
                out[:, -1] += np.einsum("ij,ij->i", z, z)
    return out


def times_samples(
    rows: PlaneRows, values: NDArray[np.float32], u: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Z' u: (variants, columns of u)."""
    narrow = u.astype(np.float32)
    out = np.empty((values.shape[0], u.shape[1]))
    for columns, z in blocks(rows, values):
        out[columns] = z.T @ narrow
    return out


def times_variants(
    chunks: Sequence[tuple[PlaneRows, NDArray[np.float32], NDArray[np.float64]]],
) -> NDArray[np.float64]:
    """Return the sum of Z v over chunks (rows, values, v): (samples, columns of v)."""
    rows, _, first = chunks[0]
    out = np.zeros((rows.planes[0].shape[0], first.shape[1]))
    for rows, values, v in chunks:
        narrow = v.astype(np.float32)
        for columns, z in blocks(rows, values):
            out += z @ narrow[columns]
    return out
