from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data.alignment import states_of
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes


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
        assert states_of(aln.attrs) == ["0", "1"]
        calls = ds.call_genotype.values[:, :, 0].T
        np.testing.assert_array_equal(aln, np.array(["0", "1", "?"])[calls])


@given(
    st.integers(0, 2**32),
    st.sampled_from(["bases", "long", "long but not called", "none"]),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(["int8", "int64", "uint8"]),
)
def test_lazy_calls_make_a_lazy_alignment_of_the_same(seed, alleles, variants, samples, dtype):
    rng = np.random.default_rng(seed)
    sizes = {"variants": int(rng.integers(1, 20)), "samples": int(rng.integers(1, 9)), "ploidy": 1}
    calls = rng.integers(0 if dtype == "uint8" else -2, 3, tuple(sizes.values())).astype(dtype)
    ds = xr.Dataset({"call_genotype": (tuple(sizes), calls)})
    ds["variant_position"] = "variants", np.arange(sizes["variants"])
    if alleles != "none":
        table = rng.choice(list("ACGTn*"), (sizes["variants"], 4)).astype(object)
        table[:, 3] = "<DEL>"
        if alleles == "long":
            table[-1, 1] = "AC"
        ds["variant_allele"] = ("variants", "alleles"), table
    chunked = ds.call_genotype.chunk(variants=variants, samples=samples)
    lazy = ds.assign(call_genotype=chunked)
    with raise_if_dask_computes(1):
        found = lazy.genobit.alignment()
    assert found.chunks == ((sizes["samples"],), chunked.chunksizes["variants"])
    expected = ds.genobit.alignment()
    assert isinstance(expected.data, np.ndarray)
    assert found.dtype == expected.dtype
    xr.testing.assert_identical(found.compute(), expected)


def test_errors_of_lazy_calls_name_the_variant_of_the_whole() -> None:
    calls = np.zeros((40, 3, 1), "int8")
    calls[33, 1], calls[35, 0] = 2, 5
    ds = cohort(calls)
    for each in (ds, ds.chunk(variants=8), ds.chunk(variants=1, samples=2)):
        with pytest.raises(
            ValueError, match=r"variant 33, sample 1 has allele 2, .* has 2: correct"
        ):
            each.genobit.alignment()


def test_alleles_and_calls_of_other_order() -> None:
    ds = haploid()
    turned = ds.transpose("ploidy", "samples", "alleles", "variants", ...)
    xr.testing.assert_identical(turned.genobit.alignment(), ds.genobit.alignment())


def test_trees_of_lazy_calls() -> None:
    ds = haploid()
    aln = ds.compute().genobit.alignment()
    tree = aln.genobit.parsimony_search("stepwise")
    lazy = ds.genobit.alignment()
    assert lazy.chunks is not None
    xr.testing.assert_identical(lazy.genobit.parsimony(tree), aln.genobit.parsimony(tree))


def test_many_alleles() -> None:
    calls = np.arange(-1, 12, dtype="int8").reshape(1, 13, 1)
    ds = cohort(calls).drop_vars(["variant_allele", "sample_id"])
    aln = ds.genobit.alignment()
    assert aln.values[:, 0].tolist() == ["?", *map(str, range(12))]
    assert states_of(aln.attrs) == [*map(str, range(12))]
    assert aln.taxa.values.tolist() == [*map(str, range(13))]


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"ploidy 2, an alignment is of haploid calls: .*isel"):
        cohort(random_calls(1, 5, 4)).genobit.alignment()
    ds = haploid()
    one = cohort(random_calls(1, 5, 4)).isel(ploidy=[0])
    assert one.genobit.alignment().shape == (4, 5)
    with pytest.raises(ValueError, match="taxa 0 and 1 are both named 's'"):
        ds.assign(sample_id=("samples", ["s"] * 13)).genobit.alignment()
    with pytest.raises(ValueError, match="has allele 1, variant_allele has 1: correct"):
        haploid([["A"]] * 50).genobit.alignment()
    with gb.set_options(eager_limit=100):
        with pytest.raises(MemoryError, match=r"alignment takes .*chunk the calls"):
            ds.compute().genobit.alignment()
        assert ds.genobit.alignment().shape == (13, 50)
