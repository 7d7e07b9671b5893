from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.io.tree_files import _dendropy

THREE = ">a\nACGT\n>b c_d\nACRT\n>c\nA-NT\n"


def write(folder: Path, text: str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def rows(aln: xr.DataArray) -> dict[str, str]:
    return {str(name): "".join(row) for name, row in zip(aln.taxa.values, aln.values, strict=True)}


def nexus(form: str, matrix: str, taxa: int = 3, sites: int = 4) -> str:
    return (
        f"#NEXUS\n[made by hand]\nbegin data;\n dimensions ntax={taxa} nchar={sites};\n"
        f" format {form};\n matrix\n{matrix}\n ;\nend;\n"
    )


@pytest.mark.parametrize(
    ("name", "shape", "kind"),
    [
        ("primates/primates.fasta", (14, 232), "dna"),
        ("primates_ambig/primates_ambig.fasta", (14, 232), "dna"),
        ("laurasiatherian/laurasiatherian.fasta", (47, 3179), "dna"),
        ("woodmouse/woodmouse.fasta", (15, 965), "dna"),
        ("yeast8/yeast8.fasta", (8, 127026), "dna"),
        ("mites_morph/mites_morph.phy", (12, 79), "standard"),
    ],
)
def test_published_alignments(shared_data: Path, name, shape, kind) -> None:
    aln = gb.open_alignment(shared_data / name)
    assert aln.dims == ("taxa", "sites")
    assert aln.shape == shape
    assert aln.dtype == np.dtype("U1")
    assert aln.attrs["kind"] == kind
    words = (shared_data / name).read_text().split()
    assert str(aln.taxa.values[0]) in {words[0].removeprefix(">"), words[2]}


def test_published_alignments__written_by_dendropy_as_nexus(shared_data: Path, tmp_path) -> None:
    import dendropy

    path = shared_data / "primates_ambig" / "primates_ambig.fasta"
    matrix = dendropy.DnaCharacterMatrix.get(path=path, schema="fasta")
    written = write(tmp_path, matrix.as_string("nexus"), "primates.nex")
    xr.testing.assert_equal(gb.open_alignment(written), gb.open_alignment(path))


@pytest.mark.parametrize("strict", [True, False])
def test_published_alignments__written_by_dendropy_as_phylip(
    shared_data: Path, tmp_path, strict
) -> None:
    import dendropy

    path = shared_data / "woodmouse" / "woodmouse.fasta"
    matrix = dendropy.DnaCharacterMatrix.get(path=path, schema="fasta")
    written = write(tmp_path, matrix.as_string("phylip", strict=strict), "mice.phy")
    xr.testing.assert_equal(gb.open_alignment(written), gb.open_alignment(path))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_fasta(tmp_path, ends) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes("\n>a\nac\n gT \n\n>b c_d\nACRT\n>c\nA-NT".replace("\n", ends).encode())
    aln = gb.open_alignment(path)
    assert rows(aln) == {"a": "ACGT", "b c_d": "ACRT", "c": "A-NT"}
    assert aln.attrs == {
        "long_name": "alignment",
        "kind": "dna",
        "format": "fasta",
        "source": str(path),
    }


def test_gzip(tmp_path) -> None:
    path = tmp_path / "x.fasta.gz"
    path.write_bytes(gzip.compress(THREE.encode()))
    assert rows(gb.open_alignment(path))["c"] == "A-NT"
    path.write_bytes(gzip.compress(THREE.encode())[:-9])
    with pytest.raises(ValueError, match=r"x\.fasta\.gz is truncated or damaged"):
        gb.open_alignment(path)


PHYLIP = {
    "one line a taxon": (
        "3 12\nHomo  ACGTACGTACGT\nPan_t\tACGT ACGTACGA\nGorilla_gorilla -CGTACGT??GT\n"
    ),
    "interleaved": (
        "3 12\nHomo            ACGT ACGT\nPan_t           ACGTACGT\nGorilla_gorilla -CGTACGT\n\n"
        "ACGT\nACGA\n??GT\n"
    ),
    "interleaved, names repeated": (
        "3 12\nHomo ACGTACGT\nPan_t ACGTACGT\nGorilla_gorilla -CGTACGT\n\n"
        "Homo ACGT\nPan_t ACGA\nGorilla_gorilla ??GT\n"
    ),
    "sequential": (
        " 3 12 \nHomo ACGTA\nCGTACGT\nPan_t\nACGTACGTACGA\nGorilla_gorilla -CGT\nACGT\n??GT\n"
    ),
}


@pytest.mark.parametrize("layout", PHYLIP)
def test_phylip__relaxed(tmp_path, layout) -> None:
    aln = gb.open_alignment(write(tmp_path, PHYLIP[layout]))
    assert rows(aln) == {
        "Homo": "ACGTACGTACGT",
        "Pan_t": "ACGTACGTACGA",
        "Gorilla_gorilla": "-CGTACGT??GT",
    }
    assert aln.attrs["format"] == "phylip"


@pytest.mark.parametrize(
    "text",
    [
        "2 8\nHomo sapieACGTACGT\nPan       ACGTACGA\n",
        "2 8 I\nHomo sapieACGT\nPan       ACGT\n\n          ACGT\n          ACGA\n",
        "2 8\nHomo sapieACGT\nACGT\nPan       ACG\nTAC GA\n",
    ],
)
def test_phylip__strict(tmp_path, text) -> None:
    aln = gb.open_alignment(write(tmp_path, text))
    assert rows(aln) == {"Homo sapie": "ACGTACGT", "Pan": "ACGTACGA"}


def test_nexus__gap_missing_and_first_taxon_matched(tmp_path) -> None:
    matrix = "'Homo sapiens' ACxx [x]\nb_c  .G~.\nd ....\n"
    text = nexus("datatype=dna gap=~ missing=x matchchar=.", matrix)
    aln = gb.open_alignment(write(tmp_path, text))
    assert rows(aln) == {"Homo sapiens": "AC??", "b_c": "AG-?", "d": "AC??"}
    assert aln.attrs["kind"] == "dna"


def test_nexus__interleaved(tmp_path) -> None:
    text = nexus("interleave datatype=protein", "a MK\nb M*\nc XB\n\na VL\nb -?\nc JZ")
    aln = gb.open_alignment(write(tmp_path, text))
    assert rows(aln) == {"a": "MKVL", "b": "M*-?", "c": "XBJZ"}
    assert aln.attrs["kind"] == "protein"


def test_nexus__polymorphic_nucleotides_become_codes(tmp_path) -> None:
    text = nexus("datatype=dna", "a {AG}(C T)GT\nb AC{ACGT}T\nc AC{A-}u")
    aln = gb.open_alignment(write(tmp_path, text))
    assert [*map(str, aln.values.ravel())] == [*"RYGTACNTAC", "{A-}", "U"]


def test_nexus__symbols_equate_and_polymorphism(tmp_path) -> None:
    form = 'datatype=standard symbols="0~2 a" equate="x=1 y={0a} z=?" missing=? gap=-'
    text = nexus(form, "a 01{12}a\nb xyz-\nc (0,1)?Aa")
    aln = gb.open_alignment(write(tmp_path, text))
    assert aln.attrs["states"] == ["0", "1", "2", "A"]
    found = [" ".join(map(str, row)) for row in aln.values]
    assert found == ["0 1 {12} A", "1 {0A} ? -", "{01} ? A A"]


def test_nexus__without_format_and_with_other_blocks(tmp_path) -> None:
    text = (
        "#NEXUS\nbegin taxa; dimensions ntax=2; taxlabels a b; end;\n"
        "begin characters; title 'some; format of mine'; dimensions nchar=3;\n"
        "charstatelabels 1 eyes / red blue, 2 'tail';\nmatrix a 012 b 0?-;\nend;\n"
        "begin sets; charset first=1-2; end;\nbegin trees; tree one=(a,b); end;\n"
    )
    aln = gb.open_alignment(write(tmp_path, text))
    assert rows(aln) == {"a": "012", "b": "0?-"}
    assert aln.attrs["states"] == ["0", "1", "2"]


def test_kind_overrides(tmp_path) -> None:
    path = write(tmp_path, THREE)
    assert gb.open_alignment(path, kind="standard").attrs["states"] == [*"ACGNRT"]
    assert gb.open_alignment(path, kind="protein").attrs["kind"] == "protein"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.txt is empty"),
        (" \n\n", "x.txt is empty"),
        ("hello\nthere", "unknown format: .*the first line, 'hello', .*fasta, phylip, nexus"),
        ("a\x00b", "x.txt is not a text file"),
        (">a\nACGT\n>b\nACG\n", r"taxon 1 \('b'\) has 3 sites, the first \('a'\) has 4: align"),
        (">a\nACGT\n>b\nACGT\n>a\nACGT", "taxa 0 and 2 are both named 'a': rename"),
        (">a\n>b\n", "there are no sites"),
        (">\nACGT\n", "taxon 0 has no name"),
        (">a\nACGT\n>b\nAC!T\n", r"taxon 1 \('b'\), site 2: '!' is not a symbol of kind 'protein'"),
        ("2 4\na ACGT\nb ACG\n", r"2 taxa and 4 sites.*taxon 1 \('b'\) has 3 sites.*correct"),
        ("3 4\na ACGT\nb ACGT\n", "3 taxa and 4 sites.*2 rows are not a multiple.*2 taxa"),
        (
            nexus("datatype=dna", "a ACGT\nb ACG\nc ACGT"),
            "NEXUS cannot be read: .* too short",
        ),
        (nexus("datatype=dna", "a {AG\nb ACGT\nc ACGT"), "NEXUS cannot be read: .*line"),
        (nexus("datatype=dna", "a ACGT\nb AJGT\nc ACGT"), r"taxon 1 \('b'\), site 1: 'J' is no"),
        (nexus('symbols="01"', "a 0101\nb 0201\nc 0101"), "site 1: '2' is not a .*more states="),
        (
            nexus("datatype=mixed", "a ACGT"),
            "DATATYPE=MIXED is not supported: keep characters of DNA",
        ),
        (nexus("datatype=dna transpose", "a ACGT"), "has TRANSPOSE, which is not supported: write"),
        (nexus("labels=no", "0101"), "has NOLABELS, which is not supported"),
        ("#NEXUS\nbegin trees; tree a=(b,c); end;", "there is no MATRIX in a DATA"),
        (nexus("interleave", "a 01\nb 01\nc 01\na 01\nb 01\nc 0\n"), r"'c'\) has 3 sites"),
    ],
)
def test_refusals(tmp_path, text, message) -> None:
    with pytest.raises(ValueError, match=message):
        gb.open_alignment(write(tmp_path, text))


