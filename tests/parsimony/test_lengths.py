"""Rules of parsimony: weights, gaps, costs, many states, many trees, and what is refused."""

from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit  # noqa: F401 - registers the accessor
from genobit.data.alignment import states_of
from genobit.data.characters import Characters
from genobit.data.topology import children
from genobit.io.trees import Phylogeny
from genobit.parsimony import lengths as parsimony
from tests.helpers import reference
from tests.helpers.trees import random_parents, random_sets, scored

BALANCED = np.array([4, 4, 5, 5, 6, 6, -1])


def tree_of(parents, labels=None):
    return Phylogeny(parents, labels or (*"abcd", *[""] * (parents.size - 4)), None)


def alignment(rows, **attrs):
    rows = np.array([list(row) for row in rows])
    coords = {"taxa": list("abcdefghijklmnopqrstuvwxyz"[: len(rows)])}
    return xr.DataArray(rows, coords, ("taxa", "sites"), attrs=attrs)


@settings(max_examples=40)
@given(scored(most_children=4), st.integers(0, 2**32))
def test_scores_are_those_of_every_assignment(case, seed):
    sets, parents, weights, states = case
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(weights.size) < 0.3, 0, weights)
    characters = Characters(sets, tuple("ACGTUVWXYZ"[:states]))
    costs = (1 - np.eye(states)).tolist()
    by_hand = [
        reference.reconstructions([int(x) for x in column], parents.tolist(), costs)[0]
        for column in sets.T
    ]
    found = parsimony.columns(characters, weights)
    changes = parsimony.tree_changes(found, [children(parents)])
    assert changes[0, found.patterns.of_site].tolist() == by_hand
    assert parsimony.weighted(changes, found.weights).tolist() == [np.dot(weights, by_hand)]
    if weights.any():
        alone = parsimony.columns(characters, weights, sites=False)
        length = parsimony.tree_lengths(alone, [children(parents)])
        assert length.tolist() == [np.dot(weights, by_hand)]


def test_weights_count_as_sites_repeated():
    rng = np.random.default_rng(1)
    values = rng.integers(-1, 4, (7, 90))
    weights = rng.integers(0, 5, 90)
    aln = xr.DataArray(values, dims=("taxa", "sites"))
    tree = Phylogeny(random_parents(7, rng), ("",) * 13, None)
    once = aln.genobit.parsimony(tree, weights=weights)
    often = aln.isel(sites=np.repeat(np.arange(90), weights)).genobit.parsimony(tree)
    for name in ("length", "ci", "ri", "rc"):
        assert once[name] == often[name]
    alone = aln.genobit.parsimony(tree, weights=weights, sites=False)
    xr.testing.assert_identical(alone, once[["length", "ci", "ri", "rc"]])
    plain = aln.genobit.parsimony(tree)
    np.testing.assert_array_equal(plain.changes, once.changes)


def test_a_gap_is_missing_or_one_more_state():
    aln = alignment(["A-?", "AAN", "A--", "AA-"], kind="dna")
    tree = tree_of(BALANCED)
    assert aln.genobit.parsimony(tree).changes.values.tolist() == [0, 0, 0]
    res = aln.genobit.parsimony(tree, gap="state")
    # N is any nucleotide and no gap, ? may be a gap.
    assert res.changes.values.tolist() == [0, 2, 1]
    assert states_of(res.attrs) == ["A", "C", "G", "T", "-"]
    anc = aln.genobit.ancestral_states(tree, resolve="sets", gap="state")
    assert anc.states.values[4:].tolist() == [
        ["A", "{A-}", "?"],
        ["A", "{A-}", "-"],
        ["A", "{A-}", "?"],
    ]


@pytest.mark.parametrize("states", [33, 40, 64])
def test_more_states_than_a_word_of_32_bits(states):
    rng = np.random.default_rng(states)
    values = rng.integers(-1, states, (9, 70))
    values[0, 0] = states - 1
    aln = xr.DataArray(values, dims=("taxa", "sites"))
    parents = random_parents(9, rng)
    res = aln.genobit.parsimony(Phylogeny(parents, ("",) * 17, None))
    top = (1 << states) - 1
    sets = [[top if x < 0 else 1 << int(x) for x in row] for row in values]
    expected = reference.fitch(np.array(sets, np.uint64), parents)[1]
    assert res.changes.values.tolist() == expected.tolist()


