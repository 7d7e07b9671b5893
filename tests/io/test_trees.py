from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.data.topology import children, tips
from genobit.io.trees import Phylogeny, newick, read_trees

ABCD = ["a", "b", "c", "d"]
#: ((a:1,b:2)x:3,c:4,d:5)
PARENTS = [4, 4, 5, 5, 5, -1]
LENGTHS = [1, 2, 4, 5, 3, np.nan]


def one(tree, taxa=ABCD) -> Phylogeny:
    found = read_trees(tree, taxa)
    assert found.one
    return found.trees[0]


def clades(tree: Phylogeny) -> set[frozenset[str]]:
    """The tips below each inner node but the root."""
    number = tips(tree.parents)
    below: list[frozenset[str]] = [frozenset([name]) for name in tree.labels[:number]]
    of = children(tree.parents)
    for node in range(number, tree.parents.size):
        below.append(frozenset().union(*(below[child] for child in of.of(node))))
    return set(below[number:-1])


def check(tree: Phylogeny, lengths: bool = True) -> None:
    assert tree.parents.dtype == np.int64
    assert tree.parents.tolist() == PARENTS
    assert tree.labels[:4] == ("a", "b", "c", "d")
    if lengths:
        np.testing.assert_allclose(tree.lengths, LENGTHS)
    else:
        assert tree.lengths is None


TEXT = "((a:1,b:2)x:3,c:4,d:5);"


def alignment() -> xr.DataArray:
    return xr.DataArray([list("ACG"), list("ACT")], dims=("taxa", "sites"))


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT[:-1],
        " [&U] ((a:1,b:2)x:3 , c:4[comment],\n'd':5)root;\n",
        "((b:2,a:1)x:3,d:5.0e0,c:4);",
        "(((a:1,b:2)x:1):2,((c:4)),(d:2):3);",
        "(((a:1,b:2)x:3,c:4,d:5)y:7):1;",
    ],
)
def test_newick(text) -> None:
    tree = one(text)
    check(tree)
    assert tree.labels[4] == "x"


def test_newick__without_lengths() -> None:
    check(one("((a,b),c,d);"), lengths=False)


def test_newick__several_trees_and_lists() -> None:
    found = read_trees("((a,b),c,d);\n((a,c),b,d);", ABCD)
    assert not found.one
    assert [clades(tree) for tree in found.trees] == [{frozenset("ab")}, {frozenset("ac")}]
    assert not read_trees([TEXT], ABCD).one
    assert len(read_trees([TEXT, found.trees[1]], ABCD).trees) == 2


def test_newick__of_a_search() -> None:
    texts = np.array([TEXT, "(a,b,c,d);"], dtype=object)
    found = read_trees(xr.Dataset({"tree": ("trees", texts), "length": ("trees", [1, 2])}), ABCD)
    assert not found.one
    check(found.trees[0])
    check(one(xr.DataArray(TEXT)))
    with pytest.raises(ValueError, match="the Dataset has no variable 'tree'"):
        read_trees(xr.Dataset(), ABCD)


def test_paths(tmp_path: Path) -> None:
    path = tmp_path / "a tree (1).nwk"
    path.write_text(TEXT)
    check(one(path))
    check(one(str(path)))


NEXUS = """#NEXUS
begin taxa; dimensions ntax=4; taxlabels a b 'c c' d_d; end;
begin characters; dimensions nchar=1; format datatype=dna; matrix a A b C 'c c' G d_d T; end;
begin trees;
  translate 1 a, 2 b, 3 'c c', 4 d_d;
  tree one = [&R] ((1:1,2:2)x:3,3:4,4:5);
  tree two = (1,(2,(3,4)));
end;
"""


def test_nexus__with_translation(tmp_path) -> None:
    path = tmp_path / "x.tre"
    path.write_text(NEXUS)
    for source in (NEXUS, path):
        found = read_trees(source, ["a", "b", "c c", "d_d"])
        assert not found.one
        assert found.trees[0].parents.tolist() == PARENTS
        np.testing.assert_allclose(found.trees[0].lengths, LENGTHS)
        assert clades(found.trees[1]) == {
            frozenset(["c c", "d_d"]),
            frozenset(["b", "c c", "d_d"]),
        }


def test_objects__of_dendropy() -> None:
    import dendropy

    check(one(dendropy.Tree.get(data=TEXT, schema="newick")))
    trees = dendropy.TreeList.get(data=TEXT, schema="newick")
    assert not read_trees(trees, ABCD).one
    check(read_trees(trees, ABCD).trees[0])


def test_objects__of_scikit_bio() -> None:
    skbio = pytest.importorskip("skbio")
    check(one(skbio.TreeNode.read(io.StringIO(TEXT))))


def test_objects__of_biopython() -> None:
    phylo = pytest.importorskip("Bio.Phylo")
    check(one(phylo.read(io.StringIO(TEXT), "newick")))


