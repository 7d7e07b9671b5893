"""PLINK 2 filesets against plink2, and against the genotypes that they were made of."""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.io.kernels.pgen import narrow_alleles
from genobit.io.pgen import PgenFile, pgen_source
from tests.helpers.programs import PLINK2, plink2
from tests.io.pgen_files import CONTIGS, Made, dosage, imported

PLANES = ("plane_carrier", "plane_hom_alt", "plane_called")


@pytest.fixture
def made() -> Made:
    return Made(1, 40, 13)


@pytest.fixture
def path(tmp_path: Path, made: Made) -> Path:
    return gb.to_pgen(made.dataset(), tmp_path / "a")


# Against plink2


@PLINK2
@pytest.mark.parametrize("seed", [1, 2])
def test_calls_and_phase_are_those_of_the_vcf(tmp_path: Path, seed: int) -> None:
    made = Made(seed, 300, 37, haploid=True)
    ds = gb.open_pgen(imported(tmp_path, made), chunks=64)
    np.testing.assert_array_equal(ds.call_genotype, made.expected)
    np.testing.assert_array_equal(ds.call_genotype_phased, made.known)
    np.testing.assert_array_equal(ds.sample_sex, np.where(made.male, 1, 2))
    expected = made.dataset()
    for name in ("variant_position", "variant_id", "variant_allele"):
        np.testing.assert_array_equal(ds[name], expected[name])
    names = ds.contig_id.values[ds.variant_contig.values]
    assert names.tolist() == [CONTIGS[k] for k in made.contig]
    quality = np.tile([np.nan, 30.5, 7], 100).astype(np.float32)
    np.testing.assert_array_equal(ds.variant_quality, quality)
    assert ds.filter_id.values.tolist() == ["PASS", "q10"]
    passed = np.tile([[False, False], [True, False], [False, True]], (100, 1))
    np.testing.assert_array_equal(ds.variant_filter, passed)


@PLINK2
def test_counts_and_planes_are_those_of_make_bed(tmp_path: Path) -> None:
    made = Made(3, 400, 133, haploid=True)
    pgen = imported(tmp_path, made, "--max-alleles", "2")
    plink2(tmp_path / "b", "--pfile", str(pgen.with_suffix("")), "--make-bed")
    ds, bed = gb.open_pgen(pgen), gb.open_plink(tmp_path / "b")
    assert 200 < ds.sizes["variants"] == bed.sizes["variants"] < 400
    two, expected = (dosage(x.call_genotype.values) for x in (ds, bed))
    np.testing.assert_array_equal(two, expected)
    assert (expected < 0).any()
    assert not (expected > 0).any(axis=1).all()
    for options in ({}, {"rows": "samples"}):
        found, right = (x.genobit.pack(**options) for x in (ds, bed))
        for plane in PLANES:
            np.testing.assert_array_equal(found[plane], right[plane])
    # Beside .bim and .fam, as plink2 --bpfile reads it.
    for suffix in (".pvar", ".psam"):
        pgen.with_suffix(suffix).unlink()
    for suffix in (".bim", ".fam"):
        (tmp_path / f"b{suffix}").rename(pgen.with_suffix(suffix))
    beside = gb.open_pgen(pgen)
    np.testing.assert_array_equal(beside.call_genotype, ds.call_genotype)
    np.testing.assert_array_equal(beside.variant_allele, ds.variant_allele)
    np.testing.assert_array_equal(beside.sample_sex, ds.sample_sex)
    assert beside.sample_phenotype.isnull().all()


