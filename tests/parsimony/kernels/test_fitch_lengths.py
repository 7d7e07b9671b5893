"""Lengths of binary trees, weights, bytes, costs and bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.data.topology import children
from genobit.parsimony.kernels import change_bounds, fitch, hartigan, sankoff
from genobit.parsimony.kernels.planes import state_planes, weight_planes
from tests.benchmarks import byte_fitch
from tests.helpers import reference
from tests.helpers.sized import sized
from tests.helpers.trees import random_parents, random_sets, scored, unrooted


@pytest.mark.parametrize("states", sized([1, 2, 4, 5, 20, 64], [1, 4, 64]))
@pytest.mark.parametrize("sites", sized([1, 63, 512, 513, 1030], [1, 63, 513]))
def test_lengths_with_weights(states, sites):
    rng, taxa = np.random.default_rng(states * sites), sized(25, 7)
    sets = random_sets(taxa, sites, states, rng)
    weights = np.sort(np.where(rng.random(sites) < 0.3, rng.integers(1, 999, sites), 1))[::-1]
    space = fitch.workspace(state_planes(sets, states), weight_planes(weights))
    for _ in range(3):
        parents = random_parents(taxa, rng)
        changes = reference.fitch(sets, parents)[1]
        assert space.length(children(parents)) == (weights * changes).sum()


def test_a_tree_without_a_root_is_as_long_as_with_one():
    rng = np.random.default_rng(4)
    sets = random_sets(12, 600, 4, rng)
    space = fitch.workspace(state_planes(sets, 4), weight_planes(np.ones(600, int)))
    for _ in range(20):
        parents = random_parents(12, rng)
        if parents[-2] == parents.size - 1:
            without = unrooted(parents)
            assert space.length(children(without)) == space.length(children(parents))


def test_joins_write_to_few_slots():
    # A ladder: each join takes the one before, and needs no second slot.
    parents = np.array([5, 5, 6, 7, 8, 6, 7, 8, -1])
    assert fitch.joins(*children(parents), 5).tolist() == [
        [0, 1, -1],
        [-1, 2, -1],
        [-1, 3, -1],
        [-1, 4, -1],
    ]


@settings(deadline=None, max_examples=sized(50, 10))
@given(
    scored(most_taxa=30, most_states=8, most_sites=600),
    st.sampled_from([3, 4, 7, byte_fitch.MOST_CHANGES]),
)
def test_bytes_and_planes_agree(case, most):
    sets, parents, weights, states = case
    tree = children(parents)
    found = byte_fitch.changes(sets, tree.starts, tree.members, most)
    planes = state_planes(sets, states)
    np.testing.assert_array_equal(found, hartigan.changes(planes, tree, sets.shape[1]))
    space = fitch.workspace(planes, weight_planes(weights))
    assert space.length(tree) == (weights * found).sum()


def test_bytes_of_sites_past_a_piece():
    rng = np.random.default_rng(5)
    sets, parents = random_sets(6, 9000, 4, rng), random_parents(6, rng)
    tree = children(parents)
    np.testing.assert_array_equal(
        byte_fitch.changes(sets, tree.starts, tree.members),
        hartigan.changes(state_planes(sets, 4), tree, 9000),
    )


@settings(deadline=None, max_examples=sized(50, 10))
@given(scored(most_children=4))
def test_costs_of_any_matrix(case):
    sets, parents, weights, states = case
    rng = np.random.default_rng(weights)
    costs = rng.integers(0, 9, (states, states)).astype(float)
    tree = children(parents)
    found = sankoff.tree_costs(sets, tree.starts, tree.members, costs)
    for site, column in enumerate(sets.T):
        least, _ = reference.reconstructions([int(x) for x in column], parents.tolist(), costs)
        assert found[site] == least


@settings(deadline=None, max_examples=sized(150, 10))
@given(scored(most_taxa=12, most_states=7, most_sites=20))
def test_bounds_of_changes(case):
    sets, _, _, states = case
    fewest, most = change_bounds.bounds(sets, states)
    star = children(np.array([*[sets.shape[0]] * sets.shape[0], -1]))
    np.testing.assert_array_equal(
        most, hartigan.changes(state_planes(sets, states), star, sets.shape[1])
    )
    for site, column in enumerate(sets.T):
        assert fewest[site] + 1 == reference.fewest_states([int(x) for x in column], states)


def test_a_greedy_choice_would_take_a_state_too_many():
    # The commonest state, 3, is in three sets, and three more states are needed after it.
    column = np.array([[0b0001], [0b0010], [0b0100], [0b1001], [0b1010], [0b1100]], np.uint64)
    assert change_bounds.bounds(column, 4)[0].tolist() == [2]