def test_objects__of_tskit() -> None:
    import msprime

    ts = msprime.sim_ancestry(4, ploidy=1, random_seed=3)
    tree = ts.first()
    names = [f"n{node}" for node in ts.samples()]
    found = one(tree, names)
    again = one(tree.as_newick(precision=14), names)
    assert clades(found) == clades(again)
    np.testing.assert_allclose(found.lengths[:4], again.lengths[:4])
    with pytest.raises(ValueError, match="has 4 roots: simplify"):
        read_trees(ts.simplify().delete_intervals([[0, 1]], simplify=False).first(), names)


def test_objects__of_a_tree_sequence() -> None:
    import msprime

    ts = msprime.sim_ancestry(
        6, ploidy=1, sequence_length=100, recombination_rate=0.1, random_seed=3
    )
    names = [f"n{node}" for node in ts.samples()]
    wanted = [clades(one(tree.as_newick(), names)) for tree in ts.trees()]
    assert wanted[0] != wanted[-1]
    for trees in (ts, ts.trees()):
        found = read_trees(trees, names)
        assert [clades(tree) for tree in found.trees] == wanted
        assert not found.one


def test_objects__of_no_tree() -> None:
    with pytest.raises(ValueError, match="list of trees is empty"):
        read_trees([], ABCD)
    with pytest.raises(TypeError, match="int is not a tree: give Newick"):
        read_trees(3, ABCD)
    with pytest.raises(FileNotFoundError, match=r"'tree\.nwk' is neither Newick nor the path"):
        read_trees("tree.nwk", ABCD)


def test_deep_trees() -> None:
    names = [f"t{number}" for number in range(3000)]
    text = "(" * 2999 + "t0,t1)" + "".join(f",{name})" for name in names[2:]) + ";"
    tree = one(text, names)
    assert tree.parents.tolist() == [3000, *range(3000, 5999), *range(3001, 5999), -1]
    assert newick(tree.parents, names).count("(") == 2999


def test_random_trees__there_and_back() -> None:
    rng = np.random.default_rng(5)
    for taxa in (2, 3, 4, 17):
        names = [f"taxon {number}" for number in rng.permutation(taxa)]
        groups = [f"'{name}':{rng.uniform():.6f}" for name in names]
        while len(groups) > 1:
            size = int(rng.integers(2, min(4, len(groups)) + 1))
            chosen = rng.choice(len(groups), size, replace=False)
            joined = "(" + ",".join(groups[k] for k in chosen) + f"):{rng.uniform():.6f}"
            groups = [group for k, group in enumerate(groups) if k not in chosen] + [joined]
        tree = one(groups[0] + ";", names)
        inner = np.arange(taxa, tree.parents.size)
        assert (tree.parents[:-1] > np.arange(tree.parents.size - 1)).all()
        assert (np.bincount(tree.parents[:-1])[inner] >= 2).all()
        again = one(newick(tree.parents, names, tree.labels, tree.lengths), names)
        assert clades(again) == clades(tree)
        np.testing.assert_allclose(sorted(again.lengths), sorted(tree.lengths))


def test_names__quoted_when_they_need_it() -> None:
    names = ["a_b", "it's (1)", "x, y", "S._alpinus-2"]
    text = newick(np.array(PARENTS), names, [*names, "99", ""])
    assert text == "('x, y',S._alpinus-2,(a_b,'it''s (1)')99);"
    assert one(text, names).labels == (*names, "99", "")


@pytest.mark.parametrize("name", ["x.nwk", "x.nex"])
def test_to_trees(tmp_path, name) -> None:
    names = ["a_b", "A_b", "c d", "e"]
    trees = ["((a_b:1,A_b:2):3,'c d',e);", "((a_b,'c d'),A_b,e);"]
    gb.to_trees(trees, tmp_path / name)
    assert (tmp_path / name).read_text().startswith("#NEXUS") == name.endswith("nex")
    found = read_trees(tmp_path / name, names)
    expected = read_trees(trees, names)
    assert [clades(t) for t in found.trees] == [clades(t) for t in expected.trees]
    gb.to_trees(xr.Dataset({"tree": ("trees", np.array(trees, object))}), tmp_path / ("2" + name))
    assert (tmp_path / ("2" + name)).read_text() == (tmp_path / name).read_text()


