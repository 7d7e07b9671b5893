"""Products with the matrix Z of standardised dosages, made in blocks of planes and never whole.

Z is (samples, variants); a call is one of the four values of its variant (`dequantise.STATES`).
Blocks are multiplied in float32 and added up in float64: a sum over a million variants is then as
far from the exact one as a sum over one block, some 1e-7 of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.gemm.dequantise import BLOCK, dequantised
from genobit.engine.gemm.weighted import gram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Rows

Chunk = tuple["Rows", "NDArray[np.float32]"]
"""Planes of samples in some variants, and the values (variants, 4) of the states of each."""


def blocks(rows: Rows, values: NDArray[np.float32]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Columns of Z and those columns, about `BLOCK` elements at a time, all in one buffer."""
    samples, variants = rows.planes[0].shape[0], values.shape[0]
    width = max(1, min(max(64, BLOCK // samples // 64 * 64), variants))
    buffer = np.empty(samples * width, np.float32)
    for start in range(0, variants, width):
        some = values[start : start + width]
        out = buffer[: samples * len(some)].reshape(samples, -1)
        columns = slice(start, start + len(some))
        yield columns, dequantised(rows, some, first=start // 64, out=out)


def called_together(
    chunks: Sequence[tuple[Rows, Rows | None, NDArray[np.float32]]],
) -> NDArray[np.float64]:
    """Variants with any value but 0 that both samples are called at: (rows of a, rows of b)."""
    ones = []
    for a, b, values in chunks:
        used = values.any(axis=1).astype(np.float32)
        ones.append((a, b, np.stack([np.zeros_like(used), used, used, used], axis=1)))
    return gram(ones)


def gram_times(
    chunks: Sequence[Chunk], q: NDArray[np.float64], *, diagonal: bool
) -> NDArray[np.float64]:
    """Z Z' q of the chunks: (samples, columns of q); with ``diagonal`` one more, that of Z Z'."""
    narrow = q.astype(np.float32)
    out = np.zeros((q.shape[0], q.shape[1] + diagonal))
    for rows, values in chunks:
        for _, z in blocks(rows, values):
            out[:, : q.shape[1]] += z @ (z.T @ narrow)
            if diagonal:
                out[:, -1] += np.einsum("ij,ij->i", z, z)
    return out


def times_samples(
    rows: Rows, values: NDArray[np.float32], u: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Z' u: (variants, columns of u)."""
    narrow = u.astype(np.float32)
    out = np.empty((values.shape[0], u.shape[1]))
    for columns, z in blocks(rows, values):
        out[columns] = z.T @ narrow
    return out


def times_variants(
    chunks: Sequence[tuple[Rows, NDArray[np.float32], NDArray[np.float64]]],
) -> NDArray[np.float64]:
    """Sum over chunks (rows, values, v) of Z v: (samples, columns of v)."""
    rows, _, first = chunks[0]
    out = np.zeros((rows.planes[0].shape[0], first.shape[1]))
    for rows, values, v in chunks:
        narrow = v.astype(np.float32)
        for columns, z in blocks(rows, values):
            out += z @ narrow[columns]
    return out
