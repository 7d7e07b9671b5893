from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import xarray as xr
import zarr
from cyvcf2 import VCF, Writer
from hypothesis import given
from hypothesis import strategies as st

from genobit.data.regions import Region, parse_region
from genobit.io.vcf import open_vcf, open_vcf_zarr
from genobit.io.vcf_files import opened

OpenVcf = Callable[..., xr.Dataset]


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def expected_calls(path: Path, region: str | None = None) -> dict[str, np.ndarray]:
    """Read calls and labels by cyvcf2, padded as VCF Zarr pads them."""
    vcf = VCF(str(path))
    records = [
        (r.CHROM, r.POS, r.ID or ".", [r.REF, *r.ALT], r.genotype.array())
        for r in (vcf(region) if region else vcf)
    ]
    ploidy = max(calls.shape[1] - 1 for *_, calls in records)
    n_alleles = max(2, *(len(alleles) for *_, alleles, _ in records))
    genotype = np.full((len(records), len(vcf.samples), ploidy), -2, dtype=np.int8)
    allele = np.full((len(records), n_alleles), "", dtype=object)
    for index, (*_, alleles, calls) in enumerate(records):
        genotype[index, :, : calls.shape[1] - 1] = calls[:, :-1]
        allele[index, : len(alleles)] = alleles
    return {
        "contig": np.array([record[0] for record in records]),
        "variant_position": np.array([record[1] for record in records]),
        "variant_id": np.array([record[2] for record in records]),
        "variant_allele": allele,
        "sample_id": np.array(vcf.samples),
        "call_genotype": genotype,
        # cyvcf2 reads the phase of a haploid call beyond its end
        "call_genotype_phased": np.array([calls[:, -1] for *_, calls in records], dtype=bool)
        | (genotype[:, :, 1:] == -2).all(axis=2),
    }


def assert_calls(ds: xr.Dataset, expected: dict[str, np.ndarray]) -> None:
    for name, values in expected.items():
        found = (
            ds.contig_id.values[ds.variant_contig.values] if name == "contig" else ds[name].values
        )
        np.testing.assert_array_equal(found, values, err_msg=name)


# Against cyvcf2 and bcftools


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("edge_vcf/chr22", None),
        ("edge_vcf/chr_m_indels", None),
        ("edge_vcf/mixed_ploidy", None),
        ("edge_vcf/sample", None),
        ("ceu_exon/ceu_exon", None),
        ("kg3_chr21/kg3_chr21", None),
        ("kg1_chr22/kg1_chr22", "22:16051498-16900000"),
        pytest.param("kg1_chr22/kg1_chr22", None, marks=pytest.mark.slow),
    ],
)
def test_calls_equal_cyvcf2(
    shared_data: Path, cache_dir: Path, name: str, region: str | None
) -> None:
    path = shared_data / f"{name}.vcf.gz"
    ds = open_vcf(path, region=region, cache_dir=cache_dir)
    assert_calls(ds, expected_calls(path, region))
    assert ds.call_genotype.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"
    assert ds.call_genotype.dtype == np.int8


def test_calls_equal_bcftools_query(shared_data: Path, cache_dir: Path) -> None:
    folder = shared_data / "ceu_exon"
    ds = open_vcf(folder / "ceu_exon.vcf.gz", cache_dir=cache_dir)
    with gzip.open(folder / "ref/gt_bcftools_query.tsv.gz", "rt") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    text = {-1: "."}
    found = [
        ["/".join(text.get(allele, str(allele)) for allele in call) for call in variant]
        for variant in ds.call_genotype.values.tolist()
    ]
    assert found == [row[4:] for row in rows]
    assert [f"{ds.contig_id.values[c]}" for c in ds.variant_contig.values] == [r[0] for r in rows]
    assert not ds.call_genotype_phased.any()
    assert (ds.call_genotype[:, :, 0] < 0).sum() == 8608


def test_ploidy_fill_and_alternate_alleles_are_kept(shared_data: Path, cache_dir: Path) -> None:
    mixed = open_vcf(shared_data / "edge_vcf/mixed_ploidy.vcf.gz", cache_dir=cache_dir)
    assert mixed.call_genotype[0].values.tolist() == [[0, 1, -2], [1, 1, -2], [2, 2, -2]]
    assert mixed.call_genotype[5].values.tolist() == [[0, 1, 2], [0, -2, -2], [1, 1, -2]]
    sample = open_vcf(shared_data / "edge_vcf/sample.vcf.gz", region="X", cache_dir=cache_dir)
    assert sample.call_genotype.values.tolist() == [[[0, -2], [0, 1], [0, 2]]]
    assert sample.variant_allele.values.tolist() == [["AC", "A", "ATG", "C"]]


