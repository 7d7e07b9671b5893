"""Estimates of packing, selecting and joining."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data import layouts, model
from genobit.data.estimates import PACKED, lazy

if TYPE_CHECKING:
    import xarray as xr

    from genobit.data.estimates import Call
    from genobit.engine.schedule.estimate import Estimate

ROWS = 1e9
"""Words of planes that one core copies in a second (Zen 5)."""
WORDS = 5e7
"""Words of planes that one core selects in a second, bit by bit (Zen 5)."""


def pack(call: Call) -> Estimate:
    """Return the estimate of `pack`: a task for each chunk of genotypes."""
    genotypes = model.require_genotypes(call.data)
    result, count = call.result(), genotypes.size
    chunks = genotypes.chunks or tuple((size,) for size in genotypes.shape)
    chunk = int(np.prod([max(sizes, default=0) for sizes in chunks]))
    variants, samples = (genotypes.sizes[dim] for dim in (model.VARIANTS, model.SAMPLES))
    what = f"bit planes of {variants:,} variants of {samples:,} samples"
    return lazy(what, result, count / PACKED, held=chunk)


def sel(call: Call) -> Estimate:
    """Return the estimate of `sel`: reading and writing the words of the selection."""
    result = call.result()
    what = f"{result.sizes[model.VARIANTS]:,} variants of "
    what += f"{result.sizes.get(model.SAMPLES, _samples(call.data)):,} samples"
    # Rows of planes are copied; samples are picked bit by bit.
    of, rate = (result, ROWS) if call["samples"] is None else (call.data, WORDS)
    words = sum(x.nbytes for x in of.data_vars.values()) / 8
    return lazy(what, result, words / rate)


def _samples(ds: xr.Dataset) -> int:
    layout = layouts.layout_of(ds)
    return 0 if layout is None else layout.bits // layout.ploidy


isel = sel


def join(call: Call) -> Estimate:
    """Return the estimate of `join`, which matches labels and leaves genotypes as they are."""
    result = call.result()
    dims = ", ".join(f"{size:,} {dim}" for dim, size in result.sizes.items())
    return lazy(f"columns for {dims}", result, 0.0)


def indexed(call: Call) -> Estimate:
    """Return the estimate of `indexed`, which leaves genotypes as they are."""
    return lazy("ids as indexes", call.result(), 0.0)


def genetic_map(call: Call) -> Estimate:
    """Return the estimate of `genetic_map`, which leaves genotypes as they are."""
    result = call.result()
    return lazy(f"positions of {result.sizes[model.VARIANTS]:,} variants", result, 0.0)
