"""Sums over variants for relationship matrices, and the matrices made from these sums.

Chunks without a missing call are counted in integers if the method weights all variants alike.
Chunks that miss few calls are corrected for these calls. All other chunks are sums of weighted
values. On a CPU with a matrix unit, those of standardised dosages are exact integers, too.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.engine.schedule.pair_sums import SampleChunks, Summed, Sums, pair_sums, sample_sums
from genobit.engine.schedule.pair_tasks import layer_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.grm.kernels.sums import Chunk

Groups = Sequence[Sequence[int]]

FEW = 0.08
"""Share of missing calls up to which a product of dosages is corrected for each of them.

Compared with weighting all calls, correction is 1.7 times as fast at 1 % missing, and equally fast
at 8 % (1,000 samples x 65,536 variants, Zen 3).
"""


class Matrix(NamedTuple):
    """A relationship matrix, or one for each contig left out."""

    values: da.Array
    """float64 (samples, samples) or (contigs, samples, samples)."""
    compared: da.Array | None
    """Variants called in both samples, shaped like ``values``; None if calls are imputed."""


class Plan(NamedTuple):
    """Options that every task of a matrix needs."""

    method: str
    samples: int
    exact: bool
    """Whether chunks without missing calls are counted in integers."""
    own: bool
    """Whether frequencies are those of the samples."""
    pairwise: bool
    counted: bool
    """Whether dosages are standardised, so that weights are 0 or 1."""
    by_digits: bool
    """Whether products of standardised dosages are exact integers (`genobit.engine.gemm.exact`)."""

    def complete(
        self, copies: NDArray[np.int64], called: NDArray[np.int64], frequency: NDArray[np.float64]
    ) -> bool:
        """Return whether a chunk of variants is counted in integers.

        The chunk must miss no call, and all of its variants must count alike.
        """
        return bool((called == self.samples).all()) and self.alike(copies, called, frequency)

    def alike(
        self, copies: NDArray[np.int64], called: NDArray[np.int64], frequency: NDArray[np.float64]
    ) -> bool:
        """Return whether all variants of a chunk count alike, so that products of dosages serve.

        A variant breaks this if its given frequency is 0 or 1 and the samples carry the other
        allele.
        """
        if self.own or not self.exact:
            return self.exact
        counts = (_variance(frequency) > 0) | (copies == 2 * called * frequency)
        return bool(counts.all())

    def few_missing(self, chunk: Chunk) -> bool:
        """Return whether a product of dosages is corrected for the chunk's missing calls."""
        calls = chunk.called.size * self.samples
        return calls - chunk.called.sum() <= FEW * calls and self.alike(
            chunk.copies, chunk.called, chunk.frequency
        )


class GRMSums(NamedTuple):
    """Arrays and options of the sums over variants that a method needs."""

    along: tuple[da.Array, ...]
    """Copies, called, weights and frequency of `genobit.grm.kernels.sums.Chunk`."""
    plan: Plan

    @classmethod
    def of(
        cls,
        method: str,
        samples: SampleChunks,
        given: NDArray[np.float64] | None,
        *,
        pairwise: bool,
        count_monomorphic: bool = False,
    ) -> GRMSums:
        """Return the sums of a method, by the given frequencies or those of the samples."""
        from genobit.engine.gemm import exact

        copies, called = samples.copies, samples.called
        if given is None:
            frequency = da.map_blocks(_frequency, copies, called, dtype=np.float64)
        else:
            frequency = da.from_array(given, chunks=(samples.variants,))
        name = "vanraden1" if method == "endelman_jannink" else method
        # The integer numerator is at most 8 n^2 for each variant.
        n, counted = sum(samples.tiles), name in {"vanraden2", "gcta"}
        fits = 8 * n**2 * sum(samples.variants) < 2**63
        weights = da.map_blocks(
            _weights, frequency, name, counted and count_monomorphic, dtype=np.float64
        )
        plan = Plan(
            method=name,
            samples=n,
            exact=name == "vanraden1" and fits,
            own=given is None,
            pairwise=pairwise,
            counted=counted,
            by_digits=counted and exact.pays(given, n),
        )
        return cls((copies, called, weights, frequency), plan)

    def matrix(self, samples: SampleChunks, contigs: Groups | None) -> Matrix:
        """Return the matrix, or a matrix without each contig."""
        plan, groups = self.plan, [range(len(samples.variants))] if contigs is None else contigs
        terms = []
        if not plan.own or len(samples.tiles) > 1:
            dtype = np.int64 if plan.own else np.float64
            function, along = partial(_terms, plan), self.along
            terms = [sample_sums(function, samples, along=along, groups=groups, dtype=dtype)]
        tiles = pair_sums(
            partial(_tile, plan),
            partial(_finish, plan, [list(group) for group in groups], contigs is not None),
            samples,
            along=self.along,
            per_sample=terms,
            whole=self._statistics(samples),
            groups=groups,
            layers=len(groups) * (1 + plan.pairwise),
        )
        if contigs is None:
            every = layer_of(tiles, 1).astype(np.int64) if plan.pairwise else None
            return Matrix(layer_of(tiles, 0), every)
        values = tiles[: len(groups)]
        return Matrix(values, tiles[len(groups) :].astype(np.int64) if plan.pairwise else None)

    def _statistics(self, samples: SampleChunks) -> list[da.Array]:
        copies, called, weights, frequency = self.along
        rows = (1,) * len(samples.variants)
        counted = da.map_blocks(
            partial(_counted, self.plan),
            copies,
            called,
            frequency,
            dtype=np.int64,
            new_axis=1,
            chunks=(rows, (4,)),
        )
        summed = da.map_blocks(
            partial(_summed, self.plan),
            copies,
            called,
            frequency,
            weights,
            dtype=np.float64,
            new_axis=1,
            chunks=(rows, (2,)),
        )
        return [counted, summed]


