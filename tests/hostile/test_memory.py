"""Files that inflate, or declare, past the limit: refused by name, within 500 MiB of memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numcodecs
import numpy as np
import pytest

from tests.hostile.readers import READERS, put

if TYPE_CHECKING:
    from collections.abc import Callable

INFLATED = 160 * 2**20
"""Past what text may take by default (2 GiB / 16), and far past the chunks here."""


def text_bomb(path: Path, start: bytes) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(INFLATED // 2**20):
            file.write(b"A" * 2**20)


def chunk_bomb(folder: Path, name: str, chunk: str) -> None:
    put(folder / "x", READERS["zarr2"].files)
    (folder / "x" / "a.vcz").rename(folder / name)
    compressor = numcodecs.Blosc("zstd")
    (folder / name / chunk).write_bytes(compressor.encode(np.zeros(4 * INFLATED, np.uint8)))


def zip_bomb(folder: Path) -> None:
    with zipfile.ZipFile(folder / "a.vcz.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in READERS["zarr2"].files.items():
            inner = name.partition("/")[2]
            file.writestr(inner, bytes(INFLATED) if inner == "variant_position/0" else data)


VCF = b"##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS\n1\t1\t"
BOMBS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a.fasta.gz": (
        lambda d: text_bomb(d / "a.fasta.gz", b">a\n"),
        "gb.open_alignment(path)",
    ),
    "a.gff3.gz": (lambda d: text_bomb(d / "a.gff3.gz", b"1\tx\tgene\t"), "read_genes(path)"),
    "a.nwk.gz": (lambda d: text_bomb(d / "a.nwk.gz", b"(a,"), "read_trees(path, ['a', 'b'])"),
    "a.vcf.gz": (
        lambda d: text_bomb(d / "a.vcf.gz", VCF),
        "gb.open_vcf(path, cache_dir=path.parent)",
    ),
    "a.vcz": (
        lambda d: chunk_bomb(d, "a.vcz", "variant_position/0"),
        "gb.open_vcf_zarr(path)",
    ),
    "a.vcz.zip": (zip_bomb, "gb.open_vcf_zarr(path)"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_within_500_mib(tmp_path: Path, name: str) -> None:
    make, call = BOMBS[name]
    make(tmp_path)
    code = f"""
    from pathlib import Path
    import genobit as gb
    from genobit.io.genes import read_genes
    from genobit.io.trees import read_trees
    from tests.memory import peak_gib
    path = Path({str(tmp_path / name)!r})
    try:
        {call}
    except ValueError as error:
        print(type(error).__name__, error)
    print(peak_gib())
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    said, peak = done.stdout.strip().rsplit("\n", 1)
    assert said.startswith("ValueError")
    assert name in said
    assert "eager_limit" in said or "decompressed" in said
    assert float(peak) < 500 / 1024


def test_a_zip_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    import os

    import genobit as gb

    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(ValueError, match=r"a\.zip is no regular file"):
        gb.open_vcf_zarr(tmp_path / "a.zip")


@pytest.mark.parametrize("codec", ["blosc", "zstd", "lz4", "zlib", "gzip", "bz2", "lzma"])
def test_sizes_are_those_that_codecs_inflate_to(codec: str) -> None:
    from genobit.io._inflation import inflated_size

    data = numcodecs.get_codec({"id": codec}).encode(np.zeros(3 * 2**20, np.uint8))
    assert inflated_size(codec, bytes(data), 2**30) == 3 * 2**20
    found = inflated_size(codec, bytes(data), 2**20)
    assert found is not None
    assert found > 2**20
