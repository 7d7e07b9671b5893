"""Records and regions that other programs write, and that readers take in different ways."""

from __future__ import annotations

import gzip
import pickle
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
import xarray as xr

from genobit.data.regions import Region, parse_region
from genobit.io.plink import open_plink
from genobit.io.vcf import open_vcf

if TYPE_CHECKING:
    from pathlib import Path

GT = '##FORMAT=<ID=GT,Number=1,Type=String,Description="">'
Q9 = '##FILTER=<ID=q9,Description="">'
DP = '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="">'
HLA = "HLA-A*01:01:01:01"
CONTIGS = [f"##contig=<ID={name}>" for name in ("1", "X", "MT", HLA)]


def write(folder: Path, records: list[str], header: list[str] | None = None) -> Path:
    """Records "contig position FORMAT call call", as a VCF."""
    header = [*CONTIGS, GT, DP] if header is None else header
    lines = ["##fileformat=VCFv4.3", *header]
    lines.append("#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT S1 S2".replace(" ", "\t"))
    for record in records:
        contig, position, *rest = record.split()
        lines.append("\t".join([contig, position, ".", "A", "C", ".", ".", ".", *rest]))
    path = folder / "a.vcf"
    path.write_text("\n".join(lines) + "\n")
    return path


def opened(folder: Path, *records: str, region: str | None = None) -> xr.Dataset:
    return open_vcf(write(folder, [*records]), region=region, cache_dir=folder)


# A dot alone


DOTS = {
    "of a diploid": (["1 5 GT 0/1 .", "1 6 GT . 1/1"], [[[0, 1], [-1, -1]], [[-1, -1], [1, 1]]]),
    "with other fields": (
        ["1 5 GT:DP 0/1:3 .:0", "1 6 DP 4 5"],
        [[[0, 1], [-1, -1]], [[-1, -1], [-1, -1]]],
    ),
    "of a male on X": (
        ["1 5 GT . 0/1", "X 6 GT 1 .", "X 7 GT . ."],
        [[[-1, -1], [0, 1]], [[1, -2], [-1, -1]], [[-1, -2], [-1, -1]]],
    ),
    "where all are haploid": (["MT 5 GT 0 .", "MT 6 GT . 1"], [[[0], [-1]], [[-1], [1]]]),
    "of a triploid": (["1 5 GT 0/1/1 ."], [[[0, 1, 1], [-1, -1, -1]]]),
}


@pytest.mark.parametrize("which", DOTS)
@pytest.mark.parametrize("how", ["cached", "in memory", "elsewhere"])
def test_a_dot_is_a_missing_call(tmp_path: Path, which: str, how: str) -> None:
    records, expected = DOTS[which]
    ds = open_vcf(write(tmp_path, records), cache_dir=tmp_path if how == "cached" else False)
    ds = pickle.loads(pickle.dumps(ds)) if how == "elsewhere" else ds
    calls = ds.call_genotype.values
    assert calls.tolist() == expected[: len(records)]
    missing = (calls == -1).all(axis=2) & (calls.shape[2] > 1)
    assert not ds.call_genotype_phased.values[missing].any()


