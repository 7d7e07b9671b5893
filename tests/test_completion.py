"""Completion of ``genobit`` offers what applies to the data, and leaves nothing out that works."""

from __future__ import annotations

import pytest
import xarray as xr

import genobit as gb
from genobit.accessor import GenobitDataArrayAccessor, GenobitDatasetAccessor
from tests.helpers.cases import CASES, SOURCES, Case, called, name

ALWAYS = {"plot", "to_zarr"}
"""Methods of every result."""
OF_LABELS = {"indexed", "isel", "join", "sel"}
"""Methods of results along variants or samples."""
ADDED = {"ranking", "to_gcta", "to_plink_rel", "to_trees"}
"""Methods of some results."""
INPUTS = {"alignment", "filter", "genetic_map", "mask_calls", "pack"} | OF_LABELS
"""Methods whose results are data again."""


def offered(data: xr.Dataset | xr.DataArray) -> set[str]:
    return {name for name in dir(data.genobit) if not name.startswith("_")}


def every(accessor: type) -> set[str]:
    return {name for name in dir(accessor) if not name.startswith("_")}


@pytest.mark.parametrize("case", CASES, ids=name)
def test_results__offer_no_method_of_genotypes(case: Case) -> None:
    source = SOURCES[case.source]()
    # The method of the case applies to its data.
    assert case.method in offered(source)
    result = called(case, source, case.base)
    if case.method in INPUTS or isinstance(result, gb.PairTable):
        return
    found = offered(result)
    assert found >= ALWAYS
    assert found <= ALWAYS | OF_LABELS | ADDED


def test_genotypes__offer_all_but_methods_of_results() -> None:
    ds = gb.sample_dataset()
    for data in (ds, ds.genobit.pack()):
        assert offered(data) == every(GenobitDatasetAccessor) - ADDED
    assert not offered(gb.sample_expression()) & ADDED
    both = offered(gb.sample_expression()) | offered(gb.sample_alignment())
    assert both == every(GenobitDataArrayAccessor) - ADDED


def test_results__offer_their_own_methods() -> None:
    few = gb.sample_dataset().isel(variants=slice(0, 20))
    search = gb.sample_alignment().genobit.parsimony_search(
        effort=gb.SearchEffort(iterations=1), progress=False
    )
    assert offered(search) == {"join", "plot", "to_trees", "to_zarr"}
    ranking = few.genobit.epistasis("sample_case", top=5, progress=False)
    assert "ranking" in offered(ranking)
    assert {"to_gcta", "to_plink_rel"} <= offered(few.genobit.grm())
    assert "grm" not in offered(few.genobit.pca(2))


def test_hidden_methods__still_explain_themselves() -> None:
    pcs = gb.sample_dataset().isel(variants=slice(0, 50)).genobit.pca(2)
    with pytest.raises((KeyError, ValueError), match="call_genotype"):
        pcs.genobit.grm()
