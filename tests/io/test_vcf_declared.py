"""What headers and indexes of VCF and BCF declare is read as written, and bounded."""

from __future__ import annotations

import gzip
import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

import genobit as gb
from genobit.io._filters import attributes

if TYPE_CHECKING:
    from pathlib import Path

HTSLIB = pytest.mark.skipif(shutil.which("bcftools") is None, reason="needs bcftools")
LINES = [
    "##fileformat=VCFv4.3",
    '##contig=<assembly="a,ID=z",ID=1,length=99999>',
    "##contig=<ID=2>",
    '##FILTER=<Description="below 10, ID=s50",ID=q10>',
    '##INFO=<ID=DP, Number=1, Type=Integer, Description="as INFO/XX,ID=AF,Type=Float">',
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="">',
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1",
]
RECORDS = [
    f"{contig}\t{position}\t.\tA\tC\t.\tq10\tDP={position}\tGT\t0|1"
    for contig in "12"
    for position in range(1, 60_000, 500)
]


def written(folder: Path, kind: str = "vcf") -> Path:
    path = folder / "a.vcf"
    path.write_text("\n".join([*LINES, *RECORDS, ""]))
    if kind == "vcf":
        return path
    out = folder / f"a.{kind}"
    mode = "-Oz" if kind == "vcf.gz" else "-Ob"
    subprocess.run(["bcftools", "view", mode, "-o", out, path], check=True, capture_output=True)
    return out


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("##INFO=<ID=A,Number=.>", {"ID": "A", "Number": "."}),
        ('##INFO=<Description="x,ID=B",ID=A>', {"Description": "x,ID=B", "ID": "A"}),
        (r'##INFO=<Description="a \",ID=B",ID=A>', {"Description": r"a \",ID=B", "ID": "A"}),
        ('##INFO=<ID=A, Number=1,Description="">', {"ID": "A", "Number": "1", "Description": ""}),
        ('##INFO=<ID=A,Description="cut,ID=B', {"ID": "A", "Description": '"cut'}),
        ("##reference=file:///a,b", {}),
    ],
)
def test_attributes_of_a_line__ignore_what_is_quoted(line: str, found: dict[str, str]) -> None:
    assert attributes(line) == found


@HTSLIB
@pytest.mark.parametrize("kind", ["vcf", "vcf.gz", "bcf"])
def test_names_are_those_outside_of_descriptions(tmp_path: Path, kind: str) -> None:
    ds = gb.open_vcf(written(tmp_path, kind), fields=["INFO/DP"], cache_dir=False)
    assert ds.contig_id.values.tolist() == ["1", "2"]
    assert dict(zip(ds.filter_id.values, ds.filter_description.values, strict=True)) == {
        "PASS": ds.filter_description.values[0],
        "q10": "below 10, ID=s50",
    }
    assert ds.variant_DP.values.tolist() == ds.variant_position.values.tolist()


def with_header(path: Path, old: str, new: str) -> Path:
    """Rewrite the header of a BCF."""
    data = gzip.decompress(path.read_bytes())
    size = int.from_bytes(data[5:9], "little")
    header = data[9 : 9 + size].decode()
    assert old in header
    changed = header.replace(old, new, 1).encode()
    path.write_bytes(data[:5] + len(changed).to_bytes(4, "little") + changed + data[9 + size :])
    return path


@HTSLIB
def test_a_contig_of_a_bcf_may_have_any_number(tmp_path: Path) -> None:
    path = with_header(
        written(tmp_path, "bcf"), "##contig", "##contig=<ID=X,IDX=2000000000>\n##contig"
    )
    ds = gb.open_vcf(path, cache_dir=False)
    assert ds.contig_id.values.tolist() == ["1", "2"]
    assert ds.sizes["variants"] == len(RECORDS)


@HTSLIB
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        *(
            ("##contig", f"##contig=<ID=X,IDX={'9' * digits}>\n##contig", "IDX=9+\\. Copy")
            for digits in (11, 5000)
        ),
        ("ID=2,IDX=1", "ID=2,IDX=7", "record 121 is damaged"),
    ],
)
def test_contigs_that_no_bcf_holds_are_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = with_header(written(tmp_path, "bcf"), old, new)
    with pytest.raises(ValueError, match=rf"a\.bcf.* {words}"):
        gb.open_vcf(path, cache_dir=False)


@HTSLIB
@pytest.mark.parametrize("kind", ["vcf.gz", "bcf"])
def test_an_index_of_many_levels_takes_little_memory(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, kind)
    subprocess.run(["bcftools", "index", "-c", path], check=True)
    index = path.with_name(path.name + ".csi")
    data = bytearray(gzip.decompress(index.read_bytes()))
    # Eleven levels have 10**10 bins.
    struct.pack_into("<i", data, 8, 11)
    index.write_bytes(gzip.compress(data))
    ds = gb.open_vcf(path, region="2", cache_dir=False)
    assert ds.sizes["variants"] == len(RECORDS) // 2


@HTSLIB
def test_an_index_beyond_memory_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "vcf.gz")
    path.with_name("a.vcf.gz.csi").write_bytes(gzip.compress(b"CSI\1" + bytes(2**23)))
    with (
        gb.set_options(eager_limit=2**22),
        pytest.raises(ValueError, match=r"a\.vcf\.gz\.csi: the index would take .* of memory"),
    ):
        gb.open_vcf(path, region="2", cache_dir=False)
