"""Fields of INFO and FORMAT that `open_vcf` reads, against bio2zarr and bcftools."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import genobit as gb

if TYPE_CHECKING:
    from pathlib import Path

HEADER = """##fileformat=VCFv4.3
##contig=<ID=1>
##FILTER=<ID=PASS,Description="">
##INFO=<ID=DP,Number=1,Type=Integer,Description="">
##INFO=<ID=AF,Number=A,Type=Float,Description="">
##INFO=<ID=CI,Number=2,Type=Integer,Description="">
##INFO=<ID=DB,Number=0,Type=Flag,Description="">
##INFO=<ID=XX,Number=1,Type=String,Description="">
##INFO=<ID=MANY,Number=.,Type=String,Description="">
##INFO=<ID=MI,Number=.,Type=Integer,Description="">
##INFO=<ID=SA,Number=A,Type=String,Description="">
##INFO=<ID=S2,Number=2,Type=String,Description="">
##INFO=<ID=C1,Number=1,Type=Character,Description="">
##INFO=<ID=CR,Number=R,Type=Character,Description="">
##FORMAT=<ID=FT,Number=1,Type=String,Description="">
##FORMAT=<ID=FA,Number=A,Type=String,Description="">
##FORMAT=<ID=FC,Number=1,Type=Character,Description="">
##FORMAT=<ID=FR,Number=R,Type=Character,Description="">
##FORMAT=<ID=MF,Number=.,Type=Float,Description="">
##FORMAT=<ID=MS,Number=.,Type=String,Description="">
##FORMAT=<ID=GT,Number=1,Type=String,Description="">
##FORMAT=<ID=DP,Number=1,Type=Integer,Description="">
##FORMAT=<ID=AD,Number=R,Type=Integer,Description="">
##FORMAT=<ID=PL,Number=G,Type=Integer,Description="">
##FORMAT=<ID=DS,Number=1,Type=Float,Description="">
"""
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2\tS3\n"
FIELDS = [
    "INFO/DP",
    "INFO/AF",
    "INFO/CI",
    "INFO/DB",
    "DP",
    "AD",
    "PL",
    "FORMAT/DS",
    "INFO/MI",
    "MF",
]
RECORDS = [
    (
        "1\t10\t.\tA\tC\t.\t.\tDP=7;AF=0.25;DB;CI=-5,3\tGT:DP:AD:PL:DS\t"
        "0|1:3:1,2:9,0,12:0.5\t./.:.:.:.:.\t1/1:300000:0,.:1,2,3:1e-3"
    ),
    "1\t11\t.\tA\tC,G\t.\t.\tXX=DP;AF=1e-5,0.5\tDP:GT:DS\t4:0/1:2\t.:./.\t70:1/2",
    "1\t12\t.\tA\tT\t.\t.\tMI=7\tGT:AD:MF\t0|1:5,6:.\t0|0\t.:1,2:0.5,.,2",
    "1\t13\t.\tA\tT\t.\t.\tDBX=1;XDB;MI=1,-5,.,4\tGT:PL\t0|1:1,2,70000\t0|0:.\t0/0:0,-1,2",
]


def written(folder: Path, records: list[str]) -> Path:
    path = folder / "a.vcf"
    path.write_text(HEADER + COLUMNS + "\n".join(records) + "\n")
    return path


def container(path: Path, kind: str) -> Path:
    if kind == "vcf":
        return path
    if shutil.which("bcftools") is None:
        pytest.skip("bcftools is not on the path")
    out = path.with_suffix(f".{kind}")
    mode = "-Oz" if kind.endswith("gz") else "-Ob"
    subprocess.run(["bcftools", "view", mode, "-o", out, path], check=True, capture_output=True)
    return out


NAMES = ["variant_DP", "variant_AF", "variant_CI", "variant_DB"]
NAMES += ["call_DP", "call_AD", "call_PL", "call_DS", "variant_MI", "call_MF"]


def expected(path: Path, folder: Path, names: list[str] = NAMES) -> dict[str, np.ndarray]:
    import zarr
    from bio2zarr import vcf

    vcf.convert([path], folder / "a.vcz", worker_processes=0)
    group = zarr.open_group(folder / "a.vcz", mode="r")
    return {name: np.asarray(group[name]) for name in names if name in group}


@pytest.mark.parametrize("kind", ["vcf", "vcf.gz", "bcf"])
@pytest.mark.parametrize("cached", [False, True])
def test_fields_equal_bio2zarr(tmp_path: Path, kind: str, *, cached: bool) -> None:
    # DBX and XDB are no fields of the header, which htslib would add.
    records = [record.replace("DBX=1;XDB;", "") for record in RECORDS]
    path = container(written(tmp_path, records), kind)
    cache = tmp_path / "cache" if cached else False
    ds = gb.open_vcf(path, fields=FIELDS, cache_dir=cache, chunks=3)
    (tmp_path / "oracle").mkdir()
    oracle = container(written(tmp_path / "oracle", records), "vcf.gz")
    for name, values in expected(oracle, tmp_path).items():
        assert ds[name].dims[:1] == ("variants",)
        assert ds[name].dtype.kind == values.dtype.kind
        np.testing.assert_array_equal(ds[name].values, values, err_msg=name)
    some = gb.open_vcf(path, fields="AD", samples=["S3", "S1"], cache_dir=cache)
    np.testing.assert_array_equal(some.call_AD, ds.call_AD[:, [2, 0]])


TEXTS = ["INFO/XX", "INFO/SA", "INFO/S2", "INFO/C1", "INFO/CR", "FT", "FA", "FC", "FR"]
TEXTS += ["INFO/MANY", "MS"]
TEXT_RECORDS = [
    (
        "1\t10\t.\tA\tC,G\t.\t.\tXX=ab;SA=x,yy;MANY=.;S2=p,q;C1=Z;CR=a,b,c\tGT:FT:FA:FC:FR\t"
        "0|1:PASS:a,b:k:a,b,c\t0|1:q;r:.,b:.:a,.,c\t0|1"
    ),
    "1\t11\t.\tA\tC\t.\t.\tXX=.;SA=x;S2=.,q;C1=.;CR=a,b;MANY=i,.,kk\tGT:FT:FA\t0|1:.:a\t0|1:qq:.\t0|1:x",
    "1\t12\t.\tA\tC\t.\t.\t.\tGT\t0|1\t0|1\t0|1",
    "1\t13\t.\tA\tC\t.\t.\tS2=u;MANY=lm\tGT:FR:MS\t0|1:.:n,o,pp,.\t0|1:x,y:.\t0|1:z",
]


@pytest.mark.parametrize("kind", ["vcf", "vcf.gz", "bcf"])
@pytest.mark.parametrize("cached", [False, True])
def test_text_equals_bio2zarr(tmp_path: Path, kind: str, *, cached: bool) -> None:
    path = container(written(tmp_path, TEXT_RECORDS), kind)
    cache = tmp_path / "cache" if cached else False
    ds = gb.open_vcf(path, fields=TEXTS, cache_dir=cache, chunks=3)
    (tmp_path / "oracle").mkdir()
    oracle = container(written(tmp_path / "oracle", TEXT_RECORDS), "vcf.gz")
    names = [f"variant_{x[5:]}" if "/" in x else f"call_{x}" for x in TEXTS]
    for name, values in expected(oracle, tmp_path, names).items():
        assert ds[name].dtype == object
        np.testing.assert_array_equal(ds[name].values, values.astype(object), err_msg=name)
    again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tmp_path / "again.vcz"))
    for name in names:
        np.testing.assert_array_equal(again[name], ds[name], err_msg=name)


@pytest.mark.parametrize("kind", ["vcf", "bcf"])
def test_text_of_one_value_keeps_commas_and_letters(tmp_path: Path, kind: str) -> None:
    records = ["1\t5\t.\tA\tC\t.\t.\tXX=a,é%3B\tGT:FT\t0|1:a,b\t0|1:é\t0|1:."]
    ds = gb.open_vcf(
        container(written(tmp_path, records), kind), fields=["INFO/XX", "FT"], cache_dir=False
    )
    assert ds.variant_XX.values.tolist() == ["a,é%3B"]
    assert ds.call_FT.values.tolist() == [["a,b", "é", "."]]


def test_text_that_is_no_unicode_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, [TEXT_RECORDS[2], TEXT_RECORDS[0].replace("ab", "@@")])
    path.write_bytes(path.read_bytes().replace(b"@@", b"\xe9"))
    ds = gb.open_vcf(path, fields=["INFO/XX"], cache_dir=False)
    with pytest.raises(ValueError, match=r"record 2 is not UTF-8 text: INFO/XX holds .* 0xe9"):
        ds.variant_XX.compute()


@pytest.mark.parametrize(
    ("field", "declared", "other"),
    [
        ("INFO/DP", "Integer", "String"),
        ("INFO/DP", "Integer", "Character"),
        ("INFO/AF", "Float", "Integer"),
        ("INFO/XX", "String", "Float"),
        ("FT", "String", "Integer"),
        ("DP", "Integer", "String"),
    ],
)
def test_a_bcf_of_another_type_is_refused(
    tmp_path: Path, field: str, declared: str, other: str
) -> None:
    import gzip

    path = container(written(tmp_path, [*RECORDS[:1], *TEXT_RECORDS[:2]]), "bcf")
    data = gzip.decompress(path.read_bytes())
    size = int.from_bytes(data[5:9], "little")
    lines = data[9 : 9 + size].split(b"\n")
    part, _, key = field.rpartition("/")
    start = f"##{part or 'FORMAT'}=<ID={key},".encode()
    k = next(k for k, line in enumerate(lines) if line.startswith(start))
    lines[k] = lines[k].replace(declared.encode(), other.encode())
    header = b"\n".join(lines)
    path.write_bytes(data[:5] + len(header).to_bytes(4, "little") + header + data[9 + size :])
    ds = gb.open_vcf(path, fields=[field], cache_dir=False)
    name = f"variant_{key}" if part else f"call_{key}"
    place = r"record [12] \(1:1.\): the values of .* are not of the Type"
    with pytest.raises(ValueError, match=f"{place} {other} that the header gives"):
        ds[name].compute()


def test_a_key_within_another_is_not_the_field(tmp_path: Path) -> None:
    ds = gb.open_vcf(written(tmp_path, RECORDS), fields=["INFO/DB", "INFO/DP"], cache_dir=False)
    assert ds.variant_DB.values.tolist() == [True, False, False, False]
    assert ds.variant_DP.values.tolist() == [7, -1, -1, -1]


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.integers(-(2**31) + 10, 2**31 - 2), st.floats(width=32, allow_nan=False)),
        min_size=1,
        max_size=12,
    )
)
def test_numbers_are_read_as_they_are_printed(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[tuple[int, float]]
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    records = [
        f"1\t{k + 1}\t.\tA\tC\t.\t.\tDP={n};AF={x}\tGT\t0|1\t0|1\t0|1"
        for k, (n, x) in enumerate(numbers)
    ]
    path = written(folder, records)
    ds = gb.open_vcf(path, fields=["INFO/DP", "INFO/AF"], cache_dir=False)
    assert ds.variant_DP.values.tolist() == [n for n, _ in numbers]
    np.testing.assert_array_equal(
        ds.variant_AF[:, 0], np.array([x for _, x in numbers], np.float32)
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (["AF"], r"fields\[0\] is 'AF', .*did you mean 'INFO/AF'\?"),
        (["XY"], r"fields\[0\] is 'XY', which the header of .*a\.vcf lacks; it has FORMAT/AD, "),
        (
            ["DP", "INFO/ODD"],
            r"fields\[1\] is 'INFO/ODD', of Type=Integer and Number=x in .*Integer, .*reheader",
        ),
        (["GT"], r"fields\[0\] is 'GT', which call_genotype always holds: leave it out"),
        (["INFO/CI"], r"a\.vcf: INFO/CI of a record would take .* of memory"),
    ],
)
def test_fields_that_are_not_read(tmp_path: Path, fields: list[str], message: str) -> None:
    path = written(tmp_path, RECORDS)
    odd = '##INFO=<ID=ODD,Number=x,Type=Integer,Description="">'
    text = path.read_text().replace("#CHROM", f"{odd}\n#CHROM")
    path.write_text(text.replace("ID=CI,Number=2", "ID=CI,Number=2000000000"))
    with pytest.raises(ValueError, match=message):
        gb.open_vcf(path, fields=fields, cache_dir=False)


@pytest.mark.parametrize("number", [".", "LA", "LR", "LG", "P", "M"])
@pytest.mark.parametrize("region", [None, "1:10-11"])
def test_an_open_number_gets_the_longest_list_that_is_read(
    tmp_path: Path, number: str, region: str | None
) -> None:
    path = written(tmp_path, RECORDS)
    path.write_text(path.read_text().replace("ID=PL,Number=G", f"ID=PL,Number={number}"))
    ds = gb.open_vcf(path, fields=["PL"], cache_dir=False, region=region, samples=["S2"])
    assert ds.call_PL.dims == ("variants", "samples", "FORMAT_PL_dim")
    assert ds.call_PL[0].values.tolist() == [[-1, -2, -2]]
    if region is None:
        assert ds.call_PL[:, 0].values.tolist()[1:] == [[-1, -1, -1], [-1, -1, -1], [-1, -2, -2]]


def test_more_genotypes_than_anyone_lists__take_what_the_records_have(tmp_path: Path) -> None:
    alleles = ",".join("A" * k for k in range(2, 61))
    call = "/".join("0" * 8)
    record = f"1\t9\t.\tA\t{alleles}\t.\t.\t.\tGT:PL\t{call}:.\t{call}:1,2\t{call}:."
    ds = gb.open_vcf(written(tmp_path, [record]), fields=["PL"], cache_dir=False)
    assert ds.call_PL.values.tolist() == [[[-1, -2], [1, 2], [-1, -2]]]


@pytest.mark.parametrize("kind", ["vcf", "vcf.gz", "bcf"])
def test_a_list_of_no_values_is_missing(tmp_path: Path, kind: str) -> None:
    record = "1\t9\t.\tA\t.\t.\t.\tCI=;DP=;AF=;XX=\tGT:DP:MF:FT\t0|0::.:\t0|0:3:1:a\t.:.:.:."
    path = container(written(tmp_path, [record]), kind)
    names = ["INFO/CI", "INFO/DP", "INFO/AF", "INFO/XX", "DP", "MF", "FT"]
    ds = gb.open_vcf(path, fields=names, cache_dir=False)
    assert ds.variant_CI.values.tolist() == [[-1, -2]]
    assert ds.variant_DP.values.tolist() == [-1]
    assert np.isnan(ds.variant_AF.values).all()
    assert ds.variant_XX.values.tolist() == ["."]
    assert ds.call_DP.values.tolist() == [[-1, 3, -1]]
    assert np.isnan(ds.call_MF.values[0, [0, 2]]).all()
    assert ds.call_FT.values.tolist() == [[".", "a", "."]]


@pytest.mark.parametrize("kind", ["vcf", "vcf.gz", "bcf"])
def test_of_a_field_that_repeats__the_first_is_read(tmp_path: Path, kind: str) -> None:
    record = "1\t9\t.\tA\tC\t.\t.\tDP=1;DP=2\tGT:DP:DP\t0|1:3:4\t0|0:5:6\t.:7:8"
    path = container(written(tmp_path, [record]), kind)
    ds = gb.open_vcf(path, fields=["DP", "INFO/DP"], cache_dir=False)
    assert ds.variant_DP.values.tolist() == [1]
    assert ds.call_DP.values.tolist() == [[3, 5, 7]]


@pytest.mark.parametrize(("call", "width"), [("0", 3), ("0/1", 3), ("0/1/1", 4), ("0/1/1/1", 5)])
def test_genotypes_of_a_site_follow_the_ploidy(tmp_path: Path, call: str, width: int) -> None:
    numbers = list(range(width))
    value = ",".join(map(str, numbers))
    record = f"1\t9\t.\tA\tC\t.\t.\t.\tGT:PL\t{call}:{value}\t{call}\t{call}:."
    ds = gb.open_vcf(written(tmp_path, [record]), fields=["PL"], cache_dir=False)
    assert ds.call_PL[0, 0].values.tolist() == numbers


def test_chunks_of_long_lists_have_fewer_records(tmp_path: Path) -> None:
    alt = ",".join("C" * k for k in range(1, 128))
    records = [f"1\t{k}\t.\tA\tC\t.\t.\t.\tGT:PL\t0|1:1,2,3\t.\t." for k in range(1, 3001)]
    path = written(tmp_path, [*records, records[0].replace("A\tC", f"A\t{alt}")])
    ds = gb.open_vcf(path, fields=["PL"], cache_dir=False)
    chunk = ds.call_PL.data.blocks[0]
    assert chunk.nbytes <= 2**27 < ds.call_PL.nbytes
    assert ds.chunksizes["variants"] == ds.call_PL.chunks[0]
    assert ds.call_PL[-2:, 0, :4].values.tolist() == [[1, 2, 3, -2]] * 2


@pytest.mark.parametrize("kind", ["vcf", "bcf"])
@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (("AF=1e-5,0.5", "AF=1,2,3"), "INFO/AF", r"record 2 \(1:11\) has 3 values of INFO/AF"),
        (("0|1:5,6", "0|1:5,6,7,8"), "AD", r"record 3 \(1:12\) has 4 values of FORMAT/AD"),
        (("0|1:3:", "0|1:3.5:"), "DP", r"record 1 \(1:10\): '3.5' of FORMAT/DP is no Integer"),
        (("0|1:3:", "0|1:x:"), "DP", r"record 1 \(1:10\): 'x' of FORMAT/DP is no Integer"),
        (("CI=-5,3", "CI=1,2,3"), "INFO/CI", r"has 3 values of INFO/CI, where Number=2 allows 2"),
    ],
)
def test_a_wrong_value_is_named__and_only_if_it_is_read(
    tmp_path: Path, kind: str, change: tuple[str, str], field: str, message: str
) -> None:
    if kind == "bcf" and "is no" in message:
        pytest.skip("a BCF holds numbers")
    records = [record.replace(*change).replace("DBX=1;XDB;", "") for record in RECORDS]
    path = container(written(tmp_path, records), kind)
    ds = gb.open_vcf(path, fields=[field], cache_dir=False)
    assert ds.call_genotype.values.shape == (4, 3, 2)
    name = f"variant_{field[5:]}" if "/" in field else f"call_{field}"
    with pytest.raises(ValueError, match=message):
        ds[name].compute()


def test_fields_of_a_stream_and_masked_calls(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.vcf.gz"
    path.write_bytes(gzip.compress(written(tmp_path, RECORDS).read_bytes()))
    ds = gb.open_vcf(path, fields=["DP"], cache_dir=tmp_path / "cache")
    assert ds.call_DP.values.tolist() == [[3, -1, 300000], [4, -1, 70], [-1] * 3, [-1] * 3]
    masked = ds.genobit.mask_calls(min_dp=5)
    assert masked.call_genotype[:2].values.tolist() == [
        [[-1, -1], [-1, -1], [1, 1]],
        [[-1, -1], [-1, -1], [1, 2]],
    ]


def test_an_error__lists_what_the_header_has_and_a_field_may_be(tmp_path: Path) -> None:
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "S"]
    record = ["1", "1", ".", "A", "C", ".", ".", ".", "GT", "0/1"]
    key = '##FORMAT=<ID=GT,Number=1,Type=String,Description="">'
    lines = ["##fileformat=VCFv4.3", key, "\t".join(columns), "\t".join(record), ""]
    (tmp_path / "a.vcf").write_text("\n".join(lines))
    with pytest.raises(
        ValueError, match=r"'GP', which the header of .*a\.vcf lacks; it has none\.$"
    ):
        gb.open_vcf(tmp_path / "a.vcf", fields=["GP"], cache_dir=False)