@pytest.mark.parametrize("name", ["x.nwk", "x.nex"])
@pytest.mark.parametrize(
    ("trees", "error", "message"),
    [
        (["(a,b);", "x"], ValueError, "tree 1 is not Newick: 'x'"),
        (["(a,b);", "((a,b);"], ValueError, "tree 1 is not Newick: .*Unbalanced parentheses"),
        ("[a comment]", ValueError, "there is no tree to write"),
        ([], ValueError, "there is no tree to write"),
        (alignment(), TypeError, r"tree 0 is a row of an array, expected Newick text"),
        (alignment()[0], ValueError, "tree 0 is not Newick: 'A'"),
        (alignment().to_dataset(name="x"), ValueError, "the Dataset has no variable 'tree'"),
        ([one(TEXT)], TypeError, "tree 0 is a"),
        (None, TypeError, "tree 0 is a NoneType, expected Newick text"),
    ],
)
def test_to_trees__refuses_what_is_no_tree_and_keeps_the_file(
    tmp_path, name, trees, error, message
) -> None:
    (tmp_path / name).write_text(TEXT)
    with pytest.raises(error, match=message):
        gb.to_trees(trees, tmp_path / name, overwrite=True)
    assert (tmp_path / name).read_text() == TEXT


def test_names__underscores_are_blanks() -> None:
    check(one("((a_a,b),c,d);", ["a a", "b", "c", "d"])._replace(labels=(*ABCD, "", "")), False)
    check(one("(('a a',b),c,d);", ["a_a", "b", "c", "d"])._replace(labels=(*ABCD, "", "")), False)
    both = one("((a_a,'a a'),c,d);", ["a_a", "a a", "c", "d"])
    assert both.labels[:2] == ("a_a", "a a")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(a,b,(c,e));", r"^the tree: .*1 of the 4 tips not in the alignment: 'e'; .*: 'd'; prune"),
        ("(a,b,c);", r"1 of the 4 taxa not in the tree: 'd'; leave them out with aln.sel\(taxa"),
        ("(a,b,c,d,e);", "1 of the 5 tips not in the alignment: 'e'; prune the tree"),
        ("(p,q,r,s,t,u,v);", r"7 of the 7 tips .*: 'p', 'q', 'r', 's', 't' and 2 more;"),
        ("(a,b,(c,C));", "'C'.*'d'"),
        ("(a,b,c,D);", r"\. 'D' may be 'd', they differ in case alone: rename one"),
        ("(a,b,a,d);", "two tips are named 'a': a taxon is at one tip"),
        ("(a,b,,d);", "a tip has no name"),
        ("(a,b,(c,d);", "the Newick cannot be read: on line 1 at column .*Unbalanced"),
        ("(a,b),(c,d);", "the Newick cannot be read"),
        ("(a:x,b,c,d);", "Invalid edge length: 'x'"),
        ("(a:1_5,b,c,d);", "Invalid edge length: '1_5'"),
        (" ", "the text of the tree is empty"),
        ("(a,b,c,d);(a,b,c);", "^tree 1: the tips are not the taxa"),
        ("#NEXUS\nbegin taxa; dimensions ntax=1; taxlabels a; end;", "the NEXUS holds no tree"),
    ],
)
def test_refusals(tree, message) -> None:
    with pytest.raises(ValueError, match=message):
        read_trees(tree, ABCD)


@pytest.mark.parametrize(
    ("tip", "taxon", "why"),
    [
        ("NC_1", "NC_1 Homo sapiens", "one is the first word of the other"),
        ("S._arenoco", "S._arenocolus", "one is the other cut to ten characters"),
        ("'''x'''", "x", "they differ in quotation marks alone"),
        ("HOMO_s", "Homo s", "they differ in case alone"),
        ("x_y", "x  y", "they differ in blanks and underscores alone"),
    ],
)
def test_refusals__hints(tip, taxon, why) -> None:
    with pytest.raises(ValueError, match=f"{why}: rename one"):
        read_trees(f"({tip},b,c);", [taxon, "b", "c"])


def test_refusals__one_taxon_and_other_numbers() -> None:
    with pytest.raises(ValueError, match="the alignment has 1 taxa: a tree needs at least two"):
        read_trees("(a);", ["a"])
    with pytest.raises(ValueError, match="the tree has 4 tips, the alignment 3 taxa"):
        read_trees(one(TEXT), ABCD[:3])


@pytest.mark.parametrize("name", ["primates", "laurasiatherian", "mites_morph"])
def test_published_trees(shared_data: Path, name) -> None:
    file = next(path for path in (shared_data / name).iterdir() if path.stem == name)
    taxa = gb.open_alignment(file).taxa.values
    for path in sorted((shared_data / name).glob("*.nwk")):
        tree = one(path, taxa)
        assert tree.parents.size == 2 * len(taxa) - 2
        written = newick(tree.parents, taxa)
        assert clades(one(written, taxa)) == clades(tree)


def test_published_trees__all_shortest(shared_data: Path) -> None:
    taxa = gb.open_alignment(shared_data / "mites_morph" / "mites_morph.phy").taxa.values
    ref = shared_data / "mites_morph" / "ref" / "bab_all_most_parsimonious.nwk"
    found = read_trees(ref, taxa)
    assert len(found.trees) == 37
    assert len({frozenset(clades(tree)) for tree in found.trees}) == 37
