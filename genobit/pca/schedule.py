"""Products of the matrix of samples x variants with narrow matrices, from planes by samples.

A task takes some chunks of variants of all samples. It multiplies by the matrix and then by its
transpose in one pass over the planes. Sums over chunks are a lazy tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.computing import one_blas_thread
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.schedule.pair_sums import SampleChunks, planes_of, sample_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAF_CALLS = 2**28
"""Calls in a task: about a second of work, and few sums (samples, columns) to add."""


def whole_samples(samples: SampleChunks) -> SampleChunks:
    """Return the planes with all samples in one tile."""
    return samples._replace(planes=tuple(plane.rechunk({0: -1}) for plane in samples.planes))


def summed(
    function: Callable[..., NDArray[np.float64]],
    samples: SampleChunks,
    *,
    along: Sequence[da.Array],
    whole: Sequence[da.Array] = (),
    columns: int,
) -> da.Array:
    """Return the lazy sum over variants of ``function(chunks, *whole)``: (samples, columns).

    ``chunks`` is a list of ``(rows, *along)``: planes of all samples in a chunk of variants, and
    the blocks of ``along``. Arrays in ``along`` are (variants, ...), with first-axis chunks as
    ``samples.variants``. Every task gets the arrays in ``whole`` complete.
    """
    return sample_sums(
        partial(_sums, function),
        whole_samples(samples),
        along=along,
        whole=whole,
        columns=columns,
        enough=LEAF_CALLS,
    )


def _sums(
    function: Callable[..., NDArray[np.float64]], chunks: list[Any], *whole: NDArray[Any]
) -> tuple[NDArray[np.float64]]:
    rows = [(a, *along) for a, _, *along in chunks]
    with one_blas_thread():
        return (function(rows, *whole),)


def stacked(
    function: Callable[..., NDArray[np.float64]],
    samples: SampleChunks,
    *,
    along: Sequence[da.Array],
    whole: Sequence[da.Array] = (),
    columns: int,
) -> da.Array:
    """Return ``function(rows, *along, *whole)`` of each chunk of variants, stacked.

    The result is (variants, columns), lazy.
    """
    samples, whole = whole_samples(samples), [array.rechunk(-1) for array in whole]
    inputs = function, samples, along, whole
    name, graph = named_layer("genobit-stacked", _stacked_tasks, *inputs)
    return da.Array(graph, name, (samples.variants, (columns,)), np.float64)


def _stacked_tasks(
    name: str,
    function: Callable[..., Any],
    samples: SampleChunks,
    along: Sequence[da.Array],
    whole: Sequence[da.Array],
) -> dict[Any, Any]:
    others = [(array.name, *(0,) * array.ndim) for array in whole]
    return {
        (name, k, 0): (_stack_leaf, function, _chunk(samples, along, k), others)
        for k in range(len(samples.variants))
    }


def _chunk(samples: SampleChunks, along: Sequence[da.Array], k: int) -> list[Any]:
    blocks = [(plane.name, 0, k) for plane in samples.planes]
    return [samples.variants[k], blocks, [(x.name, k, *(0,) * (x.ndim - 1)) for x in along]]


def _stack_leaf(function: Any, chunk: list[Any], whole: list[Any]) -> NDArray[np.float64]:
    bits, blocks, along = chunk
    with one_blas_thread():
        return function(planes_of(blocks, bits), *along, *whole)
