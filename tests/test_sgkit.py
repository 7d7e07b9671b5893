"""genobit and sgkit in one environment: the same Dataset, and numbers that agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb

sgkit = pytest.importorskip("sgkit", reason="sgkit needs an environment of its own: make sgkit")
pytestmark = pytest.mark.filterwarnings("ignore")


def simulated(missing: float = 0.0) -> xr.Dataset:
    return sgkit.simulate_genotype_call_dataset(
        n_variant=120, n_sample=45, missing_pct=missing, seed=4
    )


def without_half_calls(ds: xr.Dataset) -> xr.Dataset:
    half = (ds.call_genotype < 0).any("ploidy")
    calls = ds.call_genotype.where(~half, -1).astype("i1")
    return ds.assign(call_genotype=calls, call_genotype_mask=calls < 0)


def test_frequencies__agree_where_no_call_is_half_missing() -> None:
    for ds in (simulated(), without_half_calls(simulated(0.1))):
        theirs = sgkit.variant_stats(ds).variant_allele_frequency[:, 1]
        ours = ds.genobit.allele_frequency()
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12)


def test_half_calls__count_in_sgkit_and_are_missing_here() -> None:
    ds = simulated(0.1)
    first, second = (ds.call_genotype.values[..., k] for k in (0, 1))
    whole = (first >= 0) & (second >= 0)
    assert ((first >= 0) != (second >= 0)).any()
    copies = np.where(whole, first + second, 0).sum(axis=1)
    ours = ds.genobit.allele_frequency().values
    np.testing.assert_allclose(ours, copies / (2 * whole.sum(axis=1)), rtol=1e-12)
    alleles = ds.call_genotype.values
    theirs = sgkit.variant_stats(ds).variant_allele_frequency.values[:, 1]
    expected = (alleles == 1).sum((1, 2)) / (alleles >= 0).sum((1, 2))
    np.testing.assert_allclose(theirs, expected, rtol=1e-12)
    assert not np.allclose(ours, theirs)


def test_relationships__are_those_of_vanraden() -> None:
    ds = simulated()
    dosage = ds.call_genotype.sum("ploidy").astype("f8")
    frequency = ds.genobit.allele_frequency()
    given = ds.assign(call_dosage=dosage, p=("variants", frequency.values))
    theirs = sgkit.genomic_relationship(
        given, call_dosage="call_dosage", ancestral_frequency="p", estimator="VanRaden"
    )
    ours = ds.genobit.grm("vanraden1").values
    np.testing.assert_allclose(
        ours, theirs.stat_genomic_relationship.values, rtol=1e-10, atol=1e-12
    )


def test_shrinkage__counts_monomorphic_variants_on_request() -> None:
    ds = simulated()
    calls = ds.call_genotype.values.copy()
    calls[::4] = 0
    ds = ds.assign(call_genotype=(ds.call_genotype.dims, calls))
    dosage = ds.call_genotype.sum("ploidy").astype("f8")
    given = ds.assign(call_dosage=dosage, p=("variants", ds.genobit.allele_frequency().values))
    theirs = sgkit.genomic_relationship(
        given,
        call_dosage="call_dosage",
        ancestral_frequency="p",
        estimator="Endelman-Jannink",
    ).stat_genomic_relationship.values
    ours = ds.genobit.grm("endelman_jannink", count_monomorphic=True).values
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert np.abs(ds.genobit.grm("endelman_jannink").values - theirs).max() > 1e-4


def test_hardy_weinberg__agrees() -> None:
    ds = without_half_calls(simulated(0.1))
    theirs = sgkit.hardy_weinberg_test(ds).variant_hwe_p_value.values
    np.testing.assert_allclose(ds.genobit.variant_stats().hwe_p.values, theirs, rtol=1e-6)


def test_stores__open_in_both(tmp_path: Path) -> None:
    ds = simulated(0.1)
    sgkit.save_dataset(ds, str(tmp_path / "theirs.zarr"))
    opened = gb.open_vcf_zarr(tmp_path / "theirs.zarr")
    np.testing.assert_array_equal(opened.call_genotype.values, ds.call_genotype.values)
    gb.sample_dataset().isel(variants=slice(50), samples=slice(20)).to_zarr(tmp_path / "ours.zarr")
    theirs = sgkit.load_dataset(str(tmp_path / "ours.zarr"))
    assert theirs.call_genotype.shape == (50, 20, 2)
    counted = sgkit.count_variant_alleles(
        theirs.assign(call_genotype_mask=theirs.call_genotype < 0)
    )
    ours = gb.open_vcf_zarr(tmp_path / "ours.zarr").genobit.allele_frequency().values
    np.testing.assert_allclose(counted.variant_allele_count[:, 1] / 40, ours)
