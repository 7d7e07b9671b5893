"""Calls that rules of quality, depth and balance mask, against a loop and against bcftools."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from tests.helpers import reference
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import plink2

BCFTOOLS = pytest.mark.skipif(shutil.which("bcftools") is None, reason="bcftools is not installed")
PER_CALL = ("variants", "samples")
LIMITS = {
    "min_gq": st.integers(0, 99) | st.floats(0, 99, width=32),
    "min_dp": st.integers(0, 300) | st.floats(0, 40, width=32),
    "max_dp": st.integers(0, 300) | st.floats(0, 40, width=32),
    "min_balance": st.sampled_from([0, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.5]),
}


def with_fields(ds: xr.Dataset, seed: int, kind: str = "i2", alleles: int = 2) -> xr.Dataset:
    """Qualities, depths and reads of alleles, of integers or floats, some of them missing."""
    rng = np.random.default_rng(seed)
    shape = ds.sizes["variants"], ds.sizes["samples"]
    found = {
        "call_GQ": rng.integers(0, 100, shape),
        "call_DP": rng.integers(0, 40, shape),
        "call_AD": rng.integers(0, 12, (*shape, alleles)),
    }
    for name, values in found.items():
        missing = rng.random(values.shape) < 0.1
        filled = values.astype(kind)
        filled[missing] = np.nan if kind[0] == "f" else rng.choice([-1, -2])
        ds[name] = ("variants", "samples", "alleles_of_AD")[: values.ndim], filled
    return ds


def table(masked: xr.Dataset) -> dict[str, int]:
    return dict(zip(masked.rules.values.tolist(), masked.masked_calls.values.tolist(), strict=True))


@settings(max_examples=15)
@given(data=st.data())
def test_calls_and_counts__are_those_of_a_loop(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    variants, samples = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 9))
    ploidy = data.draw(st.integers(1, 3))
    calls = rng.integers(-1, 3, (variants, samples, ploidy)).astype(
        data.draw(st.sampled_from(["i1", "i4"]))
    )
    calls[(rng.random(calls.shape) < 0.1) & (np.arange(ploidy) > 0)] = -2
    names = data.draw(st.sets(st.sampled_from([*LIMITS]), min_size=1))
    if ploidy > 2:
        names = (names - {"min_balance"}) or {"min_gq"}
    limits = {name: data.draw(LIMITS[name]) for name in LIMITS if name in names}
    ds = with_fields(
        cohort(calls, phased=True), 1, data.draw(st.sampled_from(["i1", "i2", "f4", "f8"])), 3
    )
    fields = {name: ds[name].values for name in ("call_GQ", "call_DP", "call_AD")}
    expected, counts, called = reference.masked_calls(calls, fields, limits)
    lazy = ds.chunk(variants=data.draw(st.integers(1, 5)), samples=data.draw(st.integers(1, 5)))
    mixed = ds.assign(call_GQ=lazy.call_GQ, call_genotype=lazy.call_genotype)
    for given_ds in (ds, lazy, mixed):
        found = given_ds.genobit.mask_calls(**limits)
        np.testing.assert_array_equal(found.call_genotype.values, expected, strict=True)
        masked = (expected != calls).any(axis=2)
        np.testing.assert_array_equal(found.call_genotype_phased, ~masked)
        assert table(found) == counts
        share = [n / max(called, 1) for n in counts.values()]
        np.testing.assert_array_equal(found.masked_share, share)


def test_the_result__is_lazy_and_one_pass() -> None:
    ds = with_fields(cohort(random_calls(1, 40, 8), chunks=(7, 3), phased=True), 1)
    with raise_if_dask_computes():
        found = ds.genobit.mask_calls(min_gq=20, min_dp=8)
        bits = found.genobit.pack()
        kept = found.genobit.isel(variants=[1, 2])
    assert found.call_genotype.chunks == ds.call_genotype.chunks
    with raise_if_dask_computes(max_computes=1):
        whole = found.compute()
    np.testing.assert_array_equal(bits.masked_calls, whole.masked_calls)
    np.testing.assert_array_equal(kept.call_genotype, whole.call_genotype[1:3])
    # The values of a chunk are looked at once for calls, phase and counts.
    seen = []
    watched = ds.call_GQ.chunk(variants=7, samples=3).data.map_blocks(
        lambda x: seen.append(1) or x, meta=np.empty((0, 0), "i2")
    )
    masked = ds.assign(call_GQ=(PER_CALL, watched)).genobit.mask_calls(min_gq=20)
    seen.clear()
    dask.compute(
        masked.call_genotype.data, masked.call_genotype_phased.data, masked.masked_calls.data
    )
    assert len(seen) == watched.npartitions


def test_a_second_call__replaces_the_counts(tmp_path: Path) -> None:
    ds = with_fields(cohort(random_calls(1, 40, 8), phased=True), 1)
    first = ds.genobit.mask_calls(min_gq=20)
    second = first.genobit.mask_calls(min_dp=8)
    assert second.rules.values.tolist() == ["min_dp", "any"]
    both = ds.genobit.mask_calls(min_gq=20, min_dp=8)
    np.testing.assert_array_equal(second.call_genotype, both.call_genotype)
    # Counts are written with the calls, and are no field of a VCF.
    again = gb.open_vcf_zarr(gb.to_vcf_zarr(both.drop_vars("call_AD"), tmp_path / "a.vcz"))
    assert table(again) == table(both)
    gb.to_zarr(both.genobit.pack(), tmp_path / "a.zarr")
    assert table(xr.open_zarr(tmp_path / "a.zarr")) == table(both)


def test_other_variables_stay() -> None:
    ds = with_fields(cohort(random_calls(1, 40, 8, missing=0.1)), 1)
    ds["call_genotype_mask"] = ds.call_genotype < 0
    ds["sample_age"] = "samples", np.arange(8)
    found = ds.transpose("ploidy", "samples", ...).genobit.mask_calls(min_gq=20)
    np.testing.assert_array_equal(found.call_genotype_mask, found.call_genotype < 0)
    assert (found.call_genotype_mask != ds.call_genotype_mask).any()
    for name in set(ds.variables) - {"call_genotype", "call_genotype_mask"}:
        np.testing.assert_array_equal(found[name], ds[name].transpose(*found[name].dims))


LIKELY = {
    "call_dosage": ("f4", 0),
    "call_DS": ("f4", 1),
    "call_HDS": ("f8", 2),
    "call_genotype_probability": ("f4", 3),
    "call_GP": ("u1", 3),
}


@pytest.mark.parametrize("name", LIKELY)
@pytest.mark.parametrize("chunks", ["none", "likely", "all"])
def test_dosages_and_probabilities_are_masked(name: str, chunks: str) -> None:
    kind, more = LIKELY[name]
    ds = with_fields(cohort(random_calls(1, 40, 8, missing=0.2), phased=True), 1)
    values = np.random.default_rng(1).integers(0, 3, (40, 8, *[more] * (more > 0))).astype(kind)
    ds[name] = ("variants", "samples", "more")[: values.ndim], values, {"about": "x"}
    ds[f"{name}_mask"] = ds[name] < 0
    names = [*ds.variables] if chunks == "all" else [name] if chunks == "likely" else []
    ds = ds.assign({k: ds[k].chunk(variants=7) for k in names if k.startswith("call_")})
    found = ds.transpose("samples", ...).genobit.mask_calls(min_gq=30, max_dp=30)
    fails = ((ds.call_GQ >= 0) & (ds.call_GQ < 30)) | (ds.call_DP > 30)
    assert (fails & (ds.call_genotype < 0).all("ploidy")).any()
    missing = np.isnan(found[name]) if kind[0] == "f" else found[name] < 0
    expected = (fails & xr.ones_like(ds[name], bool)).transpose(*found[name].dims)
    np.testing.assert_array_equal(missing, expected)
    np.testing.assert_array_equal(found[f"{name}_mask"], missing)
    np.testing.assert_array_equal(found[name].where(~missing, 0), ds[name].where(~fails, 0))
    assert found[name].attrs == {"about": "x"}
    assert (found[name].dtype == kind) == (kind != "u1")
    uncalled = (ds.call_genotype < 0).all("ploidy")
    np.testing.assert_array_equal(found.call_genotype_phased, ~fails | uncalled)
    assert found.masked_calls.values[-1] == (fails & ~uncalled).sum()


@pytest.mark.parametrize("end", ["bgen", "pgen", "vcf"])
def test_dosages_of_every_reader_are_masked(tmp_path: Path, end: str) -> None:
    ds = with_fields(cohort(random_calls(1, 40, 8)), 1)
    ds["call_dosage"] = PER_CALL, ds.call_genotype.sum("ploidy").values.astype("f4")
    qualities = np.random.default_rng(1).integers(0, 100, (40, 8))
    if end == "bgen":
        if shutil.which("plink2") is None:
            pytest.skip("plink2 is not installed")
        gb.to_pgen(ds, tmp_path / "a", dosages=True)
        plink2(tmp_path / "b", "--pfile", str(tmp_path / "a"), "--export", "bgen-1.2")
        read, name = gb.open_bgen(tmp_path / "b.bgen"), "call_dosage"
    elif end == "pgen":
        read = gb.open_pgen(gb.to_pgen(ds, tmp_path / "a", dosages=True), dosages=True)
        name = "call_dosage"
    else:
        rows = "".join(
            f"1\t{k + 1}\t.\tA\tC\t.\t.\t.\tGT:DS\t" + "\t".join(f"0/1:{x}" for x in row) + "\n"
            for k, row in enumerate(ds.call_dosage.values)
        )
        header = '##FORMAT=<ID=DS,Number=A,Type=Float,Description="">\n#CHROM\tPOS\tID\tREF\tALT'
        header += "\tQUAL\tFILTER\tINFO\tFORMAT\t" + "\t".join(ds.sample_id.values) + "\n"
        (tmp_path / "a.vcf").write_text("##fileformat=VCFv4.3\n" + header + rows)
        read = gb.open_vcf(tmp_path / "a.vcf", fields=["DS"], cache_dir=False)
        name = "call_DS"
    found = read.assign(call_GQ=(PER_CALL, qualities)).genobit.mask_calls(min_gq=30)
    dosage = found[name].values.reshape(40, 8)
    np.testing.assert_array_equal(np.isnan(dosage), qualities < 30)
    kept = qualities >= 30
    np.testing.assert_array_equal(dosage[kept], read[name].values.reshape(40, 8)[kept])
    if name == "call_dosage":
        again = gb.open_pgen(gb.to_pgen(found, tmp_path / "c", dosages=True), dosages=True)
        np.testing.assert_array_equal(np.isnan(again.call_dosage), qualities < 30)


def test_dosages_that_are_not_numbers_of_calls_are_refused() -> None:
    ds = with_fields(cohort(random_calls(1, 40, 8)), 1)
    with pytest.raises(ValueError, match=r"call_dosage has dimensions \('samples',\), expected"):
        ds.assign(call_dosage=("samples", np.zeros(8))).genobit.mask_calls(min_gq=1)
    with pytest.raises(TypeError, match=r"call_GP is <U3, expected numbers: ds.assign"):
        ds.assign(call_GP=ds.call_GQ.astype("U3")).genobit.mask_calls(min_gq=1)


def test_unsigned_calls() -> None:
    calls = np.maximum(random_calls(1, 20, 8), 0)
    ds = with_fields(cohort(calls), 1)
    expected = ds.genobit.mask_calls(min_gq=50).call_genotype
    found = ds.assign(call_genotype=ds.call_genotype.astype("u1")).genobit.mask_calls(min_gq=50)
    np.testing.assert_array_equal(found.call_genotype, expected)
    assert (found.call_genotype == -1).any()


FIELDS = {"min_gq": "GQ", "min_dp": "DP", "max_dp": "DP", "min_balance": "AD"}


@pytest.mark.parametrize("rule", FIELDS)
def test_a_missing_field__is_named_with_the_call_that_reads_it(rule: str) -> None:
    key = FIELDS[rule]
    ds = cohort(random_calls(1, 4, 3))
    with pytest.raises(
        KeyError, match=rf"{rule}= needs the variable \W+call_{key}\W+ \("
    ) as raised:
        ds.genobit.mask_calls(**{rule: 0.1})
    assert f'gb.open_vcf(path, fields=["{key}"])' in str(raised.value.args[0])


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, ValueError, r"mask_calls\(\) has no threshold"),
        ({"min_gq": -1}, ValueError, "min_gq=-1 is negative"),
        ({"min_gq": "20"}, TypeError, "min_gq='20' is not a number"),
        ({"max_dp": np.nan}, ValueError, "max_dp=nan is not a finite number"),
        ({"min_dp": True}, TypeError, "min_dp=True is not a number"),
        ({"min_balance": 0.6}, ValueError, "min_balance=0.6 is above 0.5"),
        ({"min_balance": -0.1}, ValueError, r"min_balance=-0.1 is outside \[0, 1\]"),
    ],
)
def test_thresholds_that_are_refused(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    ds = with_fields(cohort(random_calls(1, 4, 3)), 1)
    with pytest.raises(error, match=words):
        ds.genobit.mask_calls(**arguments)


@pytest.mark.parametrize("lazy", [False, True])
def test_data_that_are_refused(lazy: bool) -> None:
    ds = with_fields(cohort(random_calls(1, 9, 3)), 1)
    with pytest.raises(ValueError, match="call_GQ has dimensions"):
        ds.assign(call_GQ=ds.call_GQ[0]).genobit.mask_calls(min_gq=1)
    with pytest.raises(TypeError, match=r"call_GQ is <U.*: ds.assign"):
        ds.assign(call_GQ=ds.call_GQ.astype(str)).genobit.mask_calls(min_gq=1)
    with pytest.raises(ValueError, match="these are packed: mask the calls, then call pack"):
        ds.genobit.pack().genobit.mask_calls(min_gq=1)
    ds.call_genotype[7, 2] = [2, 0]
    with pytest.raises(ValueError, match="allele 2 at variants=7, samples=2, and call_AD has the"):
        (ds.chunk(variants=2, samples=1) if lazy else ds).genobit.mask_calls(
            min_balance=0.1
        ).compute()
    with pytest.raises(ValueError, match="min_balance= takes diploid calls"):
        with_fields(cohort(random_calls(1, 9, 3, ploidy=4)), 1).genobit.mask_calls(min_balance=0.1)


@BCFTOOLS
@pytest.mark.parametrize(
    ("limits", "expression"),
    [
        ({"min_gq": 20}, "FMT/GQ<20"),
        ({"min_dp": 8}, "FMT/DP<8"),
        ({"max_dp": 30}, "FMT/DP>30"),
        ({"min_gq": 20, "min_dp": 8}, "FMT/GQ<20 | FMT/DP<8"),
    ],
)
def test_bcftools_masks_the_same_calls(
    tmp_path: Path, limits: dict[str, float], expression: str
) -> None:
    ds = with_fields(cohort(random_calls(3, 60, 9), phased=False), 2)
    ds = ds.drop_vars("call_AD").assign(
        {k: ds[k].where(ds[k] != -2, -1) for k in ("call_GQ", "call_DP")}
    )
    gb.to_vcf(ds, tmp_path / "a.vcf.gz")
    command = ["bcftools", "+setGT", tmp_path / "a.vcf.gz", "-Oz", "-o", tmp_path / "b.vcf.gz"]
    done = subprocess.run(
        [*map(str, command), "--", "-t", "q", "-n", ".", "-i", expression],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "Could not load" in done.stderr:
        pytest.skip("the plugins of bcftools are not installed")
    assert done.returncode == 0, done.stderr
    theirs = gb.open_vcf(tmp_path / "b.vcf.gz", cache_dir=tmp_path)
    found = ds.genobit.mask_calls(**limits)
    np.testing.assert_array_equal(found.call_genotype, theirs.call_genotype)
    assert found.masked_calls.values[-1] == (theirs.call_genotype[..., 0] == -1).sum()


def filtered(*rows: str) -> xr.Dataset:
    """Variants with a column FILTER."""
    names = ["PASS", "q10", "s50"]
    return cohort(random_calls(1, len(rows), 5)).assign(
        filter_id=("filters", names),
        variant_filter=(PER_FILTER, [[name in row.split(";") for name in names] for row in rows]),
    )


PER_FILTER = ("variants", "filters")
ROWS = ("PASS", "q10", ".", "q10;s50", "PASS")


@pytest.mark.parametrize("packed", [False, True])
def test_filter_of_the_file__as_plink2_and_bcftools(tmp_path: Path, packed: bool) -> None:
    ds = filtered(*ROWS)
    found = (ds.genobit.pack() if packed else ds).genobit.filter(passed=True)
    assert found.variant_id.values.tolist() == ["rs0", "rs2", "rs4"]
    assert found.attrs["removed_by_passed"] == 2
    more = (ds.genobit.pack() if packed else ds).genobit.filter(passed=True, max_missing=0.5)
    assert more.variant_id.values.tolist() == ["rs0", "rs2", "rs4"]
    assert (more.attrs["removed_by_passed"], more.attrs["removed_by_max_missing"]) == (2, 0)
    if shutil.which("bcftools"):
        path = gb.to_vcf(ds, tmp_path / "a.vcf")
        command = [
            "bcftools",
            "query",
            "-f",
            "%ID\n",
            "-i",
            'FILTER="PASS" | FILTER="."',
            str(path),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split() == found.variant_id.values.tolist()
    if shutil.which("plink2"):
        gb.to_pgen(ds, tmp_path / "b")
        command = ["plink2", "--pfile", "b", "--var-filter", "--write-snplist", "--out", "c"]
        subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
        assert (tmp_path / "c.snplist").read_text().split() == found.variant_id.values.tolist()


def test_filter_of_the_file__takes_several_alleles() -> None:
    ds = filtered(*ROWS)
    ds["variant_allele"] = (
        ("variants", "alleles"),
        [["A", "C", "G" if k == 1 else ""] for k in range(5)],
    )
    assert ds.genobit.filter(passed=True, max_missing=0.5).sizes["variants"] == 3
    with pytest.raises(ValueError, match="more than two alleles"):
        ds.genobit.filter(max_missing=0.5)


def test_filters_of_the_file_that_are_refused() -> None:
    ds = filtered(*ROWS)
    with pytest.raises(KeyError, match="passed=True needs the variables 'variant_filter'"):
        ds.drop_vars("filter_id").genobit.filter(passed=True)
    with pytest.raises(TypeError, match="variant_filter is int64, expected booleans") as raised:
        ds.assign(variant_filter=ds.variant_filter.astype(int)).genobit.filter(passed=True)
    code = str(raised.value).partition(": ")[2]
    mended = eval(code, {"ds": ds.assign(variant_filter=ds.variant_filter.astype(int))})
    assert mended.genobit.filter(passed=True).sizes["variants"] == 3
    with pytest.raises(ValueError, match="passed=True leaves none of the 2 variants"):
        filtered("q10", "s50").genobit.filter(passed=True)
