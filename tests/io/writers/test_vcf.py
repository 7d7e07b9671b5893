"""Files of `to_vcf`: what bcftools, plink2, tabix, cyvcf2 and `open_vcf` read in them."""

from __future__ import annotations

import errno
import gzip
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import cyvcf2
import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.io.writers import _vcf_text, vcf
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK2, plink2

HAS_BCFTOOLS = shutil.which("bcftools") is not None
BCFTOOLS = pytest.mark.skipif(not HAS_BCFTOOLS, reason="bcftools is not installed")
TABIX = pytest.mark.skipif(shutil.which("tabix") is None, reason="tabix is not installed")


def program(*command: object) -> str:
    """Return the output of a program; it must neither fail nor warn."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def text_of(path: Path) -> str:
    return (
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    ).decode()


def lines(path: Path) -> list[list[str]]:
    """Fields of the records."""
    rows = text_of(path).splitlines()
    return [row.split("\t") for row in rows if not row.startswith("#")]


def spelled(call: Any, phased: bool) -> str:
    """A call in a VCF."""
    return ("|" if phased else "/").join("." if a == -1 else str(a) for a in call if a != -2)


def expected(ds: xr.Dataset) -> list[list[str]]:
    """Fields of the records, spelled one by one."""
    calls = ds.call_genotype.transpose("variants", "samples", "ploidy").values
    flags = np.zeros(calls.shape[:2], bool)
    if "call_genotype_phased" in ds:
        flags = ds.call_genotype_phased.values
    found = []
    for k, row in enumerate(calls):
        ref, *alts = (str(x) for x in ds.variant_allele.values[k] if x)
        quality = ds.variant_quality.values[k] if "variant_quality" in ds else np.nan
        failed = "."
        if "variant_filter" in ds:
            failed = ";".join(ds.filter_id.values[ds.variant_filter.values[k]]) or "."
        found.append([
            str(ds.contig_id.values[ds.variant_contig.values[k]]),
            str(ds.variant_position.values[k]),
            ds.variant_id.values[k] or ".",
            ref,
            ",".join(alts) or ".",
            "." if np.isnan(quality) else f"{quality:g}",
            failed,
            ".",
            "GT",
            *(spelled(call, flag) for call, flag in zip(row, flags[k], strict=True)),
        ])  # fmt: skip
    return found


@st.composite
def datasets(draw: Any, ploidy: int = 0) -> xr.Dataset:
    """Calls of any ploidy, phase and number of alleles, with labels of every kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    variants, samples = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    ploidy = ploidy or draw(st.integers(1, 4))
    alleles = draw(st.sampled_from([1, 2, 3, 12, 102]))
    counts = rng.integers(1, alleles + 1, variants)
    calls = rng.integers(-1, counts[:, None, None], (variants, samples, ploidy))
    calls[rng.uniform(size=(variants, samples)) < draw(st.sampled_from([0, 0.2]))] = -1
    if draw(st.booleans()):
        lower = rng.integers(1, ploidy + 1, (variants, samples))
        calls[np.arange(ploidy) >= lower[:, :, None]] = -2
    chunks = (draw(st.integers(1, variants)), draw(st.integers(1, samples)))
    ds = cohort(calls.astype("i1"), contigs=draw(st.integers(1, 3)), chunks=chunks)
    names = np.array(["ACGT"[k % 4] * (1 + k // 4) for k in range(alleles)], object)
    there = np.arange(alleles) < counts[:, None]
    ds["variant_allele"] = ("variants", "alleles"), np.where(there, names, "")
    if draw(st.booleans()):
        ds["call_genotype_phased"] = ("variants", "samples"), rng.random((variants, samples)) < 0.5
    if draw(st.booleans()):
        ids = np.array(["", "rs1", "rs1;rs2", "é"], object)
        ds["variant_id"] = "variants", ids[rng.integers(0, 4, variants)]
    if draw(st.booleans()):
        quality = np.array([np.nan, 0, 3.5, 30, 1e6], "f4")
        ds["variant_quality"] = "variants", quality[rng.integers(0, 5, variants)]
    if draw(st.booleans()):
        names = ["PASS", "q10", "s50"]
        ds["filter_id"] = "filters", np.array(names, object)
        ds["variant_filter"] = ("variants", "filters"), rng.random((variants, 3)) < 0.3
        ds.variant_filter[:, 0] = ~ds.variant_filter[:, 1:].any("filters")
    return ds


@settings(max_examples=40)
@given(ds=datasets(), packed=st.booleans())
def test_every_field_of_every_record(
    tmp_path_factory: pytest.TempPathFactory, ds: xr.Dataset, packed: bool
) -> None:
    folder = tmp_path_factory.mktemp("vcf")
    path = gb.to_vcf(ds, folder / ("a.vcf.gz" if packed else "a.vcf"))
    assert lines(path) == expected(ds)
    if HAS_BCFTOOLS:
        assert [
            row.split("\t") for row in program("bcftools", "view", "-H", path).splitlines()
        ] == [[*row[:5], *row[5:]] for row in expected(ds)]


@settings(max_examples=10)
@given(ds=datasets(), end=st.sampled_from([".vcf", ".vcf.gz"]))
def test_open_vcf__reads_the_same_calls(
    tmp_path_factory: pytest.TempPathFactory, ds: xr.Dataset, end: str
) -> None:
    folder = tmp_path_factory.mktemp("vcf")
    again = gb.open_vcf(gb.to_vcf(ds, folder / f"a{end}"), cache_dir=folder)
    calls, found = ds.call_genotype.values, again.call_genotype.values
    # The reader has as many places as the largest call, and reads "." as a missing call.
    lone = (calls[:, :, 0] == -1) & (calls[:, :, 1:] == -2).all(axis=2)
    width = found.shape[2]
    assert (calls[:, :, width:] == -2).all()
    np.testing.assert_array_equal(found[~lone], calls[:, :, :width][~lone])
    assert (found[lone] < 0).all()
    haploid = (calls[:, :, 1:] == -2).all(axis=2)
    flags = ds.call_genotype_phased.values if "call_genotype_phased" in ds else False
    np.testing.assert_array_equal(
        again.call_genotype_phased.values[~haploid], (flags & ~haploid)[~haploid]
    )
    for name in ("variant_position", "sample_id"):
        np.testing.assert_array_equal(again[name], ds[name])
    # The reader has the contigs with records alone.
    contigs = [x.contig_id.values[x.variant_contig.values].tolist() for x in (again, ds)]
    assert contigs[0] == contigs[1]
    assert again.variant_id.values.tolist() == [x or "." for x in ds.variant_id.values]


MATRIX = [
    *itertools.product((1, 2, 4), (None, False, True), (0, 0.3), (2, 12), (1, 3), ("vcf", "vcf.gz"))
]


@BCFTOOLS
@pytest.mark.parametrize(("ploidy", "phased", "missing", "alleles", "contigs", "end"), MATRIX)
def test_other_programs_read_the_matrix(
    tmp_path: Path, ploidy: int, phased: Any, missing: float, alleles: int, contigs: int, end: str
) -> None:
    rng = np.random.default_rng(1)
    calls = rng.integers(0, alleles, (20, 5, ploidy)).astype("i1")
    calls[rng.uniform(size=(20, 5)) < missing] = -1
    ds = cohort(calls, contigs=contigs, phased=phased)
    ds["variant_allele"] = ("variants", "alleles"), [["A" * (k + 1) for k in range(alleles)]] * 20
    path = gb.to_vcf(ds, tmp_path / f"a.{end}")
    # To BCF and back: htslib looks every name up in the header.
    program("bcftools", "view", "-Ob", "-o", tmp_path / "a.bcf", path)
    rows = program("bcftools", "view", "-H", tmp_path / "a.bcf").splitlines()
    assert [row.split("\t") for row in rows] == expected(ds)
    for k, record in enumerate(cyvcf2.VCF(path)):
        fixed = [record.CHROM, str(record.POS), record.ID, record.REF, ",".join(record.ALT)]
        assert fixed == expected(ds)[k][:5]
        *found, flags = zip(*record.genotypes, strict=True)
        np.testing.assert_array_equal(np.transpose(found), calls[k])
        assert ploidy == 1 or set(flags) == {bool(phased)}
    if end == "vcf.gz":
        program("tabix", path)
        found = program("tabix", path, "chr1").splitlines()
        assert [row.split("\t") for row in found] == [x for x in expected(ds) if x[0] == "chr1"]


@PLINK2
@pytest.mark.parametrize("phased", [False, True])
@pytest.mark.parametrize("end", ["vcf", "vcf.gz"])
def test_plink2_reads_the_same_calls(tmp_path: Path, phased: bool, end: str) -> None:
    calls = random_calls(3, 60, 9)
    calls[np.random.default_rng(1).uniform(size=(60, 9)) < 0.1] = -1
    ds = cohort(calls, contigs=2, phased=phased)
    gb.to_vcf(ds, tmp_path / f"a.{end}")
    plink2(tmp_path / "b", "--vcf", str(tmp_path / f"a.{end}"), "--make-pgen")
    again = gb.open_pgen(tmp_path / "b")
    found = calls if phased else np.sort(calls, axis=2)
    np.testing.assert_array_equal(again.call_genotype, found)
    het = calls[:, :, 0] != calls[:, :, 1]
    assert (again.call_genotype_phased.values[het] == phased).all()


def test_the_header(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 4, 2), contigs=2).assign(
        contig_length=("contigs", [248956422, -1]),
        filter_id=("filters", ["q10", "PASS"]),
        variant_filter=(("variants", "filters"), np.zeros((4, 2), bool)),
        call_DP=(("variants", "samples"), [[1, -1]] * 4),
        call_AD=(("variants", "samples", "alleles"), [[[12, 0], [-1, -2]]] * 4),
    )
    ds["contig_id"] = "contigs", ["1", "HLA-A*01:01"]
    path = gb.to_vcf(ds, tmp_path / "a.vcf")
    header = [row for row in text_of(path).splitlines() if row.startswith("#")]
    assert header == [
        "##fileformat=VCFv4.3",
        "##source=genobit",
        '##FILTER=<ID=PASS,Description="All filters passed">',
        '##FILTER=<ID=q10,Description="">',
        "##contig=<ID=1,length=248956422>",
        "##contig=<ID=HLA-A*01:01>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Read depth for each allele">',
        '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Read depth">',
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts0\ts1",
    ]
    assert [row[8:] for row in lines(path)] == [
        ["GT:AD:DP", f"{spelled(a, False)}:12,0:1", f"{spelled(b, False)}:.:."]
        for a, b in ds.call_genotype.values
    ]
    if HAS_BCFTOOLS:
        program("bcftools", "view", "-Ob", "-o", tmp_path / "a.bcf", path)
        found = program("bcftools", "view", "-H", tmp_path / "a.bcf").splitlines()
        assert [row.split("\t") for row in found] == lines(path)


@settings(max_examples=20)
@given(data=st.data())
def test_fields_of_numbers(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("fields")
    numbers = st.integers(-(2**31) + 1, 2**31 - 1) | st.integers(-2, 120)
    widths = {"AD": data.draw(st.integers(1, 3)), "DP": 1, "GQ": 1}
    ds = cohort(random_calls(1, 3, 2))
    fields = {}
    for key in data.draw(st.sets(st.sampled_from([*widths]))):
        n = 6 * widths[key]
        found = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)), "i4")
        fields[key] = found.reshape(3, 2, -1)
        one = fields[key] if key == "AD" else fields[key][:, :, 0]
        ds[f"call_{key}"] = ("variants", "samples", "alleles_of_AD")[: one.ndim], one
    ds = ds.rename(alleles_of_AD="FORMAT_AD_dim") if "AD" in fields else ds
    path = gb.to_vcf(ds.chunk(variants=1), folder / "a.vcf")
    for k, row in enumerate(lines(path)):
        assert row[8] == ":".join(["GT", *sorted(fields)])
        for s, call in enumerate(row[9:]):
            for key, text in zip(sorted(fields), call.split(":")[1:], strict=True):
                values = [x for x in fields[key][k, s] if x != -2]
                assert text == (",".join("." if x == -1 else str(x) for x in values) or ".")


