"""Files that inflate, or declare, past the limit: refused by name, within 400 MiB more memory."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numcodecs
import numpy as np
import pytest

from tests.hostile.filesets import compressed
from tests.hostile.readers import READERS

if TYPE_CHECKING:
    from collections.abc import Callable

PVAR = b"#CHROM\tPOS\tID\tREF\tALT\n"
INFLATED = 400 * 2**20
"""Past what text may take by default (2 GiB / 8 or less), and far past the chunks here."""


def gzip_bomb(path: Path, start: bytes) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(INFLATED // 2**20):
            file.write(b"A" * 2**20)


def hole(path: Path, start: bytes = b"") -> None:
    """A file that is large by its size alone, and takes no room on the disk."""
    path.write_bytes(start)
    os.truncate(path, 2**31 + 2**20)


def replaced(reader: str, name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    """The files of a reader, one of them made anew."""

    def bomb(folder: Path) -> None:
        files = READERS[reader].files
        for other, data in files.items():
            (folder / other).parent.mkdir(parents=True, exist_ok=True)
            (folder / other).write_bytes(data)
        make(folder / name)

    return bomb


def chunk_bomb(path: Path) -> None:
    path.write_bytes(numcodecs.Blosc("zstd").encode(np.zeros(4 * INFLATED, np.uint8)))


def wide_labels(path: Path) -> None:
    said = json.loads(path.read_bytes())
    path.write_text(json.dumps({**said, "dtype": "<U300000000", "filters": None, "fill_value": ""}))


def many_texts(path: Path) -> None:
    """Labels of which a chunk declares 2**31, of no letters."""
    path.write_bytes(numcodecs.Blosc("zstd").encode(b"\xff\xff\xff\x7f" + bytes(16)))


def zip_bomb(part: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path) as file:
            files = {name: file.read(name) for name in file.namelist()}
        assert part in files
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in files.items():
                file.writestr(name, bytes(INFLATED) if name == part else data)

    return make


def many_rows(path: Path) -> None:
    """Rows of zeros, which take a few bytes in the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    part = pa.table({name: np.zeros(2**20, np.int64) for name in ("gene_0", "gene_1", "tau", "n")})
    with pq.ParquetWriter(path, part.schema) as writer:
        for _ in range(40):
            writer.write_table(part)


def lying_header(path: Path) -> None:
    """BCF whose header declares 4 GiB."""
    data = READERS["bcf"].files["a.bcf"]
    path.write_bytes(data[:5] + b"\xff" * 4 + data[9:])


def lying_record(path: Path) -> None:
    """BCF whose first record declares 4 GiB."""
    data = READERS["bcf"].files["a.bcf"]
    start = 9 + int.from_bytes(data[5:9], "little")
    path.write_bytes(data[:start] + b"\xff" * 4 + data[start + 4 :])


def in_zstd(path: Path) -> None:
    path.write_bytes(numcodecs.Zstd().encode(PVAR + b"A" * INFLATED))


def tree_sequence(path: Path) -> None:
    """A tree sequence with much behind it."""
    hole(path, READERS["tskit"].files["a.trees"])


def many_variants(path: Path) -> None:
    """BGEN of as many variants as fit, whose labels are empty."""
    hole(path, READERS["bgen"].files["a.bgen"][:8] + b"\xff\xff\xff\x07")
    with path.open("r+b") as file:
        file.seek(12)
        file.write(READERS["bgen"].files["a.bgen"][12:])


def long_allele(path: Path) -> None:
    """BGEN whose first allele is as long as the rest of the file."""
    data = READERS["bgen.zlib"].files["a.bgen"]
    at = data.index(b"\x02\x00\x01\x00\x00\x00A") + 2
    hole(path, data[:at] + b"\x00\x00\x00\x70A")


def lying_genotypes(path: Path) -> None:
    """BGEN whose first genotypes declare 4 GiB."""
    data = READERS["bgen.zstd"].files["a.bgen"]
    at = data.index(b"\x01\x00\x00\x00G") + 9
    path.write_bytes(data[:at] + b"\xff" * 4 + data[at + 4 :])


