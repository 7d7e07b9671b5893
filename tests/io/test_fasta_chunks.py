"""FASTA read a part at a time against the same file read whole."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.io.alignment_files import _fasta


def written(folder: Path, text: str | bytes, name: str = "x.fasta") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def wrapped(rows: list[str], widths: list[int], end: str, last: str, blanks: int) -> bytes:
    """Rows as FASTA, each with lines of its own width."""
    out = []
    for number, (row, width) in enumerate(zip(rows, widths, strict=True)):
        lines = [row[k : k + width] for k in range(0, len(row), width)]
        out.append(f">t{number} of\tñ" + end + end.join(lines) + end * (1 + blanks))
    text = end * blanks + "".join(out)
    return (text.rstrip("\r\n") + last).encode()


@given(
    data=st.data(),
    end=st.sampled_from(["\n", "\r\n"]),
    symbols=st.sampled_from(["ACGT-", "acgtNn", "EFLQ*", "01?-"]),
    block=st.sampled_from([1, 2, 3, 7, 64, 2**20]),
)
def test_equals_the_file_read_whole(tmp_path_factory, data, end, symbols, block) -> None:
    taxa, sites = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = ["".join(rng.choice(list(symbols), sites)) for _ in range(taxa)]
    widths = [data.draw(st.integers(1, sites + 2)) for _ in rows]
    text = wrapped(rows, widths, end, data.draw(st.sampled_from(["", end])), int(rng.integers(3)))
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    path = written(tmp_path_factory.mktemp("fasta"), mark + text)
    before = _fasta.BLOCK
    try:
        # A mark of byte order is looked for in one block.
        _fasta.BLOCK = max(block, 3) if mark else block
        found = gb.open_alignment(path, chunks=data.draw(st.integers(1, sites + 3)))
    finally:
        _fasta.BLOCK = before
    whole = gb.open_alignment(path)
    assert found.dtype == whole.dtype
    xr.testing.assert_identical(found.compute(), whole)
    a, b = sorted(rng.integers(0, sites + 1, 2).tolist())
    for part in (
        {"sites": slice(a, b)},
        {"taxa": slice(None, None, -1)},
        {"sites": [0, sites - 1]},
    ):
        xr.testing.assert_identical(found.isel(part).compute(), whole.isel(part))
    steps = {"sites": slice(None, None, -3), "taxa": slice(0, None, 2)}
    xr.testing.assert_identical(found.isel(steps).compute(), whole.isel(steps))


FASTA = b">a one\nACGTN\nACG\n>b\nAC-TR\nAAC\n>c\nACGTA\nTTT\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ">a\nACGT\nAC\nGTA\n",
            r"line 4: lines of a taxon .* taxon 0 have 4 symbols: rewrap .*seqkit",
        ),
        (">a\nACGT\n\nGTAC\n", "line 4: lines of a taxon but the last"),
        (">a\nACGT\n>b\nAC\nGTA\n", "line 5: lines of a taxon but the last"),
        (">a\r\nACGT\r\nACGT\nACGT\r\n", "line 4: lines of a taxon but the last"),
        (">a\nACGT\n>b\nACG\n", r"taxon 1 \('b'\) has 3 sites, the first \('a'\) has 4: align"),
        (">a\nAC GT\n", r"line 2 has b' '.*leave out chunks= to read it in memory"),
        (">a\nACGT\rACGT\n", r"line 2 has b'A', which is not a symbol"),
        (">a\rACGT\r>b\rACGT\r", "name of taxon 0, .* contains a line break: rewrap"),
        (">a\nACÄT\n", r"line 2 has b'\\xc3'"),
        (">a\nAC\x00T\n", "not a text file"),
        ("ACGT\n", r"chunks= reads plain FASTA, and the first line is 'ACGT': leave out chunks="),
        ("2 4\na ACGT\nb ACGT\n", "first line is '2 4': leave out"),
        (">a\nACGT\n>a\nACGT\n", "taxa 0 and 1 are both named 'a'"),
        (">a\n>b\n", "there are no sites"),
        (">\nACGT\n", "taxon 0 has no name"),
        ("\n \n", "is empty"),
        (">a\nACGT\n>b\nAC!T\n", r"taxon 1 \('b'\), site 2: '!' is not a symbol of kind 'dna'"),
    ],
)
def test_refusals(tmp_path, text, message) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=message) as error:
        gb.open_alignment(path, chunks=2)
    assert str(path) in str(error.value)


def test_refuses_what_only_memory_reads(tmp_path) -> None:
    path = written(tmp_path, gzip.compress(FASTA), "x.fasta.gz")
    with pytest.raises(
        ValueError, match="gzip does not allow: decompress it, or leave out chunks="
    ):
        gb.open_alignment(path, chunks=2)
    with pytest.raises(ValueError, match=r"expected '>' and a name"):
        gb.open_alignment(written(tmp_path, "ACGT\n"), chunks=2, format="fasta")
    plain = written(tmp_path, FASTA)
    with pytest.raises(ValueError, match="chunks= reads plain FASTA"):
        gb.open_alignment(plain, chunks=2, format="nexus")
    for chunks in (0, -1, 2.5, "auto", True):
        with pytest.raises(ValueError, match="is not a whole number of sites, at least 1"):
            gb.open_alignment(plain, chunks=chunks)
    with pytest.raises(ValueError, match="kind='rna' is not one of"):
        gb.open_alignment(plain, chunks=2, kind="rna")


def test_kind_is_asked_for_and_checked(tmp_path) -> None:
    path = written(tmp_path, FASTA)
    for kind in ("protein", "standard"):
        found = gb.open_alignment(path, chunks=4, kind=kind)
        xr.testing.assert_identical(found.compute(), gb.open_alignment(path, kind=kind))
    path = written(tmp_path, FASTA.replace(b"TTT", b"TET"))
    with pytest.raises(
        ValueError, match=r"taxon 2 \('c'\), site 6: 'E' is not a symbol of kind 'dna'"
    ):
        gb.open_alignment(path, chunks=4, kind="dna")


@pytest.mark.parametrize("change", ["shorter", "other", "gone"])
def test_a_file_that_changed_is_an_error(tmp_path, change) -> None:
    path = written(tmp_path, FASTA)
    found = gb.open_alignment(path, chunks=4)
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(FASTA[:-3] if change == "shorter" else FASTA.replace(b"N", b"A"))
        os.utime(path, ns=(1, 1))
    with pytest.raises(OSError, match=r"x\.fasta"):
        found.compute()


def test_trees_of_a_file_in_chunks(tmp_path) -> None:
    pytest.importorskip("dendropy")
    aln = gb.sample_alignment().drop_vars("codon_position")
    rows = ["".join(row) for row in aln.values]
    text = "".join(f">{name}\n{row}\n" for name, row in zip(aln.taxa.values, rows, strict=True))
    lazy = gb.open_alignment(written(tmp_path, text), chunks=100)
    tree = aln.attrs["tree"]
    expected = aln.genobit.parsimony(tree)
    xr.testing.assert_identical(lazy.genobit.parsimony(tree), expected)
    band = lazy.genobit.ld("T", window=5)
    xr.testing.assert_identical(band.compute(), aln.genobit.ld("T", window=5).compute())


def test_a_name__keeps_what_is_no_blank_of_ascii(tmp_path: Path) -> None:
    # Python's str.strip removes a separator such as 0x1f, and bytes.strip does not.
    (tmp_path / "a.fasta").write_bytes(b"> \x1fa\x85 \nAC\n")
    found = gb.open_alignment(tmp_path / "a.fasta", chunks=3)
    xr.testing.assert_identical(found, gb.open_alignment(tmp_path / "a.fasta"))
