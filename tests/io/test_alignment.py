from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.data.alignment import states_of

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


@pytest.mark.parametrize(
    ("name", "schema", "options"),
    [
        ("primates_ambig", "nexus", {}),
        ("woodmouse", "phylip", {"strict": True}),
        ("woodmouse", "phylip", {"strict": False}),
    ],
)
def test_published_alignments__written_by_dendropy(
    shared_data: Path, tmp_path, name, schema, options
) -> None:
    import dendropy

    path = shared_data / name / f"{name}.fasta"
    matrix = dendropy.DnaCharacterMatrix.get(path=path, schema="fasta")
    written = write(tmp_path, matrix.as_string(schema, **options), f"x.{schema[:3]}")
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


HOMINIDS = {"Homo": "ACGTACGTACGT", "Pan_t": "ACGTACGTACGA", "Gorilla_gorilla": "-CGTACGT??GT"}
STRICT = {"Homo sapie": "ACGTACGT", "Pan": "ACGTACGA"}
READ = {
    "phylip, one line a taxon": (
        "3 12\nHomo  ACGTACGTACGT\nPan_t\tACGT ACGTACGA\nGorilla_gorilla -CGTACGT??GT\n",
        HOMINIDS,
    ),
    "phylip, interleaved": (
        (
            "3 12\nHomo            ACGT ACGT\nPan_t           ACGTACGT\nGorilla_gorilla -CGTACGT\n"
            "\nACGT\nACGA\n??GT\n"
        ),
        HOMINIDS,
    ),
    "phylip, interleaved, names repeated": (
        (
            "3 12\nHomo ACGTACGT\nPan_t ACGTACGT\nGorilla_gorilla -CGTACGT\n\n"
            "Homo ACGT\nPan_t ACGA\nGorilla_gorilla ??GT\n"
        ),
        HOMINIDS,
    ),
    "phylip, sequential": (
        " 3 12 \nHomo ACGTA\nCGTACGT\nPan_t\nACGTACGTACGA\nGorilla_gorilla -CGT\nACGT\n??GT\n",
        HOMINIDS,
    ),
    "phylip, strict": ("2 8\nHomo sapieACGTACGT\nPan       ACGTACGA\n", STRICT),
    "phylip, strict, interleaved": (
        "2 8 I\nHomo sapieACGT\nPan       ACGT\n\n          ACGT\n          ACGA\n",
        STRICT,
    ),
    "phylip, strict, sequential": ("2 8\nHomo sapieACGT\nACGT\nPan       ACG\nTAC GA\n", STRICT),
    "phylip, gaps of other programs": ("2 4\na ..GT\nb ~_G.\n", {"a": "??GT", "b": "?-G?"}),
    "nexus, gap, missing and first taxon matched": (
        nexus(
            "datatype=dna gap=~ missing=x matchchar=.",
            "'Homo sapiens' ACxx [x]\nb_c  .G~.\nd ....\n",
        ),
        {"Homo sapiens": "AC??", "b_c": "AG-?", "d": "AC??"},
    ),
    "nexus, interleaved protein": (
        nexus("interleave datatype=protein", "a MK\nb M*\nc XB\n\na VL\nb -?\nc JZ"),
        {"a": "MKVL", "b": "M*-?", "c": "XBJZ"},
    ),
    "nexus, standard, without format and with other blocks": (
        (
            "#NEXUS\nbegin taxa; dimensions ntax=2; taxlabels a b; end;\n"
            "begin characters; title 'some; format of mine'; dimensions nchar=3;\n"
            "charstatelabels 1 eyes / red blue, 2 'tail';\nmatrix a 012 b 0?-;\nend;\n"
            "begin sets; charset first=1-2; end;\nbegin trees; tree one=(a,b); end;\n"
        ),
        {"a": "012", "b": "0?-"},
    ),
    "nexus, case of nucleotides": (
        nexus("datatype=dna respectcase", "a aCgT\nb A-NT\nc AcGt"),
        {"a": "ACGT", "b": "A-NT", "c": "ACGT"},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_layouts(tmp_path, name) -> None:
    text, expected = READ[name]
    aln = gb.open_alignment(write(tmp_path, text))
    assert rows(aln) == expected
    assert aln.attrs["format"] == name.partition(",")[0]
    kind = next((kind for kind in ("protein", "standard") if kind in name), "dna")
    assert aln.attrs["kind"] == kind
    assert states_of(aln.attrs) == ([*"012"] if kind == "standard" else None)


def test_nexus__polymorphic_nucleotides_become_codes(tmp_path) -> None:
    text = nexus("datatype=dna", "a {AG}(C T)GT\nb AC{ACGT}T\nc AC{A-}u")
    aln = gb.open_alignment(write(tmp_path, text))
    assert [*map(str, aln.values.ravel())] == [*"RYGTACNTAC", "{A-}", "U"]


def test_nexus__symbols_equate_and_polymorphism(tmp_path) -> None:
    form = 'datatype=standard symbols="0~2 a" equate="x=1 y={0a} z=?" missing=? gap=-'
    text = nexus(form, "a 01{12}a\nb xyz-\nc (0,1)?Aa")
    aln = gb.open_alignment(write(tmp_path, text))
    assert states_of(aln.attrs) == ["0", "1", "2", "A"]
    found = [" ".join(map(str, row)) for row in aln.values]
    assert found == ["0 1 {12} A", "1 {0A} ? -", "{01} ? A A"]


def test_kind_overrides(tmp_path) -> None:
    path = write(tmp_path, THREE)
    assert states_of(gb.open_alignment(path, kind="standard").attrs) == [*"ACGNRT"]
    assert gb.open_alignment(path, kind="protein").attrs["kind"] == "protein"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.txt is empty"),
        (" \n\n", "x.txt is empty"),
        (
            "hello\nthere",
            "unknown format: .*the first line, 'hello', .*fasta, phylip, phylip-interleaved",
        ),
        ("a\x00b", "x.txt is not a text file"),
        (">a\nACGT\n>b\nACG\n", r"taxon 1 \('b'\) has 3 sites, the first \('a'\) has 4: align"),
        (">a\nACGT\n>b\nACGT\n>a\nACGT", "taxa 0 and 2 are both named 'a': rename"),
        (">a\n>b\n", "there are no sites"),
        (">\nACGT\n", "taxon 0 has no name"),
        (">a\nACGT\n>b\nAC!T\n", r"taxon 1 \('b'\), site 2: '!' is not a symbol of kind 'dna'"),
        ("2 4\na ACGT\nb ACG\n", r"2 taxa and 4 sites.*taxon 1 \('b'\) has 3 sites.*correct"),
        ("3 4\na ACGT\nb ACGT\n", "3 taxa and 4 sites.*2 rows are not a multiple.*2 taxa"),
        (
            nexus("datatype=dna", "a ACGT\nb ACG\nc ACGT"),
            r"line 8: DIMENSIONS says NCHAR=4, and taxon 1 .'b'. of the MATRIX has 3 characters",
        ),
        (nexus("datatype=dna", "a {AG\nb ACGT\nc ACGT"), "line 7: '{' is not closed"),
        (nexus("datatype=dna", "a ACGT\nb AJGT\nc ACGT"), r"taxon 1 \('b'\), site 1: 'J' is no"),
        (
            nexus('symbols="01"', "a 0101\nb 0201\nc 0101"),
            "site 1: '2' is not a .*SYMBOLS of NEXUS",
        ),
        (
            nexus("datatype=standard respectcase symbols='01a'", "a 0\nb 1\nc a", sites=1),
            "has RESPECTCASE and letters in lower case in SYMBOLS",
        ),
        (nexus("datatype=dna", "a ACGT\nb ACGT"), "NTAX=3, and the MATRIX has 2 taxa .'a', 'b'"),
        (
            nexus("datatype=dna", "a ACGTAC\nb ACGTAC\nc ACGTAC"),
            r"NCHAR=4, and taxon 0 .'a'. of the MATRIX has 6 characters",
        ),
        (
            nexus("datatype=dna", "a ACGTACC\nb ACGT\nACC\nc ACGTACC", sites=8),
            "NCHAR=8, and line 8: taxon 1 .'ACGT'. has more than 8 sites: .*INTERLEAVE",
        ),
        (
            nexus("interleave", "a 01\nb 01\nc 01\n\na 0\nb 0\nc 0"),
            r"line 7: .* NCHAR=4, and taxon 0 \('a'\) of the MATRIX has 3 characters",
        ),
        (nexus("", "a 01", sites=int("9" * 4000)), "NCHAR of 4000 digits: correct it"),
        (
            """#NEXUS begin taxa; dimensions ntax=2; taxlabels a b; end;
            begin characters; dimensions nchar=1; matrix a 0; end;""",
            "NTAX=2, and the MATRIX has 1 taxa",
        ),
        (f"{'9' * 5000} 4\na ACGT", "unknown format: .*the first line"),
        (
            nexus("datatype=mixed", "a ACGT"),
            "DATATYPE=MIXED is not supported: keep characters of DNA",
        ),
        (nexus("datatype=dna transpose", "a ACGT"), "has TRANSPOSE, and TAXLABELS does not name"),
        (nexus("labels=no", "0101"), "has NOLABELS, and TAXLABELS does not name the taxa"),
        ("#NEXUS\nbegin trees; tree a=(b,c); end;", "there is no MATRIX in a DATA"),
        (nexus("", "") + nexus("", "")[6:], "there are 2 matrices of characters: keep one"),
        (
            nexus("interleave", "a 01\nb 01\nc 01\na 01\nb 01\nc 0\n"),
            r"line 9: .*'c'\) .* has 3 char",
        ),
    ],
)
def test_refusals(tmp_path, text, message) -> None:
    with pytest.raises(ValueError, match=message):
        gb.open_alignment(write(tmp_path, text))


