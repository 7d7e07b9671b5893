"""Every container, index, region and choice of samples gives the calls that cyvcf2 reads."""

from __future__ import annotations

import functools
import gzip
import pickle
import shutil
import struct
import subprocess
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import xarray as xr
from cyvcf2 import VCF
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.io.vcf_files import blocks, cache, scan
from genobit.io.vcf_files.source import Source
from tests.helpers.servers import Ranges, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAMPLES = ["S1", "S2", "S3"]
HEADER = """##fileformat=VCFv4.2
##contig=<ID=1>
##contig=<ID=X>
##FILTER=<ID=q10,Description="">
##FORMAT=<ID=GT,Number=1,Type=String,Description="">
##FORMAT=<ID=DP,Number=1,Type=Integer,Description="">
"""
FIXED = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
PROGRAMS = pytest.mark.skipif(
    shutil.which("bcftools") is None or shutil.which("tabix") is None,
    reason="bcftools and tabix are not on the path",
)


def text_of(records: list[str], samples: list[str] = SAMPLES) -> str:
    return HEADER + FIXED + "\t".join(samples) + "\n" + "\n".join(records) + "\n"


def block(data: bytes) -> bytes:
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = stream.compress(data) + stream.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25)
    return head + body + struct.pack("<II", zlib.crc32(data), len(data))


def followed(member: bytes) -> bytes:
    """Return a block whose member is followed by its size once more, within the block."""
    size = struct.pack("<H", len(member) + 3)
    return member[:16] + size + member[18:] + member[-4:]


def bgzf(data: bytes, sizes: list[int]) -> bytes:
    """Blocks of these sizes in turn, 0 for an empty one, and the end mark."""
    parts, at, k = [], 0, 0
    while at < len(data):
        size = sizes[k % len(sizes)]
        parts.append(block(data[at : at + size]))
        at, k = at + size, k + 1
    return b"".join(parts) + END


def expected(path: Path) -> dict[str, Any]:
    """What cyvcf2 reads; a single dot has the ploidy of the sample's other calls on the contig."""
    records = [
        (r.CHROM, r.POS, r.ID or ".", [r.REF, *r.ALT], r.genotype and r.genotype.array())
        for r in VCF(str(path))
    ]
    ploidy = max(x.shape[1] - 1 for *_, x in records if x is not None)
    calls = np.full((len(records), len(SAMPLES), ploidy), -2)
    for k, (*_, found) in enumerate(records):
        calls[k, :, 0] = -1
        if found is not None:
            calls[k, :, : found.shape[1] - 1] = found[:, :-1]
    contigs = np.array([record[0] for record in records])
    if ploidy > 1:
        short = (calls[:, :, 1:] == -2).all(axis=2)
        for contig in set(contigs.tolist()):
            on = contigs == contig
            haploid = (short[on] & (calls[on, :, 0] >= 0)).any(axis=0)
            calls[on[:, None] & short & (calls[:, :, 0] == -1) & ~haploid] = -1
    return {
        "contig": contigs.tolist(),
        "position": [record[1] for record in records],
        "id": [record[2] for record in records],
        "alleles": [record[3] for record in records],
        "calls": calls,
    }


def found(ds: xr.Dataset) -> dict[str, Any]:
    return {
        "contig": ds.contig_id.values[ds.variant_contig.values].tolist(),
        "position": ds.variant_position.values.tolist(),
        "id": ds.variant_id.values.tolist(),
        "alleles": [[x for x in row if x] for row in ds.variant_allele.values.tolist()],
        "calls": ds.call_genotype.values,
    }


def assert_same(ds: xr.Dataset, wanted: dict[str, Any]) -> None:
    for name, values in found(ds).items():
        np.testing.assert_array_equal(np.array(values, object), np.array(wanted[name], object))


