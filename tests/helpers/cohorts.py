"""Small random cohorts."""

from __future__ import annotations

import dask.array as da
import numpy as np
import xarray as xr
from numpy.typing import NDArray

TAILS = (1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513)
"""Samples or haplotypes around the edges of words and of 64-byte vectors."""


def random_calls(
    seed: int, variants: int, samples: int, *, missing: float = 0.0, ploidy: int = 2
) -> NDArray[np.int8]:
    """Calls with linkage between rows, some rows of one allele, and calls missing at random."""
    rng = np.random.default_rng(seed)
    frequency = rng.uniform(0.05, 0.95, (variants, 1, 1))
    base = rng.uniform(size=(1, samples, ploidy))
    noise = rng.uniform(size=(variants, samples, ploidy))
    calls = (0.6 * base + 0.4 * noise < frequency).astype(np.int8)
    calls[rng.uniform(size=variants) < 0.08] = 0
    calls[rng.uniform(size=variants) < 0.04] = 1
    # Missing by allele, so that half calls are among them.
    calls[rng.uniform(size=calls.shape) < missing] = -1
    return calls


def mosaic_calls(
    seed: int, variants: int, samples: int, *, ancestors: int = 5, missing: float = 0.0
) -> NDArray[np.int8]:
    """Calls of haplotypes that copy a few ancestors, with places where many change to another."""
    rng = np.random.default_rng(seed)
    ancestral = rng.uniform(size=(ancestors, variants)) < 0.4
    copied = rng.integers(0, ancestors, 2 * samples)
    alleles = np.empty((variants, 2 * samples), np.int8)
    for v in range(variants):
        changes = rng.uniform(size=2 * samples) < (0.7 if rng.uniform() < 0.12 else 0.01)
        copied[changes] = rng.integers(0, ancestors, changes.sum())
        alleles[v] = ancestral[copied, v]
    calls = alleles.reshape(variants, samples, 2)
    calls[rng.uniform(size=(variants, samples)) < missing] = -1
    return calls


def cohort(
    calls: NDArray[np.integer],
    *,
    contigs: int = 1,
    chunks: tuple[int, int] | None = None,
    phased: bool | None = None,
) -> xr.Dataset:
    """A Dataset of calls with labels; dask-backed with ``chunks`` of variants and samples."""
    variants, samples, _ = calls.shape
    rng = np.random.default_rng(variants)
    contig = np.sort(np.arange(variants) % contigs)
    position = np.concatenate(
        [1 + np.cumsum(rng.integers(0, 1000, (contig == c).sum())) for c in range(contigs)]
    )
    data = calls if chunks is None else da.from_array(calls, chunks=(*chunks, -1))
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), data),
            "variant_position": ("variants", position.astype(np.int64)),
            "variant_genetic_position": ("variants", position / 1e3),
            "variant_contig": ("variants", contig.astype(np.int64)),
            "variant_id": ("variants", np.array([f"rs{i}" for i in range(variants)], object)),
            "variant_allele": (
                ("variants", "alleles"),
                np.tile(np.array(["A", "C"], object), (variants, 1)),
            ),
            "contig_id": ("contigs", np.array([f"chr{c + 1}" for c in range(contigs)], object)),
            "sample_id": ("samples", np.array([f"s{i}" for i in range(samples)], object)),
        }
    )
    if phased is not None:
        flags = np.full((variants, samples), phased)
        ds["call_genotype_phased"] = (
            ("variants", "samples"),
            flags if chunks is None else da.from_array(flags, chunks=chunks),
        )
    return ds
