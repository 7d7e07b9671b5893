"""Relationship matrices: labels, laziness, computing at once, and what is refused."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.grm.kernels import kinship
from tests.grm.cohorts import METHODS, SUMMED
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes


def test_labels() -> None:
    ds = cohort(random_calls(0, 80, 12, missing=0.1), chunks=(20, 12))
    ds = ds.assign(sample_population=("samples", np.array(list("abcdefabcdef"), object)))
    ds.call_genotype.attrs["counted_allele"] = "variant_allele[:, 1] (ALT)"
    for form in (ds, ds.genobit.pack(), ds.genobit.pack(rows="samples")):
        for method in METHODS:
            grm = form.genobit.grm(method)
            assert grm.dims == ("samples_0", "samples_1")
            assert grm.name == grm.attrs["method"] == method
            assert grm.dtype == np.float64
            for side in "01":
                labels = {name for name in grm.coords if name.endswith(f"_{side}")}
                assert labels == {f"sample_id_{side}", f"sample_population_{side}"}
                np.testing.assert_array_equal(grm[f"sample_id_{side}"], ds.sample_id)
            assert grm.attrs["variants"] == 80
            own = None if method in {"king", "ibs"} else "of these samples"
            assert grm.attrs.get("allele_frequency") == own
            assert grm.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"
            pairwise = method in {"gcta", "king", "ibs"}
            assert grm.attrs["missing"].startswith("pairwise" if pairwise else "mean")
            assert ("variants_compared" in grm.coords) == pairwise
            assert not pairwise or grm.variants_compared.dtype == np.int64
            assert grm.attrs["long_name"]
    assert ds.genobit.grm(allele_frequency=np.full(80, 0.5)).attrs["allele_frequency"] == "given"
    bare = ds.drop_vars(["sample_id", "sample_population"]).genobit.grm()
    assert not bare.coords


@pytest.mark.parametrize("method", METHODS)
def test_nothing_computes_before_it_is_asked_to(method: str) -> None:
    ds = cohort(random_calls(0, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    loco = method in {*SUMMED, "hadamard"}
    with raise_if_dask_computes():
        for form in (ds, ds.genobit.pack(), ds.genobit.pack(rows="samples")):
            grm = form.genobit.grm(method, loco=loco)
            grm[..., :3, :4] - 1
            assert isinstance(grm.data, da.Array)
    assert form.genobit.grm(method).data.name == form.genobit.grm(method).data.name


def test_compute__is_one_pass_and_in_memory() -> None:
    ds = cohort(random_calls(0, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    for method in METHODS:
        lazy = ds.genobit.grm(method).compute()
        with raise_if_dask_computes(max_computes=1):
            now = ds.genobit.grm(method, compute=True)
        xr.testing.assert_identical(now, lazy)
        assert all(x.chunks is None for x in (now, *now.coords.values()))


def test_compute__past_the_limit_is_refused() -> None:
    ds = cohort(random_calls(0, 30, 12), contigs=3)
    with gb.set_options(eager_limit=12 * 12 * 8):
        ds.genobit.grm(compute=True)
        what = r"vanraden1 of 3 matrices of 12 x 12 takes 3\.4 KiB, .* \(1\.1 KiB\): .*contigs="
        with pytest.raises(MemoryError, match=what):
            ds.genobit.grm(loco=True, compute=True)


@pytest.mark.parametrize("method", ["king", "ibs", "gcta"])
def test_compute__counts_the_variants_compared_too(method: str) -> None:
    ds = cohort(random_calls(0, 30, 12))
    with gb.set_options(eager_limit=2 * 12 * 12 * 8):
        ds.genobit.grm(method, compute=True)
    with gb.set_options(eager_limit=2 * 12 * 12 * 8 - 1), raise_if_dask_computes():
        what = (
            rf"{method} of 12 x 12 pairs and its coordinates take 2,304 bytes, .* \(2,303 bytes\): "
            r".*grm_pairs\(\), to_zarr\(\) or ds\.genobit\.isel\(samples=\.\.\.\), or raise "
        )
        with pytest.raises(MemoryError, match=what):
            ds.genobit.grm(method, compute=True)


@pytest.mark.parametrize("method", ["king", "ibs"])
def test_kinship_and_variants_compared__are_of_the_same_leaves(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    sums = kinship.sums
    monkeypatch.setattr(kinship, "sums", lambda *args: counted.append(args) or sums(*args))
    ds = cohort(random_calls(0, 130, 12, missing=0.1))
    ds.genobit.grm(method, compute=True)
    assert len(counted) == 1


REFUSED = {
    "a method that does not exist": (
        {"method": "vanraden3"},
        "method='vanraden3' is not one of 'vanraden1', 'vanraden2', 'gcta'",
    ),
    "a rule that does not exist": ({"missing": "drop"}, "takes missing='mean' or 'pairwise', not"),
    "king with imputed calls": (
        {"method": "king", "missing": "mean"},
        "method='king' takes missing='pairwise', not 'mean'",
    ),
    "shrinkage of pairwise calls": (
        {"method": "endelman_jannink", "missing": "pairwise"},
        "method='endelman_jannink' takes missing='mean', not 'pairwise'",
    ),
    "ibs by frequencies": (
        {"method": "ibs", "allele_frequency": np.full(40, 0.5)},
        "method='ibs' uses no allele frequencies",
    ),
    "king without a contig": ({"method": "king", "loco": True}, "loco=True goes with .*'king'"),
    "shrinkage without a contig": (
        {"method": "endelman_jannink", "loco": True},
        "loco=True goes with .*'endelman_jannink'",
    ),
    "too few frequencies": (
        {"allele_frequency": np.full(39, 0.5)},
        r"has shape \(39,\), expected \(40,\)",
    ),
    "one frequency": ({"allele_frequency": 0.5}, r"has shape \(\), expected \(40,\)"),
    "a frequency that is none": (
        {"allele_frequency": np.where(np.arange(40) == 7, np.nan, 0.5)},
        "allele_frequency is nan at variants=7",
    ),
    "a frequency past 1": (
        {"allele_frequency": np.where(np.arange(40) == 9, 1.5, 0.5)},
        "allele_frequency is 1.5 at variants=9",
    ),
    "a negative frequency": (
        {"allele_frequency": np.where(np.arange(40) == 2, -0.5, 0.5)},
        "allele_frequency is -0.5 at variants=2",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refuses(kind: str) -> None:
    keywords, message = REFUSED[kind]
    ds = cohort(random_calls(0, 40, 6), contigs=2)
    for form in (ds, ds.genobit.pack(), ds.genobit.pack(rows="samples")):
        with raise_if_dask_computes(), pytest.raises(ValueError, match=message):
            form.genobit.grm(**keywords)


def test_refuses__contigs_in_pieces_or_none() -> None:
    ds = cohort(random_calls(0, 40, 6), contigs=2)
    mixed = ds.assign(variant_contig=("variants", np.arange(40) // 10 % 2))
    with pytest.raises(ValueError, match="contig chr1 starts again at variants=20: sort"):
        mixed.genobit.grm(loco=True)
    mixed.genobit.grm()
    with pytest.raises(KeyError, match="needs the variable 'variant_contig'"):
        ds.drop_vars("variant_contig").genobit.grm(loco=True)


def test_refuses__genotypes_it_cannot_take() -> None:
    calls = random_calls(0, 40, 6)
    ds = cohort(calls)
    three = np.concatenate([calls, calls[..., :1]], axis=2)
    with pytest.raises(ValueError, match="ploidy 3"):
        cohort(three, phased=True).genobit.pack(phased=True).genobit.grm()
    mixed = calls.copy()
    mixed[5, 3] = (0, -2)
    with pytest.raises(ValueError, match="variants=5, samples=3: this sample has lower ploidy"):
        cohort(mixed).genobit.grm().compute()
    for dim in ("variants", "samples"):
        with pytest.raises(ValueError, match=f"empty along '{dim}'"):
            ds.isel({dim: slice(0, 0)}).genobit.grm()
    mask = da.from_array(np.ones(40, bool), chunks=10)
    unknown = da.from_array(calls, chunks=(10, 6, 2))[mask]
    with pytest.raises(ValueError, match="unknown size along 'variants'"):
        xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), unknown)}).genobit.grm()
    with pytest.raises(ValueError, match=r"\.genobit\.isel"):
        ds.genobit.pack().isel(samples=slice(1, 4)).genobit.grm()