@pytest.mark.parametrize(
    ("name", "values", "error", "words"),
    [
        (
            "call_DP",
            np.ones((4, 2)),
            TypeError,
            "call_DP is float64, and to_vcf takes whole numbers",
        ),
        (
            "call_DP",
            np.full((4, 2), 2**31),
            ValueError,
            "call_DP is 2147483648 at variants=0, samples=0",
        ),
        ("call_AD", np.ones((4, 2), int), ValueError, "call_AD has dimensions .* a number of each"),
        ("call_DP", np.ones((4, 2, 2), int), ValueError, "call_DP has dimensions .* one number"),
    ],
)
def test_fields_that_are_refused(
    tmp_path: Path, name: str, values: Any, error: type[Exception], words: str
) -> None:
    ds = cohort(random_calls(1, 4, 2))
    ds[name] = ("variants", "samples", "alleles")[: values.ndim], values
    with pytest.raises(error, match=words):
        gb.to_vcf(ds, tmp_path / "a.vcf")
    assert list(tmp_path.iterdir()) == []


def test_the_remedy_for_a_field_of_floats(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 4, 2))
    ds["call_GQ"] = ("variants", "samples"), np.array([[1.6, np.nan]] * 4)
    with pytest.raises(TypeError, match="call_GQ is float64") as raised:
        gb.to_vcf(ds, tmp_path / "a.vcf")
    code = str(raised.value).partition("missing: ")[2].partition(", or leave")[0]
    found = lines(gb.to_vcf(eval(code, {"ds": ds}), tmp_path / "a.vcf"))
    assert [[call.split(":")[1] for call in row[9:]] for row in found] == [["2", "."]] * 4