def many_samples(path: Path) -> None:
    """A text matrix in gzip of more samples than it has room for."""
    path.write_bytes(compressed(b"0\n"))
    ids = path.with_name("a.rel.id")
    ids.write_text("#IID\n" + "".join(f"s{k}\n" for k in range(40_000)))


_COLUMNS = b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS\n"
VCF = b"##fileformat=VCFv4.3\n" + _COLUMNS + b"1\t1\t"
HEADER = b"##fileformat=VCFv4.3\n##"
NEXUS = b"#NEXUS\nbegin trees;\ntree a = (a,"
READ = {
    "pgen": "gb.open_pgen(path)",
    "tskit": "gb.open_tskit(path)",
    "plink": "gb.open_plink(path)",
    "vcf": "gb.open_vcf(path, cache_dir=path.parent)",
    "bgen": "gb.open_bgen(path, sample=path.parent / 'a.sample')",
    "gcta": "gb.open_gcta(path.parent / 'a')",
    "rel": "gb.open_plink_rel(path.parent / 'a')",
    "fasta": "gb.open_alignment(path)",
    "chunks": "gb.open_alignment(path, chunks=3)",
    "trees": "read_trees(path, ['a', 'b'])",
    "gff": "read_genes(path)",
    "zarr": "gb.open_vcf_zarr(path).compute()",
    "pairs": "gb.open_pairs(path).to_network()",
    "map": "tables.read_map(path)",
    "samples": "tables.read_samples(path)",
}


def in_gzip(start: bytes) -> Callable[[Path], object]:
    return lambda path: gzip_bomb(path, start)


def at_size(start: bytes) -> Callable[[Path], object]:
    return lambda path: hole(path, start)