@PLINK2
def test_dosages_are_those_of_plink2(tmp_path: Path) -> None:
    freq = ("dosage-freq=0.4", "--seed", "1", "--make-pgen")
    plink2(tmp_path / "a", "--dummy", "33", "70", "0.1", *freq)
    out = ("--pfile", str(tmp_path / "a"), "--export", "A-transpose")
    plink2(tmp_path / "b", *out)
    table = pd.read_csv(tmp_path / "b.traw", sep="\t")
    ds = gb.open_pgen(tmp_path / "a", dosages=True, chunks=32)
    assert ds.call_dosage.dtype == np.float32
    assert ds.call_dosage.chunks == ds.call_genotype_phased.chunks
    assert (table["COUNTED"] == ds.variant_allele[:, 0].values).all()
    np.testing.assert_allclose(2 - ds.call_dosage, table.iloc[:, 6:], atol=1e-4)
    assert "call_dosage" not in gb.open_pgen(tmp_path / "a")


@PLINK2
def test_tables_of_plink2_compressed_and_with_several_phenotypes(tmp_path: Path) -> None:
    lines = ("--dummy", "20", "3000", "--make-pgen", "vzs")
    plink2(tmp_path / "a", *lines)
    assert (tmp_path / "a.pvar.zst").is_file()
    compressed = gb.open_pgen(tmp_path / "a")
    assert compressed.variant_id.values.tolist() == [f"snp{v}" for v in range(3000)]
    assert set(np.unique(compressed.sample_phenotype)) == {1.0, 2.0}
    plink2(tmp_path / "b", "--pfile", str(tmp_path / "a"), "vzs", "--make-pgen")
    plain = gb.open_pgen(tmp_path / "b")
    sources = ("call_genotype", "call_genotype_phased")
    xr.testing.assert_identical(
        plain.drop_vars(sources).drop_attrs(), compressed.drop_vars(sources).drop_attrs()
    )
    data = (tmp_path / "a.pvar.zst").read_bytes()
    (tmp_path / "a.pvar.zst").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"a.pvar.zst is truncated: its last Zstandard frame"):
        gb.open_pgen(tmp_path / "a")


@PLINK2
def test_real_haplotypes_are_those_of_the_vcf(shared_data: Path, tmp_path: Path) -> None:
    vcf = next((shared_data / "kg3_chr21").glob("*.vcf.gz"))
    plink2(tmp_path / "a", "--vcf", str(vcf), "--make-pgen")
    found, expected = gb.open_pgen(tmp_path / "a"), gb.open_vcf(vcf, cache_dir=tmp_path)
    options = {"phased": True, "multiallelic": "drop"}
    two, right = (ds.genobit.pack(**options) for ds in (found, expected))
    np.testing.assert_array_equal(two.plane_alt, right.plane_alt)
    np.testing.assert_array_equal(two.variant_position, right.variant_position)


@PLINK2
def test_a_real_bed_with_missing_calls(shared_data: Path, tmp_path: Path) -> None:
    bed = shared_data / "hapmap279" / "hapmap279"
    plink2(tmp_path / "a", "--bfile", str(bed), "--make-pgen")
    found, expected = (
        ds.genobit.pack() for ds in (gb.open_pgen(tmp_path / "a"), gb.open_plink(bed))
    )
    for plane in PLANES:
        np.testing.assert_array_equal(found[plane], expected[plane])
    for name in ("variant_position", "sample_id", "sample_sex", "sample_father_id"):
        np.testing.assert_array_equal(found[name], expected[name])


# Packing


def test_planes_are_those_of_the_calls(tmp_path: Path) -> None:
    made = Made(5, 150, 70)
    made.calls[made.calls > 1] = 1
    made.alleles[:] = 2
    ds = gb.open_pgen(gb.to_pgen(made.dataset(), tmp_path / "a"), chunks=64)
    assert isinstance(pgen_source(ds.call_genotype), PgenFile)
    expected = made.dataset().genobit.pack()
    found = ds.genobit.pack()
    for plane in PLANES:
        np.testing.assert_array_equal(found[plane], expected[plane])
    assert found.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"


