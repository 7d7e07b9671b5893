"""Filesets of `to_plink` against plink2, bed-reader and a slow twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bed_reader
import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.engine.bits.layout import words_for
from genobit.io.kernels.bed import bed_rows_of, clear_padding
from genobit.io.writers import plink
from tests.helpers import reference
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.programs import PLINK2, plink2

SUFFIXES = (".bed", ".bim", ".fam")
REAL = [
    ("asthma_cc/asthma_cc", ()),
    ("bigsnpr_example/example-missing-sorted", ()),
    ("hapmap279/hapmap279", ("--output-chr", "26")),
    ("hyper_bc/hyper_bc", ()),
    ("lct_1kg/lct_1kg", ()),
    ("mice_hs/mice_hs", ()),
]


def made_by_plink2(folder: Path, *options: str) -> list[bytes]:
    """Return the bytes of the .bed, .bim and .fam that plink2 makes."""
    plink2(folder / "plink2", *options, "--make-bed")
    return files(folder / "plink2")


def files(prefix: Path) -> list[bytes]:
    return [prefix.with_name(prefix.name + suffix).read_bytes() for suffix in SUFFIXES]


def labelled(calls: np.ndarray, **more: Any) -> xr.Dataset:
    return cohort(calls, contigs=2, **more)


# The bytes


@PLINK2
@pytest.mark.parametrize(("name", "options"), REAL)
def test_real_data_have_the_bytes_of_plink2(
    shared_data: Path, tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    expected = made_by_plink2(tmp_path, "--bfile", str(shared_data / name), *options)
    ds = gb.open_plink(shared_data / name)
    bits = ds.genobit.pack()
    # The rows of the file, calls in chunks, planes by task and planes in memory.
    ways = {"a": ds, "b": ds.isel(variants=slice(None)).chunk(variants=500), "c": bits}
    for way, data in (ways | {"d": bits.compute()}).items():
        gb.to_plink(data, tmp_path / way)
        assert files(tmp_path / way) == expected, way


@PLINK2
def test_a_vcf_has_the_bytes_of_plink2(tmp_path: Path) -> None:
    lines = [
        "##fileformat=VCFv4.3",
        "##contig=<ID=22>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT S1 S2 a_b".replace(" ", "\t"),
        "22 100 rs1 A G . PASS . GT 0/1 1|1 ./.".replace(" ", "\t"),
        "22 110 . A . . PASS . GT 0/0 0/0 ./.".replace(" ", "\t"),
        "22 120 rs3;x A <DEL> 3 PASS . GT 0/1 . 1/0".replace(" ", "\t"),
        "22 130 r A AT 3 PASS . GT 0/1 . 1/.".replace(" ", "\t"),
    ]
    (tmp_path / "a.vcf").write_text("\n".join(lines) + "\n")
    expected = made_by_plink2(tmp_path, "--vcf", f"{tmp_path}/a.vcf", "--vcf-half-call", "m")
    gb.to_plink(gb.open_vcf(tmp_path / "a.vcf", cache_dir=tmp_path), tmp_path / "genobit")
    assert files(tmp_path / "genobit") == expected


@PLINK2
def test_haploid_calls_counted_twice_have_the_bytes_of_plink2(tmp_path: Path) -> None:
    lines = [
        "##fileformat=VCFv4.3",
        "##contig=<ID=X>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT S1 S2 S3 S4".replace(" ", "\t"),
        "X 100 rs1 A G . PASS . GT 0/1 1 0 .".replace(" ", "\t"),
    ]
    (tmp_path / "a.vcf").write_text("\n".join(lines) + "\n")
    expected = made_by_plink2(tmp_path, "--vcf", f"{tmp_path}/a.vcf")
    ds = gb.open_vcf(tmp_path / "a.vcf", cache_dir=tmp_path)
    with pytest.raises(ValueError, match="call_genotype is -2 at variants=0") as refused:
        gb.to_plink(ds, tmp_path / "genobit")
    # In planes of haplotypes, a haploid call looks like one with a missing allele.
    assert "to_plink would write their haploid calls as missing" in str(refused.value)
    planes = ds.isel(samples=slice(1, None)).genobit.pack(phased=True)
    lost = gb.open_plink(gb.to_plink(planes, tmp_path / "lost"))
    assert (lost.call_genotype == -1).all()
    remedy = str(refused.value).partition("as PLINK does: ")[2]
    gb.to_plink(eval(remedy, {"ds": ds}), tmp_path / "genobit")
    assert files(tmp_path / "genobit") == expected


@pytest.mark.parametrize("samples", [*TAILS, 3, 5])
def test_kernel_equals_its_twin(samples: int) -> None:
    calls = random_calls(samples, 7, samples, missing=0.2)
    calls[0] = -1
    expected = reference.bed_rows(calls)
    missing, dosage = (calls < 0).any(axis=2), calls.sum(axis=2)
    planes = [
        reference.words_of(plane)
        for plane in (~missing & (dosage > 0), ~missing & (dosage == 2), ~missing)
    ]
    assert planes[0].shape[1] == words_for(samples)
    rows = bed_rows_of(*planes, samples)
    assert [row.tobytes() for row in rows] == expected
    rows[:, -1] |= ~np.uint8((1 << 2 * ((samples - 1) % 4 + 1)) - 1)
    assert [row.tobytes() for row in clear_padding(rows, samples)] == expected


@given(
    samples=st.integers(1, 70),
    variants=st.integers(1, 200),
    chunk=st.integers(1, 90),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_size_and_chunks(
    tmp_path_factory: pytest.TempPathFactory, samples: int, variants: int, chunk: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    calls = random_calls(seed, variants, samples, missing=0.1)
    expected = b"\x6c\x1b\x01" + b"".join(reference.bed_rows(calls))
    lazy = labelled(calls, chunks=(chunk, max(1, samples // 2)), phased=True)
    ways = [lazy, lazy.genobit.pack(), lazy.genobit.pack(phased=True)]
    for way, data in enumerate(ways):
        with gb.set_options(chunk_rows=64):
            assert gb.to_plink(data, folder / f"{way}").read_bytes() == expected
    if not (calls < 0).any():
        data = lazy.genobit.pack(missing="refuse")
        assert gb.to_plink(data, folder / "none_missing").read_bytes() == expected


def test_bed_reader_reads_it(tmp_path: Path) -> None:
    calls = random_calls(3, 50, 13, missing=0.1)
    bed = gb.to_plink(labelled(calls), tmp_path / "a.bed")
    with bed_reader.open_bed(bed, count_A1=True) as file:
        found = file.read(dtype="int8").T
        assert file.allele_1.tolist() == ["C"] * 50
    expected = np.where((calls < 0).any(axis=2), -127, calls.sum(axis=2))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "scheduler",
    ["synchronous", "threads", pytest.param("processes", marks=pytest.mark.slow)],
)
def test_schedulers_write_the_same(tmp_path: Path, scheduler: str) -> None:
    ds = labelled(random_calls(1, 300, 9, missing=0.1), chunks=(50, 9))
    source = gb.to_plink(ds, tmp_path / "source")
    with dask.config.set(scheduler=scheduler, num_workers=2), gb.set_options(chunk_rows=64):
        for k, data in enumerate((ds, gb.open_plink(source, chunks=64))):
            assert gb.to_plink(data, tmp_path / f"{k}").read_bytes() == source.read_bytes()


def test_rows_of_an_untouched_file_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = gb.open_plink(gb.to_plink(labelled(random_calls(1, 30, 6)), tmp_path / "a"))
    monkeypatch.setattr(plink, "_shuffled", None)
    assert files(gb.to_plink(ds, tmp_path / "b").with_suffix("")) == files(tmp_path / "a")
    with pytest.raises(TypeError, match="NoneType"):
        gb.to_plink(ds.isel(variants=slice(1, None)), tmp_path / "c")


# Files


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    calls = random_calls(1, 200, 4)
    calls[150, 2] = 3, 0
    with (
        gb.set_options(chunk_rows=64),
        pytest.raises(ValueError, match="3 at variants=150, samples=2"),
    ):
        gb.to_plink(labelled(calls, chunks=(64, 4)), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_the_bed_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[str] = []
    replace = Path.replace

    def stopped(self: Path, target: Path) -> Path:
        if target.suffix == ".bed":
            raise KeyboardInterrupt
        named.append(target.suffix)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        gb.to_plink(labelled(random_calls(1, 5, 4)), tmp_path / "a")
    assert named == [".bim", ".fam"]
    assert not (tmp_path / "a.bed").exists()


# Ploidy and alleles


def test_haploids_are_refused_with_a_remedy(tmp_path: Path) -> None:
    calls = random_calls(1, 5, 4, ploidy=1)
    ds = labelled(calls)
    for data in (ds, ds.genobit.pack(phased=True)):
        with pytest.raises(ValueError, match=r"ploidy 1.*ds.isel\(ploidy=\[0, 0\]\)"):
            gb.to_plink(data, tmp_path / "a")
    with pytest.raises(ValueError, match=r"ploidy 4.*to_vcf_zarr"):
        gb.to_plink(ds.isel(ploidy=[0] * 4), tmp_path / "a")
    bed = gb.to_plink(ds.isel(ploidy=[0, 0]), tmp_path / "a")
    np.testing.assert_array_equal(gb.open_plink(bed).call_genotype, calls.repeat(2, axis=2))


def test_several_alleles_are_refused_with_a_remedy(tmp_path: Path) -> None:
    calls = random_calls(1, 3, 4)
    calls[1, 0] = 2, 0
    alleles = np.array([["A", "C", ""], ["A", "C", "G"], ["T", "C", ""]], object)
    ds = labelled(calls).drop_vars("variant_allele")
    ds["variant_allele"] = (("variants", "alleles"), alleles)
    with pytest.raises(ValueError, match=r"first at variants=1 .*multiallelic='split'"):
        gb.to_plink(ds, tmp_path / "a")
    gb.to_plink(ds.genobit.pack(multiallelic="drop"), tmp_path / "drop")
    dropped = gb.open_plink(tmp_path / "drop")
    assert dropped.variant_allele.values.tolist() == [["A", "C"], ["T", "C"]]
    np.testing.assert_array_equal(dropped.call_genotype.sum("ploidy"), calls[[0, 2]].sum(axis=2))
    gb.to_plink(ds.genobit.pack(multiallelic="split"), tmp_path / "split")
    split = gb.open_plink(tmp_path / "split")
    assert split.variant_allele.values.tolist()[1:3] == [["A", "C"], ["A", "G"]]
    np.testing.assert_array_equal(split.call_genotype[2].sum("ploidy"), (calls[1] == 2).sum(axis=1))