# What is opened, the part that is past the limit, the fileset that it belongs to, how to make it.
BOMBS: dict[str, tuple[str, str, str, Callable[[Path], object], str]] = {
    "plink-bim": ("a.bed", "a.bim", "plink", hole, "plink"),
    "plink-fam": ("a.bed", "a.fam", "plink", hole, "plink"),
    "ped-line": ("a.ped", "a.ped", "ped", hole, "plink"),
    "ped-map": ("a.ped", "a.map", "ped", hole, "plink"),
    "tped-line": ("a.tped", "a.tped", "tped", hole, "plink"),
    "tped-tfam": ("a.tped", "a.tfam", "tped", hole, "plink"),
    "vcf-line": ("a.vcf", "a.vcf", "vcf", at_size(VCF), "vcf"),
    "vcf-header": ("a.vcf", "a.vcf", "vcf", at_size(HEADER), "vcf"),
    "vcf.gz-line": ("a.vcf.gz", "a.vcf.gz", "vcf.gz", in_gzip(VCF), "vcf"),
    "vcf.gz-header": ("a.vcf.gz", "a.vcf.gz", "vcf.gz", in_gzip(HEADER), "vcf"),
    "bcf-header": ("a.bcf", "a.bcf", "bcf", lying_header, "vcf"),
    "bcf-record": ("a.bcf", "a.bcf", "bcf", lying_record, "vcf"),
    "bgen-sample": ("a.bgen", "a.sample", "bgen", hole, "bgen"),
    "bgen-variants": ("a.bgen", "a.bgen", "bgen", many_variants, "bgen"),
    "bgen-allele": ("a.bgen", "a.bgen", "bgen.zlib", long_allele, "bgen"),
    "bgen-genotypes": ("a.bgen", "a.bgen", "bgen.zstd", lying_genotypes, "bgen"),
    "gcta-id": ("a.grm.id", "a.grm.id", "gcta", hole, "gcta"),
    "rel-line": ("a.rel", "a.rel", "rel", hole, "rel"),
    "rel-id": ("a.rel.id", "a.rel.id", "rel", hole, "rel"),
    "rel.gz-line": ("a.rel.gz", "a.rel.gz", "rel.gz", in_gzip(b""), "rel"),
    "rel.gz-samples": ("a.rel.gz", "a.rel.gz", "rel.gz", many_samples, "rel"),
    "rel.bin-id": ("a.rel.id", "a.rel.id", "rel.bin", hole, "rel"),
    "fasta": ("a.fasta", "a.fasta", "fasta", at_size(b">a\n"), "fasta"),
    "fasta-chunks": ("a.fasta", "a.fasta", "fasta-chunks", at_size(b">"), "chunks"),
    "fasta.gz": ("a.fasta.gz", "a.fasta.gz", "fasta.gz", in_gzip(b">a\n"), "fasta"),
    "phylip": ("a.phy", "a.phy", "phylip", at_size(b"3 6\n"), "fasta"),
    "nexus": ("a.nex", "a.nex", "nexus", at_size(b"#NEXUS\n"), "fasta"),
    "clustal": ("a.aln", "a.aln", "clustal", at_size(b"CLUSTAL\n"), "fasta"),
    "stockholm": ("a.sto", "a.sto", "stockholm", at_size(b"# STOCKHOLM 1.0\n"), "fasta"),
    "newick": ("a.nwk", "a.nwk", "newick", at_size(b"(a,"), "trees"),
    "newick.gz": ("a.nwk.gz", "a.nwk.gz", "newick", in_gzip(b"(a,"), "trees"),
    "trees": ("a.nex", "a.nex", "trees", at_size(NEXUS), "trees"),
    "trees.gz": ("a.nex.gz", "a.nex.gz", "trees", in_gzip(NEXUS), "trees"),
    "gff": ("a.gff3", "a.gff3", "gff", at_size(b"1\tx\tgene\t"), "gff"),
    "gff.gz": ("a.gff3.gz", "a.gff3.gz", "gff.gz", in_gzip(b"1\tx\tgene\t"), "gff"),
    "zarr2-positions": ("a.vcz", "a.vcz/variant_position/0", "zarr2", chunk_bomb, "zarr"),
    "zarr2-calls": ("a.vcz", "a.vcz/call_genotype/0.0.0", "zarr2", chunk_bomb, "zarr"),
    "zarr2-labels": ("a.vcz", "a.vcz/sample_id/.zarray", "zarr2", wide_labels, "zarr"),
    "zarr2-texts": ("a.vcz", "a.vcz/sample_id/0", "zarr2", many_texts, "zarr"),
    "zip2": ("a.vcz.zip", "a.vcz.zip", "zip2", zip_bomb("variant_position/0"), "zarr"),
    "zip3": ("a.vcz.zip", "a.vcz.zip", "zip3", zip_bomb("variant_position/c/0"), "zarr"),
    "pgen-pvar": ("a.pgen", "a.pvar", "pgen", at_size(PVAR), "pgen"),
    "pgen-psam": ("a.pgen", "a.psam", "pgen", at_size(b"#IID\n"), "pgen"),
    "pgen-zst": ("a.pgen", "a.pvar.zst", "pvar.zst", in_zstd, "pgen"),
    "tskit": ("a.trees", "a.trees", "tskit", tree_sequence, "tskit"),
    "map": ("a.map", "a.map", "map", at_size(b"1 rs1 0.1 1000\n"), "map"),
    "hapmap": ("a.txt", "a.txt", "hapmap", at_size(b"chr position cM\n"), "map"),
    "shapeit.gz": ("a.gmap.gz", "a.gmap.gz", "shapeit.gz", in_gzip(b"pposition\n"), "map"),
    "pheno": ("a.pheno", "a.pheno", "pheno", at_size(b"FID IID y\n"), "samples"),
    "covar": ("a.covar", "a.covar", "covar", at_size(b"0 ann 1\n"), "samples"),
    "sample": ("a.sample", "a.sample", "sample", at_size(b"ID_1 ID_2 missing\n"), "samples"),
    "regenie": ("a.phe", "a.phe", "regenie", hole, "samples"),
    "table.gz": ("a.tsv.gz", "a.tsv.gz", "table.gz", in_gzip(b"sample_id\tx\n"), "samples"),
    "pairs": ("a.parquet", "a.parquet", "pairs", many_rows, "pairs"),
}