@pytest.mark.parametrize("name", ["a", "a.bcf", "a.gz", "a.vcf.zst", "a.vcz"])
def test_other_endings(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"to_vcf writes .vcf, .vcf.gz and .vcf.bgz, not"):
        gb.to_vcf(cohort(random_calls(1, 4, 2)), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


DESCRIPTIONS = ["", "All fine", 'a "b" \\ c'.replace("\\", r"\\").replace('"', r"\""), "a, >b; é"]


@pytest.mark.parametrize("kind", ["vcf", pytest.param("bcf", marks=BCFTOOLS)])
@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("described", [True, False])
def test_descriptions_of_filters_come_back(
    tmp_path: Path, kind: str, *, cached: bool, described: bool
) -> None:
    passed = np.roll(np.eye(4, dtype=bool), 1, axis=0)
    ds = cohort(random_calls(1, 4, 2)).assign(
        filter_id=("filters", ["s50", "PASS", "q10", "x"]),
        variant_filter=(("variants", "filters"), passed),
    )
    if described:
        ds["filter_description"] = "filters", np.array(DESCRIPTIONS, object)
    path = gb.to_vcf(ds, tmp_path / "a.vcf")
    if kind == "bcf":
        path = tmp_path / "a.bcf"
        command = ["bcftools", "view", "-O", "b", "-o", path, tmp_path / "a.vcf"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    again = gb.open_vcf(path, cache_dir=tmp_path if cached else False)
    found = dict(zip(again.filter_id.values, again.filter_description.values, strict=True))
    texts = DESCRIPTIONS if described else [""] * 4
    expected = dict(zip(ds.filter_id.values, texts, strict=True))
    if kind == "bcf" or not described:
        # htslib has its own text of PASS.
        expected["PASS"] = "All filters passed"
    assert found == expected
    assert again.filter_id.values[0] == "PASS"
    fileset = gb.open_pgen(gb.to_pgen(again, tmp_path / "a"))
    pairs = zip(fileset.filter_id.values, fileset.filter_description.values, strict=True)
    assert dict(pairs) == found
    if shutil.which("plink2"):
        plink2(tmp_path / "c", "--pfile", str(tmp_path / "a"), "--make-pgen")
        pairs = [
            gb.open_pgen(tmp_path / "c")[x].values for x in ("filter_id", "filter_description")
        ]
        assert dict(zip(*pairs, strict=True)) == found
    stored = gb.open_vcf_zarr(gb.to_vcf_zarr(again, tmp_path / "a.vcz"))
    np.testing.assert_array_equal(stored.filter_description, again.filter_description)
    rows = text_of(gb.to_vcf(stored, tmp_path / "b.vcf")).splitlines()
    assert [row for row in rows if row.startswith("##FILTER")] == [
        f'##FILTER=<ID={name},Description="{text}">' for name, text in found.items()
    ]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        *(
            ("q10", text, "filter_description is .* at filters=1: ")
            for text in ('a "b"', "a\nb", "a\\", "a\rb")
        ),
        *((f"a{x}b", None, "filter_id is .* at filters=1: it has one of ;") for x in ';,<>"'),
    ],
)
def test_filters_that_a_header_does_not_hold(
    tmp_path: Path, name: str, text: str | None, words: str
) -> None:
    ds = cohort(random_calls(1, 4, 2)).assign(
        filter_id=("filters", ["PASS", name]),
        variant_filter=(("variants", "filters"), np.zeros((4, 2), bool)),
    )
    if text is not None:
        ds["filter_description"] = "filters", ["", text]
    every = {gb.to_vcf: ".vcf", gb.to_vcf_zarr: ".vcz", gb.to_pgen: ""}
    for write, end in every.items():
        # Without descriptions, a .pvar has no header, and its filters end at semicolons alone.
        if write is not gb.to_pgen or text is not None or ";" in name:
            with pytest.raises(ValueError, match=words):
                write(ds, tmp_path / f"a{end}")
    assert list(tmp_path.iterdir()) == []


