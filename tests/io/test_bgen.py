"""BGEN files: against plink2's import of the same files, labels and laziness."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.io.bgen_files import _header, _source
from tests.helpers.bgen_files import (
    N_SAMPLES,
    N_VARIANTS,
    bgen,
    random_variants,
    write,
)
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.plink_files import dosage
from tests.helpers.programs import PLINK2, plink2
from tests.helpers.reference import bgen_calls

ROUNDING = 1 / 16384
"""Dosages of plink2 are multiples of it, rounded once or twice."""


def imported(path: Path, *options: str | Path) -> dict[str, np.ndarray]:
    """Copies of ALT in the .bed that plink2 writes of a file, and GT and DS of its VCF."""
    out = path.with_name("imported")
    both = ("--make-bed", "--export", "vcf", "vcf-dosage=DS-force")
    plink2(out, "--bgen", str(path), *map(str, options), *both)
    lines = [
        line.split("\t")
        for line in out.with_suffix(".vcf").read_text().splitlines()
        if not line.startswith("#")
    ]
    cells = [[cell.split(":") for cell in line[9:]] for line in lines]
    bed = gb.open_plink(out)
    return {
        "calls": dosage(bed.call_genotype),
        "alleles": bed.variant_allele.values,
        "ids": bed.variant_id.values,
        "gt": np.array([[cell[0] for cell in row] for row in cells]),
        "dosages": np.array(
            [[float(c[1]) if len(c) > 1 and c[1] != "." else np.nan for c in r] for r in cells]
        ),
    }


def compare(ds: xr.Dataset, right: dict[str, np.ndarray]) -> None:
    np.testing.assert_array_equal(dosage(ds.call_genotype), right["calls"])
    np.testing.assert_array_equal(ds.variant_allele, right["alleles"])
    np.testing.assert_array_equal(ds.variant_id, right["ids"])
    np.testing.assert_allclose(ds.call_dosage, right["dosages"], atol=1.2 * ROUNDING)
    expected = (right["calls"] < 0) & ~np.isnan(right["dosages"])
    np.testing.assert_array_equal(ds.call_uncertain, expected)


# Against plink2


@PLINK2
@pytest.mark.parametrize("ref", ["first", "last"])
@pytest.mark.parametrize(
    ("bits", "compression", "phased", "threshold"),
    [(8, "zlib", 0.5, 0.1), (16, "zstd", 0.5, 0.1), (16, "zlib", 0, 0.25), (3, None, 0.5, 0.1)],
)
def test_calls_and_dosages_equal_those_of_plink2(
    tmp_path: Path, bits: int, compression: str | None, phased: float, threshold: float, ref: Any
) -> None:
    path = write(tmp_path / "a.bgen", random_variants(bits, phased), bits, compression)
    right = imported(path, f"ref-{ref}", "--hard-call-threshold", str(threshold))
    ds = gb.open_bgen(path, ref=ref, hard_call_threshold=threshold)
    compare(ds, right)
    assert {"0/1", "./."} <= set(right["gt"].ravel())
    assert ds.call_uncertain.sum() > 50
    if phased:
        # plink2 2.00a3 turns the haplotypes round if the reference is the first allele.
        calls = ds.call_genotype.values[:, :, :: 1 if ref == "last" else -1]
        mixed = right["calls"] == 1
        between = np.where(ds.call_genotype_phased, "|", "/")
        gt = np.char.add(np.char.add(calls[..., 0].astype(str), between), calls[..., 1].astype(str))
        sure = mixed & ds.call_genotype_phased.values
        np.testing.assert_array_equal(gt[sure], right["gt"][sure])
        unsure = mixed & ~ds.call_genotype_phased.values
        assert set(right["gt"][unsure]) == {"0/1"}
        assert sure.sum() > 50


@PLINK2
@pytest.mark.parametrize("version", ["bgen-1.1", "bgen-1.2", "bgen-1.3"])
def test_files_of_plink2(tmp_path: Path, version: str) -> None:
    size = (str(N_SAMPLES), str(N_VARIANTS), "0.05")
    dummy = ("--dummy", *size, "dosage-freq=0.4", "phase-freq=0.5", "--seed", "3")
    bits = () if version == "bgen-1.1" else ("bits=8",)
    out = tmp_path / "a"
    plink2(out, *dummy, "--export", version, *bits)
    path = out.with_suffix(".bgen")
    with_samples = () if bits else ("--sample", out.with_suffix(".sample"))
    ds = gb.open_bgen(path, ref="last")
    compare(ds, imported(path, "ref-last", *with_samples))
    assert ds.sample_id.values.tolist() == [f"per{k}" for k in range(N_SAMPLES)]
    assert ("sample_sex" in ds) == (version == "bgen-1.1")
    # The .sample file says the same, and more.
    both = gb.open_bgen(path, ref="last", sample=out.with_suffix(".sample"))
    assert both.sample_sex.values.tolist() == [2] * N_SAMPLES
    assert both.sample_id.identical(ds.sample_id)


@PLINK2
def test_real_genotypes__come_back(shared_data: Path, tmp_path: Path) -> None:
    fileset = shared_data / "lct_1kg/lct_1kg"
    out = tmp_path / "a"
    plink2(out, "--bfile", str(fileset), "--export", "bgen-1.3", "ref-first")
    ds, right = gb.open_bgen(out.with_suffix(".bgen")), gb.open_plink(fileset)
    np.testing.assert_array_equal(dosage(ds.call_genotype), dosage(right.call_genotype))
    np.testing.assert_array_equal(ds.variant_allele, right.variant_allele)
    planes = [x.genobit.pack() for x in (ds, right)]
    for name in ("plane_carrier", "plane_hom_alt", "plane_called"):
        np.testing.assert_array_equal(planes[0][name], planes[1][name])
    assert not ds.call_uncertain.any()


@PLINK2
def test_haploid_calls__are_half_of_plink2s(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bgen", random_variants(16, 0, haploid=0.4), 16)
    right = imported(path, "ref-first")
    ds = gb.open_bgen(path)
    calls, copies = ds.call_genotype.values, ds.call_dosage.values
    haploid = calls[..., 1] == -2
    assert 0.2 < haploid.mean() < 0.5
    np.testing.assert_allclose(
        np.where(haploid, 2 * copies, copies), right["dosages"], atol=2 * ROUNDING
    )
    first = calls[..., 0]
    # plink2 takes a haploid dosage near 1/2 for a heterozygous call.
    expected = np.where(right["calls"] == 1, -1, right["calls"] // 2)
    np.testing.assert_array_equal(first[haploid], expected[haploid])
    np.testing.assert_array_equal(dosage(calls)[~haploid], right["calls"][~haploid])
    assert ds.call_genotype_phased.values[haploid & (first >= 0)].all()


# Without plink2


def test_calls_and_dosages_equal_their_twin(tmp_path: Path) -> None:
    variants = random_variants(8, 0.4, haploid=0.1)
    path = write(tmp_path / "a.bgen", variants)
    for ref in ("first", "last"):
        ds = gb.open_bgen(path, ref=ref, hard_call_threshold=0.2, chunks=41)
        found = ds.compute()
        for k, (values, phased) in enumerate(variants):
            right, said, copies = bgen_calls(values, phased, ref == "last", 0.2)
            assert found.call_genotype[k].values.tolist() == right
            words = np.array(said)
            np.testing.assert_array_equal(found.call_genotype_phased[k], words == "phased")
            np.testing.assert_array_equal(found.call_uncertain[k], words == "uncertain")
            np.testing.assert_allclose(found.call_dosage[k], copies, atol=1e-6)
        alleles = ["A", "CT"] if ref == "first" else ["CT", "A"]
        assert ds.variant_allele.values.tolist() == [alleles] * N_VARIANTS
        counted = ds.call_genotype.attrs["counted_allele"]
        assert ("second" if ref == "first" else "first allele") in counted
        assert ds.call_dosage.attrs["counted_allele"] == counted


def test_labels(tmp_path: Path) -> None:
    ds = gb.open_bgen(write(tmp_path / "a.bgen", random_variants(8, 0)))
    assert ds.variant_id.values.tolist() == [f"rs{k}" for k in range(N_VARIANTS)]
    assert ds.variant_position.values.tolist() == [1000 + k for k in range(N_VARIANTS)]
    assert ds.contig_id.values.tolist() == ["1", "2"]
    assert ds.variant_contig.values.tolist() == [0] * 100 + [1] * 50
    assert ds.sample_id.values.tolist() == [f"s{k}" for k in range(N_SAMPLES)]
    dims = {name: v.dims for name, v in ds.variables.items() if name.startswith("call_")}
    assert dims["call_genotype"] == ("variants", "samples", "ploidy")
    assert ds.attrs == {"source": str(tmp_path / "a.bgen")}


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("letter", ["é", "ee"])
@pytest.mark.parametrize("window", [64, 600, 2**20])
def test_long_labels(
    tmp_path: Path,
    layout: int,
    compression: str | None,
    letter: str,
    window: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_header, "_MANY", window)
    monkeypatch.setattr(_header, "_NEAR", 2**30)
    path, values = tmp_path / "a.bgen", np.tile([0, 0, 1.0], (3, 1))
    sizes = [1, 450, 480, 490, 500, 511, 512, 513, 4000, 5000, 60_000, 3]
    options = {"samples": list("abc"), "layout": layout, "compression": compression}
    with bgen.BgenWriter(str(path), 3, **options) as file:
        for size in sizes:
            file.add_variant("x" * size, letter * (size // 2), "1", size, ["A", "C" * size], values)
    ds = gb.open_bgen(path)
    assert ds.variant_position.values.tolist() == sizes
    assert ds.variant_id.values.tolist() == [letter * (size // 2) for size in sizes]
    assert ds.variant_allele.values.tolist() == [["A", "C" * size] for size in sizes]
    assert (ds.call_genotype == 1).all()
    whole = path.read_bytes()
    for cut in range(1, 40):
        path.write_bytes(whole[:-cut])
        with pytest.raises(ValueError, match=r"truncated or damaged: .*variant 11 of 12"):
            gb.open_bgen(path)


LETTERS = st.text(st.sampled_from("ab:é\0"), max_size=9)


@given(
    st.lists(
        st.tuples(LETTERS, LETTERS, st.sampled_from("12é"), st.lists(LETTERS, max_size=4)),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([1, 20, 70, 2**20]),
    st.sampled_from([0, 2**30]),
)
def test_labels_of_any_kind(
    tmp_path_factory: pytest.TempPathFactory, variants: list[Any], window: int, near: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "labels.bgen"
    path.write_bytes(with_labels(variants))
    wanted = [x for x in variants if len(x[3]) == 2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_header, "_MANY", window)
        patch.setattr(_header, "_NEAR", near)
        ds = gb.open_bgen(path, multiallelic="drop")
        assert ds.variant_id.values.tolist() == [rsid for _, rsid, _, _ in wanted]
        assert ds.variant_allele.values.tolist() == [alleles for *_, alleles in wanted]
        contigs = [contig for _, _, contig, _ in wanted]
        assert ds.contig_id.values.tolist() == list(dict.fromkeys(contigs))
        assert ds.contig_id.values[ds.variant_contig.values].tolist() == contigs
        assert ds.variant_contig.dtype == np.int32
        first = gb.open_bgen(path, multiallelic="drop", ref="last").variant_allele
        assert first.values.tolist() == [alleles[::-1] for *_, alleles in wanted]


def with_labels(variants: list[Any]) -> bytes:
    """Return a file of one sample, without compression."""
    head = struct.pack("<3I4sI", 20, len(variants), 1, b"bgen", 2 << 2 | 1 << 31)
    block = struct.pack("<IH5B", 1, 2, 2, 2, 2, 0, 8) + b"\xff\0"
    ids = struct.pack("<2I", 11, 1) + b"\1\0a"
    parts = [struct.pack("<I", len(head) + len(ids)), head, ids]
    for name, rsid, contig, alleles in variants:
        for text in (name, rsid, contig):
            parts += [struct.pack("<H", len(text.encode())), text.encode()]
        parts.append(struct.pack("<IH", 7, len(alleles)))
        for text in alleles:
            parts += [struct.pack("<I", len(text.encode())), text.encode()]
        parts += [struct.pack("<I", len(block)), block]
    return b"".join(parts)


def test_planes_equal_those_of_the_calls_in_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bgen", random_variants(8, 0.5))
    ds = gb.open_bgen(path, chunks=64)
    calls = ds.compute()
    assert ds.genobit.pack().compute().identical(calls.genobit.pack().compute())
    whole = gb.open_bgen(write(tmp_path / "b.bgen", random_variants(1, 1)))
    phased = whole.genobit.pack(phased=True).compute()
    assert phased.identical(whole.compute().genobit.pack(phased=True).compute())
    with pytest.raises(ValueError, match="different alleles and is not phased"):
        ds.genobit.pack(phased=True).compute()


# Laziness


def test_names_of_tasks_follow_the_options(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bgen", random_variants(8, 0.5))
    with raise_if_dask_computes():
        ds = gb.open_bgen(path)
        ds.genobit.pack()
    for other in ({"ref": "last"}, {"hard_call_threshold": 0.2}):
        again = gb.open_bgen(path, **other)
        assert again.call_genotype.data.name != ds.call_genotype.data.name


def test_calls_phase_and_counts_come_from_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = gb.open_bgen(write(tmp_path / "a.bgen", random_variants(1, 1)), chunks=50)
    read, ranges = _source.BgenFile.read, []

    def counted(file: Any, first: int, stop: int, *out: Any) -> None:
        ranges.append((first, stop))
        read(file, first, stop, *out)

    monkeypatch.setattr(_source.BgenFile, "read", counted)
    xr.merge([ds.genobit.pack(phased=True), {"n": ds.call_uncertain.sum()}]).compute()
    assert sorted(ranges) == [(0, 50), (50, 100), (100, 150)]
    ranges.clear()
    ds.call_genotype[60:61].compute()
    assert ranges == [(50, 100)]
