"""The up pass on state planes: states of inner nodes, given the states of their parents.

`hartigan` computes the set V and the upper set B of each node. With F the states of the parent,
all states of the node in any most parsimonious reconstruction are (Hartigan 1973, Biometrics 29:
53-65, theorem 2)

    F of the node = F where it is a part of V, else V | (F & B)

For a single reconstruction, F is a single state f. If f is in V, the node keeps it. If f is in B
alone, the change may be on this branch or one branch later. ACCTRAN places it on this branch,
DELTRAN on a later one (Swofford & Maddison 1987, Mathematical Biosciences 87: 199-229). If V has
several states, the lowest is taken, also at the root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS, load_register, zero_register
from genobit.engine.simd.vector import andnot, popcount, reduce_add, store
from genobit.parsimony.kernels.hartigan import depth_of, down_block, most_children, numbers
from genobit.parsimony.kernels.joins import weigh
from genobit.parsimony.kernels.state_planes import BLOCK, BLOCK_WORDS, Weights, add_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.data.topology import Children

RULES = {"sets": 0, "acctran": 1, "deltran": 2}


class Ancestors(NamedTuple):
    """States of all nodes, and the changes on the branch above each."""

    sets: NDArray[np.uint64]
    """State sets, (nodes, patterns): one state, or all possible states with rule "sets"."""
    changes: NDArray[np.int64]
    """Weighted changes on each node's branch, the fewest with rule "sets", (nodes,)."""
    most_changes: NDArray[np.int64]
    """Most weighted changes with rule "sets", else equal to ``changes``, (nodes,)."""


@njit
def _lowest(x: NDArray[np.uint64], first: int, states: int) -> None:
    """Keep only the lowest state of each pattern's set."""
    taken = zero_register()
    for s in range(first, first + states * BLOCK_WORDS, BLOCK_WORDS):
        here = load_register(x, s)
        store(x, s, andnot(here, taken))
        taken = taken | here


@njit
def _all_sets(
    x: NDArray[np.uint64], upper: NDArray[np.uint64], i: int, parent: int, states: int
) -> tuple[Any, Any]:
    """Set x[i] to all states of a node; return where a change may be, and where none is needed.

    x: flat planes, in which the parent's states are final.
    """
    outside, near = zero_register(), zero_register()
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        above, own = load_register(x, parent + s), load_register(x, i + s)
        outside = outside | andnot(above, own)
        near = near | (above & (own | load_register(upper, i + s)))
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        above, own = load_register(x, parent + s), load_register(x, i + s)
        wide = own | (above & load_register(upper, i + s))
        store(x, i + s, (wide & outside) | andnot(above, outside))
    return outside, near


@njit
def _one_state(
    x: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    i: int,
    parent: int,
    states: int,
    late: bool,
) -> Any:
    """Set x[i] to one state of a node; return where it is the parent's state."""
    kept = zero_register()
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        own = load_register(x, i + s)
        if late:
            own = own | load_register(upper, i + s)
        kept = kept | (load_register(x, parent + s) & own)
    _lowest(x, i, states)
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        above = load_register(x, parent + s)
        store(x, i + s, (above & kept) | andnot(load_register(x, i + s), kept))
    return kept


@njit
def _changes(kept: Any, w: int, common: int, planes: NDArray[np.uint64]) -> int:
    """Return the summed weight of the patterns not set in ``kept``, a register at word w."""
    if common > 0:
        return common * (64 * REGISTER_WORDS - reduce_add(popcount(kept)))
    return reduce_add(weigh(kept, planes, w, planes.size // BLOCK_WORDS))


@njit
def _up_block(
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    parents: NDArray[np.int64],
    states: int,
    rule: int,
    every: NDArray[np.uint64],
    common: int,
    planes: NDArray[np.uint64],
    fewest: NDArray[np.int64],
    most: NDArray[np.int64],
) -> None:
    """Replace ``lower`` by the final states, and add the changes to those of each branch."""
    step = states * BLOCK_WORDS
    root = parents.size - 1
    for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
        full = load_register(every, 0)
        if rule > 0:
            _lowest(lower, root * step + w, states)
        for node in range(root - 1, -1, -1):
            i, parent = node * step + w, parents[node] * step + w
            if rule == 0:
                may, near = _all_sets(lower, upper, i, parent, states)
                fewest[node] += _changes(near, w, common, planes)
                most[node] += _changes(andnot(full, may), w, common, planes)
            else:
                kept = _one_state(lower, upper, i, parent, states, rule == 2)
                changed = _changes(kept, w, common, planes)
                fewest[node] += changed
                most[node] += changed


@njit
def _ancestors(
    tips: NDArray[np.uint64],
    parents: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    depth: int,
    rule: int,
    common: NDArray[np.int64],
    planes: NDArray[np.uint64],
    sets: NDArray[np.uint64],
    fewest: NDArray[np.int64],
    most: NDArray[np.int64],
) -> None:
    blocks, taxa, states, words = tips.shape
    nodes = parents.size
    step = states * words
    lower, upper = np.empty(nodes * step, np.uint64), np.zeros(nodes * step, np.uint64)
    work = numbers(states, depth)
    kept = np.zeros(depth_of(nodes) * words, np.uint64)
    for block in range(blocks):
        lower[: taxa * step] = tips[block].reshape(-1)
        down_block(lower, upper, starts, members, taxa, states, work, kept)
        weights = planes[block].copy().reshape(-1)
        _up_block(
            lower, upper, parents, states, rule, work.every, common[block], weights, fewest, most
        )
        for node in range(nodes):
            for state in range(states):
                place = node * step + state * words
                add_bits(lower[place : place + words], state, sets[node], block * BLOCK)


def ancestors(
    tips: NDArray[np.uint64],
    parents: NDArray[np.int64],
    tree: Children,
    weights: Weights,
    patterns: int,
    rule: str,
) -> Ancestors:
    """Reconstruct the states of all nodes by one of `RULES`, from planes of all taxa."""
    nodes = parents.size
    found = Ancestors(
        np.zeros((nodes, patterns), np.uint64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    )
    _ancestors(
        tips,
        parents,
        tree.starts,
        tree.members,
        most_children(tree),
        RULES[rule],
        weights.common,
        weights.planes,
        *found,
    )
    return found