def blocks(data: bytes) -> list[int]:
    """Sizes of the texts of the BGZF blocks of a file."""
    found = []
    while data:
        assert data[:4] == bytes.fromhex("1f8b0804")
        assert data[12:16] == b"BC\x02\x00"
        size = int.from_bytes(data[16:18], "little") + 1
        found.append(len(gzip.decompress(data[:size])))
        data = data[size:]
    return found


def test_blocks__are_those_of_bgzf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_vcf_text, "_TEXT_BYTES", 300_000)
    ds = cohort(random_calls(1, 300, 1000), chunks=(100, 1000), phased=True)
    path = gb.to_vcf(ds, tmp_path / "a.vcf.gz")
    sizes = blocks(path.read_bytes())
    assert sizes[-1] == 0
    assert min(sizes[:-1]) > 0
    assert max(sizes) == 65_280
    assert sum(sizes) == gb.to_vcf(ds, tmp_path / "a.vcf").stat().st_size
    assert lines(path) == expected(ds)
    # Text that does not compress stays below the limit of a block.
    noise = np.random.default_rng(1).bytes(2**20)
    assert gzip.decompress(b"".join(_vcf_text.bgzf(noise)) + _vcf_text.END) == noise
    assert max(blocks(b"".join(_vcf_text.bgzf(noise)))) == 65_280