def test_proteins():
    aln = alignment(["MKB", "MRN", "LKD", "LRX"], kind="protein")
    res = aln.genobit.parsimony(tree_of(BALANCED))
    # B is N or D, X is any.
    assert res.changes.values.tolist() == [1, 2, 1]
    assert res.min_changes.values.tolist() == [1, 1, 1]
    assert res.max_changes.values.tolist() == [2, 2, 1]


def test_indices_of_sites_that_tell_nothing_are_nan_without_a_warning():
    # Constant, one taxon of its own, informative and perfect, informative and contradicted.
    aln = alignment(["AAAA", "AAAC", "AACA", "ACCC"], kind="dna")
    res = aln.genobit.parsimony(tree_of(BALANCED))
    assert res.changes.values.tolist() == [0, 1, 1, 2]
    np.testing.assert_array_equal(res.site_ci, [np.nan, 1, 1, 0.5])
    np.testing.assert_array_equal(res.site_ri, [np.nan, np.nan, 1, 0])
    assert (float(res.ci), float(res.ri), float(res.rc)) == (0.75, 0.5, 0.375)
    same = aln[:, :1].genobit.parsimony(tree_of(BALANCED))
    assert np.isnan([same.ci, same.ri, same.rc]).all()


def test_costs_by_direction_and_by_label():
    aln = alignment(["01", "01", "10", "10"], kind="standard", states=["0", "1"])
    tree = tree_of(BALANCED)
    costs = np.array([[0, 1], [5, 0]])
    res = aln.genobit.parsimony(tree, costs=costs)
    assert res.length == 2
    assert res.length.dtype == np.int64
    assert set(res.data_vars) == {"length", "changes"}
    labelled = xr.DataArray(costs[::-1, ::-1], {"to": ["1", "0"], "of": ["1", "0"]}, ("of", "to"))
    xr.testing.assert_identical(aln.genobit.parsimony(tree, costs=labelled), res)
    half = aln.genobit.parsimony(tree, costs=costs / 2)
    assert half.length == 1.0
    assert half.length.dtype == np.float64
    # Dollo: a state is gained once and cannot be gained again, so it is lost twice.
    never = aln.genobit.parsimony(tree, costs=[[0, np.inf], [1, 0]], weights=[1, 0])
    assert never.length == 1


@pytest.mark.parametrize("kind", [{}, {"kind": None}, {"kind": "standard"}])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("labels", [None, [0, 1, 2, 3], [2, 0, 3, 1]])
@pytest.mark.parametrize(
    ("names", "entries"),
    [
        (["2", "1", "0", "9"], list("2100")),
        (["2", "1", "0", "9"], np.array([0, 1, 2, 2])),
        (["x", "y", "zz", "w"], ["x", "y", "zz", "zz"]),
        (["x", "y", "zz", "w"], np.array([0, 1, 2, 2], "u1")),
        ([7, 5, 6, 1], list("7566")),
        (np.array(["b", "B", "a", "A"]), list("bBaa")),
    ],
)
def test_states_keep_their_order(kind, lazy, labels, names, entries):
    """Named states decide what whole numbers mean, and to which state a row of costs belongs."""
    rows = np.array(entries)[:, None]
    aln = xr.DataArray(rows, {"taxa": list("abcd")}, ("taxa", "sites"), attrs={"states": names})
    aln = aln.assign_attrs(kind)
    aln = aln.chunk(sites=1) if lazy else aln
    names = [str(name) for name in names]
    costs = np.array([[0, 1, 9, 9], [1, 0, 4, 9], [9, 4, 0, 9], [9, 9, 9, 0]])
    if labels:
        shown = [names[k] for k in labels]
        costs = xr.DataArray(
            costs[np.ix_(labels, labels)], {"of": shown, "to": shown}, ("of", "to")
        )
    # From the first state to the second costs 1, and on to the third 4.
    res = aln.genobit.parsimony("((a,b),(c,d));", costs=costs)
    assert res.length == 5
    anc = aln.genobit.ancestral_states("((a,b),(c,d));", resolve="sets")
    assert states_of(anc.attrs) == states_of(res.attrs) == names
    expected = [names[0], names[1], names[2], names[2]]
    assert anc.states.values[:4, 0].tolist() == expected
    assert aln.genobit.ancestral_states("((a,b),(c,d));").states[-1, 0] == names[0]


