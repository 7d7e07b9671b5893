"""Parsimony of labelled alignments against phangorn, DendroPy and PHYLIP on real data."""

import csv
import gzip
import io

import numpy as np
import pytest

import genobit as gb
from genobit.data.alignment import alignment_of, states_of
from genobit.data.characters import sets_in
from genobit.data.topology import children
from genobit.io.trees import read_trees
from tests.benchmarks import byte_fitch

pytest.importorskip("dendropy")

FILES = {
    "primates": "primates.fasta",
    "primates_ambig": "primates_ambig.fasta",
    "laurasiatherian": "laurasiatherian.fasta",
    "woodmouse": "woodmouse.fasta",
    "yeast8": "yeast8.fasta",
    "mites_morph": "mites_morph.phy",
}
TREES = ("nj", "upgma", "random", "ratchet", "spr")


def table(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


@pytest.fixture(scope="module", params=FILES)
def data(request, shared_data):
    folder = shared_data / request.param
    aln = gb.open_alignment(folder / FILES[request.param])
    return folder, aln, [folder / f"tree_{name}.nwk" for name in TREES]


def test_references__lengths_and_indices(data):
    folder, aln, trees = data
    res = aln.genobit.parsimony(trees)
    scores = {row["tree"]: row for row in table(folder / "ref" / "phangorn_scores.tsv")}
    crosscheck = {row["tree"]: row for row in table(folder / "ref" / "crosscheck.tsv")}
    for name, one in zip(TREES, res.transpose("trees", ...).length.values, strict=True):
        others = [crosscheck[name][program] for program in ("phangorn", "dendropy", "phylip")]
        assert [float(length) for length in (*others, scores[name]["fitch"])] == [one] * 4
    np.testing.assert_allclose(res.ci, [float(scores[name]["CI"]) for name in TREES], rtol=1e-13)
    np.testing.assert_allclose(res.ri, [float(scores[name]["RI"]) for name in TREES], rtol=1e-13)
    np.testing.assert_array_equal(res.rc, res.ci * res.ri)


def test_references__changes_of_sites(data):
    folder, aln, trees = data
    res = aln.genobit.parsimony(trees)
    rows = table(folder / "ref" / "phangorn_site_scores.tsv.gz")
    for number, name in enumerate(TREES):
        assert res.changes[number].values.tolist() == [int(row[name]) for row in rows]
    assert (res.min_changes <= res.changes).all()
    assert (res.changes <= res.max_changes).all()


def test_references__bytes_costs_and_lengths_alone_agree(data):
    _, aln, trees = data
    res = aln.genobit.parsimony(trees)
    states = len(states_of(res.attrs))
    alone = aln.genobit.parsimony(trees, sites=False)
    assert alone.length.values.tolist() == res.length.values.tolist()
    costs = aln.genobit.parsimony(trees[0], costs=1 - np.eye(states, dtype=int))
    assert costs.length == res.length[0]
    np.testing.assert_array_equal(costs.changes, res.changes[0])
    if states <= 8:
        found = alignment_of(aln, "missing")
        sets = sets_in(found.values, found.coding, found.taxa, 0)
        for number, tree in enumerate(read_trees(trees, found.taxa).trees):
            by_bytes = byte_fitch.changes(sets, *children(tree.parents))
            np.testing.assert_array_equal(by_bytes, res.changes[number])


@pytest.mark.parametrize("resolve", ["acctran", "deltran"])
def test_references__branches_sum_to_the_length(data, resolve):
    _, aln, trees = data
    for tree in trees:
        anc = aln.genobit.ancestral_states(tree, resolve=resolve)
        length = int(aln.genobit.parsimony(tree, sites=False).length)
        assert int(anc.branch_changes.sum()) == length
        parent = anc.node_parent.values
        changed = (anc.states.values[:-1] != anc.states.values[parent[:-1]]).sum(axis=1)
        assert anc.branch_changes.values[:-1].tolist() == changed.tolist()


def test_references__all_trees_of_mites(shared_data):
    folder = shared_data / "mites_morph"
    aln = gb.open_alignment(folder / FILES["mites_morph"])
    res = aln.genobit.parsimony(folder / "ref" / "bab_all_most_parsimonious.nwk")
    assert res.length.values.tolist() == [139] * 37


@pytest.mark.parametrize(
    ("name", "length"), [("primates", 746), ("primates_ambig", 701), ("yeast8", 137403)]
)
def test_references__the_one_tree_of_branch_and_bound(shared_data, name, length):
    aln = gb.open_alignment(shared_data / name / FILES[name])
    res = aln.genobit.parsimony(shared_data / name / "ref" / "bab_all_most_parsimonious.nwk")
    assert np.ravel(res.length).tolist() == [length]


def test_references__sets_of_all_reconstructions(shared_data):
    folder = shared_data / "primates"
    aln = gb.open_alignment(folder / FILES["primates"])
    tree = folder / "ref" / "tree_ratchet_rooted_mouse.nwk"
    anc = aln.genobit.ancestral_states(tree, resolve="sets")
    rows = table(folder / "ref" / "phangorn_MPR_sets.tsv.gz")
    for node in rows[0]:
        found = ["".join(sorted(text.strip("{}"))) for text in anc.states.sel(node=node).values]
        expected = ["".join(sorted(row[node])) for row in rows]
        assert ["ACGT" if text == "?" else text for text in found] == expected
    assert (anc.branch_changes <= anc.most_branch_changes).all()
