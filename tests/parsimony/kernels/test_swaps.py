"""Searches of trees: what a move adds against whole lengths, minima against all topologies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.data.topology import children
from genobit.parsimony.kernels import (
    branch_and_bound,
    prunings,
    swaps,
    tree_set,
)
from genobit.parsimony.kernels import patterns as tree_patterns
from genobit.parsimony.kernels.additions import add_tip, added_stepwise, first_three
from genobit.parsimony.kernels.half_edges import (
    empty_views,
    fill_views,
    halves_from_parents,
    n_half_edges,
    parents_from_halves,
    tree_length,
)
from genobit.parsimony.kernels.patterns import Drawn, informative
from genobit.parsimony.kernels.planes import sites_of
from tests.helpers.sized import sized
from tests.helpers.trees import random_parents, random_sets

TAIL = 512


def length_of(parents, sets, weights):
    """Fitch's down pass, one set at a time; a node of three children is joined in their order."""
    changes = np.zeros(sets.shape[1], np.int64)
    found = [*sets]
    below = children(parents)
    for node in range(len(sets), parents.size):
        joined = found[below.of(node)[0]]
        for child in below.of(node)[1:]:
            both = joined & found[child]
            changes += both == 0
            joined = np.where(both, both, joined | found[child])
        found.append(joined)
    return int(changes @ weights)


def all_trees(taxa):
    """Half-branches of every unrooted binary tree."""
    start = np.empty(n_half_edges(taxa), np.int64)
    first_three(start, taxa, 1, 2)
    trees = [start]
    for tip in range(3, taxa):
        grown = []
        for back in trees:
            for half in np.flatnonzero((back > np.arange(back.size)) & (back >= 0)):
                grown.append(back.copy())
                add_tip(grown[-1], taxa, tip, tip - 2, half)
        trees = grown
    return trees


