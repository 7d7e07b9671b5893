"""Taxa at inner nodes and at the root, against every assignment of states to the nodes."""

from __future__ import annotations

import io

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit  # noqa: F401 - registers the accessor
from genobit.io.trees import read_trees
from genobit.parsimony.explorer.data import TreeData
from tests.helpers import reference
from tests.helpers.trees import random_parents, random_sets

STATES = "012"


def entry(found: int) -> str:
    inside = "".join(state for k, state in enumerate(STATES) if found >> k & 1)
    return inside if len(inside) == 1 else "{" + inside + "}"


def written(parents: list[int], node: int, names: list[str]) -> str:
    below = [written(parents, k, names) for k, above in enumerate(parents) if above == node]
    return f"({','.join(below)}){names[node]}" if below else names[node]


@st.composite
def sampled_trees(draw):
    """Parents with chains of nodes of one child, sets of all nodes, and the sampled inner nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tips = draw(st.integers(1, 4))
    parents = random_parents(tips, rng, 3).tolist()
    for _ in range(draw(st.integers(0 if tips > 1 else 1, 2))):
        # A new node above one that is there, the root included.
        node = int(rng.integers(len(parents)))
        above, parents[node] = parents[node], len(parents)
        parents.append(above)
    inner = range(tips, len(parents))
    # Others with one child are removed, which costs that are no metric would tell.
    sampled = [k for k in inner if parents.count(k) == 1 or rng.random() < 0.4] or [inner[-1]]
    sets = random_sets(len(parents), 3, len(STATES), rng, draw(st.sampled_from([0.0, 0.5])))
    sets[[k for k in inner if k not in sampled]] = 2 ** len(STATES) - 1
    return parents, sets.astype(int), sampled, rng


def alignment(parents, sets, sampled, rng) -> tuple[xr.DataArray, str, list[str]]:
    """Taxa in any order, the tree as Newick, and the names of its nodes."""
    tips = min(k for k in parents if k >= 0)
    names = [f"t{k}" if k < tips or k in sampled else "" for k in range(len(parents))]
    rows = rng.permutation([k for k, name in enumerate(names) if name])
    values = [[entry(found) for found in sets[k]] for k in rows]
    coords = {"taxa": [names[k] for k in rows]}
    attrs = {"kind": "standard", "states": list(STATES)}
    aln = xr.DataArray(values, coords, ("taxa", "sites"), attrs=attrs)
    return aln, written(parents, parents.index(-1), names) + ";", names


@settings(max_examples=50)
@given(sampled_trees(), st.sampled_from(["equal", "whole", "free"]))
def test_lengths_are_those_of_every_assignment(case, how) -> None:
    parents, sets, sampled, rng = case
    aln, tree, _ = alignment(*case)
    costs = 1 - np.eye(3) if how == "equal" else rng.integers(how == "whole", 5, (3, 3))
    costs = costs * (1 - np.eye(3))
    root = parents.index(-1)
    rooted = root in sampled or parents.count(root) < 3
    costs = costs if rooted else np.maximum(costs, costs.T)
    right = [reference.reconstructions(s.tolist(), parents, costs.tolist())[0] for s in sets.T]
    assert aln.genobit.parsimony(tree, costs=costs).changes.values.tolist() == right
    if how == "equal":
        found = aln.genobit.parsimony(tree)
        assert found.changes.values.tolist() == right
        assert aln.genobit.parsimony(tree, sites=False).length == sum(right)
        lazy = aln.chunk(sites=1)
        assert lazy.genobit.parsimony([tree] * 2).length.values.tolist() == [sum(right)] * 2


@settings(max_examples=30)
@given(sampled_trees())
def test_states_are_those_of_the_shortest_assignments(case) -> None:
    parents, sets, sampled, _ = case
    aln, tree, names = alignment(*case)
    unit = (1 - np.eye(3)).tolist()
    best = [reference.reconstructions(s.tolist(), parents, unit)[1] for s in sets.T]
    known = [k for k, name in enumerate(names) if name]
    for resolve in ("sets", "acctran", "deltran"):
        anc = aln.genobit.ancestral_states(tree, resolve=resolve)
        assert sorted(anc.attrs["sampled"]) == sorted(names[k] for k in sampled)
        assert (anc.branch_changes.sel(node=anc.attrs["sampled"]) == 0).all()
        for site, choices in enumerate(best):
            states = dict(zip(anc.node.values, anc.states.values[:, site].tolist(), strict=True))
            if resolve != "sets":
                of_named = {tuple(STATES[choice[k]] for k in known) for choice in choices}
                assert tuple(states[names[k]] for k in known) in of_named
                continue
            for k in known:
                every = {1 << choice[k] for choice in choices}
                assert states[names[k]].replace("?", "{012}") == entry(sum(every))
            for tip in anc.attrs["sampled"]:
                node = int(anc.node_parent.sel(node=tip))
                assert anc.states.values[node, site] == states[tip]
    length = int(aln.genobit.parsimony(tree).length)
    assert int(anc.branch_changes.sum()) == length
    assert anc.genobit.plot("tree") is not None


ROWS = {"a": "AACCT", "b": "AACGA", "c": "GATCA", "d": "GCTGC"}
ALIGNMENT = xr.DataArray(
    [list(row) for row in ROWS.values()], {"taxa": list(ROWS)}, ("taxa", "sites")
)


def test_a_root_of_one_branch_is_a_tip_of_the_unrooted_tree() -> None:
    unrooted = ALIGNMENT.genobit.parsimony("((a,b),(c,d));")
    xr.testing.assert_identical(ALIGNMENT.genobit.parsimony("((b,(c,d)))a;"), unrooted)
    skbio = pytest.importorskip("skbio")
    tree = skbio.TreeNode.read(io.StringIO("((a,b),(c,d));"))
    for name in ROWS:
        again = ALIGNMENT.genobit.parsimony(tree.copy().root_at(name))
        xr.testing.assert_identical(again, unrooted)


def test_objects_rooted_at_a_taxon_are_as_their_newick() -> None:
    dendropy = pytest.importorskip("dendropy")
    phylo = pytest.importorskip("Bio.Phylo")
    tree = dendropy.Tree.get(data="((a,b),(c,d));", schema="newick")
    tree.reseed_at(tree.find_node_with_taxon_label("a"))
    inner = phylo.read(io.StringIO("((a:1,b:2)c:3,d:1);"), "newick")
    for found, text in [
        (tree, "(b,(c,d))a;"),
        (inner, "((a,b)c,d);"),
        (inner.root, "((a,b)c,d);"),
        (inner.clade, "((a,b)c,d);"),
    ]:
        right = ALIGNMENT.genobit.parsimony(text)
        xr.testing.assert_identical(ALIGNMENT.genobit.parsimony(found), right)
    (one,) = read_trees(inner.root, list(ROWS)).trees
    assert one.sampled == (2,)
    assert one.lengths[:4].tolist() == [1, 2, 0, 1]


def test_ancestors_of_tskit_are_sampled() -> None:
    tskit = pytest.importorskip("tskit")
    tables = tskit.TableCollection(1)
    for time in (0, 0, 1):
        tables.nodes.add_row(tskit.NODE_IS_SAMPLE, time)
    tables.nodes.add_row(0, 2)
    for parent, child in ((2, 0), (3, 1), (3, 2)):
        tables.edges.add_row(0, 1, parent, child)
    tables.sort()
    values = np.array([["0"], ["0"], ["1"]])
    aln = xr.DataArray(values, {"taxa": ["n0", "n1", "n2"]}, ("taxa", "sites"))
    assert aln.genobit.parsimony(tables.tree_sequence()).length.values.tolist() == [2]


@pytest.mark.parametrize(
    ("tree", "taxa", "message"),
    [
        ("((a,b)c,(d,e)c);", "abcde", "two inner nodes are named 'c': a taxon is at one node"),
        ("((a,b)95,c);", ["a", "b", "c", "95"], "taxon '95' is at no tip, .* read as its support"),
        ("((a,b)x,c);", "abcd", "1 of the 4 taxa not in the tree: 'd'"),
    ],
)
def test_refusals(tree, taxa, message) -> None:
    with pytest.raises(ValueError, match=message):
        read_trees(tree, list(taxa))


@pytest.mark.parametrize("names", [["x_y", "a", "b"], ["x y", "a", "b"]])
def test_underscores_of_inner_nodes_are_blanks(names) -> None:
    for text in ("((a)x_y,b);", "((a)'x y',b);"):
        (tree,) = read_trees(text, names).trees
        assert tree.sampled == (0,)
        assert tree.labels[:3] == tuple(names)


def test_labels_that_are_also_tips_stay_labels() -> None:
    (tree,) = read_trees("((a,b)c,c);", list("abc")).trees
    assert tree.sampled == ()
    assert tree.labels == ("a", "b", "c", "c", "")


def test_the_explorer_roots_trees_with_sampled_taxa() -> None:
    data = TreeData(ALIGNMENT)
    data.read(["((a,b)c,d);", "((b,(c,d)))a;"])
    for tree, outgroup in [(0, ["d"]), (0, ["a"]), (1, ["a"]), (1, ["c", "d"])]:
        found = data.ancestors(tree, outgroup, "acctran")
        assert int(found.states.branch_changes.sum()) == data.length(tree)
    with pytest.raises(ValueError, match="'c' is an inner node of this tree: root it at a branch"):
        data.ancestors(0, ["c"], "acctran")


def test_a_search_starts_at_a_tree_with_a_sampled_taxon() -> None:
    found = ALIGNMENT.genobit.parsimony_search("spr", start="((a,b)c,d);")
    assert found.length[0] <= ALIGNMENT.genobit.parsimony("((a,b),c,d);").length
