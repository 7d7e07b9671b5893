"""Random alignments written in each format and read back, also against Biopython."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
import xarray as xr
from hypothesis import example, given
from hypothesis import strategies as st

import genobit as gb
from genobit.io import alignment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Written = dict[str, str]
WORD = st.text(st.sampled_from("abzAZ09_.|/é-"), min_size=1, max_size=14)
TEN = st.text(st.sampled_from("ACGTN"), min_size=10, max_size=10)


class Style(NamedTuple):
    """How a file is written."""

    width: int
    """Symbols a line or block."""
    group: int
    """Symbols between blanks; 0 for none."""
    ending: str
    last: bool
    """Whether the last line has an ending."""
    blank: bool
    """Whether blank lines stand between blocks, where they may."""

    def lines(self, row: str) -> list[str]:
        """Return the lines of a row."""
        found = [row[k : k + self.width] for k in range(0, len(row), self.width)]
        size = self.group or self.width
        return [" ".join(x[k : k + size] for k in range(0, len(x), size)) for x in found]


STYLES = st.builds(
    Style, st.integers(1, 30), st.sampled_from([0, 3, 10]), st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(), st.booleans(),
)  # fmt: skip


@st.composite
def alignments(draw: Callable[..., object], names: st.SearchStrategy[str] = WORD) -> Written:
    """Return names and rows of nucleotides."""
    taxa = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    sites = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return {name: "".join(rng.choice(list("ACGTacgtNRY-?"), sites)) for name in taxa}


def saved(path: Path, lines: list[str], style: Style) -> Path:
    text = style.ending.join(lines) + (style.ending if style.last else "")
    path.write_bytes(text.encode())
    return path


def blocks(rows: list[list[str]], style: Style, *, blank: bool) -> list[str]:
    """Return interleaved lines."""
    between = [""] if blank or style.blank else []
    return [x for lines in zip(*rows, strict=True) for x in (*lines, *between)]


def fasta(aln: Written, style: Style) -> list[str]:
    return [x for name, row in aln.items() for x in (f">{name}", *style.lines(row))]


def phylip(aln: Written, style: Style, *, strict: bool, interleaved: bool) -> list[str]:
    head = f" {len(aln)} {len(next(iter(aln.values())))}"
    rows = [style.lines(row) for row in aln.values()]
    for name, lines in zip(aln, rows, strict=True):
        lines[0] = (name.ljust(10) if strict else f"{name} ") + lines[0]
    return [head, *(blocks(rows, style, blank=False) if interleaved else itertools.chain(*rows))]


def nexus(aln: Written, style: Style, form: str, *, interleaved: bool) -> list[str]:
    quoted = {name: "'" + name.replace("'", "''") + "'" for name in aln}
    rows = [style.lines(row) for row in aln.values()]
    sites = len(next(iter(aln.values())))
    for name, lines in zip(aln, rows, strict=True):
        places = range(len(lines)) if interleaved else [0]
        for k in places:
            lines[k] = f"{quoted[name]} {lines[k]}"
    matrix = blocks(rows, style, blank=False) if interleaved else [*itertools.chain(*rows)]
    return [
        "#NEXUS", "[a comment; with a mark]", "begin data;",
        f"dimensions ntax={len(aln)} nchar={sites};",
        f"format datatype=dna {form} interleave={'yes' if interleaved else 'no'};",
        "matrix [of sites]", *matrix, ";", "end;",
    ]  # fmt: skip


def clustal(aln: Written, style: Style) -> list[str]:
    plain = style._replace(group=0)
    rows = [plain.lines(row) for row in aln.values()]
    for name, lines in zip(aln, rows, strict=True):
        done = 0
        for k, line in enumerate(lines):
            done += len(line)
            lines[k] = f"{name:<17}{line}" + (f" {done}" if style.group else "")
    under = " " * 17 + "*:. " if style.blank else ""
    found = [x for lines in zip(*rows, strict=True) for x in (*lines, under, "")]
    return ["CLUSTAL 2.1 multiple sequence alignment", "", "", *found]


def stockholm(aln: Written, style: Style) -> list[str]:
    rows = [style._replace(group=0).lines(row) for row in aln.values()]
    for name, lines in zip(aln, rows, strict=True):
        lines[:] = [f"{name} {line}" for line in lines]
    found = []
    for lines in zip(*rows, strict=True):
        found += [*lines, "#=GC RF  " + "x" * len(lines[0].split()[1]), ""]
    return ["# STOCKHOLM 1.0", "#=GF ID  Made", "#=GS x AC  1", *found, "//"]


def expected(aln: Written) -> tuple[list[str], list[list[str]]]:
    return [*aln], [list(row.upper()) for row in aln.values()]


def read(path: Path, **options: str) -> tuple[list[str], list[list[str]]]:
    found = gb.open_alignment(path, kind="dna", **options)
    return found.taxa.values.tolist(), found.values.tolist()


@pytest.mark.parametrize("written", [fasta, clustal, stockholm])
@given(alignments(), STYLES)
def test_names_and_symbols_are_those_written(
    tmp_path_factory, written: Callable[[Written, Style], list[str]], aln: Written, style: Style
) -> None:
    path = saved(tmp_path_factory.mktemp("x") / "x", written(aln, style), style)
    assert read(path) == expected(aln)


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("strict", [True, False])
@given(alignments(WORD | TEN), STYLES)
def test_phylip_is_read_as_written_or_refused(
    tmp_path_factory, strict: bool, interleaved: bool, aln: Written, style: Style
) -> None:
    if strict:
        aln = {name[:10]: row for name, row in aln.items()}
    lines = phylip(aln, style, strict=strict, interleaved=interleaved)
    path = saved(tmp_path_factory.mktemp("x") / "x", lines, style)
    order = "interleaved" if interleaved else "sequential"
    for options in ({}, {"format": f"phylip-{order}"}):
        try:
            assert read(path, **options) == expected(aln)
        except ValueError as error:
            assert "fit two layouts of PHYLIP" in str(error)  # noqa: PT017
            # A name of symbols alone may be one in any layout.
            if options:
                assert " of 10 characters" in str(error)  # noqa: PT017


def test_phylip__sequential_with_names_as_wide_as_groups(tmp_path) -> None:
    rng = np.random.default_rng(3)
    names = ("Human", "Chimpanzee", "Marmosette")
    aln = {name: "".join(rng.choice(list("ACGT"), 70)) for name in names}
    style = Style(20, 10, "\n", last=True, blank=False)
    path = saved(tmp_path / "x", phylip(aln, style, strict=False, interleaved=False), style)
    with pytest.raises(ValueError, match=r"two layouts.*'Marmosette'.*format='phylip-sequential'"):
        gb.open_alignment(path)
    assert read(path, format="phylip-sequential") == expected(aln)
    path.write_text(path.read_text().replace("3 70", "3 70 S", 1))
    assert read(path) == expected(aln)


@pytest.mark.parametrize("interleaved", [True, False])
@given(alignments(WORD | st.text(st.sampled_from("ab '[]{};"), min_size=1)), STYLES)
@example({"a": "AC", "b": "GT"}, Style(1, 0, "\n", last=True, blank=False))
def test_nexus(tmp_path_factory, interleaved: bool, aln: Written, style: Style) -> None:
    lines = nexus(aln, style, "missing=? gap=-", interleaved=interleaved)
    path = saved(tmp_path_factory.mktemp("x") / "x", lines, style)
    assert read(path) == expected(aln)


ORACLE = {
    "fasta": fasta,
    "clustal": clustal,
    "stockholm": stockholm,
    "phylip-relaxed": lambda aln, style: phylip(aln, style, strict=False, interleaved=True),
    "nexus": lambda aln, style: nexus(aln, style, "missing=? gap=-", interleaved=False),
}


@pytest.mark.parametrize("form", ORACLE)
@given(alignments(st.text(st.sampled_from("abcd_12"), min_size=3, max_size=9)), STYLES)
def test_equals_biopython(tmp_path_factory, form: str, aln: Written, style: Style) -> None:
    pytest.importorskip("Bio")
    from Bio import AlignIO

    # Biopython takes other endings and groups for symbols in some formats.
    style = style._replace(ending="\n", last=True, group=0, blank=False)
    path = saved(tmp_path_factory.mktemp("x") / "x", ORACLE[form](aln, style), style)
    theirs = AlignIO.read(path, form)
    found = [record.id for record in theirs], [list(str(r.seq).upper()) for r in theirs]
    assert read(path) == found


def test_large_alignments_are_lazy_and_equal(tmp_path, monkeypatch) -> None:
    form = 'datatype=standard symbols="01"'
    lines = ["#NEXUS", "begin data;", "dimensions ntax=3 nchar=7;", f"format {form};", "matrix"]
    lines += ["a 01{01}01-1", "b 1100?00", "c 0{01}01011", ";", "end;"]
    (tmp_path / "x.nex").write_text("\n".join(lines))
    (tmp_path / "x.fa").write_text(">a\nACGTRNA\n>b\nAC-TAAA\n>c\nACGTAAC\n")
    for name in ("x.nex", "x.fa"):
        monkeypatch.setattr(alignment, "_MOST_TEXT", 2**26)
        whole = gb.open_alignment(tmp_path / name)
        monkeypatch.setattr(alignment, "_MOST_TEXT", 1)
        monkeypatch.setattr(alignment, "_CHUNK", 9)
        lazy = gb.open_alignment(tmp_path / name)
        assert lazy.chunks == ((3,), (3, 3, 1))
        assert lazy.dtype == whole.dtype
        xr.testing.assert_identical(lazy.compute(), whole)
        assert lazy.genobit.parsimony("(a,b,c);").equals(whole.genobit.parsimony("(a,b,c);"))


def made(form: str, matrix: str, more: str = "") -> str:
    return (
        f"#NEXUS\nbegin taxa;\ndimensions ntax=2;\ntaxlabels 'a b' c;\nend;\nbegin characters;\n"
        f"dimensions nchar=4;\nformat datatype=dna {form};\n{more}matrix\n{matrix}\n;\nend;\n"
    )


@pytest.mark.parametrize(
    ("form", "matrix"),
    [
        ("labels=left transpose=no interleave=no", "'a b' ACGT\nc ACGA"),
        ("nolabels=no respectcase=no tokens=no", "'a b' ACGT\nc ACGA"),
        ("interleave=yes", "'a b' AC\nc AC\n\n'a b' GT\nc GA"),
        ("nolabels", "ACGT\nACGA"),
        ("labels=no interleave", "AC\nAC\n\nGT\nGA"),
        ("labels = no", "AC\nGT AC\nGA"),
        ("missing=N [a [comment] in [one]] gap = '-' matchchar=.", "'a b' ACGT [t]\nc [u] ...A"),
        ("interleave", "'a b' AC\nc AC\na_b GT\n'c'GA"),
        ('symbols="acgt" items=states', "'a b'ACGT\nc ACGA"),
        ("transpose", "1 AA\n2 CC\n3 GG\n4 TA"),
        ("transpose=yes matchchar=.", "'c 1' A.\n'c''2'C.\n3 G\n . [t]\n4 T A"),
        ("transpose nolabels", "AA\nCC GG\nT\nA"),
        ("transpose interleave", "x A\ny C\nz G\nw T\n\nx A\ny C\nz G\nw A"),
        ("transpose=yes labels=no interleave=yes", "A\nC\nG\nT\n\nA\nC\nG\nA"),
        ("labels=left transpose = no", "'a b' ACGT\nc ACGA"),
        ("", "'a b' ACGT\nc ACGA\n;\nend;\nbegin notes;\ntext 1 'it isn't closed"),
    ],
)
def test_nexus_format(tmp_path, form: str, matrix: str) -> None:
    path = tmp_path / "x.nex"
    path.write_text(made(form, matrix))
    assert read(path) == expected({"a b": "ACGT", "c": "ACGA"})


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (made("missing=.", "'a b' ACGT\nc .CG."), {"a b": "ACGT", "c": "?CG?"}),
        (made("gap=.", "'a b' ACGT\nc .CG."), {"a b": "ACGT", "c": "-CG-"}),
        (made('equate=".=?"', "'a b' ACGT\nc .CG."), {"a b": "ACGT", "c": "?CG?"}),
        (made("gap=- missing=.", "'a b' ACGT\nc .CG."), {"a b": "ACGT", "c": "?CG?"}),
        ("# STOCKHOLM 1.0\na AC_T\nb A.~T\n", {"a": "AC-T", "b": "A-?T"}),
    ],
)
def test_a_dot_has_the_meaning_that_the_file_gives(tmp_path, text: str, rows: Written) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    assert read(path) == expected(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (made("", "'a b' ACGT\nc ACG{A"), "line 11: '{' is not closed"),
        (made("", "'a b' ACGT\nc(d) ACGA"), "name of taxon 1 .* has brackets: write it in quot"),
        (made("", "'a b ACGT\nc ACGA"), "line 10: a quotation mark is not closed"),
        (made("", "'a b' ACGT [[]\nc ACGA"), "line 10: a comment is not closed"),
        (made("", "'a b' ACGT\nc ACGA").rpartition(";\nend;\n")[0], "MATRIX is not closed"),
        (made("labels=right", "ACGT a\nACGA c"), "LABELS=RIGHT, which is not supported: write the"),
        (made("nolabels", "ACGT"), "TAXLABELS has 2 taxa, and the MATRIX has 1 rows"),
        (made("", "'a b' .CGT\nc ACGA"), "line 10: taxon 0 .'a b'., site 0: '.' repeats the"),
        (made("matchchar=ab", "ACGT"), "MATCHCHAR=AB of FORMAT is not one symbol"),
        (made("missing=é", "ACGT"), "MISSING=É of FORMAT is not one symbol"),
        (made("transpose", "1 AA\n2 CCC"), "2 taxa, and line 11: character 1 .'2'. has more than"),
        (made("transpose", "1 AA\n2 C"), "2 taxa, and line 11: character 1 .'2'. has 1 symbols"),
        (
            made("transpose interleave", "1 A\n2 C\n1 A"),
            "line 11: TAXLABELS .* 1 .'2'. .* has 1 sym",
        ),
        (made("transpose", "1 AA\n2 CC\n3 GG"), "line 10: .* NCHAR=4, and taxon 0 .* has 3 char"),
        (made("transpose", "1 AA\n2 C!\n3 GG\n4 T."), "line 11: taxon 1 .'c'., site 1: '!' is not"),
        (made("gap=? missing=?", "ACGT"), "MISSING=., GAP=. and MATCHCHAR=. of FORMAT are not"),
        (made("nolabels interleave", ""), "NCHAR=4, and taxon 0 .'a b'. of the MATRIX has 0"),
        (made("items=(min max)", "'a b' ACGT\nc ACGA"), "TOKENS, which is not supported"),
        ("CLUSTAL W\n\na AC\na AC\n", "line 4: a second row of 'a' in one block"),
        ("CLUSTAL W\n\na AC\nb\n", "line 4 is 'b', expected a name and symbols"),
        ("# STOCKHOLM 1.0\na AC\n//\n# STOCKHOLM 1.0\n", "line 4 follows the end"),
        ("# STOCKHOLM 1.0\na AC\nb A.CG\n//\n", "line 3: taxon 1 .'b'. has 4 sites, the first"),
        (">a\nAC\n>b\nA\nÄ\n", r"line 5: taxon 1 \('b'\), site 1: 'Ä' is not a symbol: write"),
        (">a\nAC\n>b\nA\n!\n", r"line 5: taxon 1 \('b'\), site 1: '!' is not a symbol of kind"),
    ],
)
def test_faults_name_the_place(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        gb.open_alignment(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("labels", ["", "nolabels"])
@given(data=st.data())
def test_nexus__a_transposed_matrix_has_the_same_states(
    tmp_path_factory: pytest.TempPathFactory, labels: str, data: st.DataObject
) -> None:
    taxa, sites = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    state = st.sampled_from(["0", "1", "?", "-", "{01}", "(1 0)", "{1-}"])
    rows = [[data.draw(state) for _ in range(sites)] for _ in range(taxa)]
    head = f"#NEXUS\nbegin taxa; dimensions ntax={taxa}; taxlabels {' '.join('abcd'[:taxa])};\nend;"
    head += f"\nbegin characters; dimensions nchar={sites}; format gap=- nolabels"
    columns = zip(*rows, strict=True)
    named = [f"{'' if labels else f'c_{k} '}{''.join(x)}" for k, x in enumerate(columns)]
    path = tmp_path_factory.getbasetemp() / "transposed.nex"
    found = []
    for form, matrix in (("", ["".join(row) for row in rows]), (f" transpose {labels}", named)):
        given_form = head if labels or not form else head.replace(" nolabels", "")
        path.write_text(f"{given_form}{form};\nmatrix\n" + "\n".join(matrix) + "\n;\nend;\n")
        found.append(gb.open_alignment(path))
    xr.testing.assert_identical(*found)


def test_nexus__a_set_of_states_has_one_entry(tmp_path) -> None:
    path = tmp_path / "x.nex"
    path.write_text(made("", "'a b' 01(1 0){-1}\nc {1,0}{012}{21 0}?").replace("dna", "standard"))
    found = gb.open_alignment(path)
    assert found.values.tolist() == [["0", "1", "{01}", "{1-}"], ["{01}", "{012}", "{012}", "?"]]


def test_kind_standard_takes_every_symbol_as_a_state(tmp_path) -> None:
    path = tmp_path / "x"
    path.write_text(made("", "'a b' 0102\nc 01?0").replace("dna", 'standard symbols="01"'))
    with pytest.raises(ValueError, match=r"line 10: .* site 3: '2' is not .* kind='standard'"):
        gb.open_alignment(path)
    found = gb.open_alignment(path, kind="standard")
    assert found.attrs["states"] == "012"