# Regions


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("22", Region("22", 1, None)),
        ("chr22", Region("chr22", 1, None)),
        ("2:136.0e6-136.9e6", Region("2", 136_000_000, 136_900_000)),
        (" 22:16,051,497-16060000 ", Region("22", 16_051_497, 16_060_000)),
        ("X:10-", Region("X", 10, None)),
        ("HLA:HLA00001", Region("HLA:HLA00001", 1, None)),
        ("HLA:HLA00001:5-9", Region("HLA:HLA00001", 5, 9)),
        ("chrUn-1", Region("chrUn-1", 1, None)),
        ("2:136.5Mb-136.7Mb", Region("2", 136_500_000, 136_700_000)),
        ("2: 5 kb – 1 MB", Region("2", 5_000, 1_000_000)),
        ("2:5bp..1m", Region("2", 5, 1_000_000)),
        ("2:0Mb-1Mb", Region("2", 0, 1_000_000)),
        ("2:0-50", Region("2", 0, 50)),
        ("2:1-5Mb", Region("2", 1, 5_000_000)),
    ],
)
def test_region_syntax(text: str, region: Region) -> None:
    assert parse_region(text) == region


@given(start=st.integers(1, 10**9), length=st.integers(0, 10**6))
def test_region_reads_what_it_prints(start: int, length: int) -> None:
    region = Region("contig:with.colon", start, start + length)
    assert parse_region(str(region)) == region


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("22:100", "100 is one position, not a range"),
        ("22:1x-10", "'1x' is not a whole position"),
        ("22:1.5-10", "'1.5' is not a whole position"),
        ("22:1e400-10", "ends before it begins"),
        ("22:1e99999-10", "'1e99999' is not a whole position"),
        ("22:-10", "'' is not a whole position"),
        ("22:11-10", "ends before it begins"),
        ("22:136,5Mb-137Mb", "'136,5Mb' is not a whole position"),
        ("22:1.5bp-10", "'1.5bp' is not a whole position"),
        ("22:136-137Mb", "write the unit of both positions, 136mb-137Mb"),
        (":1-10", "has no contig"),
        ("", "has no contig"),
    ],
)
def test_bad_region_syntax(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_region(text)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ("chr21", "no contig 'chr21'; it has 22"),
        ("22:1-10", "no record in 22:1-10"),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
def test_region_that_is_not_there(
    shared_data: Path, tmp_path: Path, region: str, message: str, indexed: bool
) -> None:
    path = shared_data / "kg1_chr22/kg1_chr22.vcf.gz"
    if not indexed:
        path = Path(shutil.copy(path, tmp_path))
    with pytest.raises(ValueError, match=message):
        open_vcf(path, region=region, cache_dir=tmp_path)


@pytest.mark.parametrize(("ours", "theirs"), [("01", "chr1"), ("X", "23"), ("chrM", "26")])
@pytest.mark.parametrize("declared", [True, False])
def test_region_of_a_contig_by_another_name(
    tmp_path: Path, ours: str, theirs: str, *, declared: bool
) -> None:
    header = [HEADER[0], *(f"##contig=<ID={name}>" for name in ("2", ours) if declared), HEADER[4]]
    calls = "\t.\tA\tG\t.\t.\t.\tGT\t0/1\t0/0"
    records = [f"{name}\t{at}{calls}" for name in ("2", ours) for at in (5, 9)]
    path = write_vcf(tmp_path, records, header)
    ds = open_vcf(path, region=f"{theirs}:6-100", cache_dir=tmp_path)
    assert ds.variant_position.values.tolist() == [9]
    assert ds.genobit.sel(variants=theirs).contig_id.values.tolist() == [ours]


def test_deletions_that_begin_before_the_region_are_outside_it(tmp_path: Path) -> None:
    path = write_vcf(tmp_path, ["1\t5\tdel\tACGT\tA\t.\t.\t.\tGT\t0|1\t0|0", RECORD])
    ds = open_vcf(path, region="1:6-100", cache_dir=tmp_path)
    assert ds.variant_id.values.tolist() == ["rs1"]


# Kinds of file

RECORD = "1\t10\trs1\tA\tC\t.\tPASS\tDP=3\tGT:DP\t0|1:3\t./.:0"
HEADER = [
    "##fileformat=VCFv4.2",
    "##contig=<ID=1>",
    "##contig=<ID=2>",
    '##INFO=<ID=DP,Number=1,Type=Integer,Description="">',
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="">',
    '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="">',
]
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2"


def write_vcf(
    folder: Path, records: list[str], header: list[str] = HEADER, columns: str = COLUMNS
) -> Path:
    path = folder / "cohort.vcf"
    path.write_text("\n".join([*header, columns, *records]) + "\n")
    return path


RECORDS = [RECORD, "2\t7\t.\tG\tT,A\t9\tq9\t.\tGT\t2|1\t0/1", "1\t12\t.\tA\tC\t.\t.\t.\tGT\t1\t0/0"]


def as_plain(path: Path) -> Path:
    return path


def as_crlf(path: Path) -> Path:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return path


def as_gzip(path: Path) -> Path:
    compressed = path.with_suffix(".vcf.gz")
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    return compressed


def as_htslib(path: Path, suffix: str, mode: str) -> Path:
    reader = VCF(str(path))
    reader.add_filter_to_header({"ID": "q9", "Description": ""})
    writer = Writer(str(path.with_suffix(suffix)), reader, mode=mode)
    for record in reader:
        writer.write_record(record)
    writer.close()
    return path.with_suffix(suffix)


def as_bgzip(path: Path) -> Path:
    return as_htslib(path, ".vcf.gz", "wz")


def as_bcf(path: Path) -> Path:
    return as_htslib(path, ".bcf", "wb")


def as_uncompressed_bcf(path: Path) -> Path:
    return as_htslib(path, ".bcf", "wbu")


@pytest.mark.parametrize(
    "kind", [as_plain, as_crlf, as_gzip, as_bgzip, as_bcf, as_uncompressed_bcf]
)
def test_kinds_of_file(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    ds = open_vcf(kind(write_vcf(tmp_path, RECORDS)), cache_dir=tmp_path)
    assert ds.variant_position.values.tolist() == [10, 7, 12]
    assert ds.contig_id.values[ds.variant_contig].tolist() == ["1", "2", "1"]
    assert ds.call_genotype.values.tolist() == [
        [[0, 1], [-1, -1]],
        [[2, 1], [0, 1]],
        [[1, -2], [0, 0]],
    ]
    assert ds.call_genotype_phased.values[1].tolist() == [True, False]
    assert ds.variant_allele.values.tolist() == [["A", "C", ""], ["G", "T", "A"], ["A", "C", ""]]
    assert ds.filter_id.values.tolist() == ["PASS", "q9"]
    assert ds.variant_filter.values.tolist() == [[True, False], [False, True], [False, False]]


def test_nothing_needs_to_be_declared(tmp_path: Path) -> None:
    path = write_vcf(tmp_path, RECORDS, header=["##fileformat=VCFv4.0"])
    ds = open_vcf(path, cache_dir=tmp_path)
    assert ds.contig_id.values.tolist() == ["1", "2"]
    assert ds.filter_id.values.tolist() == ["PASS", "q9"]


def test_records_without_genotypes_are_missing(tmp_path: Path) -> None:
    path = write_vcf(tmp_path, [RECORD, "1\t11\t.\tA\tC\t.\t.\t.\tDP\t3\t4"])
    ds = open_vcf(path, cache_dir=tmp_path)
    assert (ds.call_genotype[1, :, 0] == -1).all()
    assert (ds.call_genotype[1] < 0).all()


# The cache


def test_second_opening_reads_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_vcf(tmp_path, RECORDS)
    first = open_vcf(path, cache_dir=tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(opened, "scan", None)
        again = open_vcf(path, cache_dir=tmp_path / "cache")
        xr.testing.assert_identical(first.compute(), again.compute())
        with pytest.raises(TypeError):
            open_vcf(path, region="1", cache_dir=tmp_path / "cache")
    write_vcf(tmp_path, RECORDS[:1])
    os.utime(path, ns=(1, 1))
    assert open_vcf(path, cache_dir=tmp_path / "cache").sizes["variants"] == 1


def test_nothing_is_written_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    path = as_bgzip(write_vcf(tmp_path, RECORDS))
    before = sorted(tmp_path.rglob("*"))
    ds = open_vcf(path, cache_dir=False)
    xr.testing.assert_identical(ds.compute(), open_vcf(path, cache_dir=tmp_path / "c").compute())
    shutil.rmtree(tmp_path / "c")
    assert sorted(tmp_path.rglob("*")) == before
    os.utime(path, ns=(1, 1))
    with pytest.raises(OSError, match=r"cohort\.vcf\.gz was changed while in use"):
        ds.call_genotype.compute()


def test_a_failed_pass_leaves_nothing(tmp_path: Path) -> None:
    path = write_vcf(tmp_path, [RECORD, "1\t11\t.\tA\tC\t.\t.\t.\tGT\t0|z\t0|0"])
    with pytest.raises(ValueError, match=r"cohort.vcf, record 2 \(1:11\), sample 'S1': '0\|z' is"):
        open_vcf(path, cache_dir=tmp_path / "cache")
    assert list((tmp_path / "cache/vcf").iterdir()) == []


def test_several_threads_convert_at_once(tmp_path: Path) -> None:
    path = write_vcf(tmp_path, RECORDS)
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: open_vcf(path, cache_dir=tmp_path / "cache"), range(4)))
    for ds in opened[1:]:
        xr.testing.assert_identical(ds.compute(), opened[0].compute())
    assert len(list((tmp_path / "cache/vcf").iterdir())) == 1


def test_user_cache_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    open_vcf(write_vcf(tmp_path, RECORDS))
    assert len(list((tmp_path / "genobit/vcf").iterdir())) == 1


# Bad files


def test_folders_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"is a folder: .*open_vcf_zarr"):
        open_vcf(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x6c\x1b\x01\xff", "neither VCF nor BCF.*open_plink"),
        (b"", "neither VCF nor BCF"),
        (gzip.compress(b"hello", mtime=0), "begins with b'hello'"),
        (gzip.compress(b"##fileformat=VCFv4.2\n" * 9999, mtime=0)[:-40], "truncated or damaged"),
        (b"\x1f\x8b\x08\x00junk", "truncated or damaged"),
        (b"##fileformat=VCFv4.2\n", "no #CHROM line"),
        (b"##fileformat=VCFv4.2\n1\t2\t.\n", "no #CHROM line"),
    ],
)
def test_not_a_vcf(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "file.vcf.gz").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        open_vcf(tmp_path / "file.vcf.gz", cache_dir=tmp_path)


