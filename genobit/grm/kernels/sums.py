"""Sums over variants for relationship matrices, for a tile of samples and chunks of variants.

If a method weights all variants alike, chunks without a missing call are counted in integers, by
one ternary product of dosage - 1. If few calls are missing, that product is corrected for them. All
other chunks are summed in float32 blocks of values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit.engine.bits.layout import pack_bits
from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm import exact
from genobit.engine.gemm.products import products
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.gemm.standardised import blocks
from genobit.engine.gemm.weighted import gram
from genobit.engine.simd.jit import njit
from genobit.grm.kernels.missing_corrections import missing_call_correction
from genobit.grm.kernels.row_sums import add_row_sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genobit.engine.bits.planes import PlaneRows


Values = NDArray[np.float32]
"""Values of a missing call and of dosages 0, 1 and 2 at each variant: (variants, 4)."""
PRESENT = np.array([0, 1, 1, 1], np.float32)
"""Values that count calls: 0 for a missing call, 1 for dosages 0, 1 and 2."""


class Chunk(NamedTuple):
    """One or two tiles of samples in a chunk of variants."""

    a: PlaneRows
    b: PlaneRows | None
    """The second tile; None pairs ``a`` with itself."""
    copies: NDArray[np.int64]
    """Copies of the counted allele in all samples: (variants,)."""
    called: NDArray[np.int64]
    """Number of samples called, of all samples: (variants,)."""
    weights: NDArray[np.float64]
    """Weight of each variant in the denominator: (variants,)."""
    frequency: NDArray[np.float64]
    """Frequency of the counted allele: (variants,)."""


def _shape(chunk: Chunk) -> tuple[int, int]:
    a, b = chunk.a, chunk.b
    return a.planes[0].shape[0], (a if b is None else b).planes[0].shape[0]


def _sum_of_products(
    product: str, pairs: Iterable[tuple[Any, Any]], shape: tuple[int, int]
) -> NDArray[np.int32]:
    """Return the sum of products of planes; fill both halves if second planes are None."""
    out, symmetric = np.zeros(shape, np.int32), False
    for a, b in pairs:
        symmetric = b is None
        for block in products(product, a, b, upper=symmetric):
            out[block.rows, block.columns] += block.counts
    if symmetric:
        mirror(out, 0, 0, out)
    return out


def centred_products(chunks: Sequence[Chunk]) -> NDArray[np.int32]:
    """Return sums of (g - 1)(g' - 1), a missing call counting 0: (rows, columns) int32."""
    scratch = Scratch()

    def ternary(side: str, rows: PlaneRows | None) -> Any:
        # Reuse the memory of the previous chunk: the system would clear fresh pages first.
        if rows is None:
            return None
        return rows.ternary(scratch.array(side, (2, *rows.planes[0].shape), np.uint64))

    pairs = ((ternary("a", chunk.a), ternary("b", chunk.b)) for chunk in chunks)
    return _sum_of_products("ternary", pairs, _shape(chunks[0]))


@njit
def exact_ratios(
    products: NDArray[np.int32],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    scale: int,
    denominator: int,
    out: NDArray[np.float64],
) -> None:
    """Write 2 (scale products + rows + columns) / denominator; NaN unless this is positive.

    products, out: (rows, columns).
    """
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            # One pass: numpy would take six, each over fresh memory.
            numerator = 2 * (scale * np.int64(products[i, j]) + rows[i] + columns[j])
            out[i, j] = numerator / denominator if denominator > 0 else np.nan


def variants_compared(chunks: Sequence[Chunk]) -> NDArray[np.int32]:
    """Return the variants of positive weight called in both: (rows, columns) int32."""
    pairs = (
        (
            (c.a.call_mask() & pack_bits(c.weights > 0),),
            None if c.b is None else (c.b.call_mask(),),
        )
        for c in chunks
    )
    return _sum_of_products("and", pairs, _shape(chunks[0]))


def weighted_products(chunks: Sequence[Chunk], values: Sequence[Values]) -> NDArray[np.float64]:
    """Return sums of the products of two samples' values: (rows, columns) float64."""
    return gram([(c.a, c.b, of_chunk) for c, of_chunk in zip(chunks, values, strict=True)])


def standardised_products(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    """Return sums of products of standardised dosages: see `genobit.engine.gemm.exact.gram`."""
    return exact.gram([(c.a, c.b, c.frequency) for c in chunks])


def corrected_products(chunks: Sequence[Chunk]) -> NDArray[np.float64]:
    """Return sums of (g - 2p)(g' - 2p) over variants called in both: (rows, columns) float64.

    Missing calls first count as heterozygous and are then corrected one by one, which is fast for
    few missing calls (`missing_corrections`).
    """
    out = centred_products(chunks).astype(np.float64)
    for chunk in chunks:
        # A variant without calls has no frequency; 1/2 makes all its terms 0.
        frequency = np.nan_to_num(chunk.frequency, nan=0.5)
        left = _row_terms(chunk.a, frequency)
        right = left if chunk.b is None else _row_terms(chunk.b, frequency)
        # This order of additions keeps a tile with itself symmetric to the last bit.
        out += left[:, None] + right
        out += ((1 - 2 * frequency) ** 2).sum()
        if chunk.b is None:
            excess = missing_call_correction(chunk.a, chunk.a, frequency)
            out -= excess + excess.T
        else:
            out -= missing_call_correction(chunk.a, chunk.b, frequency)
            out -= missing_call_correction(chunk.b, chunk.a, frequency).T
    return out


def _row_terms(rows: PlaneRows, frequency: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of (1 - 2p)(g - 1) over each sample's calls: (rows,) float64."""
    out = np.zeros(rows.planes[0].shape[0])
    for plane, weights in zip(
        rows.homozygotes(), (1 - 2 * frequency, 2 * frequency - 1), strict=True
    ):
        add_row_sums(plane, weights, out)
    return out


def weights_compared(chunks: Sequence[Chunk]) -> NDArray[np.float64]:
    """Return the sum of weights of variants called in both: (rows, columns) float64."""
    roots = [np.sqrt(chunk.weights).astype(np.float32) for chunk in chunks]
    return gram([(c.a, c.b, np.outer(r, PRESENT)) for c, r in zip(chunks, roots, strict=True)])


def copies_of_samples(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    """Return the copies of the counted allele in each sample: (rows,) int64."""
    counts = [count_rows(plane) for chunk in chunks for plane in chunk.a.planes]
    return np.sum(counts, axis=0, dtype=np.int64)


def copies_shared(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    """Return sums of g times the allele's copies in all samples: (rows,) int64."""
    out = np.zeros(chunks[0].a.planes[0].shape[0], np.int64)
    for chunk in chunks:
        for plane in chunk.a.planes:
            add_row_sums(plane, chunk.copies, out)
    return out


def copies_expected(chunks: Sequence[Chunk]) -> NDArray[np.float64]:
    """Return sums of 2p g, with p the allele's frequency: (rows,) float64."""
    out = np.zeros(chunks[0].a.planes[0].shape[0])
    for chunk in chunks:
        for plane in chunk.a.planes:
            add_row_sums(plane, 2 * chunk.frequency, out)
    return out


def values_of_samples(chunks: Sequence[Chunk], values: Sequence[Values]) -> NDArray[np.float64]:
    """Return the sum of each sample's values: (rows,) float64."""
    out = np.zeros(chunks[0].a.planes[0].shape[0])
    for chunk, of_chunk in zip(chunks, values, strict=True):
        missing, *dosages = of_chunk.astype(np.float64).T
        steps = np.diff([missing, *dosages], axis=0)
        out += missing.sum()
        for plane, step in zip((chunk.a.call_mask(), *chunk.a.planes), steps, strict=True):
            add_row_sums(plane, step, out)
    return out


def fourth_moments(chunk: Chunk, values: Values, means: NDArray[np.float64]) -> float:
    """Return the sum over variants of the squared sum of squares of z - mean, over all samples.

    Only variants of positive weight count. ``means`` (samples,) are the means of each sample's
    values z.
    """
    total, around = 0.0, means @ means
    for columns, z in blocks(chunk.a, values):
        wide = z.astype(np.float64)
        squares = np.einsum("ij,ij->j", wide, wide) - 2 * (means @ wide) + around
        total += float((squares[chunk.weights[columns] > 0] ** 2).sum())
    return total