def test_refusals__of_arguments(tmp_path) -> None:
    path = write(tmp_path, THREE)
    with pytest.raises(
        ValueError, match="format='mega' is not one of 'fasta', 'phylip', 'phylip-interleaved'"
    ):
        gb.open_alignment(path, format="mega")
    with pytest.raises(ValueError, match="kind='rna' is not one of 'dna', 'protein', 'standard'"):
        gb.open_alignment(path, kind="rna")
    with pytest.raises(ValueError, match="line 1 is '>a', expected two numbers"):
        gb.open_alignment(path, format="phylip")
    with pytest.raises(ValueError, match="line 1 is '3 4', expected '>'"):
        gb.open_alignment(write(tmp_path, "3 4\n"), format="fasta")


@pytest.mark.parametrize(
    ("matrix", "sites"),
    [
        ("a\n01{01}2\nb\n0{01}?-\nc\n0120", 4),
        ("a 01{01}\n2 'b b' 0{01}?-\nc 0120", 4),
        ("a 01 (0 1)2\n'b b' 0 {01} ? -\nc [x] 01[y]20\n", 4),
        ("a 01\n01 2 'b b' 01\n01 2 c 01\n01 2", 5),
    ],
)
def test_nexus__rows_of_any_lines_fit_the_dimensions(tmp_path, matrix, sites) -> None:
    text = nexus('datatype=standard respectcase symbols="0 1 2"', matrix, sites=sites)
    aln = gb.open_alignment(write(tmp_path, text))
    assert aln.shape == (3, sites)
    assert states_of(aln.attrs) == ["0", "1", "2"]


