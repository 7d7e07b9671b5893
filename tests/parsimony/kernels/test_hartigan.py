"""Down and up passes, of any tree, against every assignment of states to nodes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings

from genobit.data.topology import children
from genobit.parsimony.kernels import hartigan, sankoff
from genobit.parsimony.kernels.planes import state_planes, weight_planes
from tests.helpers import reference
from tests.helpers.sized import sized
from tests.helpers.trees import random_parents, random_sets, scored


def by_hand(sets, parents, states):
    costs = (1 - np.eye(states)).tolist()
    return [
        reference.reconstructions([int(x) for x in column], parents.tolist(), costs)
        for column in sets.T
    ]


def passed(sets, parents, weights, states, rule):
    return hartigan.ancestors(
        state_planes(sets, states),
        parents,
        children(parents),
        weight_planes(weights),
        sets.shape[1],
        rule,
    )


@settings(deadline=None, max_examples=sized(60, 10))
@given(scored(most_children=5))
def test_changes_of_any_tree(case):
    sets, parents, _, states = case
    found = hartigan.changes(state_planes(sets, states), children(parents), sets.shape[1])
    assert found.tolist() == [least for least, _ in by_hand(sets, parents, states)]


@settings(deadline=None, max_examples=sized(60, 10))
@given(scored(most_children=5))
def test_sets_are_those_of_all_shortest_reconstructions(case):
    sets, parents, weights, states = case
    found = passed(sets, parents, weights, states, "sets")
    fewest, most = np.zeros(parents.size, int), np.zeros(parents.size, int)
    for site, (_, best) in enumerate(by_hand(sets, parents, states)):
        nodes = np.array(best)
        expected = np.bitwise_or.reduce(1 << nodes, axis=0)
        assert found.sets[:, site].tolist() == expected.tolist()
        changed = nodes[:, :-1] != nodes[:, parents[:-1]]
        fewest[:-1] += weights[site] * changed.all(axis=0)
        most[:-1] += weights[site] * changed.any(axis=0)
    assert found.changes.tolist() == fewest.tolist()
    assert found.most_changes.tolist() == most.tolist()


@pytest.mark.parametrize("rule", ["acctran", "deltran"])
@settings(deadline=None, max_examples=sized(60, 10))
@given(case=scored(most_children=5))
def test_a_reconstruction_is_one_of_the_shortest_and_its_branches_sum_to_the_length(case, rule):
    sets, parents, weights, states = case
    found = passed(sets, parents, weights, states, rule)
    total = 0
    for site, (least, best) in enumerate(by_hand(sets, parents, states)):
        assert tuple(int(x).bit_length() - 1 for x in found.sets[:, site]) in best
        total += weights[site] * least
    assert found.changes.sum() == total
    assert found.changes[-1] == 0


def test_acctran_changes_early_and_deltran_late():
    # ((((0,1),0),1),1): 0 is gained once and lost again, or gained twice.
    parents = np.array([5, 5, 6, 7, 8, 6, 7, 8, -1])
    sets = np.array([[1], [2], [1], [2], [2]], np.uint64)
    early = passed(sets, parents, np.ones(1, int), 2, "acctran")
    late = passed(sets, parents, np.ones(1, int), 2, "deltran")
    assert early.sets[5:, 0].tolist() == [1, 1, 2, 2]
    assert early.changes.tolist() == [0, 1, 0, 0, 0, 0, 1, 0, 0]
    assert late.sets[5:, 0].tolist() == [2, 2, 2, 2]
    assert late.changes.tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 0]


def test_the_lowest_of_several_states_stands_at_the_root():
    sets = np.array([[4], [2]], np.uint64)
    found = passed(sets, np.array([2, 2, -1]), np.ones(1, int), 3, "deltran")
    assert found.sets[2, 0] == 2


@pytest.mark.parametrize("most_children", [2, 3, 40])
@pytest.mark.parametrize("states", sized([2, 4, 5, 20, 33, 64], [2, 5, 33]))
@pytest.mark.parametrize("sites", sized([1, 511, 512, 1030], [1, 513]))
def test_tails_many_states_and_large_nodes(states, sites, most_children):
    rng, taxa = np.random.default_rng(states * sites), sized(40, 8)
    parents = random_parents(taxa, rng, most_children)
    tree = children(parents)
    sets = random_sets(taxa, sites, states, rng)
    weights = np.sort(rng.integers(1, 300, sites))[::-1]
    costs = sankoff.tree_costs(sets[:, :40], tree.starts, tree.members, 1 - np.eye(states))
    found = hartigan.changes(state_planes(sets, states), tree, sites)
    assert found[:40].tolist() == costs.tolist()
    assert (found[40:] > 0).any() or sites == 1
    for rule in ("acctran", "deltran"):
        branches = passed(sets, parents, weights, states, rule)
        assert branches.changes.sum() == (weights * found).sum()
        above = branches.sets[parents[:-1]]
        changed = (branches.sets[:-1] != above) * weights
        assert branches.changes[:-1].tolist() == changed.sum(axis=1).tolist()
        assert not (branches.sets[:taxa] & ~sets).any()


def test_threads_do_not_meet():
    rng, taxa = np.random.default_rng(3), sized(30, 6)
    sets = random_sets(taxa, 900, 4, rng)
    planes = state_planes(sets, 4)
    trees = [children(random_parents(taxa, rng, 4)) for _ in range(sized(16, 6))]
    one = [hartigan.changes(planes, tree, 900).tolist() for tree in trees]
    with ThreadPoolExecutor(4) as pool:
        many = pool.map(lambda tree: hartigan.changes(planes, tree, 900).tolist(), trees)
        assert list(many) == one