def test_a_dot_is_what_plink2_reads(tmp_path: Path) -> None:
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not on the path")
    ds = opened(tmp_path, "1 5 GT . 0/1", "1 6 GT ./. .", "1 7 GT 1|1 .|.")
    command = ["plink2", "--vcf", "a.vcf", "--make-bed", "--out", "a"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    expected = open_plink(tmp_path / "a.bed")["call_genotype"].values
    np.testing.assert_array_equal(ds["call_genotype"], expected)


def test_a_dot_does_not_keep_dosages_from_being_packed(tmp_path: Path) -> None:
    ds = opened(tmp_path, "1 5 GT 0/1 .", "1 6 GT 0/1 1/1")
    assert np.isnan(ds.genobit.ld("r2").values[0, 0])
    assert ds.genobit.pack().genobit.allele_frequency().values.tolist() == [0.5, 0.75]


def test_a_dot_of_another_store_is_packed_and_one_allele_is_refused() -> None:
    calls = np.array([[[0, 1], [-1, -2], [1, 1]]], "int8")
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    assert ds.genobit.allele_frequency().values.tolist() == [0.75]
    for call, told in (
        ([0, -2], "this sample has lower ploidy"),
        ([-2, -1], "-2 fills a call after its first allele only"),
        ([-2, -2], r"calls of -2 alone missing: ds.assign\(call_genotype="),
    ):
        calls[0, 2] = call
        with pytest.raises(ValueError, match=f"is -2 at variants=0, samples=2: .*{told}") as error:
            ds.genobit.pack().compute()
    remedy = str(error.value).rpartition("missing: ")[2]
    assert eval(remedy, {"ds": ds}).genobit.allele_frequency().values.tolist() == [0.5]


# Positions


@pytest.mark.parametrize("position", ["2147483648", "99999999999", "-5", "x", "1.5", ""])
def test_a_position_out_of_range_is_refused(tmp_path: Path, position: str) -> None:
    path = write(tmp_path, ["1 5 GT 0/1 0/0", "1 POS GT 0/1 0/0"])
    path.write_text(path.read_text().replace("1\tPOS", f"1\t{position}"))
    with pytest.raises(
        ValueError, match=r"a\.vcf, record 2 \(1:.*\) has the position '.*from 0 to"
    ):
        open_vcf(path, cache_dir=tmp_path)


def test_the_first_and_last_position_are_read(tmp_path: Path) -> None:
    ds = opened(tmp_path, "1 0 GT 0/1 0/0", "1 5 GT 0/1 0/0", "1 2147483647 GT 0/1 0/0")
    assert ds.variant_position.values.tolist() == [0, 5, 2**31 - 1]


# Genotypes


def test_a_file_without_genotypes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.vcf has no genotypes: no record .* has GT"):
        opened(tmp_path, "1 5 DP 3 4", "1 6 DP 3 4")


def test_genotypes_that_are_all_missing_are_read(tmp_path: Path) -> None:
    ds = opened(tmp_path, "MT 5 GT . .")
    assert ds.call_genotype.values.tolist() == [[[-1], [-1]]]


# Contigs with colons in their names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HLA, Region(HLA)),
        (f"{HLA}:5-9", Region(HLA, 5, 9)),
        ("HLA-A*01:01:01", Region("HLA-A*01:01:01")),
        ("1:5-9", Region("1", 5, 9)),
        ("chr1:1-100", Region("chr1:1-100")),
        ("chr1:1-100:3-4", Region("chr1:1-100", 3, 4)),
        ("chr1:1-99", Region("1", 1, 99)),
        ("chr3:1-99", Region("chr3", 1, 99)),
        ("hla-a*01:01:01:01:1kb-", Region(HLA, 1_000)),
    ],
)
def test_known_contigs_come_before_the_syntax(text: str, expected: Region) -> None:
    assert parse_region(text, ["1", HLA, "chr1:1-100"]) == expected


def test_one_position_of_a_known_contig_is_no_range() -> None:
    with pytest.raises(ValueError, match="5 is one position"):
        parse_region("1:5", ["1", HLA])


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(("region", "found"), [(HLA, [5, 9]), (f"{HLA}:6-9", [9])])
def test_a_contig_with_colons_is_read(
    tmp_path: Path, declared: bool, region: str, found: list[int]
) -> None:
    records = ["1 5 GT 0/1 0/0", f"{HLA} 5 GT 0/1 0/0", f"{HLA} 9 GT 0/1 0/0"]
    path = write(tmp_path, records, [*CONTIGS, GT] if declared else [])
    ds = open_vcf(path, region=region, cache_dir=tmp_path)
    assert ds.variant_position.values.tolist() == found
    with pytest.raises(ValueError, match=r"has no contig 'HLA-A\*01:01'; it has .*1"):
        open_vcf(path, region="HLA-A*01:01", cache_dir=tmp_path)


# Files of other programs

HTSLIB = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("bgzip", "bcftools")),
    reason="bgzip or bcftools is not installed",
)


def ran(*command: object) -> None:
    subprocess.run([*map(str, command)], capture_output=True, check=True, timeout=60)


