"""Equally short trees of a search, each topology once.

A branch parts the tips; the side without tip 0 has the exclusive or of its tips' random words as
its mark, and the sum of the mixed marks of all inner branches is the mark of the tree, whatever the
order of its nodes. Two different trees of a million have the same mark by a chance of 3e-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.half_edges import around, halves_of, preorder
from genobit.parsimony.kernels.random import mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pool(NamedTuple):
    """Trees of one length."""

    trees: NDArray[np.int64]
    """``back`` of each, (most, halves)."""
    marks: NDArray[np.uint64]
    """An open hash table, 0 where it is empty, a power of two, twice as many as trees or more."""
    state: NDArray[np.int64]
    """Their length, how many there are, and how many of those were swapped."""
    keys: NDArray[np.uint64]
    """A random word of each tip."""
    below: NDArray[np.uint64]
    """Marks of the branches of a tree, while it is looked at."""
    order: NDArray[np.int64]


LENGTH, COUNT, SWAPPED = 0, 1, 2


def empty_pool(taxa: int, most: int, length: int) -> Pool:
    """Room for so many trees."""
    halves = halves_of(taxa)
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
def mark_of(back: NDArray[np.int64], pool: Pool) -> np.uint64:
    """The mark of a tree, never 0."""
    taxa = pool.keys.size
    count = preorder(back, taxa, pool.order)
    total = np.uint64(0)
    for at in range(count - 1, -1, -1):
        h = pool.order[at]
        if h < taxa:
            pool.below[h] = pool.keys[h]
            continue
        g = around(h, taxa)
        pool.below[h] = pool.below[back[g]] ^ pool.below[back[around(g, taxa)]]
        total += mixed(pool.below[h])
    return total or np.uint64(1)


@njit
def keep(back: NDArray[np.int64], length: int, pool: Pool) -> bool:
    """Add a tree that is new and as short as the others; a shorter one replaces them all."""
    if length > pool.state[LENGTH]:
        return False
    if length < pool.state[LENGTH]:
        pool.state[LENGTH] = length
        pool.state[COUNT] = pool.state[SWAPPED] = 0
        pool.marks[:] = 0
    if pool.state[COUNT] == pool.trees.shape[0]:
        return False
    mark = mark_of(back, pool)
    last = np.uint64(pool.marks.size - 1)
    slot = mark & last
    while pool.marks[slot] != 0:
        if pool.marks[slot] == mark:
            return False
        slot = (slot + np.uint64(1)) & last
    pool.marks[slot] = mark
    pool.trees[pool.state[COUNT]] = back
    pool.state[COUNT] += 1
    return True
