"""Estimates of principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data import packed
from genobit.data.autosomes import choose
from genobit.data.estimates import Call, estimate, lazy
from genobit.data.haploid import as_diploid
from genobit.engine import machine
from genobit.pca import components as pca_components

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate

PASSES = 27
"""Usual number of passes of "randomized"."""


def pca(call: Call) -> Estimate:
    """Return the estimate of `pca`, by the method that "auto" takes."""
    pca_components.check(call["components"], call["method"], call["missing"])
    chosen = choose(call.data, call["autosomes"])
    ds = packed.in_chunks_of_samples(as_diploid(call.data))
    samples = packed.by_samples(ds, variants=chosen.kept, tiled=False)[2]
    n, variants = samples.planes[0].shape[0], sum(samples.variants)
    wanted = call["components"] or pca_components.DEFAULT
    method = pca_components.chosen_method(call["method"], n, call["missing"])
    calls, chunk = n * variants, sum(plane.nbytes for plane in samples.planes)
    vectors = wanted + pca_components.OVERSAMPLING
    seconds = 2 * calls / machine.PACKED + calls * vectors / machine.VECTORS
    if method == "exact":
        seconds += n * n / 2 * variants / machine.GRAM + n**3 / machine.EIGEN
        tasks, held = len(samples.variants), 16 * n * n
    else:
        seconds += PASSES * calls * vectors / machine.VECTORS
        tasks, held = PASSES * len(samples.variants), 8 * vectors * (n + max(samples.variants))
    what = f"{wanted:,} components of {n:,} samples, {variants:,} variants"
    size = 8 * wanted * (n + variants)
    held += chunk // max(1, len(samples.variants))
    return estimate(what, seconds, tasks, held, size, [f"method {method!r}"])


def project(call: Call) -> Estimate:
    """Return the estimate of `project`."""
    result = call.result()
    n, components = result.shape
    calls = n * call["pcs"].sizes["variants"]
    seconds = 2 * calls / machine.PACKED + calls * components / machine.VECTORS
    return lazy(f"{n:,} samples on {components:,} components", result, seconds)
