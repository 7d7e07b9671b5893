"""Names of taxa through files of trees, and trees whose size is in one node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.io.trees import newick, read_trees

if TYPE_CHECKING:
    from pathlib import Path

# ((2, 3), 0, 1) and the nodes above.
PARENTS = np.array([5, 5, 4, 4, 5, -1])
MARKS = "aA_ ',;:=()[]{}\"-*+/\\<>1é中"


def through(folder: Path, suffix: str, names: list[str]) -> list[str]:
    """Tip names in the order of the taxa, written and read; raises where they do not fit."""
    path = folder / f"t.{suffix}"
    gb.to_trees(newick(PARENTS, names), path, overwrite=True)
    tree = read_trees(path, names).trees[0]
    # The tips of the pair are those that were.
    assert tree.parents[2] == tree.parents[3] != tree.parents[0]
    return list(tree.labels[:4])


@pytest.mark.parametrize("suffix", ["nex", "nwk"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_names_come_back(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    name = st.text(MARKS, min_size=1, max_size=6)
    names = data.draw(st.lists(name, min_size=4, max_size=4, unique=True))
    assert through(tmp_path, suffix, names) == names


@pytest.mark.parametrize("suffix", ["nex", "nwk"])
@pytest.mark.parametrize(
    "names",
    [
        ["a b", "a_b", "c", "d"],
        ["a", "A", "b", "B"],
        ["2", "1", "4", "3"],
        ["end", "tree", "TRANSLATE", "begin"],
        ["'", "''", "it's", '"'],
        [" a", "a ", " ", "_"],
        ["[x]", "a=b", "a,b", "a;b"],
    ],
)
def test_names_that_other_programs_confuse(tmp_path: Path, suffix: str, names: list[str]) -> None:
    assert through(tmp_path, suffix, names) == names


@pytest.mark.parametrize("name", ["a\nb", "a\u2028b", "a\rb", "a\x00b", "a\x85"])
def test_a_name_with_an_end_of_a_line_is_not_written(tmp_path: Path, name: str) -> None:
    text = newick(PARENTS, [name, "b", "c", "d"]) if name.strip() else ""
    with pytest.raises(ValueError, match="contains a line break or control character"):
        gb.to_trees(
            text.replace(name, f"'{name}'") if "'" not in text else text, tmp_path / "t.nex"
        )
    assert not (tmp_path / "t.nex").exists()


def test_dendropy_reads_what_is_written(tmp_path: Path) -> None:
    dendropy = pytest.importorskip("dendropy")
    names = ["a b", "a_c", "it's", "d"]
    gb.to_trees(
        [newick(PARENTS, names, lengths=[1, 2.5, 1e-9, 3, 4, np.nan])] * 2, tmp_path / "t.nex"
    )
    trees = dendropy.TreeList.get(
        path=str(tmp_path / "t.nex"), schema="nexus", preserve_underscores=True
    )
    assert len(trees) == 2
    assert sorted(taxon.label for taxon in trees.taxon_namespace) == sorted(names)
    assert trees[0].length() == pytest.approx(10.5)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("tree x = ((1,2),3,4);", "abcd"),
        ("translate 1 d, 2 c, 3 b, 4 a; tree x = ((1,2),3,4);", "dcba"),
        ("Translate q d,r c,\n 3 'b' , 4 a\n; UTREE * x=[&U] ((q,r),3,4);", "dcba"),
        ("tree x = ((a,'b'),c,d);", "abcd"),
    ],
)
def test_trees_of_nexus_name_taxa_in_three_ways(block: str, expected: str) -> None:
    text = (
        "#NEXUS [a [nested] note]\nbegin taxa; dimensions ntax=4; taxlabels a b c d; end;\n"
        f"begin mystery; what 'ever; it' is; end;\nBegin trees; {block} end;\n"
    )
    tree = read_trees(text, list("abcd")).trees[0]
    pair = {tree.labels[k] for k in range(4) if tree.parents[k] != tree.parents.size - 1}
    assert pair == set(expected[:2])


@pytest.mark.parametrize("suffix", ["nwk", "nex"])
def test_a_star_of_many_tips_is_read(tmp_path: Path, suffix: str) -> None:
    # Work that grows with the square of the tips would take many minutes.
    names = [f"t{k}" for k in range(40_000)]
    path = tmp_path / f"star.{suffix}"
    gb.to_trees(f"({','.join(names)});", path)
    tree = read_trees(path, names).trees[0]
    assert tree.parents.tolist() == [len(names)] * len(names) + [-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" + "," * 50_000 + ");", "a tip has no name"),
        ("(" * 50_000 + "a" + ")" * 50_000 + ";", "3 of the 4 taxa not in the tree"),
        ("(" * 100_000, "Unbalanced parentheses: 100000 are not closed"),
    ],
)
def test_long_lines_of_marks_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_trees(text, list("abcd"))
