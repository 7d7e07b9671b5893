"""Labelled arguments of every method, in other orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

import genobit as gb
from genobit import plots
from genobit.data import labels
from tests.helpers.cohorts import cohort, random_calls

N = 14
"""Variants, samples and sites, so that a mask along another dimension has the right length."""


NAME_OF = {"variants": "variant_id", "samples": "sample_id", "sites": "sites", "nodes": "node"}


class Case(NamedTuple):
    """An argument that takes one value for each member of a dimension."""

    dim: str
    values: Callable[[np.random.Generator, int], np.ndarray]
    run: Callable[[Any], Any]
    """What the method returns for the argument, as something to compare."""
    plain: bool = True
    """Whether it takes values without labels."""


@cache
def genotypes() -> xr.Dataset:
    return cohort(random_calls(3, N, N), phased=True)


@cache
def alignment() -> xr.DataArray:
    letters = np.random.default_rng(4).choice(list("ACGT"), (6, N))
    names = [f"site{k}" for k in range(N)]
    return xr.DataArray(letters, {"taxa": list("abcdef"), "sites": names}, ("taxa", "sites"))


@cache
def ancestors() -> xr.Dataset:
    return alignment().genobit.ancestral_states("(((a,b),(c,d)),(e,f));")


@cache
def components() -> xr.Dataset:
    return genotypes().genobit.pca(2)


@cache
def network() -> Any:
    return genotypes().genobit.kendall_pairs(0.0, None, progress=False)


def row(values: Any) -> xr.DataArray:
    ids = ("samples", genotypes().sample_id.values)
    return xr.DataArray(values, dims="samples", coords={"sample_id": ids}, name="x")


def shares(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(0.05, 0.95, n)


def mask(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.permutation(np.arange(n) < n // 3)


def letters(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.permutation(np.array(["one", "two"] * n)[:n]).astype(object)


def counts(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 5, n)


def searched(**sets: Any) -> Any:
    limits = gb.EpistasisLimits(**sets)
    found = genotypes().genobit.epistasis(np.arange(N) % 2, top=500, limits=limits, progress=False)
    return np.sort(found.variants.values, axis=0)


def points(picture: Any, column: str) -> np.ndarray:
    return np.asarray(picture.dimension_values(column))


CASES = {
    "ds.grm allele_frequency": Case(
        "variants", shares, lambda x: genotypes().genobit.grm("vanraden2", allele_frequency=x)
    ),
    "ds.grm_pairs allele_frequency": Case(
        "variants",
        shares,
        lambda x: (
            genotypes()
            .genobit.grm_pairs("gcta", threshold=-9, allele_frequency=x)
            .to_dataframe()
            .gcta
        ),
    ),
    "ds.pca allele_frequency": Case(
        "variants",
        shares,
        lambda x: genotypes().genobit.pca(2, allele_frequency=x).explained_variance,
    ),
    "ds.ld_prune allele_frequency": Case(
        "variants",
        shares,
        lambda x: genotypes().genobit.ld_prune(threshold=0.02, allele_frequency=x),
    ),
    "ds.ld_clump p": Case(
        "variants",
        shares,
        lambda x: genotypes().genobit.ld_clump(x, 0.01, 9, 0.9, 0.95).index_variant,
    ),
    "ds.ld_pairs variants": Case(
        "variants",
        mask,
        lambda x: genotypes().genobit.ld_pairs(variants=x, top=2).to_dataframe().variant_1,
    ),
    "ds.isel variants": Case(
        "variants", mask, lambda x: genotypes().genobit.isel(variants=x).variant_position
    ),
    "ds.isel samples": Case(
        "samples", mask, lambda x: genotypes().genobit.isel(samples=x).call_genotype
    ),
    "ds.sel variants": Case(
        "variants", mask, lambda x: genotypes().genobit.sel(variants=x).variant_position
    ),
    "ds.sel samples": Case(
        "samples", mask, lambda x: genotypes().genobit.sel(samples=x).call_genotype
    ),
    "ds.variant_stats populations": Case(
        "samples", letters, lambda x: genotypes().genobit.variant_stats(populations=x).maf
    ),
    "ds.variant_stats hwe_samples": Case(
        "samples", mask, lambda x: genotypes().genobit.variant_stats(hwe_samples=x).hwe_p
    ),
    "ds.filter hwe_samples": Case(
        "samples",
        mask,
        lambda x: genotypes().genobit.filter(min_hwe=0.5, hwe_samples=x).variant_position,
    ),
    "ds.epistasis phenotype": Case(
        "samples", letters, lambda x: genotypes().genobit.epistasis(x, top=5, progress=False).mi
    ),
    "ds.epistasis covariates": Case(
        "samples",
        shares,
        lambda x: (
            genotypes()
            .genobit.epistasis(np.arange(N) ** 2, statistic="linear", covariates=x, progress=False)
            .effect
        ),
        plain=False,
    ),
    "EpistasisLimits variants_0": Case("variants", mask, lambda x: searched(variants_0=x)),
    "EpistasisLimits variants_1": Case(
        "variants", mask, lambda x: searched(variants_0=[0, 1, 2], variants_1=x)
    ),
    "ds.ld_decay populations": Case(
        "samples",
        letters,
        lambda x: genotypes().genobit.ld_decay("9kb", bins=2, resamples=1, populations=x).r2,
    ),
    "da.parsimony weights": Case(
        "sites",
        counts,
        lambda x: alignment().genobit.parsimony("(((a,b),(c,d)),(e,f));", weights=x).length,
    ),
    "da.parsimony_search weights": Case(
        "sites",
        counts,
        lambda x: (
            alignment()
            .genobit.parsimony_search(weights=x, effort=gb.SearchEffort(iterations=1))
            .length
        ),
    ),
    "Selection variants": Case(
        "variants", mask, lambda x: gb.Selection(genotypes(), variants=x).variants
    ),
    "Selection samples": Case(
        "samples", mask, lambda x: gb.Selection(genotypes(), samples=x).samples
    ),
    "plots.pca_scatter colour_by": Case(
        "samples", letters, lambda x: points(plots.pca_scatter(components(), colour_by=x), "colour")
    ),
    "plots.pca_scatter names": Case(
        "samples", letters, lambda x: points(plots.pca_scatter(components(), names=x), "sample")
    ),
    "plots.pair_scatter y": Case(
        "samples",
        shares,
        lambda y: points(plots.pair_scatter(row(np.arange(N)), y), "y_value"),
        plain=False,
    ),
    "plots.pair_scatter colour_by": Case(
        "samples",
        letters,
        lambda x: points(
            plots.pair_scatter(row(np.arange(N)), row(np.arange(N)), colour_by=x), "colour"
        ),
    ),
    "plots.pair_scatter names": Case(
        "samples",
        letters,
        lambda x: points(
            plots.pair_scatter(row(np.arange(N)), row(np.arange(N)), names=x), "observation"
        ),
    ),
    "plots.grm_heatmap colour_by": Case(
        "samples",
        letters,
        lambda x: points(
            plots.grm_heatmap(genotypes().genobit.grm(), colour_by=x).Rectangles.Strip, "colour"
        ),
    ),
    "plots.kendall_network colour_by": Case(
        "variants",
        letters,
        lambda x: plots.kendall_network(network(), colour_by=x).Points.Nodes["colour"],
    ),
    "plots.parsimony_tree support": Case(
        "nodes",
        shares,
        lambda x: points(plots.parsimony_tree(ancestors(), support=x).Segments.Branches, "support"),
    ),
}


def identifiers(dim: str) -> np.ndarray:
    held = {"sites": alignment(), "nodes": ancestors()}.get(dim, genotypes())
    return labels.text(held[NAME_OF[dim]].values)


def labelled(values: Any, dim: str, ids: Any) -> xr.DataArray:
    return xr.DataArray(values, dims=dim, coords={NAME_OF[dim]: (dim, ids)})


def given(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Values in the order of the data, and their identifiers."""
    ids = identifiers(case.dim)
    return case.values(np.random.default_rng(7), ids.size), ids