def test_refusals__of_arguments(tmp_path) -> None:
    path = write(tmp_path, THREE)
    with pytest.raises(
        ValueError, match="format='clustal' is not one of 'fasta', 'phylip', 'nexus'"
    ):
        gb.open_alignment(path, format="clustal")
    with pytest.raises(ValueError, match="kind='rna' is not one of 'dna', 'protein', 'standard'"):
        gb.open_alignment(path, kind="rna")
    with pytest.raises(ValueError, match="line 1 is '>a', expected two numbers"):
        gb.open_alignment(path, format="phylip")
    with pytest.raises(ValueError, match="line 1 is '3 4', expected '>'"):
        gb.open_alignment(write(tmp_path, "3 4\n"), format="fasta")
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        gb.open_alignment(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="is a directory"):
        gb.open_alignment(tmp_path)


def test_refusals__two_matrices(tmp_path) -> None:
    block = nexus("datatype=dna", "a ACGT\nb ACGT\nc ACGT")
    with pytest.raises(ValueError, match="there are 2 matrices of characters: keep one"):
        gb.open_alignment(write(tmp_path, block + block.removeprefix("#NEXUS")))


def test_without_dendropy__says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "dendropy", None)
    with pytest.raises(ImportError, match="pip install dendropy"):
        _dendropy.dendropy()