@HTSLIB
@pytest.mark.parametrize("index", ["--tbi", "--csi"])
@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(
    ("region", "found"), [("1:6-", [8, 9]), ("1:9-9", [9]), ("1", [5, 8, 9]), ("X", [4])]
)
def test_the_last_line_of_an_indexed_file_needs_no_end(
    tmp_path: Path, index: str, *, ended: bool, region: str, found: list[int]
) -> None:
    records = ["X 4 GT 0/1 0/0", *(f"1 {at} GT 0/1 0/0" for at in (5, 8, 9))]
    path = write(tmp_path, records)
    if not ended:
        path.write_bytes(path.read_bytes().rstrip(b"\n"))
    ran("bgzip", path)
    ran("bcftools", "index", index, f"{path}.gz")
    ds = open_vcf(f"{path}.gz", region=region, cache_dir=False)
    assert ds.variant_position.values.tolist() == found
    assert ds.call_genotype.values.tolist() == [[[0, 1], [0, 0]]] * len(found)


@HTSLIB
@pytest.mark.parametrize("kind", ["text", "u", "b"])
def test_of_two_fields_gt_the_first_is_read(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, ["1 5 GT:GT 0/1 0|0", "1 6 GT:DP:GT 0/1:3:0/0 1|1:4:0/0"])
    if kind != "text":
        ran("bcftools", "view", "-O", kind, "-o", tmp_path / "a.bcf", path)
        path = tmp_path / "a.bcf"
    ds = open_vcf(path, cache_dir=False)
    assert ds.call_genotype.values.tolist() == [[[0, 1], [0, 0]], [[0, 1], [1, 1]]]
    assert ds.call_genotype_phased.values.tolist() == [[False, True]] * 2


def with_vector(folder: Path, vector: bytes) -> Path:
    """Two records, as a BCF whose second one has another vector of GT."""
    path = write(folder, ["1 5 GT 0/1 0|0", "1 6 GT 0/1 1/1"])
    ran("bcftools", "view", "-O", "b", "-o", folder / "a.bcf", path)
    data = gzip.decompress((folder / "a.bcf").read_bytes())
    usual = bytes([0x21, 2, 4, 4, 4])
    assert data.endswith(usual)
    own = len(data) - len(usual)
    size = data.rindex((len(usual) + 2).to_bytes(4, "little"))
    changed = (len(vector) + 2).to_bytes(4, "little")
    path = folder / "b.bcf"
    path.write_bytes(data[:size] + changed + data[size + 4 : own] + vector)
    return path


