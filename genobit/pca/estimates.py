"""Estimates of principal components.

Rates are of one core of a Zen 5 (AMD EPYC 9005) with AVX-512.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data import packed
from genobit.data.autosomes import choose
from genobit.data.estimates import PACKED, Call, estimate, lazy
from genobit.data.haploid import as_diploid
from genobit.pca import components as pca_components

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate

GRAM = 3e10
"""Products of pairs of samples per second, of standardised dosages."""
EIGEN = 1e10
"""samples^3 per second of an eigendecomposition."""
VECTORS = 4.5e9
"""Dosages times vectors per second, of a product with a block of vectors."""
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
    seconds = 2 * calls / PACKED + calls * vectors / VECTORS
    if method == "exact":
        seconds += n * n / 2 * variants / GRAM + n**3 / EIGEN
        tasks, held = len(samples.variants), 16 * n * n
    else:
        seconds += PASSES * calls * vectors / VECTORS
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
    seconds = 2 * calls / PACKED + calls * components / VECTORS
    return lazy(f"{n:,} samples on {components:,} components", result, seconds)
