"""Unrooted binary trees as half-branches, and the views along them.

Every branch is two halves, each at the node of one of its ends. ``back[h]`` is the other half of a
branch, ``around(h)`` the next half at the same node. Halves 0 to n - 1 are at the tips; inner node
i has the three from n + 3 i on. So a tree is the array ``back`` alone, and no branch is the root.

The view of a half is the set of states of its node as seen along its branch: Fitch's set of the
subtree on its side. A tree of n tips has 4 n - 6 views, and all of them take two passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.topology import NO_PARENT
from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.joins import changes_at_branch, changes_between, join_block
from genobit.parsimony.kernels.state_planes import BLOCK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.sites import Sites


@njit
def halves_of(taxa: int) -> int:
    """Half-branches of a tree of so many tips."""
    return 4 * taxa - 6


@njit
def around(h: int, taxa: int) -> int:
    """The next half at an inner node."""
    return h - 2 if (h - taxa) % 3 == 2 else h + 1


@njit
def link(back: NDArray[np.int64], g: int, h: int) -> None:
    """Make a branch of two halves."""
    back[g] = h
    back[h] = g


@njit
def preorder(back: NDArray[np.int64], taxa: int, order: NDArray[np.int64]) -> int:
    """Halves that look to tip 0, each before those behind it; returns how many."""
    order[0] = back[0]
    count, at = 1, 0
    while at < count:
        h = order[at]
        at += 1
        if h >= taxa:
            g = around(h, taxa)
            order[count] = back[g]
            order[count + 1] = back[around(g, taxa)]
            count += 2
    return count


@njit
def empty_views(sites: Sites, taxa: int) -> NDArray[np.uint64]:
    """Room for the views of a tree, those of the tips filled in."""
    rows = halves_of(sites.taxa)
    views = np.empty(sites.offsets[-1] * rows, np.uint64)
    for block in range(sites.states.size):
        step = sites.states[block] * BLOCK_WORDS
        start, origin = sites.offsets[block] * rows, sites.offsets[block] * taxa
        views[start : start + taxa * step] = sites.tips[origin : origin + taxa * step]
    return views


@njit
def fill_views(
    back: NDArray[np.int64],
    sites: Sites,
    views: NDArray[np.uint64],
    order: NDArray[np.int64],
) -> int:
    """Views of all inner halves of the tree that holds tip 0; returns its length."""
    taxa, rows = sites.taxa, halves_of(sites.taxa)
    count = preorder(back, taxa, order)
    planes, stride = sites.weight_planes.reshape(-1), sites.weight_planes.shape[1] * BLOCK_WORDS
    length = 0
    for block in range(sites.states.size):
        states = sites.states[block]
        first, depth = block * stride, sites.depths[block]
        origin, step = sites.offsets[block] * rows, states * BLOCK_WORDS
        for at in range(count - 1, -1, -1):
            h = order[at]
            if h < taxa:
                continue
            g = around(h, taxa)
            i = origin + back[g] * step
            j = origin + back[around(g, taxa)] * step
            length += changes_between(views, i, views, j, states, planes, first, depth)
            join_block(views, i, views, j, views, origin + h * step, states)
        i, j = origin, origin + back[0] * step
        length += changes_between(views, i, views, j, states, planes, first, depth)
        for at in range(count):
            h = order[at]
            if h < taxa:
                continue
            g = around(h, taxa)
            f = around(g, taxa)
            here = origin + back[h] * step
            i, j = origin + back[g] * step, origin + back[f] * step
            join_block(views, here, views, j, views, origin + g * step, states)
            join_block(views, here, views, i, views, origin + f * step, states)
    return length


@njit
def tree_length(back: NDArray[np.int64], sites: Sites) -> int:
    """Length of a tree over its informative patterns."""
    order = np.empty(halves_of(sites.taxa), np.int64)
    return fill_views(back, sites, empty_views(sites, sites.taxa), order)


@njit
def branch_changes(
    sites: Sites,
    x: NDArray[np.uint64],
    i: int,
    rows_x: int,
    y: NDArray[np.uint64],
    j: int,
    rows_y: int,
    z: NDArray[np.uint64],
    k: int,
    rows_z: int,
    limit: int,
) -> int:
    """Changes that row k of z adds between rows i of x and j of y, counted until ``limit``."""
    planes, stride = sites.weight_planes.reshape(-1), sites.weight_planes.shape[1] * BLOCK_WORDS
    total = 0
    for block in range(sites.states.size):
        offset, step = sites.offsets[block], sites.states[block] * BLOCK_WORDS
        total += changes_at_branch(
            x,
            offset * rows_x + i * step,
            y,
            offset * rows_y + j * step,
            z,
            offset * rows_z + k * step,
            sites.states[block],
            planes,
            block * stride,
            sites.depths[block],
        )
        if total >= limit:
            break
    return total


def halves_from_parents(parents: NDArray[np.int64], taxa: int) -> NDArray[np.int64]:
    """Half-branches of a topology; nodes of many children are resolved in their order.

    Parameters
    ----------
    parents
        Of each node, tips first, the root last; inner nodes have two children or more.
    taxa
        Number of tips, at least 3.
    """
    members: list[list[int]] = [[] for _ in range(parents.size)]
    for node, parent in enumerate(parents.tolist()):
        if parent != NO_PARENT:
            members[parent].append(node)
    back = np.full(halves_of(taxa), -1, np.int64)
    up, made = list(range(parents.size)), 0
    for node in range(taxa, parents.size):
        ends = [up[child] for child in members[node]]
        last = 2 if node == parents.size - 1 else 1
        while len(ends) > last:
            free = taxa + 3 * made
            made += 1
            link(back, ends.pop(), free)
            link(back, ends.pop(), free + 1)
            ends.append(free + 2)
        if last == 2:
            link(back, ends[0], ends[1])
        else:
            up[node] = ends[0]
    return back


def parents_from_halves(back: NDArray[np.int64], taxa: int) -> NDArray[np.int64]:
    """Parents of the nodes of a tree that is rooted by a node of three children next to tip 0."""
    order = np.empty(back.size, np.int64)
    count = preorder(back, taxa, order)
    inner = [h for h in order[:count].tolist() if h >= taxa]
    # The root is the last node; the others follow their children.
    number = {h: 2 * taxa - 3 - rank for rank, h in enumerate(inner)}
    parents = np.full(2 * taxa - 2, NO_PARENT, np.int64)
    for h in inner:
        for g in (around(h, taxa), around(around(h, taxa), taxa)):
            child = int(back[g])
            parents[number.get(child, child)] = number[h]
    parents[0] = 2 * taxa - 3
    return parents