@st.composite
def searched(draw, fewest=4, most=7, most_sites=40):
    """(state sets, weights, a random generator)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    taxa, states = draw(st.integers(fewest, most)), draw(st.sampled_from([2, 3, 4, 7, 20]))
    sites = draw(st.one_of(st.integers(1, most_sites), st.sampled_from([TAIL, TAIL + 1])))
    sets = random_sets(taxa, sites, states, rng, draw(st.sampled_from([0.0, 0.2, 0.6])))
    return sets, rng.integers(0, draw(st.sampled_from([2, 9, 300])), sites), rng


@given(searched(fewest=3, most=12))
@settings(max_examples=sized(60, 10))
def test_lengths_of_informative_patterns_are_those_of_all_sites(case):
    sets, weights, rng = case
    patterns = informative(sets, weights)
    sites = sites_of(patterns)
    for _ in range(3):
        parents = random_parents(len(sets), rng)
        back = halves_from_parents(parents, len(sets))
        expected = length_of(parents, sets, weights)
        assert tree_length(back, sites) + patterns.constant == expected
        again = parents_from_halves(back, len(sets))
        assert length_of(again, sets, weights) == expected


def test_states_of_one_taxon_and_of_codes_alone_are_left_out():
    rows = [[1, 1, 1], [1, 1, 2], [2, 2, 4], [2, 4, 8]]
    patterns = informative(np.array(rows, np.uint64), np.array([3, 1, 5]))
    assert patterns.sets.tolist() == [[1], [1], [2], [2]]
    assert patterns.of_column.tolist() == [0, -1, -1]
    assert patterns.singles.tolist() == [0, 2, 3]
    assert patterns.constant == 2 + 3 * 5


@given(searched(fewest=4, most=10))
@settings(max_examples=sized(40, 10))
def test_what_a_move_adds_is_the_difference_of_whole_lengths(case):
    sets, weights, rng = case
    taxa = len(sets)
    sites = sites_of(informative(sets, weights))
    back = halves_from_parents(random_parents(taxa, rng), taxa)
    work = swaps.room_for_search(sites)
    length = fill_views(back, sites, work.views, work.order)
    for cut in rng.permutation(back.size)[:6].tolist():
        if back[cut] < taxa:
            continue
        here = prunings.changes_here(back, sites, work.views, cut)
        count = prunings.list_branches(back, taxa, cut, taxa, work.rest)
        limit = prunings.NOWHERE
        prunings.count_changes(sites, work.views, cut, count, limit, work.rest)
        for k in range(prunings.FIRST, count):
            other = back.copy()
            prunings.regraft(other, taxa, cut, work.rest.far[k])
            assert tree_length(other, sites) == length - here + work.rest.changes[k]
        if cut < taxa:
            continue
        rest, part = swaps.prepare_reconnection(back, sites, cut, work)
        for row in range(part):
            if row == 1:
                continue
            swaps.count_pairs(sites, row, rest, limit, work)
            for k in range(rest):
                if k == 1:
                    continue
                other = back.copy()
                swaps.make(other, taxa, swaps.Move(cut, k, row, 0), work)
                assert tree_length(other, sites) == length - here + work.rest.changes[k]


def test_every_topology_has_a_hash_of_its_own():
    trees = all_trees(7)
    pool = tree_set.empty_pool(7, 2000, 0)
    for back in [*trees, *trees]:
        tree_set.keep(back, 0, pool)
    assert len(trees) == pool.state[tree_set.COUNT] == 945


@pytest.mark.parametrize(("moves", "neighbours"), [(swaps.NNI, 8), (swaps.SPR, 56)])
def test_neighbourhoods_have_as_many_trees_as_they_should(moves, neighbours):
    # 2 (n - 3) trees by NNI, 2 (n - 3) (2 n - 7) by SPR (Allen and Steel 2001), n = 7.
    sites = sites_of(informative(np.ones((7, 1), np.uint64), np.ones(1)))
    pool = tree_set.empty_pool(7, 2000, 0)
    tree_set.keep(all_trees(7)[100], 0, pool)
    swaps.swap_pool(sites, moves, 1, pool, swaps.room_for_search(sites))
    assert pool.state[tree_set.COUNT] == neighbours + 1


@given(searched(fewest=4, most=6))
@settings(max_examples=sized(40, 10))
def test_branch_and_bound_finds_all_shortest_trees(case):
    sets, weights, rng = case
    taxa = len(sets)
    patterns = informative(sets, weights)
    sites = sites_of(patterns)
    lengths = np.array([tree_length(back, sites) for back in all_trees(taxa)])
    later = branch_and_bound.later(patterns, sites)
    levels = branch_and_bound.first_level(sites, later, branch_and_bound.best_three(sites, later))
    pool = tree_set.empty_pool(taxa, 2000, int(lengths.max()))
    views = empty_views(sites, taxa)
    while not branch_and_bound.search_levels(
        sites, later, levels, pool, views, int(rng.integers(1, 9))
    ):
        assert 0 <= branch_and_bound.done(levels) < 1
    expected = lengths.min(), np.count_nonzero(lengths == lengths.min())
    assert (*pool.state[[tree_set.LENGTH, tree_set.COUNT]],) == expected


@pytest.mark.parametrize("seed", range(12))
def test_the_ratchet_finds_the_shortest_tree_of_few_taxa(seed):
    rng = np.random.default_rng(seed)
    sets = random_sets(int(rng.integers(5, 8)), 30, int(rng.choice([2, 4, 20])), rng, 0.1)
    weights, closest = rng.integers(0, 5, 30), bool(seed % 2)
    taxa = len(sets)
    patterns = informative(sets, weights)
    sites = sites_of(patterns)
    shortest = min(tree_length(back, sites) for back in all_trees(taxa))
    stream, work = np.array([1], np.uint64), swaps.room_for_search(sites)
    back = added_stepwise(sites, closest, stream)
    length = swaps.swap(back, sites, swaps.TBR, work, stream)
    assert length == tree_length(back, sites)
    pool = tree_set.empty_pool(taxa, 10, length)
    tree_set.keep(back, length, pool)
    lengths = np.zeros((50, 2), np.int64)
    weights = swaps.perturbed(patterns.weights, 0.25, len(lengths), stream)
    swaps.ratchet_rounds(back, sites, weights, swaps.TBR, lengths, pool, work, stream)
    of_round, so_far = lengths.T
    assert so_far[-1] == of_round.min() == shortest
    np.testing.assert_array_equal(so_far, np.minimum.accumulate(np.minimum(of_round, length)))
    for tree in pool.trees[: pool.state[tree_set.COUNT]]:
        assert tree_length(tree, sites) == shortest


@given(searched(fewest=5, most=9))
@settings(max_examples=sized(20, 10))
def test_no_move_is_left_when_swapping_is_at_its_end(case):
    sets, weights, rng = case
    sites = sites_of(informative(sets, weights))
    work, stream = swaps.room_for_search(sites), np.array([2], np.uint64)
    for moves in (swaps.NNI, swaps.SPR, swaps.TBR):
        back = halves_from_parents(random_parents(len(sets), rng), len(sets))
        length = swaps.swap(back, sites, moves, work, stream)
        pool = tree_set.empty_pool(len(sets), 5000, length)
        tree_set.keep(back, length, pool)
        swaps.swap_pool(sites, moves, 1, pool, work)
        assert pool.state[tree_set.LENGTH] == length


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_sites_drawn_in_pieces_are_those_drawn_at_once(piece, monkeypatch):
    rng = np.random.default_rng(4)
    monkeypatch.setattr(tree_patterns, "DRAWN", piece)
    columns, weights = rng.integers(0, 9, 200), rng.integers(0, 3, 200)
    kept = np.flatnonzero(weights)
    drawn = Drawn(columns[kept].astype(np.uint8), weights[kept].astype(np.uint8))
    again = kept[np.random.default_rng(1).integers(kept.size, size=kept.size)]
    expected = np.bincount(columns[again], weights[again], 9)
    np.testing.assert_array_equal(drawn.weights_again(np.random.default_rng(1), 9), expected)
    equal = drawn._replace(weights=None).weights_again(np.random.default_rng(1), 9)
    np.testing.assert_array_equal(equal, np.bincount(columns[again], minlength=9))


def test_a_resampled_alignment_has_its_own_constant():
    rng = np.random.default_rng(3)
    sets = random_sets(6, 200, 4, rng, 0.2)
    patterns = informative(sets, np.ones(200))
    weights = rng.multinomial(200, np.full(200, 1 / 200))
    again = patterns.reweighted(weights)
    for _ in range(5):
        parents = random_parents(6, rng)
        back = halves_from_parents(parents, 6)
        expected = length_of(parents, sets, weights)
        assert tree_length(back, sites_of(again)) + again.constant == expected