def _frequency(copies: NDArray[np.int64], called: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return copies / (2 * called)


def _variance(frequency: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2pq, 0 where nothing is called."""
    return np.nan_to_num(2 * frequency * (1 - frequency))


def _weights(
    frequency: NDArray[np.float64],
    method: str,
    count_monomorphic: bool,  # noqa: FBT001 - dask passes it on
) -> NDArray[np.float64]:
    if count_monomorphic:
        return (~np.isnan(frequency)).astype(np.float64)
    variance = _variance(frequency)
    if method == "vanraden1":
        return variance
    return variance**2 if method == "dominance" else (variance > 0).astype(np.float64)


def values_of(frequency: NDArray[np.float64], method: str) -> NDArray[np.float32]:
    """Return the values of a missing call and of the dosages 0, 1 and 2: (variants, 4)."""
    p, variance = np.nan_to_num(frequency), _variance(frequency)
    out = np.zeros((p.size, 4))
    if method == "dominance":
        out[:, 1:] = np.stack([-2 * p**2, variance, -2 * (1 - p) ** 2], axis=1)
    else:
        out[:, 1:] = np.arange(3) - 2 * p[:, None]
    if method in {"vanraden2", "gcta"}:
        out /= np.sqrt(np.where(variance > 0, variance, 1))[:, None]
    # A given frequency may be 0 or 1 although samples differ: the weight would be infinite.
    out[variance == 0] = 0
    return out.astype(np.float32)


def _counted(
    plan: Plan,
    copies: NDArray[np.int64],
    called: NDArray[np.int64],
    frequency: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return variants counted in integers, their sums of c and c^2, and other variants: (1, 4)."""
    if not plan.complete(copies, called, frequency):
        return np.array([[0, 0, 0, copies.size]], np.int64)
    return np.array([[copies.size, copies.sum(), (copies * copies).sum(), 0]], np.int64)


def _summed(
    plan: Plan,
    copies: NDArray[np.int64],
    called: NDArray[np.int64],
    frequency: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return float64 (1, 2): sum of weights, and sum of (2p)^2 of variants counted in integers."""
    squares = (4 * frequency**2).sum() if plan.complete(copies, called, frequency) else 0.0
    return np.array([[weights.sum(), squares]])


def _parted(plan: Plan, chunks: Sequence[Any]) -> tuple[list[Chunk], list[Chunk]]:
    """Return the chunks that are counted in integers, and the others."""
    from genobit.grm.kernels.sums import Chunk

    parts: tuple[list[Chunk], list[Chunk]] = ([], [])
    for chunk in (Chunk(*chunk) for chunk in chunks):
        counts = plan.complete(chunk.copies, chunk.called, chunk.frequency)
        parts[0 if counts else 1].append(chunk)
    return parts


def _terms(plan: Plan, chunks: Sequence[Any]) -> Sums:
    """Return the terms of single samples in the numerator: (rows,).

    They are n^2 sum g - n sum g c for the samples' own frequencies, else sum g - sum 2p g.
    """
    from genobit.grm.kernels import sums as kernels

    complete, _ = _parted(plan, chunks)
    if not complete:
        rows = chunks[0][0].planes[0].shape[0]
        return (np.zeros(rows, np.int64 if plan.own else np.float64),)
    copies, n = kernels.copies_of_samples(complete), plan.samples
    if plan.own:
        return (n * n * copies - n * kernels.copies_shared(complete),)
    return (copies - kernels.copies_expected(complete),)


class TileSums(NamedTuple):
    """Sums over variants for the pairs of a tile, None if nothing is summed."""

    counted: Any
    """Centred products of the chunks that are counted in integers."""
    products: Any
    """Weighted products of the other chunks."""
    digits: Any
    """Sums of `genobit.engine.gemm.exact.gram`, which take the place of both products."""
    weights: Any = None
    """Weights of the variants called in both samples, of chunks with missing calls."""
    compared: Any = None
    """Number of these variants."""
    common_weights: Any = None
    """Weights of the chunks without missing calls, a scalar."""
    common: Any = None
    """Number of variants of these chunks, a scalar."""


def _tile(plan: Plan, chunks: Sequence[Any]) -> TileSums:
    """Return the sums over some chunks of variants."""
    from genobit.grm.kernels import sums as kernels

    complete, others = _parted(plan, chunks)
    digits = kernels.standardised_products(others) if plan.by_digits else None
    products = kernels.centred_products(complete) if complete else None
    few = [chunk for chunk in others if plan.few_missing(chunk)]
    many = [c for c in others if not (plan.by_digits or plan.few_missing(c))]
    corrected = kernels.corrected_products(few) if few else None
    counts = [values_of(chunk.frequency, plan.method) for chunk in many]
    values = kernels.weighted_products(many, counts) if many else None
    if corrected is not None:
        values = corrected if values is None else values + corrected
    if not plan.pairwise:
        return TileSums(products, values, digits)
    every = complete + others
    partly = [chunk for chunk in every if (chunk.called < plan.samples).any()]
    wholly = [chunk for chunk in every if not (chunk.called < plan.samples).any()]
    weights = None if plan.counted or not partly else kernels.weights_compared(partly)
    compared = kernels.variants_compared(partly) if partly else None
    common = np.array(sum(chunk.weights.sum() for chunk in wholly), np.float64)
    number = np.array(sum((chunk.weights > 0).sum() for chunk in wholly), np.int64)
    return TileSums(products, values, digits, weights, compared, common, number)


def _total(sums: Sequence[Sums]) -> TileSums:
    """Return the sums over all groups, 0 where nothing was summed."""
    parts = [[array for array in same if array is not None] for same in zip(*sums, strict=True)]
    return TileSums(*(functools.reduce(np.add, same) if same else 0 for same in parts))


def _without(totals: TileSums, own: Sums) -> TileSums:
    """Return the totals, minus the sums of a group that is left out."""
    pairs = zip(totals, own, strict=True)
    return TileSums(*(total if part is None else total - part for total, part in pairs))


def _finish(
    plan: Plan,
    groups: list[list[int]],
    leave_out: bool,  # noqa: FBT001 - bound by `partial`
    tile: Summed,
) -> NDArray[np.float64]:
    totals, sides = _total(tile.sums), (tile.rows, tile.columns)
    counted, summed = ([x[group].sum(axis=0) for group in groups] for x in tile.whole)
    # A single tile has no terms of samples: they follow from its products.
    shape = [len(side[0]) for side in sides if side] or 2 * [plan.samples]
    out = np.empty((len(groups) * (1 + plan.pairwise), *shape))
    for k in range(len(groups)):
        part = _without(totals, tile.sums[k]) if leave_out else totals
        kept = [g for g in range(len(groups)) if g != k or not leave_out]
        counts, scalars = (np.array(x)[kept].sum(axis=0) for x in (counted, summed))
        terms = [side[0][:, kept].sum(axis=1) for side in sides if side]
        if not terms and counts[0]:
            terms = 2 * [_terms_of_all(plan.samples, part.counted, counts)]
        _relationship(plan, part, terms, counts, scalars, out[k])
        if plan.pairwise:
            out[len(groups) + k] = part.compared + part.common
    return out


def _terms_of_all(
    n: int, products: NDArray[np.int32], counted: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return n^2 sum g - n sum g c of each sample from the centred products of all n samples.

    c is the sum of g over the samples. The products of a sample therefore add up to
    sum (g - 1)(c - n) = sum g c - n sum g - sum c + n V over V variants.
    """
    variants, copies = int(counted[0]), int(counted[1])
    terms: NDArray[np.int64] = n * (n * variants - copies - products.sum(axis=1, dtype=np.int64))
    return terms


def _relationship(
    plan: Plan,
    sums: TileSums,
    terms: Sequence[NDArray[Any]],
    counted: NDArray[np.int64],
    summed: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write the relationships to out (rows, columns)."""
    from genobit.engine.gemm import exact
    from genobit.grm.kernels.sums import exact_ratios

    variants, copies, squares, others = (int(x) for x in counted)
    numerator: Any = 0.0
    denominator: Any = summed[0]
    if variants and plan.own:
        n = plan.samples
        rows, columns = terms[0] + (squares - n * n * variants), terms[1]
        if not others:
            # All integers so far. The division is the only rounding while both are below 2^53.
            exact_ratios(sums.counted, rows, columns, n * n, 2 * n * copies - squares, out)
            return
        numerator = (sums.counted * np.int64(n * n) + rows[:, None] + columns) / (n * n)
    elif variants:
        rows = terms[0][:, None] + terms[1][None, :]
        numerator = sums.counted + rows + (summed[1] - variants)
    numerator = numerator + (exact.total(sums.digits) if plan.by_digits else sums.products)
    if plan.pairwise:
        weights = sums.compared if plan.counted else sums.weights
        denominator = weights + sums.common_weights
    out[:] = ratio(np.broadcast_to(numerator, out.shape), denominator)


def ratio(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """Return the quotient, NaN where the denominator is not positive."""
    out = np.full(np.shape(numerator), np.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0)