@st.composite
def cohorts(draw: st.DrawFn) -> list[str]:
    """Lines of records of any ploidy, dots, orders of FORMAT, and many alleles."""
    lines, position = [], 0
    ploidies = draw(st.sampled_from([[2], [1], [1, 2], [2, 3], [4]]))
    for k in range(draw(st.integers(1, 12))):
        position += draw(st.integers(0, 9))
        n = draw(st.sampled_from([0, 1, 1, 2, 11]))
        alts = ",".join("ACGT"[j % 4] * (2 + j // 4) for j in range(n)) or "."
        fields = draw(st.sampled_from(["GT", "GT:DP", "DP:GT"]))
        allele = st.sampled_from([*map(str, range(n + 1)), "."])
        columns = []
        for _ in SAMPLES:
            size = draw(st.sampled_from(ploidies))
            call = draw(st.sampled_from("/|")).join(draw(allele) for _ in range(size))
            call = draw(st.sampled_from([call, call, "."]))
            columns.append(":".join(call if key == "GT" else "7" for key in fields.split(":")))
        contig = "1" if k < 9 else "X"
        fixed = [contig, str(position + 1), f"v{k}", "A", alts, ".", ".", ".", fields]
        lines.append("\t".join([*fixed, *columns]))
    return lines


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lines=cohorts(),
    sizes=st.lists(st.integers(0, 70), min_size=1, max_size=5),
    windows=st.booleans(),
    open_end=st.booleans(),
)
def test_any_records_in_any_blocks(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    sizes: list[int],
    *,
    windows: bool,
    open_end: bool,
) -> None:
    folder = tmp_path_factory.mktemp("cohort")
    (folder / "oracle.vcf").write_text(text_of(lines))
    data = text_of(lines).encode()
    data = data[: len(data) - open_end]
    data = data.replace(b"\n", b"\r\n") if windows else data
    files = {
        "a.vcf": data,
        "b.vcf.gz": bgzf(data, [*sizes, 40]),
        "c.vcf.gz": gzip.compress(data[:99]) + gzip.compress(data[99:]),
    }
    wanted = expected(folder / "oracle.vcf")
    for name, content in files.items():
        (folder / name).write_bytes(content)
        for kept in (False, folder / "cache"):
            ds = gb.open_vcf(folder / name, cache_dir=kept, chunks=5)
            assert_same(ds, wanted)
            assert_same(elsewhere(ds), wanted)
            some = gb.open_vcf(folder / name, cache_dir=kept, samples=["S3", "S1"])
            np.testing.assert_array_equal(some.call_genotype, ds.call_genotype[:, [2, 0]])


def elsewhere(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset on another machine, which has no calls in memory."""
    found: xr.Dataset = pickle.loads(pickle.dumps(ds))
    return found


RECORDS = [
    f"{contig}\t{100 * k}\tr{k}\tA\tC\t.\t.\t.\tGT\t0|1\t{k % 2}|1\t./."
    for contig in ("1", "X")
    for k in range(1, 400)
]


@pytest.mark.parametrize("limit", [2**12, 2**14, 2**15, 2**16, 2**20])
@pytest.mark.parametrize("last", ["0/1/1", "1", "0|2"])
def test_a_late_call_of_another_shape__with_little_memory(
    tmp_path: Path, limit: int, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "CHUNK_BYTES", 2**10)
    monkeypatch.setattr(cache, "LEAST_ROWS", 16)
    monkeypatch.setattr(blocks, "PIECE", 2**12)
    lines = [
        f"X\t{k}\tr{k}\tA\tC,G\t.\t.\t.\tGT\t{k % 2}|1\t.\t{'.' if k % 3 else '1|1'}"
        for k in range(1, 600)
    ]
    lines.append(f"X\t600\tr\tA\tC,G\t.\t.\t.\tGT\t0|1\t{last}\t.")
    (tmp_path / "a.vcf").write_text(text_of(lines))
    right = gb.open_vcf(tmp_path / "a.vcf", cache_dir=tmp_path)
    with gb.set_options(eager_limit=16 * limit):
        found = gb.open_vcf(tmp_path / "a.vcf", cache_dir=False)
    for name in ("call_genotype", "call_genotype_phased"):
        np.testing.assert_array_equal(found[name], right[name], err_msg=name)
        np.testing.assert_array_equal(elsewhere(found)[name], right[name], err_msg=name)
    assert_same(right, expected(tmp_path / "a.vcf"))


@PROGRAMS
@pytest.mark.parametrize("kind", ["a.vcf", "a.vcf.gz", "a.bcf", "u.bcf"])
@pytest.mark.parametrize("index", [None, "tbi", "csi"])
@pytest.mark.parametrize("region", ["X", "1:5000-5500", "X:39900-"])
@pytest.mark.parametrize("how", ["cached", "in memory", "elsewhere"])
def test_every_container_index_and_region(
    tmp_path: Path, kind: str, index: str | None, region: str, how: str
) -> None:
    (tmp_path / "a.vcf").write_text(text_of(RECORDS))
    modes = {"a.vcf.gz": "-Oz", "a.bcf": "-Ob", "u.bcf": "-Ou"}
    path = tmp_path / kind
    if kind in modes:
        command = ["bcftools", "view", modes[kind], "-o", path, tmp_path / "a.vcf"]
        subprocess.run(command, check=True, capture_output=True)
    if index is not None:
        if kind in {"a.vcf", "u.bcf"} or (kind, index) == ("a.bcf", "tbi"):
            pytest.skip("htslib makes no such index")
        command = ["bcftools", "index", "-t" if index == "tbi" else "-c", path]
        subprocess.run(command, check=True, capture_output=True)
    folder = tmp_path / "cache" if how == "cached" else False
    whole = gb.open_vcf(tmp_path / "a.vcf", cache_dir=False).compute()
    ds = gb.open_vcf(path, region=region, samples=["S2", "S1"], cache_dir=folder)
    ds = elsewhere(ds) if how == "elsewhere" else ds
    wanted = whole.genobit.sel(variants=region).isel(samples=[1, 0])
    assert ds.sizes["variants"] == wanted.sizes["variants"] > 0
    names = ["call_genotype", "call_genotype_phased", "variant_id", "variant_position", "sample_id"]
    for name in names:
        np.testing.assert_array_equal(ds[name], wanted[name], err_msg=name)
    planes, calls = ds.genobit.pack(), ds.compute().chunk().genobit.pack()
    xr.testing.assert_identical(planes.compute(), calls.compute())


@PROGRAMS
def test_a_region_at_an_address_moves_its_blocks_alone(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    Ranges.sent = []
    rng = np.random.default_rng(1)
    samples = [f"S{k}" for k in range(400)]
    records = [
        f"1\t{1000 * k}\tr{k}\tA\tC\t.\t.\t.\tGT\t" + "\t".join(f"{a}|{b}" for a, b in pairs)
        for k, pairs in enumerate(rng.integers(0, 2, (4000, 400, 2)).tolist(), 1)
    ]
    path = tmp_path / "a.vcf.gz"
    (tmp_path / "a.vcf").write_text(text_of(records, samples))
    with path.open("wb") as out:
        subprocess.run(["bgzip", "-c", tmp_path / "a.vcf"], check=True, stdout=out)
    subprocess.run(["tabix", "-p", "vcf", path], check=True)
    with serving(Ranges, tmp_path) as address:
        ds = gb.open_vcf(f"{address}/a.vcf.gz", region="1:2000000-2010000", cache_dir=False)
        calls = ds.call_genotype.values
    moved = sum(n for name, n in Ranges.sent if name == "a.vcf.gz")
    assert moved < path.stat().st_size / 3
    whole = gb.open_vcf(path, cache_dir=False)
    np.testing.assert_array_equal(calls, whole.call_genotype[1999:2010])


@PROGRAMS
@pytest.mark.parametrize("index", ["-t", "-c"])
def test_an_index_of_an_earlier_file_is_named(tmp_path: Path, index: str) -> None:
    path = tmp_path / "a.vcf.gz"
    path.write_bytes(bgzf(text_of(RECORDS[:399]).encode(), [4000]))
    subprocess.run(["bcftools", "index", index, path], check=True)
    assert gb.open_vcf(path, region="1", cache_dir=tmp_path).sizes["variants"] == 399
    path.write_bytes(bgzf(text_of(RECORDS).encode(), [4000]))
    with pytest.raises(
        ValueError, match=r"a\.vcf\.gz\.\w+ does not fit .*a\.vcf\.gz.*bcftools index"
    ):
        gb.open_vcf(path, region="1", cache_dir=tmp_path)
    assert gb.open_vcf(path, cache_dir=tmp_path).sizes["variants"] == 798


def changed(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old.encode(), new.encode(), 1)


FAULTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a column is missing": (changed("\t1|1\t./.", "\t./."), r"record 1 \(1:100\) has 11 columns"),
    "a column too many": (changed("\t1|1\t", "\t1|1\t1|1\t"), r"record 1 \(1:100\) has 13 columns"),
    "no call": (changed("0|1", "0;1"), r"record 1 \(1:100\), sample 'S1': '0;1' is no call"),
    "half a call": (changed("0|1", "0|"), r"record 1 \(1:100\), sample 'S1': '0\|' is no call"),
    "an allele too many": (changed("1|1", "1|2"), r"sample 'S2': the call '1\|2' has an all"),
    "text in QUAL": (changed("C\t.", "C\thigh"), r"record 1 \(1:100\) has the QUAL 'high'"),
    "text in POS": (changed("1\t200\t", "1\t2e2\t"), r"record 2 \(1:2e2\) has the position '2e2'"),
    "a byte of Latin-1": (lambda data: data.replace(b"r2", b"r\xe4", 1), r"record 2 is not UTF-8"),
    "cut within a record": (lambda data: data[:-9], r"record 798 \(X:39900\) has 10 columns"),
}  # fmt: skip


@pytest.mark.parametrize("which", FAULTS)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("cached", [False, True])
def test_faults_are_named_with_their_place(
    tmp_path: Path, which: str, *, packed: bool, cached: bool
) -> None:
    change, message = FAULTS[which]
    data = change(text_of(RECORDS).encode())
    path = tmp_path / "a.vcf.gz"
    path.write_bytes(bgzf(data, [5000]) if packed else data)
    with pytest.raises(ValueError, match=rf"a\.vcf\.gz.*{message}"):
        gb.open_vcf(path, cache_dir=tmp_path / "cache" if cached else False)
    assert not list(tmp_path.glob("cache/vcf/*"))


def test_damaged_blocks_are_named_by_their_byte(tmp_path: Path) -> None:
    whole = bgzf(text_of(RECORDS).encode(), [5000])
    second = len(block(text_of(RECORDS).encode()[:5000]))
    path = tmp_path / "a.vcf.gz"
    flipped = bytearray(whole)
    flipped[second + 60] ^= 4
    for data, message in (
        (
            bytes(flipped),
            rf"a\.vcf\.gz is truncated or damaged at byte {second:,}: .*Copy it again",
        ),
        (whole[: second + 30], r"at byte .*: it ends within a compressed block"),
        (whole[:second] + b"some text" * 9 + whole[second:], r"there is no block of bgzip"),
        (followed(whole[:second]) + whole[second:], r"at byte 0: 4 bytes follow the compressed"),
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=message):
            gb.open_vcf(path, cache_dir=False)
    path.write_bytes(whole[: -len(END)])
    with pytest.warns(UserWarning, match="has no end mark of bgzip: it may be cut"):
        ds = gb.open_vcf(path, cache_dir=False)
    assert ds.sizes["variants"] == len(RECORDS)


def test_lines_longer_than_the_room_and_than_a_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "RESERVE", 64)
    monkeypatch.setattr(blocks, "PIECE", 4096)
    lines = [
        line.replace("\t.\t.\t.\t", f"\t.\t.\tX={'y' * (k % 7) ** 5}\t")
        for k, line in enumerate(RECORDS)
    ]
    path = tmp_path / "a.vcf"
    path.write_text(text_of(lines))
    for data in (path.read_bytes(), bgzf(path.read_bytes(), [900, 65000])):
        path.write_bytes(data)
        ds = gb.open_vcf(path, cache_dir=False)
        assert ds.variant_id.values.tolist() == [line.split("\t")[2] for line in RECORDS]
        calls = ["|".join(map(str, call)) for call in ds.call_genotype.values[:, 1].tolist()]
        assert calls == [line.split("\t")[10] for line in RECORDS]


def test_more_alleles_than_a_byte_holds(tmp_path: Path) -> None:
    alts = ",".join("A" * k for k in range(2, 301))
    path = tmp_path / "a.vcf"
    path.write_text(text_of([RECORDS[0], f"1\t900\tmany\tA\t{alts}\t.\t.\t.\tGT\t0|299\t128/.\t."]))
    ds = gb.open_vcf(path, cache_dir=False)
    assert ds.call_genotype.dtype == np.int16
    assert ds.call_genotype[1].values.tolist() == [[0, 299], [128, -1], [-1, -1]]


def test_thousands_of_contigs(tmp_path: Path) -> None:
    records = [RECORDS[k % 9].replace("1\t", f"locus_{k}\t", 1) for k in range(3000)]
    path = tmp_path / "a.vcf"
    path.write_text(text_of(records))
    ds = gb.open_vcf(path, cache_dir=False)
    assert ds.contig_id.values[ds.variant_contig].tolist() == [f"locus_{k}" for k in range(3000)]
    assert gb.open_vcf(path, region="locus_77", cache_dir=False).sizes["variants"] == 1


def test_calls_are_read_in_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "a.vcf.gz"
    path.write_bytes(bgzf(text_of(RECORDS).encode(), [5000]))
    ds = gb.open_vcf(path, cache_dir=False, chunks=200)
    again = pickle.loads(pickle.dumps(ds))
    xr.testing.assert_identical(again.compute(), ds.compute())
    # A task carries its own places, not those of the whole file.
    one = functools.reduce(
        max, (len(pickle.dumps(x)) for x in dict(ds.call_genotype.data.dask).values())
    )
    assert one < len(pickle.dumps(ds)) / 2


def test_what_is_read_of_a_source(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(range(100)))
    source = Source.of(path)
    assert source.read(10, 20) == bytes(range(10, 20))
    assert source.read(90, 200) == bytes(range(90, 100))
    assert source.beside(".tbi") is None