@pytest.mark.parametrize("scheduler", ["threads", "sync", "processes"])
def test_chunks_are_written_in_order(
    tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vcf, "_CHUNK_BYTES", 6 * 2 * 7)
    ds = cohort(random_calls(1, 60, 6), contigs=2, chunks=(9, 4), phased=False)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        path = gb.to_vcf(ds, tmp_path / "a.vcf.gz")
    assert lines(path) == expected(ds)


def test_nothing_is_computed_but_the_tasks_of_the_file(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 60, 6), chunks=(9, 4), phased=True)
    with raise_if_dask_computes(max_computes=1):
        gb.to_vcf(ds, tmp_path / "a.vcf.gz")


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left")])
def test_nothing_stays_after_an_error(
    tmp_path: Path, error: Any, old: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vcf, "_CHUNK_BYTES", 100)
    target = tmp_path / "a.vcf"
    if old:
        target.write_text(old)
    put, written = vcf._checks.put, []

    def failing(*arguments: Any) -> int:
        written.append(put(*arguments))
        if len(written) == 2:
            raise error
        return int(written[-1])

    monkeypatch.setattr(vcf._checks, "put", failing)
    ds = cohort(random_calls(1, 60, 6), chunks=(9, 6))
    with pytest.raises(type(error) if isinstance(error, OSError) else error) as raised:
        gb.to_vcf(ds, target, overwrite=bool(old))
    assert len(written) == 2
    if isinstance(error, OSError):
        assert str(target) in str(raised.value)
    assert [path.read_text() for path in tmp_path.iterdir()] == ([old] if old else [])
    # A thread that is late does not make the file again.
    with pytest.raises(FileNotFoundError):
        put(b"late", str(tmp_path / "gone.vcf"), 0)


def test_planes__become_calls(tmp_path: Path) -> None:
    calls = random_calls(2, 150, 67)
    calls[np.random.default_rng(1).uniform(size=(150, 67)) < 0.1] = -1
    ds = cohort(calls, chunks=(50, 67), phased=True)
    found = lines(gb.to_vcf(ds.genobit.pack(phased=True), tmp_path / "a.vcf"))
    assert found == expected(ds)
    dosages = ds.assign(call_genotype=(ds.call_genotype.dims, np.sort(calls, axis=2)))
    found = lines(gb.to_vcf(ds.genobit.pack(), tmp_path / "b.vcf"))
    assert found == expected(dosages.drop_vars("call_genotype_phased"))


def test_calls_of_many_alleles(tmp_path: Path) -> None:
    calls = np.array([[[0, 300], [9, 10]], [[-1, 127], [128, -2]]], "i2")
    ds = cohort(calls)
    names = ["A" * (k + 1) for k in range(301)]
    ds["variant_allele"] = ("variants", "alleles"), np.array([names] * 2, object)
    assert [row[9:] for row in lines(gb.to_vcf(ds, tmp_path / "a.vcf"))] == [
        ["0/300", "9/10"],
        ["./127", "128"],
    ]
    assert isinstance(ds.chunk(variants=1).call_genotype.data, da.Array)