def test_packing_reads_counts_and_not_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(5, 150, 70)
    gb.to_pgen(made.dataset(), tmp_path / "several")
    gb.to_pgen(made.dataset().isel(variants=made.alleles == 2), tmp_path / "two")

    def calls(*_: object) -> None:
        raise AssertionError("calls were read")

    monkeypatch.setattr(PgenFile, "calls", calls)
    gb.open_pgen(tmp_path / "two").genobit.pack().compute()
    several = gb.open_pgen(tmp_path / "several")
    with pytest.raises(AssertionError, match="calls were read"):
        several.genobit.pack(multiallelic="drop").compute()
    # A file with several alleles says so by its labels; without these, the calls decide.
    with pytest.raises(AssertionError, match="calls were read"):
        several.drop_vars("variant_allele").genobit.pack().compute()


def test_multiallelic_variants_are_refused_dropped_or_split(tmp_path: Path) -> None:
    made = Made(1, 300, 70)
    ds = gb.open_pgen(gb.to_pgen(made.dataset(), tmp_path / "a"))
    with pytest.raises(ValueError, match="alleles"):
        ds.genobit.pack()
    for policy in ("drop", "split"):
        expected = made.dataset().genobit.pack(multiallelic=policy)
        found = ds.genobit.pack(multiallelic=policy)
        for plane in PLANES:
            np.testing.assert_array_equal(found[plane], expected[plane])


def test_haplotypes_of_phased_files_and_of_others(tmp_path: Path) -> None:
    made = Made(7, 90, 40)
    unphased = gb.open_pgen(gb.to_pgen(made.dataset(), tmp_path / "a"))
    mixed = ~made.known & (made.calls[:, :, 0] != made.calls[:, :, 1])
    with pytest.raises(ValueError, match=r"is not phased: pack dosages") as error:
        unphased.genobit.pack(phased=True, multiallelic="split").compute()
    # Any task may be the first.
    v, s = map(int, re.findall(r"=(\d+)", str(error.value))[:2])
    assert mixed[v, s]
    made.phase[:] = True
    phased = gb.open_pgen(gb.to_pgen(made.dataset(), tmp_path / "b"))
    found = phased.genobit.pack(phased=True, multiallelic="drop")
    expected = made.dataset().genobit.pack(phased=True, multiallelic="drop")
    for plane in ("plane_alt", "plane_called"):
        np.testing.assert_array_equal(found[plane], expected[plane])


def test_source_of_anything_else(path: Path, made: Made) -> None:
    ds = gb.open_pgen(
        gb.to_pgen(made.dataset().isel(variants=made.alleles == 2), path.parent / "b")
    )
    calls = ds.call_genotype
    touched = {
        "sliced": calls.isel(variants=slice(0, 9)),
        "computed with": calls * 1,
        "rechunked": calls.chunk({"variants": 5}),
        "in memory": calls.compute(),
        "renamed": calls.rename(variants="samples", samples="variants"),
        "without attributes": calls.drop_attrs(),
        "of several alleles": gb.open_pgen(path).call_genotype,
    }
    assert {kind: pgen_source(array) for kind, array in touched.items()} == dict.fromkeys(touched)
    assert pgen_source(calls) is not None
    os.utime(path.parent / "b.pgen", ns=(1, 1))
    assert pgen_source(calls) is None


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 40))
def test_narrow_alleles__is_the_maximum_with_minus_one(seed: int, rows: int, n: int) -> None:
    alleles = np.random.default_rng(seed).integers(-9, 128, (rows, n)).astype(np.int32)
    calls = np.empty((rows, n), np.int8)
    narrow_alleles(alleles, calls)
    np.testing.assert_array_equal(calls, np.maximum(alleles, -1))


def test_a_file_is_a_few_numbers_when_pickled(path: Path, made: Made) -> None:
    pgen = PgenFile(str(path), 40, 13, (1, 2), np.stack([[3, 5], [3, 4]]))
    again = pickle.loads(pickle.dumps(pgen))
    assert len(pickle.dumps(pgen)) < 1000
    np.testing.assert_array_equal(again.multiallelic, pgen.multiallelic)
