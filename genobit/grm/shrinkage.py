"""Matrices derived from another relationship matrix: shrunk towards its mean, or squared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from genobit.engine.schedule.computing import one_blas_thread
from genobit.engine.schedule.pair_sums import SampleChunks, Sums, planes_of, sample_sums
from genobit.grm.sums import GRMSums, ratio, values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _over(numerator: da.Array, denominator: da.Array) -> da.Array:
    return da.map_blocks(ratio, numerator, denominator, dtype=np.float64)


def hadamard(additive: da.Array) -> da.Array:
    """Return the squared entries over their mean on the diagonal; the mean skips NaN."""
    if additive.ndim == 3:
        return da.stack([hadamard(part) for part in additive])
    squares = additive**2
    diagonal = da.diagonal(squares)
    known = da.isfinite(diagonal)
    return da.map_blocks(
        _times_over,
        squares,
        known.sum()[None, None],
        da.where(known, diagonal, 0.0).sum()[None, None],
        dtype=np.float64,
    )


def _times_over(
    values: NDArray[np.float64], factor: NDArray[np.float64], divisor: NDArray[np.float64]
) -> NDArray[np.float64]:
    return ratio(values * factor, divisor)


def shrunk(sums: GRMSums, samples: SampleChunks, *, count_monomorphic: bool) -> da.Array:
    """Return the relationship matrix shrunk towards its mean variance (Endelman and Jannink 2012).

    Let S be the covariance of the samples over m variants, T = mean(diag S) I its target and w the
    means of the samples' values. The weight of T is sum Var(S) / sum (S - T)^2, clipped to [0, 1].
    With ``count_monomorphic`` the m variants include monomorphic ones, whose values are 0.
    """
    additive = sums.matrix(samples, None).values
    weights, frequency = sums.along[2:]
    polymorphic = (weights > 0).sum()
    used = da.isfinite(frequency).sum() if count_monomorphic else polymorphic
    scale = _over(weights.sum(), used)
    terms = partial(_value_terms, sums.plan.method)
    means = _over(sample_sums(terms, samples, along=sums.along)[:, 0], used)
    outer = means[:, None] * means[None, :]
    covariance = additive * scale - outer
    target = da.diagonal(covariance).mean()
    squares = (covariance**2).sum()
    moments = _fourth_moments(samples, sums, means)
    moments += (used - polymorphic) * (means @ means) ** 2
    variance = _over(moments, used**2) - _over(squares, used)
    weight = da.clip(_over(variance, squares - sums.plan.samples * target**2), 0, 1)
    # If the covariance equals its target (one sample), any weight gives the same matrix.
    weight = da.where(da.isnan(weight), 0.0, weight)
    shrunk = (1 - weight) * covariance + weight * target * _eye(additive)
    return (shrunk + outer) / scale


def _eye(like: da.Array) -> da.Array:
    n = like.shape[0]
    index = da.arange(n, chunks=(like.chunks[0],))
    return (index[:, None] == index[None, :]).astype(np.float64)


def _value_terms(method: str, chunks: Sequence[Any]) -> Sums:
    from genobit.grm.kernels import sums as kernels

    parts = [kernels.Chunk(*chunk) for chunk in chunks]
    values = [values_of(part.frequency, method) for part in parts]
    return (kernels.values_of_samples(parts, values),)


def _fourth_moments(samples: SampleChunks, sums: GRMSums, means: da.Array) -> da.Array:
    """Return the sum over variants of the squared sum of squares about the samples' means, lazy.

    means: (samples,).
    """
    planes = [plane.rechunk({0: -1}).to_delayed()[0] for plane in samples.planes]
    blocks = [array.to_delayed().reshape(-1) for array in sums.along]
    whole = means.rechunk(-1).to_delayed()[0]
    parts = [
        delayed(_moments, pure=True)(
            [plane[k] for plane in planes],
            bits,
            [block[k] for block in blocks],
            sums.plan.method,
            whole,
        )
        for k, bits in enumerate(samples.variants)
    ]
    return da.stack([da.from_delayed(part, (), np.float64) for part in parts]).sum()


def _moments(
    planes: list[NDArray[np.uint64]],
    bits: int,
    along: list[NDArray[Any]],
    method: str,
    means: NDArray[np.float64],
) -> NDArray[np.float64]:
    from genobit.grm.kernels.sums import Chunk, fourth_moments

    chunk = Chunk(planes_of(planes, bits), None, *along)
    values = values_of(chunk.frequency, method)
    with one_blas_thread():
        return np.asarray(fourth_moments(chunk, values, means))
