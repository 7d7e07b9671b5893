from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr

from genobit.data.topology import tips
from genobit.launcher.plots import tanglegram
from genobit.parsimony.plots.tanglegram import crossings, face
from genobit.parsimony.rooting import branch_of, rooted_at, splits
from tests.helpers.trees import below, random_tree


def parted(parents: np.ndarray) -> set[frozenset[int]]:
    """The groups of tips on the far side of the first tip, by a search of its own."""
    n_tips = tips(parents)
    every = set(range(n_tips))
    found = set()
    for node in range(parents.size - 1):
        group = below(parents, node)
        found.add(frozenset(every - group if 0 in group else group))
    return found


@pytest.fixture(params=range(5))
def parents(request) -> np.ndarray:
    return random_tree(6 + 5 * request.param, request.param)


class TestRooting:
    def test_groups(self, parents):
        n_tips = tips(parents)
        found = {frozenset(k for k in range(n_tips) if g >> k & 1) for g in splits(parents)}
        assert found == parted(parents)

    def test_rooted_elsewhere_is_the_same_tree(self, parents):
        for branch in range(parents.size - 1):
            rooted = rooted_at(parents, branch)
            assert rooted.parents[-1] == -1
            assert (rooted.parents[:-1] > np.arange(rooted.parents.size - 1)).all()
            assert parted(rooted.parents) == parted(parents)
            top = np.flatnonzero(rooted.parents == rooted.parents.size - 1)
            assert len(top) == 2
            mine, rest = below(parents, branch), set(range(tips(parents))) - below(parents, branch)
            assert {frozenset(below(rooted.parents, k)) for k in top} == {
                frozenset(mine),
                frozenset(rest),
            }

    def test_branches_keep_their_groups(self, parents):
        before = splits(parents)
        rooted = rooted_at(parents, 1)
        after = splits(rooted.parents)
        for node, branch in enumerate(rooted.branch[:-1]):
            assert after[node] == before[branch]

    def test_branch_of(self, parents):
        for branch in range(parents.size - 1):
            group = below(parents, branch)
            found = branch_of(parents, group)
            assert splits(parents)[found] == splits(parents)[branch]
        assert branch_of(parents, []) is None


class TestFace:
    def test_crossings(self):
        generator = np.random.default_rng(1)
        for n_tips in (1, 2, 7, 30):
            left, right = generator.permutation(n_tips), generator.permutation(n_tips)
            pairs = itertools.combinations(range(n_tips), 2)
            wanted = sum((left[a] - left[b]) * (right[a] - right[b]) < 0 for a, b in pairs)
            assert crossings(left * 1.0, right * 1.0) == wanted

    def test_same_tree_has_none(self, parents):
        turned = rooted_at(parents, 2).parents
        faced = face(parents, turned)
        assert (faced.distance, faced.crossings) == (0, 0)
        assert not any(own.any() for own in faced.own)

    def test_turning_saves_crossings(self):
        left, right = random_tree(40, 1), random_tree(40, 2)
        from genobit.parsimony.plots.layout import ranks

        faced = face(left, right)
        n_tips = tips(left)
        before = crossings(ranks(left)[:n_tips], ranks(faced.parents[1])[:n_tips])
        assert faced.crossings < before
        rank = [of[:n_tips] for of in faced.ranks]
        assert crossings(*rank) == faced.crossings

    def test_a_dead_end_is_left(self):
        """One tip at a time cannot be turned out of it: both trees have to turn at once."""
        left, right = np.array([4, 3, 3, 4, -1]), np.array([3, 4, 3, 4, -1])
        assert face(left, right).crossings == 0

    def test_distance_is_that_of_dendropy(self):
        dendropy = pytest.importorskip("dendropy")
        from dendropy.calculate import treecompare

        from genobit.io.trees import newick

        for seed in range(6):
            both = [random_tree(12, seed), random_tree(12, seed + 1)]
            names = [f"t{k}" for k in range(12)]
            taxa = dendropy.TaxonNamespace()
            trees = [
                dendropy.Tree.get(
                    data=newick(of, names),
                    schema="newick",
                    taxon_namespace=taxa,
                    rooting="force-unrooted",
                )
                for of in both
            ]
            assert face(*both).distance == treecompare.symmetric_difference(*trees)


class TestTanglegram:
    def found(self, parents: np.ndarray, names: list[str]) -> xr.Dataset:
        labels = [*names, *(f"node {k}" for k in range(len(names), parents.size))]
        return xr.Dataset({"node_parent": ("nodes", parents)}, {"node": ("nodes", labels)})

    def test_draws(self):
        names = list("abcdefgh")
        left, right = (self.found(random_tree(8, seed), names) for seed in (1, 2))
        picture = tanglegram(left, right, names=("one", "two"))
        assert sorted(picture.Labels.Left_names["text"]) == names
        assert sorted(picture.Labels.Right_names["text"]) == names
        assert len(picture.Segments.Between) == 8
        assert "one and two: Robinson–Foulds distance" in str(
            picture.opts.get("plot").kwargs["title"]
        )

    def test_other_taxa(self):
        tree = random_tree(4, 0)
        with pytest.raises(ValueError, match="different taxa"):
            tanglegram(self.found(tree, list("abcd")), self.found(tree, list("abce")))
