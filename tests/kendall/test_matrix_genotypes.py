"""Rank correlation of genotypes: tables of planes against ranks of dosages, scipy and HapMap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import genobit as gb
from genobit.kendall.matrix import LONG_NAMES
from tests.helpers import reference
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.kendall.values import close

VARIABLES = ("tau", "pvalue", "n")


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("statistic", LONG_NAMES)
def test_tables__are_ranks_of_dosages(statistic: str, missing: float) -> None:
    calls = random_calls(0, 40, 75, missing=missing)
    dosages = reference.dosages(calls)
    values = xr.DataArray(dosages, dims=("variant", "sample"))
    expected = values.genobit.kendall(statistic, pvalue=True, kernel="packed-merge", compute=True)
    for form in (cohort(calls), cohort(calls, chunks=(13, 20))):
        for ds in (form, form.genobit.pack()):
            for options in ({}, {"kernel": "table"}, {"kernel": "signs"}):
                with gb.set_options(chunk_rows=17):
                    found = ds.genobit.kendall(statistic, pvalue=True, **options).compute()
                for name in VARIABLES:
                    np.testing.assert_array_equal(found[name], expected[name])
    first = reference.kendall(statistic, dosages[0], dosages[1])
    close(found.tau[0, 1], first)


@pytest.mark.parametrize("samples", TAILS[:11])
def test_tails_of_words(samples: int) -> None:
    for missing in (0.0, 0.2):
        calls = random_calls(samples, 12, samples, missing=missing)
        found = cohort(calls).genobit.kendall(pvalue=True, compute=True)
        values = reference.dosages(calls)
        expected = [[reference.kendall("tau_b", x, y) for y in values] for x in values]
        close(found.tau, expected)


def test_haplotypes__are_added_up_to_dosages() -> None:
    ds = cohort(random_calls(1, 20, 33), phased=True)
    found = ds.genobit.pack(phased=True).genobit.kendall(compute=True)
    np.testing.assert_array_equal(found, ds.genobit.kendall(compute=True))


def test_labels_and_laziness() -> None:
    ds = cohort(random_calls(1, 20, 33, missing=0.1), chunks=(6, 33))
    ds.call_genotype.attrs["counted_allele"] = "variant_allele[:, 1] (ALT)"
    with gb.set_options(chunk_rows=7), raise_if_dask_computes():
        result = ds.genobit.kendall(pvalue=True)
    assert result.tau.dims == ("variants_0", "variants_1")
    np.testing.assert_array_equal(result.variant_id_1, ds.variant_id)
    assert result.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"
    assert result.attrs["dimension"] == "samples"
    with raise_if_dask_computes():
        estimate = ds.genobit.estimate.kendall()
    assert estimate.details[0].startswith("kernel 'table': ties, missing values, up to 3 levels")


@pytest.mark.parametrize("statistic", ["tau_b", "somers_d_columns"])
def test_other__is_a_part_of_all(statistic: str) -> None:
    ds = cohort(random_calls(1, 20, 33, missing=0.1))
    whole = ds.genobit.kendall(statistic, compute=True)
    some = ds.genobit.isel(variants=slice(0, 6)).genobit.kendall(statistic, other=ds, compute=True)
    np.testing.assert_array_equal(some, whole[:6])
    with pytest.raises(ValueError, match=r"sample_id\[0\] is 's0' here and 's32' in other="):
        ds.genobit.kendall(other=ds.isel(samples=slice(None, None, -1)))
    with pytest.raises(TypeError, match="other= takes a Dataset of genotypes"):
        ds.genobit.kendall(other=ds.call_genotype)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("statistic", ["tau_b", "somers_d_rows"])
def test_square_of_many_blocks__is_the_rectangle_with_itself(
    statistic: str, missing: float
) -> None:
    ds = cohort(random_calls(2, 1500, 70, missing=missing))
    square = ds.genobit.kendall(statistic, pvalue=True, compute=True)
    rectangle = ds.genobit.kendall(statistic, pvalue=True, other=ds, compute=True)
    for name in VARIABLES:
        np.testing.assert_array_equal(square[name], rectangle[name])


def test_dropna__is_the_samples_that_miss_nothing() -> None:
    calls = random_calls(2, 12, 90, missing=0.02)
    complete = (calls >= 0).all(axis=(0, 2))
    assert 10 < complete.sum() < 80
    expected = cohort(calls[:, complete]).genobit.kendall(pvalue=True, compute=True)
    ds = cohort(calls, chunks=(5, 90))
    with gb.set_options(chunk_rows=5):
        for form in (ds, ds.genobit.pack()):
            for kernel in ("auto", "packed-merge"):
                found = form.genobit.kendall(pvalue=True, missing="dropna", kernel=kernel)
                for name in VARIABLES:
                    np.testing.assert_array_equal(found[name], expected[name])
        half = ds.genobit.isel(variants=slice(0, 6)).genobit.kendall(other=ds, missing="dropna")
        np.testing.assert_array_equal(half, expected.tau[:6])
    permuted = ds.genobit.kendall(pvalue="permutation", permutations=19, missing="dropna")
    assert permuted.pvalue.min() == 1 / 20


def test_refuses__missing_calls() -> None:
    calls = random_calls(2, 12, 30)
    calls[7, 21] = -1
    ds = cohort(calls)
    for form in (ds, cohort(calls, chunks=(5, 30)), ds.genobit.pack()):
        for kernel in ("auto", "packed-merge"):
            result = form.genobit.kendall(missing="refuse", kernel=kernel)
            with pytest.raises(ValueError, match="value at variants=7, samples=21 is missing"):
                result.compute()
    calls[3, :] = -1
    with pytest.raises(ValueError, match="missing='dropna' leaves none of the 30 samples"):
        cohort(calls).genobit.kendall(missing="dropna", compute=True)


def test_hapmap__as_scipy_has_it(shared_data: Path) -> None:
    folder = shared_data / "hapmap279"
    ds = gb.open_plink(folder / "hapmap279.bed").isel(variants=slice(0, 30))
    table = pd.read_csv(folder / "ref" / "kendall_first30snps_pairwise_scipy.tsv", sep="\t")
    place = {name: k for k, name in enumerate(ds.variant_id.values.astype(str))}
    i, j = (table[side].map(place).to_numpy() for side in "xy")
    for letter in "abc":
        found = ds.genobit.kendall(f"tau_{letter}", pvalue="asymptotic", compute=True)
        close(found.tau.values[i, j], table[f"tau_{letter}"])
        close(found.pvalue.values[i, j], table.p_asymptotic)
        np.testing.assert_array_equal(found.n.values[i, j], table.n)
    x, y = (reference.dosages(ds.call_genotype.values)[k] for k in (i[0], j[0]))
    both = ~np.isnan(x) & ~np.isnan(y)
    close(found.tau[i[0], j[0]], stats.kendalltau(x[both], y[both], variant="c").statistic)