@pytest.mark.parametrize("kind", [{}, {"kind": "standard"}])
@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["x", "y", "z", "x"], r"taxon 2 \('c'\), site 0: 'z' is not a symbol"),
        ([0, 1, 2, 0], r"taxon 2 \('c'\), site 0: 2 is not a state from 0 to 1"),
    ],
)
def test_states_that_are_not_named_are_refused(kind, entries, message):
    aln = xr.DataArray(np.array(entries)[:, None], {"taxa": list("abcd")}, ("taxa", "sites"))
    aln = aln.assign_attrs(kind, states=["x", "y"])
    for each in (aln, aln.chunk(sites=1)):
        with pytest.raises(ValueError, match=message):
            each.genobit.parsimony("((a,b),(c,d));")


def test_forbidden_changes_cost_infinity():
    aln = alignment(["0", "1"], kind="standard", states=["0", "1"])
    parents = np.array([2, 2, -1])
    res = aln.genobit.parsimony(tree_of(parents), costs=[[0, np.inf], [np.inf, 0]])
    assert res.length == np.inf


def test_several_trees_share_an_alignment_and_tasks():
    rng = np.random.default_rng(2)
    characters = Characters(random_sets(12, 700, 4, rng), tuple("ACGT"))
    found = parsimony.columns(characters)
    trees = [children(random_parents(12, rng, 2 + k % 2)) for k in range(9)]
    each = np.concatenate([parsimony.tree_changes(found, [tree]) for tree in trees])
    binary = trees[::2]
    lengths = [int(parsimony.tree_lengths(found, [tree])[0]) for tree in binary]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsimony, "_BATCH_WORK", 1)
        for scheduler in ("threads", "synchronous"):
            with dask.config.set(scheduler=scheduler):
                assert (parsimony.tree_changes(found, trees) == each).all()
                assert parsimony.tree_lengths(found, binary).tolist() == lengths
    with ThreadPoolExecutor(4) as pool:
        many = pool.map(lambda tree: int(parsimony.tree_lengths(found, [tree])[0]), binary)
        assert list(many) == lengths


def test_one_tree_has_no_dimension_and_a_list_of_one_has():
    aln = alignment(["A", "C", "A", "C"], kind="dna")
    tree = tree_of(BALANCED)
    assert aln.genobit.parsimony(tree).length.dims == ()
    assert aln.genobit.parsimony([tree]).length.dims == ("trees",)


def test_labels_come_along_and_dask_is_computed():
    aln = alignment(["AC", "CC", "AG", "CG"], kind="dna").assign_coords(
        position=("sites", [7, 9]), habitat=("taxa", list("wxyz"))
    )
    tree = tree_of(BALANCED)
    res = aln.genobit.parsimony(tree)
    assert res.position.values.tolist() == [7, 9]
    assert "habitat" not in res.coords
    xr.testing.assert_identical(aln.chunk(sites=1).genobit.parsimony(tree), res)
    xr.testing.assert_identical(aln.T.genobit.parsimony(tree), res)
    anc = aln.chunk(taxa=2).genobit.ancestral_states(tree)
    assert anc.position.values.tolist() == [7, 9]


def test_nodes_are_named_once():
    labels = (*"abcd", "95", "100", "root")
    anc = alignment(["A", "C", "A", "C"], kind="dna").genobit.ancestral_states(
        tree_of(BALANCED, labels=labels)
    )
    assert anc.node.values.tolist() == [*"abcd", "node 4", "node 5", "root"]
    assert anc.node_parent.sel(node="node 4") == 6
    clash = tree_of(BALANCED, labels=(*"abcd", "", "node 4", ""))
    twice = tree_of(BALANCED, labels=(*"abcd", "x", "x", "root"))
    again = alignment(["A", "C", "A", "C"], kind="dna").genobit.ancestral_states(twice)
    assert again.node.values.tolist() == anc.node.values.tolist()
    anc = alignment(["A", "C", "A", "C"], kind="dna").genobit.ancestral_states(clash)
    assert anc.node.values.tolist() == [*"abcd", "node 4'", "node 4", "node 6"]