def fasta(changed: dict[int, str]) -> str:
    """Forty taxa-sites of nucleotides, of which some are changed, as FASTA."""
    symbols = list("ACGTRNACGTY-ACGTACGT" * 4)
    for place, symbol in changed.items():
        symbols[place] = symbol
    return "".join(
        f">{name}\n{''.join(symbols[k * 20 : k * 20 + 20])}\n" for k, name in enumerate("abcd")
    )


@pytest.mark.parametrize("chunks", [None, 7])
@pytest.mark.parametrize("symbol", "019*OJE!")
def test_odd_symbols_do_not_change_the_kind_of_the_others(tmp_path, chunks, symbol) -> None:
    message = rf"taxon 1 \('b'\), site 5: '{re.escape(symbol)}' is not a symbol of kind 'dna'"
    with pytest.raises(ValueError, match=message):
        gb.open_alignment(write(tmp_path, fasta({25: symbol})), chunks=chunks)
    many = dict.fromkeys(range(0, 80, 3), symbol)
    if symbol in "019":
        assert gb.open_alignment(write(tmp_path, fasta(many)), chunks=chunks).kind == "standard"
    elif symbol in "OJE":
        assert gb.open_alignment(write(tmp_path, fasta(many)), chunks=chunks).kind == "protein"


@pytest.mark.parametrize("chunks", [None, 7])
@pytest.mark.parametrize("kind", [None, "protein", "standard"])
def test_gaps_of_other_programs(tmp_path, chunks, kind) -> None:
    given, read = (dict(enumerate(gaps)) for gaps in (".~_", "??-"))
    path = write(tmp_path, fasta({**given, 30: "."}))
    found = gb.open_alignment(path, chunks=chunks, kind=kind).compute()
    expected = gb.open_alignment(write(tmp_path, fasta({**read, 30: "?"}), "y.fa"), kind=kind)
    xr.testing.assert_equal(found, expected)
    assert found.attrs["kind"] == (kind or "dna")
    if kind == "standard":
        assert not {*".~_"}.intersection(found.attrs["states"])
    path.write_text(fasta({30: "."}))
    with pytest.raises(ValueError, match=r"taxon 1 \('b'\), site 10: '.' may be a gap or the symb"):
        gb.open_alignment(path, chunks=chunks, kind=kind)


def test_gaps_of_other_programs__in_phylip_and_in_memory(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"'\.' may be a gap or the symbol of the first taxon"):
        gb.open_alignment(write(tmp_path, "2 4\na ACGT\nb .C..\n"))
    for kind in (None, "dna", "standard"):
        for symbol in ".~_":
            made = xr.DataArray([list("ACGT"), list(f"AC{symbol}T")], dims=("taxa", "sites"))
            with pytest.raises(ValueError, match=r"site 2: '.' is not .*, or write '\?' or '-'"):
                made.assign_attrs(kind=kind).genobit.parsimony("(0,1);")


def test_codons_become_states_as_the_message_says() -> None:
    aln = xr.DataArray([["ATG", "TTT"], ["ATG", "TTC"]], dims=("taxa", "sites"))
    with pytest.raises(ValueError, match=r'attrs\["kind"\] of the alignment'):
        aln.genobit.parsimony("(0,1);")
    aln.attrs["kind"] = "standard"
    assert aln.genobit.parsimony("(0,1);").length == 1
