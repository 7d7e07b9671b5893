"""Set of equally short trees of a search, each topology once.

Trees are compared by hash (Zobrist hashing). The hash of a branch is the exclusive or of the random
words of all tips on its side without tip 0. The hash of a tree is the sum of the mixed hashes of
its inner branches, so it does not depend on the order of nodes. Among a million trees, the chance
that any two collide is 3e-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.half_edges import n_half_edges, next_at_node, preorder
from genobit.parsimony.kernels.random import mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pool(NamedTuple):
    """Trees of one length."""

    trees: NDArray[np.int64]
    """``back`` of each tree, (most, half-edges)."""
    hashes: NDArray[np.uint64]
    """Open-addressing hash table, 0 in empty slots; its size is a power of two >= 2 x ``most``."""
    state: NDArray[np.int64]
    """Length of the trees, number of trees, and number of trees already swapped."""
    keys: NDArray[np.uint64]
    """Random word of each tip, (taxa,)."""
    below: NDArray[np.uint64]
    """Work space of `hash_of`: hashes of the branches of a tree."""
    order: NDArray[np.int64]


LENGTH, COUNT, SWAPPED = 0, 1, 2


def empty_pool(taxa: int, most: int, length: int) -> Pool:
    """Allocate a pool for at most ``most`` trees of ``taxa`` tips."""
    halves = n_half_edges(taxa)
    slots = 1 << max(4, (2 * most).bit_length())
    keys = np.array([mixed(np.uint64(tip + 1)) for tip in range(taxa)], np.uint64)
    return Pool(
        np.empty((most, halves), np.int64),
        np.zeros(slots, np.uint64),
        np.array([length, 0, 0], np.int64),
        keys,
        np.empty(halves, np.uint64),
        np.empty(halves, np.int64),
    )


@njit
def hash_of(back: NDArray[np.int64], pool: Pool) -> np.uint64:
    """Return the hash of a tree, never 0."""
    taxa = pool.keys.size
    count = preorder(back, taxa, pool.order)
    total = np.uint64(0)
    for at in range(count - 1, -1, -1):
        h = pool.order[at]
        if h < taxa:
            pool.below[h] = pool.keys[h]
            continue
        g = next_at_node(h, taxa)
        pool.below[h] = pool.below[back[g]] ^ pool.below[back[next_at_node(g, taxa)]]
        total += mixed(pool.below[h])
    return total or np.uint64(1)


@njit
def copy_tree(source: NDArray[np.int64], target: NDArray[np.int64]) -> None:
    """Copy the half-edges of a tree."""
    for h in range(source.size):
        target[h] = source[h]


@njit
def keep(back: NDArray[np.int64], length: int, pool: Pool) -> bool:
    """Add a tree if it is new and as short as the others; return whether it was added.

    A shorter tree replaces all others. A full pool accepts only a shorter tree.
    """
    if length > pool.state[LENGTH]:
        return False
    if length < pool.state[LENGTH]:
        pool.state[LENGTH] = length
        pool.state[COUNT] = pool.state[SWAPPED] = 0
        pool.hashes[:] = 0
    if pool.state[COUNT] == pool.trees.shape[0]:
        return False
    hashed = hash_of(back, pool)
    last = np.uint64(pool.hashes.size - 1)
    slot = hashed & last
    while pool.hashes[slot] != 0:
        if pool.hashes[slot] == hashed:
            return False
        slot = (slot + np.uint64(1)) & last
    pool.hashes[slot] = hashed
    copy_tree(back, pool.trees[pool.state[COUNT]])
    pool.state[COUNT] += 1
    return True
