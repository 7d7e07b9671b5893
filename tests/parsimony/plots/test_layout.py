from __future__ import annotations

import numpy as np
import pytest

from genobit.data.topology import children
from genobit.parsimony.plots.layout import depths, even_depths, leaves, radial, ranks, rectangular
from tests.helpers.trees import below, random_tree

#: ((0, 1), 2, (3, (4, 5))): a basal trifurcation.
PARENTS = np.array([6, 6, 9, 8, 7, 7, 9, 8, 9, -1])


@pytest.fixture(params=range(5))
def parents(request) -> np.ndarray:
    return random_tree(9 + 7 * request.param, request.param)


class TestRanks:
    def test_tips_of_every_node_are_side_by_side(self, parents):
        rank = ranks(parents)
        n_tips = int((leaves(parents) == 1).sum())
        assert sorted(rank[:n_tips]) == list(range(n_tips))
        for node in range(n_tips, parents.size):
            theirs = sorted(rank[list(below(parents, node))])
            assert theirs == list(np.arange(theirs[0], theirs[0] + len(theirs)))
            assert theirs[0] <= rank[node] <= theirs[-1]
            assert len(theirs) == leaves(parents)[node]

    def test_climbs_like_a_ladder(self, parents):
        rank, count, of = ranks(parents), leaves(parents), children(parents)
        for node in range(count.tolist().index(2), parents.size):
            mine = of.of(node)
            assert (np.diff(count[mine[np.argsort(rank[mine])]]) >= 0).all()

    def test_keys_turn_children_round(self):
        keys = np.zeros(10)
        keys[[0, 6]] = 1
        assert ranks(PARENTS, keys)[:6].tolist() == [5, 4, 0, 1, 2, 3]


class TestDepths:
    def test_add_up(self, parents):
        lengths = np.random.default_rng(1).integers(0, 9, parents.size)
        depth = depths(parents, lengths)
        assert depth[-1] == 0
        np.testing.assert_array_equal(depth[:-1] - depth[parents[:-1]], lengths[:-1])

    def test_even(self, parents):
        depth, count = even_depths(parents), leaves(parents)
        assert (depth[count == 1] == depth.max()).all()
        assert depth[-1] == 0
        assert (depth[:-1] > depth[parents[:-1]]).all()


@pytest.mark.parametrize("kind", ["rectangular", "radial"])
def test_branches_join_their_nodes(parents, kind):
    lengths = np.random.default_rng(2).integers(0, 9, parents.size)
    rank, depth = ranks(parents), depths(parents, lengths)
    if kind == "radial":
        laid = radial(parents, rank, depth, (200.0, 100.0), 90.0)
    else:
        laid = rectangular(parents, rank, depth, (10.0, 20.0, 300.0, 400.0))
    assert np.unique(laid.branch).tolist() == list(range(parents.size - 1))
    for node in range(parents.size - 1):
        pieces = laid.pieces[laid.branch == node]
        parent = parents[node]
        np.testing.assert_allclose(pieces[0, :2], [laid.x[parent], laid.y[parent]], atol=1e-9)
        np.testing.assert_allclose(pieces[-1, 2:], [laid.x[node], laid.y[node]], atol=1e-9)
        np.testing.assert_allclose(pieces[1:, :2], pieces[:-1, 2:], atol=1e-9)
        stem = laid.stems[node]
        drawn = np.hypot(*(stem[2:] - stem[:2]))
        assert drawn == pytest.approx(lengths[node] * laid.scale)


def test_rectangular_fills_its_box(parents):
    laid = rectangular(parents, ranks(parents), even_depths(parents), (10.0, 20.0, 300.0, 400.0))
    assert (laid.x.min(), laid.x.max()) == (10, 300)
    assert laid.y.min() > 20
    assert laid.y.max() < 400
    mirrored = rectangular(
        parents, ranks(parents), even_depths(parents), (300.0, 20.0, 10.0, 400.0)
    )
    np.testing.assert_allclose(mirrored.x, 310 - laid.x)
    np.testing.assert_array_equal(mirrored.y, laid.y)


def test_radial_stays_in_its_circle(parents):
    laid = radial(parents, ranks(parents), even_depths(parents), (200.0, 100.0), 90.0)
    away = np.hypot(laid.pieces[:, 2] - 200, laid.pieces[:, 3] - 100)
    assert away.max() == pytest.approx(90)
    assert (laid.x[-1], laid.y[-1]) == pytest.approx((200, 100))


def test_one_level():
    star = np.array([3, 3, 3, -1])
    laid = rectangular(star, ranks(star), depths(star, np.zeros(4)), (0.0, 0.0, 100.0, 90.0))
    assert laid.x.tolist() == [0] * 4
    assert sorted(laid.y[:3].tolist()) == [15, 45, 75]