@pytest.mark.parametrize(
    ("records", "columns", "message"),
    [
        ([], COLUMNS, "has no records"),
        ([RECORD], COLUMNS[:38], "has no samples"),
        ([RECORD], COLUMNS.replace("\t", " "), "has blanks in its #CHROM line.* sed "),
        ([RECORD, RECORD[:-6]], COLUMNS, r"record 2 \(1:10\) has 10 columns .* header has 11"),
    ],
)
def test_bad_vcf(tmp_path: Path, records: list[str], columns: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_vcf(write_vcf(tmp_path, records, columns=columns), cache_dir=tmp_path)


def test_unknown_contig_of_many(tmp_path: Path) -> None:
    header = [*HEADER, *(f"##contig=<ID=scaffold{i}>" for i in range(100))]
    path = write_vcf(tmp_path, RECORDS, header=header)
    with pytest.raises(ValueError, match=r"it has 1, 2, scaffold0, .*, \.\.\. \(102 in all\)"):
        open_vcf(path, region="3", cache_dir=tmp_path)


# VCF Zarr


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("suffix", [".vcz", ".vcz.zip"])
def test_stores_of_bio2zarr(
    shared_data: Path, tmp_path: Path, zarr_format: int, suffix: str
) -> None:
    from bio2zarr import vcf

    source = shared_data / "edge_vcf/mixed_ploidy.vcf.gz"
    store = tmp_path / f"mixed{suffix}"
    vcf.convert([source], store, zarr_format=zarr_format, worker_processes=0)
    ds = open_vcf_zarr(store)
    expected = expected_calls(source)
    haploid = (expected["call_genotype"][:, :, 1:] == -2).all(axis=2)
    ds["call_genotype_phased"] |= haploid
    assert_calls(ds, expected)
    assert ds.call_genotype.chunks is not None
    assert ds.call_DP.chunks is not None
    assert "region_index" not in ds
    for name in ("variant_id", "variant_allele", "sample_id", "contig_id"):
        assert ds[name].dtype == object
        assert all(type(value) is str for value in ds[name].values.ravel())


def sgkit_dataset() -> xr.Dataset:
    """Build a Dataset as sgkit's simulate_genotype_call_dataset makes it."""
    calls = np.random.default_rng(0).integers(-1, 2, (5, 4, 2)).astype(np.int8)
    return xr.Dataset(
        {
            "variant_contig": ("variants", np.zeros(5, dtype=np.int64)),
            "variant_position": ("variants", np.arange(5, dtype=np.int32)),
            "variant_allele": (("variants", "alleles"), np.array([[b"A", b"C"]] * 5)),
            "sample_id": ("samples", np.array(["S0", "S1", "S2", "S3"])),
            "call_genotype": (("variants", "samples", "ploidy"), calls, {"mixed_ploidy": False}),
            "call_genotype_mask": (("variants", "samples", "ploidy"), calls < 0),
        },
        attrs={"contigs": ["chr1"], "source": "sgkit-0.9.0"},
    )


def test_stores_of_sgkit(tmp_path: Path) -> None:
    written = sgkit_dataset()
    written.chunk({"variants": 2}).to_zarr(tmp_path / "sgkit.zarr", zarr_format=2)
    ds = open_vcf_zarr(tmp_path / "sgkit.zarr", chunks=4)
    np.testing.assert_array_equal(ds.call_genotype, written.call_genotype)
    assert ds.call_genotype.attrs["mixed_ploidy"] is False
    assert ds.call_genotype_mask.dtype == bool
    assert ds.contig_id.values.tolist() == ["chr1"]
    assert ds.variant_allele.values.tolist() == [["A", "C"]] * 5
    assert ds.variant_id.values.tolist() == ["."] * 5
    assert ds.variant_contig.dtype == np.int32
    assert ds.variant_position.dtype == np.int64
    assert ds.call_genotype.chunksizes["variants"] == (4, 1)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_was_opened_can_be_written(tmp_path: Path, zarr_format: Literal[2, 3]) -> None:
    ds = open_vcf(write_vcf(tmp_path, RECORDS), cache_dir=tmp_path)
    ds.to_zarr(tmp_path / "copy.zarr", zarr_format=zarr_format, consolidated=False)
    xr.testing.assert_identical(open_vcf_zarr(tmp_path / "copy.zarr").compute(), ds.compute())


def test_zarr_stores_as_such(tmp_path: Path) -> None:
    sgkit_dataset().to_zarr(tmp_path / "sgkit.zarr", zarr_format=2)
    from_object = open_vcf_zarr(zarr.storage.LocalStore(tmp_path / "sgkit.zarr", read_only=True))
    xr.testing.assert_identical(from_object, open_vcf_zarr(tmp_path / "sgkit.zarr"))


def test_counted_allele_of_the_store_is_kept(tmp_path: Path) -> None:
    written = sgkit_dataset()
    written.call_genotype.attrs["counted_allele"] = "variant_allele[:, 1] (A1, bim column 5)"
    written.to_zarr(tmp_path / "plink.zarr", zarr_format=2)
    assert "A1" in open_vcf_zarr(tmp_path / "plink.zarr").call_genotype.attrs["counted_allele"]


def test_stores_that_are_not_vcf_zarr(tmp_path: Path) -> None:
    written = sgkit_dataset()
    stores = {
        "nothing": "does not exist",
        "file": r"not a Zarr directory.*open_vcf",
        "directory": "is not a Zarr group",
        "no_calls": "has no call_genotype.*it has call_genotype_mask",
        "transposed": r"call_genotype of .* has dimensions \('samples', 'variants', 'ploidy'\)",
        "allel": r"has no call_genotype.* scikit-allel.*it has calldata, samples, variants",
        "no_contigs": "neither contig_id nor the attribute contigs",
    }
    (tmp_path / "file").write_text("")
    (tmp_path / "directory").mkdir()
    allel = zarr.open_group(tmp_path / "allel", mode="w", zarr_format=2)
    allel.create_group("calldata").create_array("GT", data=np.zeros((5, 3, 2), "i1"))
    allel.create_group("variants").create_array("POS", data=np.arange(1, 6))
    allel.create_array("samples", data=np.arange(3))
    written.drop_vars("call_genotype").to_zarr(tmp_path / "no_calls", zarr_format=2)
    written.transpose("samples", ...).to_zarr(tmp_path / "transposed", zarr_format=2)
    written.drop_attrs(deep=False).to_zarr(tmp_path / "no_contigs", zarr_format=2)
    for name, message in stores.items():
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            open_vcf_zarr(tmp_path / name)