def test_every_reader_meets_a_bomb() -> None:
    # Planes are opened by xarray, and their chunks are checked when genobit gets them.
    assert {reader for _, _, reader, _, _ in BOMBS.values()} == READERS.keys() - {"planes"}


CODE = """
import json, sys
from pathlib import Path
import dask.array, xarray
import genobit as gb
from genobit.io.genes import read_genes
from genobit.io.trees import read_trees
from tests.hostile import tables
from tests.helpers.memory import peak_gib
before = peak_gib()
for name, file, call in json.loads(sys.argv[1]):
    path, said = Path(file), "nothing"
    try:
        eval(call)
    except (ValueError, OSError) as error:
        said = str(error)
    print(json.dumps([name, said, peak_gib() - before]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("call", READ)
def test_bombs_are_refused_within_400_mib(tmp_path: Path, call: str) -> None:
    bombs = {name: bomb for name, bomb in BOMBS.items() if bomb[-1] == call}
    calls = []
    for name, (opened, part, reader, make, _) in bombs.items():
        (tmp_path / name).mkdir()
        replaced(reader, part, make)(tmp_path / name)
        calls.append((name, str(tmp_path / name / opened), READ[call]))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, json.dumps(calls)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in answers] == list(bombs)
    for name, said, more in answers:
        opened, part, *_ = bombs[name]
        assert Path(part).name in said or opened in said, name
        assert any(word in said for word in ("eager_limit", "decompressed", "too few", "texts")), (
            name
        )
        assert more < 400 / 1024, name


def test_a_zip_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    import genobit as gb

    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(ValueError, match=r"a\.zip is not a regular file"):
        gb.open_vcf_zarr(tmp_path / "a.zip")


@pytest.mark.parametrize("codec", ["blosc", "zstd", "lz4", "zlib", "gzip", "bz2", "lzma"])
def test_sizes_are_those_that_codecs_inflate_to(codec: str) -> None:
    from genobit.data.guards.inflation import inflated_size, is_cut

    data = numcodecs.get_codec({"id": codec}).encode(np.zeros(3 * 2**20, np.uint8))
    assert inflated_size(codec, bytes(data), 2**30) == 3 * 2**20
    found = inflated_size(codec, bytes(data), 2**20)
    assert found is not None
    assert found > 2**20
    assert not is_cut(codec, bytes(data))
    assert is_cut(codec, bytes(data[:-1])) == (codec in ("blosc", "zstd"))


FRAME = b"\x28\xb5\x2f\xfd\x00\x00"
"""A Zstandard frame without its size, before its blocks."""
SKIPPED = b"\x5c\x2a\x4d\x18\x02\x00\x00\x00ab"


@pytest.mark.parametrize(
    ("first", "size"), [(FRAME + b"\x01\x00\x00", 0), (FRAME + b"\x19\x00\x00abc", 3), (SKIPPED, 0)]
)
@pytest.mark.parametrize("second", [FRAME + b"\x19\x00\x00abc", SKIPPED], ids=["frame", "skipped"])
def test_a_second_frame_that_is_cut_anywhere_is_found(
    first: bytes, size: int, second: bytes
) -> None:
    from genobit.data.guards.inflation import inflated_size, is_cut

    for length in range(len(second) + 1):
        assert is_cut("zstd", first + second[:length]) == (0 < length < len(second))
    assert inflated_size("zstd", first + second, 100) == size + 3 * (second != SKIPPED)
    # Not a frame, which the decoder refuses.
    assert not is_cut("zstd", first + b"zzz")
    # A recursive walk would exceed Python's depth of calls.
    assert inflated_size("zstd", first * 5000, 100) == size * 5000
