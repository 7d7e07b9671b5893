"""What the summary and the launcher call ready runs, and what they do not call ready raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr

import genobit
from genobit.data import availability
from genobit.data.analysis import methods as methods_of_genotypes
from genobit.data.haploid import is_haploid
from genobit.ld.analysis import packed_to_explore
from tests.helpers.cohorts import cohort, mosaic_calls

SAMPLES = 24
CALLS = mosaic_calls(1, 40, SAMPLES)


def genotypes(calls: np.ndarray = CALLS, **options: Any) -> xr.Dataset:
    ds = cohort(calls, **options)
    return ds.assign(sample_case=("samples", np.arange(SAMPLES) % 2))


DATASETS: dict[str, Callable[[], xr.Dataset]] = {
    "diploid": genotypes,
    "diploid, phased": lambda: genotypes(phased=True),
    "haploid": lambda: genotypes(CALLS[..., :1]),
    "tetraploid": lambda: genotypes(np.concatenate([CALLS, CALLS], axis=2)),
    "packed by variants": lambda: genotypes().genobit.pack(rows="variants"),
    "packed by samples": lambda: genotypes().genobit.pack(rows="samples"),
    "haplotypes": lambda: genotypes(phased=True).genobit.pack(phased=True),
    "haploid planes": lambda: genotypes(CALLS[..., :1], phased=True).genobit.pack(phased=True),
    "without positions": lambda: genotypes().drop_vars(
        ["variant_position", "variant_contig", "variant_genetic_position"]
    ),
    "without a phenotype": lambda: genotypes().drop_vars("sample_case"),
    "with a phenotype in words": lambda: genotypes().assign(
        sample_case=("samples", np.array(["case", "control"] * (SAMPLES // 2), object))
    ),
    "without genotypes": lambda: genotypes().drop_vars("call_genotype"),
}


def mask_calls(x: Any) -> Any:
    """Mask calls by a quality that is there for all of them."""
    shape = [x._ds.sizes[dim] for dim in ("variants", "samples")]
    quality = ("variants", "samples"), np.full(shape, 30)
    return x._ds.assign(call_GQ=quality).genobit.mask_calls(min_gq=20)


def components(accessor: Any) -> xr.Dataset:
    """Components of genotypes of the ploidy of an accessor's data."""
    one = is_haploid(accessor._ds)
    return (genotypes().isel(ploidy=[0]) if one else genotypes()).genobit.pca(2)


METHODS: dict[str, Callable[[Any], Any]] = {
    "ld": lambda x: x.ld(),
    "ld_pairs": lambda x: x.ld_pairs(threshold=0.1),
    "ld_prune": lambda x: x.ld_prune(),
    "ld_clump": lambda x: x.ld_clump(np.linspace(1e-6, 1, 40)),
    "ld_decay": lambda x: x.ld_decay("20kb", parts=2, resamples=2),
    "ld_blocks": lambda x: x.ld_blocks(),
    "ld_score": lambda x: x.ld_score(),
    "grm": lambda x: x.grm(),
    "grm_pairs": lambda x: x.grm_pairs(threshold=0.1),
    "unrelated": lambda x: x.unrelated(),
    "crossproduct": lambda x: x.crossproduct(),
    "pca": lambda x: x.pca(2),
    "project": lambda x: x.project(components(x)),
    "kendall": lambda x: x.kendall(),
    "kendall_pairs": lambda x: x.kendall_pairs(0.5, None),
    "epistasis": lambda x: x.epistasis("sample_case", top=3, progress=False),
    "alignment": lambda x: x.alignment(),
    "allele_frequency": lambda x: x.allele_frequency(),
    "variant_stats": lambda x: x.variant_stats(),
    "sample_stats": lambda x: x.sample_stats(),
    "filter": lambda x: x.filter(max_missing=1),
    "mask_calls": mask_calls,
    "pack": lambda x: x.pack(),
}