@HTSLIB
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_a_vector_of_no_values_is_of_missing_calls(tmp_path: Path, kind: int) -> None:
    path = with_vector(tmp_path, bytes([kind]))
    done = subprocess.run(
        ["bcftools", "query", "-f", "[%GT ]", path], capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"0/1 0|0 . . "
    ds = open_vcf(path, cache_dir=False)
    assert ds.call_genotype.values.tolist() == [[[0, 1], [0, 0]], [[-1, -1]] * 2]
    assert ds.call_genotype_phased.values.tolist() == [[False, True], [False, False]]


@HTSLIB
@pytest.mark.parametrize(
    "vector",
    [bytes([0x20]), bytes([0x10]), bytes([5]), bytes([7]), bytes([4]), b"\x37" + b"0/1" * 2],
)
def test_a_vector_of_another_type_is_refused(tmp_path: Path, vector: bytes) -> None:
    with pytest.raises(ValueError, match=r"b\.bcf, record 2 \(1:6\) is damaged"):
        open_vcf(with_vector(tmp_path, vector), cache_dir=False)


@HTSLIB
@pytest.mark.parametrize("kind", ["z", "b"])
@pytest.mark.parametrize(
    ("region", "place"),
    [
        (None, r"record 3 \(1:9\)"),
        ("1", r"(record 3|a record) \(1:9\)"),
        ("X", r"a record \(X:40000\)"),
    ],
)
def test_a_fault_has_the_number_of_its_record_in_the_file_or_none(
    tmp_path: Path, kind: str, region: str | None, place: str
) -> None:
    records = ["1 5 GT 0/1 0/0", "1 8 GT 0/1 0/0", "1 9 GT 0/1 0/2", "X 40000 GT 0/1 2/0"]
    path = tmp_path / f"b.{kind}"
    ran("bcftools", "view", "-O", kind, "-o", path, write(tmp_path, records))
    ran("bcftools", "index", path)
    with pytest.raises(ValueError, match=f"{place}, sample 'S[12]': .* beyond the 2"):
        open_vcf(path, region=region, cache_dir=False)


@pytest.mark.parametrize("kind", ["text", pytest.param("b", marks=HTSLIB)])
@pytest.mark.parametrize("alleles", ["A T,,C", "A ,T", "A T,", " T"])
def test_an_empty_allele_is_refused(tmp_path: Path, kind: str, alleles: str) -> None:
    path = write(tmp_path, ["1 5 GT 0/1 0/0", "1 6 GT 0/1 0/0"])
    lines = path.read_text().splitlines()
    lines[-1] = lines[-1].replace("A\tC", alleles.replace(" ", "\t"))
    path.write_text("\n".join(lines) + "\n")
    if kind == "b":
        ran("bcftools", "view", "-O", kind, "-o", tmp_path / "a.bcf", path)
        path = tmp_path / "a.bcf"
    with pytest.raises(ValueError, match=r"record 2 \(1:6\) has an empty allele in REF or ALT"):
        open_vcf(path, cache_dir=False)


@pytest.mark.parametrize(
    ("calls", "message"),
    [("0/1", "has 10 columns .*cut short"), ("0/1 0/0 1/1", "has 12 columns .*Correct the record")],
)
def test_a_record_has_the_columns_of_the_header(tmp_path: Path, calls: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"record 2 \(1:6\) {message}"):
        opened(tmp_path, "1 5 GT 0/1 0/0", f"1 6 GT {calls}")


# Filters


def with_filters(folder: Path, *filters: str) -> Path:
    path = write(folder, ["1 5 GT 0/1 0/0"] * len(filters), [*CONTIGS, GT, Q9])
    lines = path.read_text().splitlines()
    for k, text in enumerate(filters):
        columns = lines[k - len(filters)].split("\t")
        columns[1], columns[6] = str(5 + k), text
        lines[k - len(filters)] = "\t".join(columns)
    path.write_text("\n".join(lines) + "\n")
    return path


@HTSLIB
@pytest.mark.parametrize("text", ["PASS;", "q9;", "q9;q8;", "PASS", "q9;q8", "."])
def test_filters_are_those_of_bcftools(tmp_path: Path, text: str) -> None:
    path = with_filters(tmp_path, text)
    found = open_vcf(path, cache_dir=False)
    names = found.filter_id.values[found.variant_filter.values[0]].tolist()
    done = subprocess.run(
        ["bcftools", "query", "-f", "%FILTER", path], capture_output=True, check=True, timeout=60
    )
    assert (";".join(names) or ".") == done.stdout.decode()


@pytest.mark.parametrize("text", ["", ";", ";;", ";PASS", "q9;;q8", "q9;;", "q9;."])
@pytest.mark.parametrize("region", [None, "1:6-"])
def test_an_empty_name_of_a_filter_is_refused(
    tmp_path: Path, text: str, region: str | None
) -> None:
    path = with_filters(tmp_path, "PASS", "q9", text)
    with pytest.raises(ValueError, match=r"a\.vcf, FILTER of 1:7 has an empty name\. Write"):
        open_vcf(path, region=region, cache_dir=False)


@HTSLIB
def test_a_filter_that_the_header_of_a_bcf_lacks_is_refused(tmp_path: Path) -> None:
    path = with_filters(tmp_path, "PASS", "q9")
    ran("bcftools", "view", "-O", "u", "-o", tmp_path / "a.bcf", path)
    data = gzip.decompress((tmp_path / "a.bcf").read_bytes())
    (tmp_path / "a.bcf").write_bytes(data.replace(b"##FILTER=<ID=q9", b"##FALTER=<ID=q9"))
    with pytest.raises(ValueError, match=r"FILTER of 1:6 has a number that the header does not"):
        open_vcf(tmp_path / "a.bcf", cache_dir=False)