def test_states_of_several_letters_are_told_apart():
    values = np.array([[10, 0], [11, 0], [11, 0], [10, 0]])
    aln = xr.DataArray(values, {"taxa": list("abcd")}, ("taxa", "sites"))
    anc = aln.genobit.ancestral_states(tree_of(BALANCED), resolve="sets")
    assert anc.states.values[4:].tolist() == [["{10,11}", "0"]] * 3


@pytest.mark.parametrize("sites", [True, False])
@pytest.mark.parametrize(
    ("cost", "length"),
    [(2.0**60, 2**62), (2.0**61, 2.0**63), (2.0**600, 2.0**602), (1e308, np.inf), (0.5, 2.0)],
)
def test_costs_past_whole_numbers_are_floats(cost, length, sites):
    aln = alignment(["0101", "1010", "0101", "0101"], kind="standard")
    found = aln.genobit.parsimony(tree_of(BALANCED), costs=cost * (1 - np.eye(2)), sites=sites)
    assert found.length == length
    assert found.length.dtype == (np.int64 if isinstance(length, int) else np.float64)
    if sites:
        assert found.changes.values.tolist() == [cost] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1]}, r"weights has shape \(1,\), expected \(2,\)"),
        ({"weights": [1, -2]}, r"weights\[1\] is -2, expected whole numbers"),
        ({"weights": [0.5, 1]}, r"weights\[0\] is 0.5, .* common denominator"),
        ({"weights": [1, np.nan]}, r"weights\[1\] is missing: give 0"),
        ({"weights": [0, 0]}, "all weights= are 0"),
        ({"weights": ["1", "2"]}, r"weights holds '1' at \[0\]: give a number"),
        ({"costs": np.ones((2, 2))}, r"costs= has shape \(2, 2\), expected \(4, 4\).*A, C, G, T"),
        ({"costs": -np.ones((4, 4))}, r"costs\[A, A\] is -1"),
        ({"costs": np.ones((4, 4))}, r"costs\[A, A\] is 1.0, expected 0: .* set the diagonal to 0"),
        ({"costs": np.triu(np.ones((4, 4)), 1)}, "A to C is 1.0 and back is 0.0.*root it"),
        (
            {"costs": xr.DataArray(np.ones((3, 4)), {"of": list("ACG"), "to": list("ACGT")})},
            "no label 'T' along 'of'",
        ),
        (
            {"costs": xr.DataArray(np.ones((4, 4)), {"of": list("ACGT")}, ("of", "to"))},
            "labels along 'of' and none along 'to': label both",
        ),
        (
            {"costs": xr.DataArray(np.ones((5, 5)), {"of": list("ACGTA"), "to": list("ACGTA")})},
            "has the label 'A' along 'of' twice: keep one",
        ),
        ({"gap": "fifth"}, "gap='fifth'"),
    ],
)
def test_refusals_say_what_to_do(options, message):
    aln = alignment(["AC", "CC", "AG"], kind="dna")
    with pytest.raises((ValueError, TypeError), match=message):
        aln.genobit.parsimony(tree_of(np.array([3, 3, 3, -1])), **options)


def test_refusals_of_alignments_and_resolutions():
    aln = alignment(["A", "C", "A", "C"], kind="dna")
    tree = tree_of(BALANCED)
    with pytest.raises(ValueError, match="'taxa' and 'sites', this DataArray has 'x', 'sites'"):
        aln.rename(taxa="x").genobit.parsimony(tree)
    with pytest.raises(ValueError, match="taxa 0 and 2 are both named 'a'"):
        aln.assign_coords(taxa=list("abad")).genobit.parsimony(tree)
    with pytest.raises(
        ValueError, match="resolve='mpr' is not one of 'sets', 'acctran', 'deltran'"
    ):
        aln.genobit.ancestral_states(tree, resolve="mpr")
    search = xr.Dataset({"tree": ("trees", ["((a,b),(c,d));", "((a,c),(b,d));"])})
    with pytest.raises(ValueError, match=r"need one tree, not 2: .*search\.isel\(trees=0\)"):
        aln.genobit.ancestral_states(search)
    assert aln.genobit.ancestral_states(search.isel(trees=0)).sizes["nodes"] == 7