ARRAYS: dict[str, Callable[[], xr.DataArray]] = {
    "expression": lambda: xr.DataArray(
        np.random.default_rng(1).normal(size=(4, 9)), dims=("gene", "sample")
    ),
    "counts": lambda: xr.DataArray(np.arange(36).reshape(4, 9) % 5, dims=("gene", "cell")),
    "bits": lambda: xr.DataArray(np.eye(5, 9, dtype=bool), dims=("molecule", "bit")),
    "zeros and ones": lambda: xr.DataArray(np.eye(5, 9), dims=("molecule", "features")),
    "unnamed dimensions": lambda: xr.DataArray(np.eye(4)),
    "three dimensions": lambda: xr.DataArray(np.ones((2, 3, 4)), dims=("a", "b", "sample")),
    "an alignment": lambda: xr.DataArray(
        [list("AACC"), list("AACG"), list("GATC"), list("GCTG")], dims=("taxa", "sites")
    ),
}
TREE = "((0,1),(2,3));"
ARRAY_METHODS: dict[str, Callable[[Any], Any]] = {
    "kendall": lambda x: x.kendall(),
    "kendall_pairs": lambda x: x.kendall_pairs(0.5, None),
    "similarity": lambda x: x.similarity(),
    "ld": lambda x: x.ld("T"),
    "parsimony": lambda x: x.parsimony(TREE),
    "ancestral_states": lambda x: x.ancestral_states(TREE),
    "parsimony_search": lambda x: x.parsimony_search("branch_and_bound", progress=False),
}


def error_of(method: Callable[[Any], Any], data: Any) -> Exception | None:
    try:
        with dask.config.set(scheduler="synchronous"):
            found = method(data.genobit)
            if hasattr(found, "compute"):
                found.compute()
    except (KeyError, TypeError, ValueError) as error:
        return error
    return None


def test_every_method_is_there() -> None:
    methods = {name for name in dir(xr.Dataset.genobit) if not name.startswith("_")}
    of_any = {
        "estimate", "explore", "genetic_map", "indexed", "isel", "join", "plot", "ranking",
        "report", "sel",
    }  # fmt: skip
    of_any |= {name for name in dir(genobit) if name.startswith("to_")}
    assert methods - of_any == set(METHODS) == set(methods_of_genotypes())
    of_arrays = {name for name in dir(xr.DataArray.genobit) if not name.startswith("_")}
    assert of_arrays - of_any == set(ARRAY_METHODS)


@pytest.mark.parametrize("kind", [*DATASETS, *ARRAYS])
def test_what_is_ready_runs(kind: str) -> None:
    data = (DATASETS | ARRAYS)[kind]()
    is_array = isinstance(data, xr.DataArray)
    unmet = availability.unmet_need_of_array if is_array else availability.unmet_need
    for name, method in (ARRAY_METHODS if is_array else METHODS).items():
        wants, error = unmet(data, name), error_of(method, data)
        assert (wants == "") == (error is None), (name, wants, error)


@pytest.mark.parametrize("kind", DATASETS)
def test_summary_says_the_same(kind: str) -> None:
    ds = DATASETS[kind]()
    rows = {a.calls: a.wants for a in availability.of_dataset(ds)}
    for calls, wants in rows.items():
        for call in calls.split(", "):
            assert availability.unmet_need(ds, call.partition("(")[0]) == wants


def test_launcher_offers_what_opens() -> None:
    for make in DATASETS.values():
        ds = make()
        offers = ds.genobit.explore().offers
        methods = {"grm": "grm", "kendall": "kendall_pairs", "epistasis": "epistasis"}
        for name, method in {**methods, "parsimony": "alignment"}.items():
            assert (offers[name].why_not == "") == (availability.unmet_need(ds, method) == "")
        if not offers["ld"].why_not:
            assert error_of(lambda _, ds=ds: packed_to_explore(ds).genobit.ld(), ds) is None
