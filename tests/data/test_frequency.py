from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes


def frequency(calls: np.ndarray) -> list[float]:
    """Copies of allele 1 over alleles called of each variant."""
    found = []
    for variant in calls.reshape(calls.shape[0], -1).tolist():
        called = [allele for allele in variant if allele >= 0]
        found.append(called.count(1) / len(called) if called else np.nan)
    return found


@given(
    seed=st.integers(0, 2**32),
    samples=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    chunks=st.sampled_from([None, (64, 30)]),
)
def test_allele_frequency__of_haplotypes_and_dosages(
    seed: int, samples: int, missing: float, chunks: tuple | None
) -> None:
    calls = random_calls(seed, 9, samples, missing=missing)
    ds = cohort(calls, chunks=chunks, phased=True)
    found = ds.genobit.pack(phased=True).genobit.allele_frequency()
    np.testing.assert_array_equal(found, frequency(calls))
    # A dosage with one allele missing is missing as a whole.
    whole = np.where((calls < 0).any(axis=2, keepdims=True), -1, calls)
    np.testing.assert_array_equal(ds.genobit.allele_frequency(), frequency(whole))
    np.testing.assert_array_equal(ds.genobit.pack().genobit.allele_frequency(), frequency(whole))


def test_allele_frequency__carries_labels_and_says_what_it_counts() -> None:
    ds = cohort(random_calls(1, 20, 30), chunks=(7, 30))
    with raise_if_dask_computes():
        found = ds.genobit.allele_frequency()
    assert found.dims == ("variants",)
    assert found.dtype == np.float64
    assert found.attrs["counted_allele"].startswith("allele 1")
    assert found.variant_id.values.tolist() == ds.variant_id.values.tolist()


@pytest.mark.parametrize(
    "fileset",
    [
        "hapmap279/hapmap279",
        "lct_1kg/lct_1kg",
        "bigsnpr_example/example-missing-sorted",
        "asthma_cc/asthma_cc",
        "hyper_bc/hyper_bc",
    ],
)
def test_allele_frequency__equals_plink(shared_data: Path, fileset: str) -> None:
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    path = (shared_data / fileset).parent / "ref/basic.frq.gz"
    table = pd.read_csv(path, sep=r"\s+")
    found = ds.genobit.allele_frequency().values
    # Of sex chromosomes plink counts one allele of a male.
    autosomal = (table["CHR"] <= (19 if "hyper" in fileset else 22)).to_numpy()
    assert autosomal.sum() > 50
    # plink prints four digits.
    np.testing.assert_allclose(found[autosomal], table["MAF"][autosomal], rtol=5.1e-4, atol=1e-6)
