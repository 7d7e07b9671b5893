"""Trees and sites drawn at random, for tests of parsimony."""

import numpy as np
import xarray as xr
from hypothesis import strategies as st

from genobit.data.topology import children


def random_parents(taxa, rng, most_children=2):
    """Parents of the nodes of a tree with inner nodes of 2 to ``most_children`` children."""
    parents, roots = [-1] * taxa, list(range(taxa))
    while len(roots) > 1:
        for _ in range(min(len(roots), int(rng.integers(2, most_children + 1)))):
            parents[roots.pop(int(rng.integers(len(roots))))] = len(parents)
        roots.append(len(parents))
        parents.append(-1)
    return np.array(parents)


def unrooted(parents):
    """The tree without its root, which joins two nodes: three branches at the last node."""
    root = parents.size - 1
    (one, other) = np.flatnonzero(parents == root)
    kept = parents[:-1].copy()
    kept[one], kept[other] = other, -1
    assert other == root - 1, "the last node but one must be a child of the root"
    return kept


def random_sets(taxa, sites, states, rng, ambiguous=0.3):
    """State sets: mostly one state, some with several, some with all."""
    sets = np.uint64(1) << rng.integers(0, states, (taxa, sites)).astype(np.uint64)
    top = (1 << states) - 1
    several = rng.integers(1, top, (taxa, sites), np.uint64, endpoint=True)
    sets = np.where(rng.random((taxa, sites)) < ambiguous, several, sets)
    return np.where(rng.random((taxa, sites)) < ambiguous / 3, np.uint64(top), sets)


@st.composite
def scored(draw, most_children=2, most_taxa=5, most_states=4, most_sites=6):
    """(state sets, parents, weights, number of states)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    taxa = draw(st.integers(2, most_taxa))
    states = draw(st.integers(1, most_states))
    sites = draw(st.integers(1, most_sites))
    parents = random_parents(taxa, rng, draw(st.integers(2, most_children)))
    sets = random_sets(taxa, sites, states, rng, draw(st.sampled_from([0.0, 0.3, 0.9])))
    return sets, parents, rng.integers(1, 9, sites), states


def simulated(taxa=9, sites=120, seed=5, states="ACGT"):
    """An alignment with a signal: sites change along a comb."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, len(states), sites)]
    for _ in range(taxa - 1):
        drawn = rng.integers(0, len(states), sites)
        rows.append(np.where(rng.random(sites) < 0.15, drawn, rows[-1]))
    values = np.array(list(states))[np.array(rows)]
    return xr.DataArray(values, {"taxa": [f"t {k}" for k in range(taxa)]}, ("taxa", "sites"))


def random_tree(n_tips: int, seed: int) -> np.ndarray:
    """A rooted tree whose nodes have two or three children."""
    generator = np.random.default_rng(seed)
    loose, parents = list(range(n_tips)), {}
    node = n_tips
    while len(loose) > 1:
        joined = generator.choice(len(loose), min(len(loose), generator.integers(2, 4)), False)
        for place in sorted(joined.tolist(), reverse=True):
            parents[loose.pop(place)] = node
        loose.append(node)
        node += 1
    return np.array([parents.get(k, -1) for k in range(node)])


def below(parents: np.ndarray, node: int) -> set[int]:
    of = children(parents).of(node)
    return {node} if not len(of) else set().union(*(below(parents, k) for k in of))
