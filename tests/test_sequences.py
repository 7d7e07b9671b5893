from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from tests.cohorts import cohort, random_calls


def haploid(alleles: list[list[str]] | None = None, missing: float = 0.1) -> xr.Dataset:
    calls = random_calls(4, 50, 13, ploidy=1, missing=missing)
    ds = cohort(calls, chunks=(7, 13))
    if alleles is not None:
        ds["variant_allele"] = (("variants", "alleles"), np.array(alleles, dtype=object))
    return ds


def test_bases_of_the_alleles() -> None:
    ds = haploid()
    aln = ds.genobit.alignment()
    assert aln.dims == ("taxa", "sites")
    assert aln.attrs["kind"] == "dna"
    assert aln.dtype == np.dtype("U1")
    calls = ds.call_genotype.values[:, :, 0].T
    np.testing.assert_array_equal(aln == "A", calls == 0)
    np.testing.assert_array_equal(aln == "C", calls == 1)
    np.testing.assert_array_equal(aln == "?", calls == -1)
    assert aln.taxa.values.tolist() == [f"s{k}" for k in range(13)]


def test_labels_are_carried_along() -> None:
    ds = haploid().assign(sample_group=("samples", np.arange(13) % 2))
    aln = ds.genobit.alignment()
    np.testing.assert_array_equal(aln.variant_position, ds.variant_position)
    assert aln.variant_position.dims == ("sites",)
    assert aln.sel(taxa="s3").sample_group == 1


def test_a_deletion_is_a_gap_and_what_no_call_has_does_not_matter() -> None:
    ds = haploid([["a", "*", "<DEL>"]] * 50, missing=0)
    aln = ds.genobit.alignment()
    assert aln.attrs["kind"] == "dna"
    np.testing.assert_array_equal(aln == "-", ds.call_genotype.values[:, :, 0].T == 1)
    assert set(np.unique(aln)) == {"A", "-"}


def test_other_alleles_by_their_numbers() -> None:
    for ds in (haploid([["A", "AT"]] * 50), haploid().drop_vars("variant_allele")):
        aln = ds.genobit.alignment()
        assert aln.attrs["kind"] == "standard"
        assert aln.attrs["states"] == ["0", "1"]
        calls = ds.call_genotype.values[:, :, 0].T
        np.testing.assert_array_equal(aln, np.array(["0", "1", "?"])[calls])


def test_many_alleles() -> None:
    calls = np.arange(-1, 12, dtype="int8").reshape(1, 13, 1)
    ds = cohort(calls).drop_vars(["variant_allele", "sample_id"])
    aln = ds.genobit.alignment()
    assert aln.values[:, 0].tolist() == ["?", *map(str, range(12))]
    assert aln.attrs["states"] == [*map(str, range(12))]
    assert aln.taxa.values.tolist() == [*map(str, range(13))]


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"ploidy 2, an alignment is of haploid calls: .*isel"):
        cohort(random_calls(1, 5, 4)).genobit.alignment()
    ds = haploid()
    one = cohort(random_calls(1, 5, 4)).isel(ploidy=[0])
    assert one.genobit.alignment().shape == (4, 5)
    with pytest.raises(ValueError, match="taxa 0 and 1 are both named 's'"):
        ds.assign(sample_id=("samples", ["s"] * 13)).genobit.alignment()
    with pytest.raises(ValueError, match="has allele 1, variant_allele has 1: mend"):
        haploid([["A"]] * 50).genobit.alignment()
    with gb.set_options(eager_limit=100), pytest.raises(MemoryError, match="alignment takes"):
        ds.genobit.alignment()
