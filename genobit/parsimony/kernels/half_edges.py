"""Unrooted binary trees as half-edges, and the views along them.

Every branch consists of two half-edges, one at each of its end nodes. The array ``back`` maps each
half-edge h to the other half of its branch, and ``next_at_node(h)`` is the next half-edge at the
same node. Half-edges 0 to n - 1 belong to the tips; inner node i has three, starting at n + 3 i.
The array ``back`` alone defines a tree, and no branch is the root.

The view of a half-edge is the set of states of its node as seen along its branch, which is Fitch's
set of the subtree on its side. A tree of n tips has 4 n - 6 views. Two passes compute all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.topology import NO_PARENT
from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.fitch import changes_at_branch, changes_between, join_block
from genobit.parsimony.kernels.planes import BLOCK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.planes import Sites


@njit
def n_half_edges(taxa: int) -> int:
    """Return the number of half-edges of a tree with ``taxa`` tips."""
    return 4 * taxa - 6


@njit
def next_at_node(h: int, taxa: int) -> int:
    """Return the next half-edge at an inner node."""
    return h - 2 if (h - taxa) % 3 == 2 else h + 1


@njit
def link(back: NDArray[np.int64], g: int, h: int) -> None:
    """Join two half-edges to a branch."""
    back[g] = h
    back[h] = g


@njit
def preorder(back: NDArray[np.int64], taxa: int, order: NDArray[np.int64]) -> int:
    """Fill ``order`` with the half-edges that point towards tip 0; return their number.

    A half-edge comes before all half-edges of its subtree.
    """
    order[0] = back[0]
    count, at = 1, 0
    while at < count:
        h = order[at]
        at += 1
        if h >= taxa:
            g = next_at_node(h, taxa)
            order[count] = back[g]
            order[count + 1] = back[next_at_node(g, taxa)]
            count += 2
    return count


@njit
def empty_views(sites: Sites, taxa: int) -> NDArray[np.uint64]:
    """Allocate the views of a tree, with the views of the tips filled in."""
    rows = n_half_edges(sites.taxa)
    views = np.empty(sites.offsets[-1] * rows, np.uint64)
    for block in range(sites.states.size):
        step = sites.states[block] * BLOCK_WORDS
        start, origin = sites.offsets[block] * rows, sites.offsets[block] * taxa
        for w in range(taxa * step):
            views[start + w] = sites.tips[origin + w]
    return views


@njit
def fill_views(
    back: NDArray[np.int64],
    sites: Sites,
    views: NDArray[np.uint64],
    order: NDArray[np.int64],
) -> int:
    """Fill the views of all inner half-edges of the tree with tip 0; return the tree's length."""
    taxa, rows = sites.taxa, n_half_edges(sites.taxa)
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
            g = next_at_node(h, taxa)
            i = origin + back[g] * step
            j = origin + back[next_at_node(g, taxa)] * step
            length += changes_between(views, i, views, j, states, planes, first, depth)
            join_block(views, i, views, j, views, origin + h * step, states)
        i, j = origin, origin + back[0] * step
        length += changes_between(views, i, views, j, states, planes, first, depth)
        for at in range(count):
            h = order[at]
            if h < taxa:
                continue
            g = next_at_node(h, taxa)
            f = next_at_node(g, taxa)
            here = origin + back[h] * step
            i, j = origin + back[g] * step, origin + back[f] * step
            join_block(views, here, views, j, views, origin + g * step, states)
            join_block(views, here, views, i, views, origin + f * step, states)
    return length


@njit
def tree_length(back: NDArray[np.int64], sites: Sites) -> int:
    """Return the length of a tree over its informative patterns."""
    order = np.empty(n_half_edges(sites.taxa), np.int64)
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
    """Return the changes that row k of z adds to the branch between row i of x and row j of y.

    x, y, z: flat planes with ``rows_x``, ``rows_y`` and ``rows_z`` rows. Counting stops once the
    changes reach ``limit``.
    """
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
    """Convert a topology of at least three tips to half-edges, resolving nodes of many children.

    parents: (nodes,), tips first, root last; inner nodes have two or more children. Children of a
    node are joined from the last to the first.
    """
    members: list[list[int]] = [[] for _ in range(parents.size)]
    for node, parent in enumerate(parents.tolist()):
        if parent != NO_PARENT:
            members[parent].append(node)
    back = np.full(n_half_edges(taxa), -1, np.int64)
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
    """Return the parents of a tree's nodes, rooted at the three-way node next to tip 0."""
    order = np.empty(back.size, np.int64)
    count = preorder(back, taxa, order)
    inner = [h for h in order[:count].tolist() if h >= taxa]
    # The root has the last number, and children have smaller numbers than their parent.
    number = {h: 2 * taxa - 3 - rank for rank, h in enumerate(inner)}
    parents = np.full(2 * taxa - 2, NO_PARENT, np.int64)
    for h in inner:
        for g in (next_at_node(h, taxa), next_at_node(next_at_node(h, taxa), taxa)):
            child = int(back[g])
            parents[number.get(child, child)] = number[h]
    parents[0] = 2 * taxa - 3
    return parents
