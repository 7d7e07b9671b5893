"""Pruned subtrees, and the changes that a subtree adds at every branch of the rest.

Views that point away from the cut are the views of the whole tree. Only views that point towards
the cut change, and each takes one join, outwards from the cut.

A tree with subtree S at branch e is as long as the rest, S, and the changes that S adds. S adds the
weight of the patterns in which it shares no state with the join of the two views along e. Moves of
S are therefore compared by the changes it adds, old place against new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.fitch import changes_at_branch, join_block
from genobit.parsimony.kernels.half_edges import branch_changes, link, n_half_edges, next_at_node
from genobit.parsimony.kernels.planes import BLOCK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.planes import Sites

NOWHERE = 2**62
"""More changes than any tree can have."""
FIRST = 2
"""Index of the first listed branch that is not the branch left by the cut."""


class Branches(NamedTuple):
    """Branches of the rest, listed outwards from the cut.

    The first two entries are one branch, the one left by the cut, seen from either end.
    """

    far: NDArray[np.int64]
    """Half-edge at the far end, whose view is the view of the whole tree."""
    before: NDArray[np.int64]
    """Index of the next branch towards the cut."""
    beside: NDArray[np.int64]
    """Half-edge at the far end of the sibling branch, which starts at the same node."""
    distance: NDArray[np.int64]
    """Number of nodes between the cut and the branch."""
    changes: NDArray[np.int64]
    """Changes that the subtree adds at the branch; a lower bound once they reach the limit."""
    towards: NDArray[np.uint64]
    """Views from the far end towards the cut: the sets of all taxa on the side of the cut."""


@njit
def room_for_branches(sites: Sites) -> Branches:
    """Allocate an empty list with room for the branches of any rest."""
    most = 2 * sites.taxa
    return Branches(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(sites.offsets[-1] * most, np.uint64),
    )


@njit
def list_branches(back: NDArray[np.int64], taxa: int, cut: int, radius: int, out: Branches) -> int:
    """List the branches of the rest up to ``radius`` nodes away; return their number.

    ``cut`` is the half-edge at the subtree's end of the cut branch; the other end is an inner node.
    """
    q = next_at_node(back[cut], taxa)
    out.far[0], out.far[1] = back[q], back[next_at_node(q, taxa)]
    out.distance[0] = out.distance[1] = 0
    count, at = FIRST, 0
    while at < count:
        h = out.far[at]
        if h >= taxa and out.distance[at] < radius:
            g = next_at_node(h, taxa)
            left, right = back[g], back[next_at_node(g, taxa)]
            out.far[count], out.beside[count] = left, right
            out.far[count + 1], out.beside[count + 1] = right, left
            out.before[count] = out.before[count + 1] = at
            out.distance[count] = out.distance[count + 1] = out.distance[at] + 1
            count += 2
        at += 1
    return count


@njit
def changes_here(back: NDArray[np.int64], sites: Sites, views: NDArray[np.uint64], cut: int) -> int:
    """Return the changes that the side of ``cut`` adds at its present place."""
    taxa, rows = sites.taxa, n_half_edges(sites.taxa)
    q = next_at_node(back[cut], taxa)
    a, b = back[q], back[next_at_node(q, taxa)]
    # numba would compile the function again for a literal.
    limit = int(np.int64(NOWHERE))
    return branch_changes(sites, views, a, rows, views, b, rows, views, cut, rows, limit)


@njit
def fill_towards(
    sites: Sites, views: NDArray[np.uint64], block: int, count: int, branches: Branches
) -> None:
    """Fill the views towards the cut in one block."""
    rows, most = n_half_edges(sites.taxa), branches.far.size
    states = sites.states[block]
    step = states * BLOCK_WORDS
    origin, target = sites.offsets[block] * rows, sites.offsets[block] * most
    for k in range(FIRST):
        i = origin + branches.far[1 - k] * step
        for w in range(step):
            branches.towards[target + k * step + w] = views[i + w]
    for k in range(FIRST, count):
        i, j = target + branches.before[k] * step, origin + branches.beside[k] * step
        join_block(branches.towards, i, views, j, branches.towards, target + k * step, states)


@njit
def count_changes(
    sites: Sites,
    views: NDArray[np.uint64],
    cut: int,
    count: int,
    limit: int,
    branches: Branches,
) -> bool:
    """Count the changes that the side of ``cut`` adds at each listed branch, exact below ``limit``.

    Returns whether any count is below ``limit``. If none is, later blocks are skipped.
    """
    rows, most = n_half_edges(sites.taxa), branches.far.size
    planes, stride = sites.weight_planes.reshape(-1), sites.weight_planes.shape[1] * BLOCK_WORDS
    branches.changes[:count] = 0
    for block in range(sites.states.size):
        states, depth = sites.states[block], sites.depths[block]
        step = states * BLOCK_WORDS
        origin, target = sites.offsets[block] * rows, sites.offsets[block] * most
        fill_towards(sites, views, block, count, branches)
        below = False
        for k in range(FIRST, count):
            if branches.changes[k] >= limit:
                continue
            branches.changes[k] += changes_at_branch(
                branches.towards,
                target + k * step,
                views,
                origin + branches.far[k] * step,
                views,
                origin + cut * step,
                states,
                planes,
                block * stride,
                depth,
            )
            below |= branches.changes[k] < limit
        if not below:
            return False
    return count > FIRST


@njit
def fewest(changes: NDArray[np.int64], first: int, count: int) -> int:
    """Return the first of the entries from ``first`` to ``count`` with the fewest changes."""
    best = first
    for k in range(first, count):
        if changes[k] < changes[best]:
            best = k
    return best


@njit
def regraft(back: NDArray[np.int64], taxa: int, cut: int, far: int) -> None:
    """Move the side of ``cut`` to the branch of half-edge ``far``."""
    q = back[cut]
    g = next_at_node(q, taxa)
    f = next_at_node(g, taxa)
    link(back, back[g], back[f])
    near = back[far]
    link(back, g, far)
    link(back, f, near)
