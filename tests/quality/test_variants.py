"""Statistics of variants against slow twins, on every kind of chromosome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.quality.variants import STATISTICS, Counts
from tests.helpers import reference
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.quality.filesets import CONTIGS, dosages, mixed_cohort

KINDS = {"X": "X", "Y": "Y", "MT": "MT"}
COUNTS = [name for name in STATISTICS if name.startswith(("n_", "allele_c", "allele_n"))]
SEEDS = st.integers(0, 2**32)


def slow_counts(ds: xr.Dataset, counted: np.ndarray) -> dict[str, list[int]]:
    """Counts of each variant by the slow twin."""
    sexes, rows = ds.sample_sex.values.tolist(), dosages(ds).tolist()
    found: dict[str, list[int]] = {}
    for row, contig in zip(rows, ds.variant_contig.values, strict=True):
        kind = KINDS.get(CONTIGS[contig], "")
        one = reference.variant_counts(row, kind, sexes, counted.tolist())
        for name, count in one.items():
            found.setdefault(name, []).append(count)
    return found


def assert_stats(stats: xr.Dataset, n: dict[str, list[int]], kinds: list[str]) -> None:
    for name in COUNTS:
        np.testing.assert_array_equal(stats[name], n[name], err_msg=name)
    a = {name: np.array(values, float) for name, values in n.items()}
    genotypes = a["n_hom_ref"] + a["n_het"] + a["n_hom_alt"]
    with np.errstate(invalid="ignore"):
        f = a["allele_count"] / a["allele_number"]
        p = (2 * a["n_hom_alt"] + a["n_het"]) / (2 * genotypes)
        right = {
            "call_rate": a["n_called"] / a["n_samples"],
            "allele_frequency": f,
            "maf": np.minimum(f, 1 - f),
            "het": a["n_het"] / genotypes,
            "het_expected": 2 * p * (1 - p),
        }
    right["hwe_p"] = np.array(
        [
            np.nan if kind in {"Y", "MT"} else reference.hardy_weinberg(het, ref, alt)
            for het, ref, alt, kind in zip(
                n["n_het"], n["n_hom_ref"], n["n_hom_alt"], kinds, strict=True
            )
        ]
    )
    for name, values in right.items():
        np.testing.assert_allclose(stats[name], values, rtol=1e-12, atol=1e-15, err_msg=name)


@given(
    seed=SEEDS,
    samples=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    chunks=st.sampled_from([None, 5, 64]),
    packed=st.booleans(),
    founders=st.booleans(),
)
def test_variant_stats__equal_slow_counts(
    seed: int, samples: int, missing: float, chunks: int | None, packed: bool, founders: bool
) -> None:
    ds = mixed_cohort(seed, 21, samples, missing=missing, chunks=chunks)
    ds["sample_father_id"][0] = ds["sample_mother_id"][0] = "0"
    counted = (ds.sample_father_id.values == "0") | (not founders)
    given_ds = ds.genobit.pack() if packed else ds
    with raise_if_dask_computes():
        stats = given_ds.genobit.variant_stats(founders=founders)
    kinds = [KINDS.get(CONTIGS[contig], "") for contig in ds.variant_contig.values]
    assert_stats(stats.compute(), slow_counts(ds, counted), kinds)
    assert stats.variant_id.values.tolist() == ds.variant_id.values.tolist()
    if not founders:
        np.testing.assert_array_equal(given_ds.genobit.allele_frequency(), stats.allele_frequency)


@given(seed=SEEDS, samples=st.sampled_from(TAILS), midp=st.booleans())
def test_variant_stats__test_the_chosen_samples(seed: int, samples: int, midp: bool) -> None:
    ds = mixed_cohort(seed, 21, samples)
    tested = ds.sample_phenotype == 1
    hwe = "midp" if midp else "exact"
    found = ds.genobit.variant_stats(hwe=hwe, hwe_samples=tested)
    all_of_them = ds.genobit.variant_stats(hwe=hwe)
    np.testing.assert_array_equal(found.n_het, all_of_them.n_het)
    for k, row in enumerate(dosages(ds)):
        kind = CONTIGS[ds.variant_contig.values[k]]
        g = row[tested.values & ((kind != "X") | (ds.sample_sex.values != 1))]
        right = reference.hardy_weinberg(
            int((g == 1).sum()), int((g == 0).sum()), int((g == 2).sum()), midp=midp
        )
        right = np.nan if kind in {"Y", "MT"} else right
        np.testing.assert_allclose(found.hwe_p[k], right, rtol=1e-12)


def test_variant_stats__are_the_same_for_all_chunks_and_files(tmp_path: Any) -> None:
    ds = mixed_cohort(4, 200, 70)
    right = ds.genobit.variant_stats().compute()
    for rows in (64, 128):
        with gb.set_options(chunk_rows=rows):
            found = mixed_cohort(4, 200, 70, chunks=33).genobit.pack()
            xr.testing.assert_equal(found.genobit.variant_stats().compute(), right)
    gb.to_zarr(ds.genobit.pack(), tmp_path / "packed.zarr")
    stored = xr.open_zarr(tmp_path / "packed.zarr")
    xr.testing.assert_equal(stored.genobit.variant_stats().compute(), right)


def test_variant_stats__of_labelled_masks_in_another_order() -> None:
    ds = mixed_cohort(5, 21, 40)
    mask = ds.sample_phenotype == 1
    mask = mask.assign_coords(sample_id=ds.sample_id)
    right = ds.genobit.variant_stats(hwe_samples=mask.values).hwe_p
    turned = ds.genobit.variant_stats(hwe_samples=mask[::-1]).hwe_p
    named = (
        ds.assign(control=("samples", mask.values))
        .genobit.variant_stats(hwe_samples="control")
        .hwe_p
    )
    np.testing.assert_array_equal(turned, right)
    np.testing.assert_array_equal(named, right)


def test_variant_stats__without_sexes_count_two_copies_of_x() -> None:
    ds = mixed_cohort(6, 21, 40).drop_vars("sample_sex")
    stats = ds.genobit.variant_stats().compute()
    on = {name: ds.variant_contig.values == CONTIGS.index(name) for name in ("X", "Y")}
    called = (dosages(ds) >= 0).sum(axis=1)
    np.testing.assert_array_equal(stats.allele_number[on["X"]], 2 * called[on["X"]])
    np.testing.assert_array_equal(stats.n_called, called)
    np.testing.assert_array_equal(
        stats.n_het_haploid[on["Y"]], (dosages(ds)[on["Y"]] == 1).sum(axis=1)
    )


def test_variant_stats__of_another_species() -> None:
    ds = mixed_cohort(7, 14, 30)
    numbered = ds.assign(contig_id=("contigs", ["0", "1", "2", "30", "31", "32", "33"]))
    right = ds.genobit.variant_stats().compute()
    found = numbered.genobit.variant_stats(autosomes=29).compute()
    assert found.variant_contig.values[-1] == "33"
    xr.testing.assert_equal(found.drop_vars("variant_contig"), right.drop_vars("variant_contig"))
    with pytest.raises(ValueError, match="contig '30' does not exist in a species of 22"):
        numbered.genobit.variant_stats()
    diploid = ds.genobit.variant_stats(autosomes=False)
    assert not diploid.n_het_haploid.any()
    listed = ds.genobit.variant_stats(autosomes=["0", "1", "2", "X", "XY"])
    x = ds.variant_contig.values == CONTIGS.index("X")
    np.testing.assert_array_equal(listed.allele_count[x], diploid.allele_count[x])


def test_variant_stats__read_haploid_calls_as_plink_does() -> None:
    calls = np.array([[[0, 1], [1, -2], [0, -2], [-1, -2]]], np.int8)
    ds = cohort(calls).assign(
        contig_id=("contigs", np.array(["X"], object)), sample_sex=("samples", [2, 1, 1, 1])
    )
    stats = ds.genobit.variant_stats().compute()
    assert stats.allele_number.item() == 4
    assert stats.allele_count.item() == 2
    assert stats.n_called.item() == 3


def test_variant_stats__name_what_is_wrong() -> None:
    ds = mixed_cohort(8, 14, 6)
    with pytest.raises(ValueError, match="hwe='chi2' is not one of 'exact', 'midp'"):
        ds.genobit.variant_stats(hwe="chi2")
    with pytest.raises(TypeError, match="hwe_samples is of type float64, expected True or False"):
        ds.genobit.variant_stats(hwe_samples="sample_phenotype")
    with pytest.raises(ValueError, match=r"hwe_samples has shape \(3,\), expected \(6,\)"):
        ds.genobit.variant_stats(hwe_samples=[True, False, True])
    with pytest.raises(KeyError, match="founders=True needs the variable 'sample_mother_id'"):
        ds.drop_vars("sample_mother_id").genobit.variant_stats(founders=True)
    with pytest.raises(ValueError, match="founders=True leaves no sample: all 6 have a parent"):
        ds.assign(sample_father_id=("samples", ["a"] * 6)).genobit.variant_stats(founders=True)
    with pytest.raises(ValueError, match="sample_sex is 3 at samples=1: give 1"):
        ds.assign(sample_sex=("samples", [1, 3, 0, 0, 2, 2])).genobit.variant_stats()
    with pytest.raises(TypeError, match="sample_sex is object, such as"):
        ds.assign(sample_sex=("samples", np.array(["male"] * 6, object))).genobit.variant_stats()
    with pytest.raises(ValueError, match="rows='samples', this analysis needs rows='variants'"):
        ds.genobit.pack(rows="samples").genobit.variant_stats()


def test_allele_frequency__of_haplotypes_counts_each_called_one() -> None:
    ds = cohort(random_calls(3, 9, 20, missing=0.3), phased=True)
    haplotypes = ds.genobit.pack(phased=True)
    called = ds.call_genotype.values >= 0
    right = (ds.call_genotype.values == 1).sum(axis=(1, 2)) / called.sum(axis=(1, 2))
    np.testing.assert_array_equal(haplotypes.genobit.allele_frequency(), right)
    xr.testing.assert_equal(
        haplotypes.genobit.variant_stats().compute(), ds.genobit.variant_stats().compute()
    )


def test_expected_heterozygosity__of_half_a_million_samples_does_not_overflow() -> None:
    none = dict.fromkeys(Counts._fields, np.zeros(1, np.int32))
    ref, alt = np.full(1, 400_000, np.int32), np.full(1, 100_000, np.int32)
    found = Counts(**none | {"hom_ref": ref, "hom_alt": alt})
    assert found.expected_heterozygosity() == pytest.approx(2 * 0.2 * 0.8, rel=1e-15)
