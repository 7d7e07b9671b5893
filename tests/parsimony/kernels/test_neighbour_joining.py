"""Neighbour joining against a twin in fractions, and against the trees of other libraries."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.data.topology import children
from genobit.io.trees import read_trees
from genobit.parsimony.kernels.neighbour_joining import joined


def twin(distances):
    """Clusters that are joined, in order, each a set of taxa."""
    known = {frozenset([k]): None for k in range(len(distances))}
    d = {
        frozenset([a, b]): Fraction(distances[min(a)][min(b)])
        for a, b in itertools.permutations(known, 2)
    }
    made = []
    while len(known) > 3:
        total = {a: sum(d[frozenset([a, b])] for b in known if b != a) for a in known}
        pairs = itertools.combinations(sorted(known, key=min), 2)
        a, b = min(
            pairs,
            key=lambda pair: (
                (len(known) - 2) * d[frozenset(pair)] - total[pair[0]] - total[pair[1]],
                *map(min, pair),
            ),
        )
        for k in known:
            if k not in {a, b}:
                both = d[frozenset([a, k])] + d[frozenset([b, k])]
                d[frozenset([a | b, k])] = (both - d[frozenset([a, b])]) / 2
        del known[a], known[b]
        known[a | b] = None
        made.append(a | b)
    return made


def clusters(parents, taxa):
    """Taxa below each inner node but the root."""
    below = [frozenset([k]) for k in range(taxa)]
    tree = children(parents)
    below += [frozenset() for _ in parents[taxa:]]
    for node in range(taxa, parents.size):
        below[node] = frozenset().union(*(below[child] for child in tree.of(node)))
    assert below[-1] == frozenset(range(taxa))
    return below[taxa:-1]


def splits(parents, taxa):
    """The sides without taxon 0, of inner branches."""
    sides = clusters(parents, taxa)
    sides = {frozenset(range(taxa)) - side if 0 in side else side for side in sides}
    return {side for side in sides if 1 < len(side) < taxa - 1}


def symmetric(values):
    found = np.triu(values, 1)
    return found + found.T


@given(st.integers(3, 9), st.integers(1, 4), st.integers(0, 2**32))
def test_joins_as_a_twin_does_where_distances_tie(taxa, largest, seed):
    # Halves of whole numbers are exact, and so are ties.
    rng = np.random.default_rng(seed)
    distances = symmetric(rng.integers(0, largest, (taxa, taxa), endpoint=True).astype(float))
    before = distances.copy()
    parents = joined(distances)
    np.testing.assert_array_equal(distances, before)
    assert clusters(parents, taxa) == twin(distances.tolist())
    assert children(parents).of(parents.size - 1).size == 3


def by_dendropy(distances, names):
    dendropy = pytest.importorskip("dendropy")
    space = dendropy.TaxonNamespace(names)
    matrix = dendropy.PhylogeneticDistanceMatrix()
    rows = zip(space, distances.tolist(), strict=True)
    table = {taxon: dict(zip(space, row, strict=True)) for taxon, row in rows}
    matrix.compile_from_dict(table, taxon_namespace=space)
    return matrix.nj_tree()


def by_skbio(distances, names):
    skbio = pytest.importorskip("skbio")
    return skbio.tree.nj(skbio.DistanceMatrix(distances, names))


@pytest.mark.parametrize("library", [by_dendropy, by_skbio])
@pytest.mark.parametrize("taxa", [3, 4, 7, 40])
def test_gives_the_tree_of_other_libraries_where_nothing_ties(library, taxa):
    for seed in range(5):
        distances = symmetric(np.random.default_rng(seed).random((taxa, taxa)))
        names = [f"t{k}" for k in range(taxa)]
        expected = read_trees(library(distances, names), names).trees[0].parents
        assert splits(joined(distances), taxa) == splits(expected, taxa)
