"""A subtree cut off, and what it adds to the length at every branch of the rest.

Behind a branch of the rest the views that look away from the cut are those of the whole tree; only
the views that look towards it change, one join for each branch, outwards from the cut. A tree with
the subtree S at branch e has the length of the rest, of S, and the patterns where S shares no state
with the join of the two views along e. So two trees are compared by what S adds at either place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.half_edges import around, halves_of, link
from genobit.parsimony.kernels.joins import changes_at_branch, join_block
from genobit.parsimony.kernels.state_planes import BLOCK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.sites import Sites

NOWHERE = 2**62
"""More changes than any tree has."""
FIRST = 2
"""The first branch of a list that is not the one which the cut leaves."""


class Branches(NamedTuple):
    """Branches of the rest, outwards from the cut.

    The first two are the same, the branch that the cut leaves, seen from either end.
    """

    far: NDArray[np.int64]
    """The half at the far end, whose view is that of the whole tree."""
    before: NDArray[np.int64]
    """The branch on the way to the cut."""
    beside: NDArray[np.int64]
    """The half at the far end of the other branch that parts from the way."""
    distance: NDArray[np.int64]
    """Nodes between the cut and the branch."""
    changes: NDArray[np.int64]
    """What the subtree adds there, or a part of it that is too much."""
    towards: NDArray[np.uint64]
    """Views from the far end to the cut."""


@njit
def room_for_branches(sites: Sites) -> Branches:
    """An empty list that takes the branches of any rest."""
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
    """Branches of what is left without the side of ``cut``, up to so many nodes away.

    ``cut`` is the half at the subtree's end of the branch that is cut; the node at the other end is
    an inner one. Returns how many there are.
    """
    q = around(back[cut], taxa)
    out.far[0], out.far[1] = back[q], back[around(q, taxa)]
    out.distance[0] = out.distance[1] = 0
    count, at = FIRST, 0
    while at < count:
        h = out.far[at]
        if h >= taxa and out.distance[at] < radius:
            g = around(h, taxa)
            left, right = back[g], back[around(g, taxa)]
            out.far[count], out.beside[count] = left, right
            out.far[count + 1], out.beside[count + 1] = right, left
            out.before[count] = out.before[count + 1] = at
            out.distance[count] = out.distance[count + 1] = out.distance[at] + 1
            count += 2
        at += 1
    return count


@njit
def changes_here(back: NDArray[np.int64], sites: Sites, views: NDArray[np.uint64], cut: int) -> int:
    """What the side of ``cut`` adds where it is."""
    taxa, rows = sites.taxa, halves_of(sites.taxa)
    planes, stride = sites.weight_planes.reshape(-1), sites.weight_planes.shape[1] * BLOCK_WORDS
    q = around(back[cut], taxa)
    a, b = back[q], back[around(q, taxa)]
    total = 0
    for block in range(sites.states.size):
        origin, step = sites.offsets[block] * rows, sites.states[block] * BLOCK_WORDS
        total += changes_at_branch(
            views,
            origin + a * step,
            views,
            origin + b * step,
            views,
            origin + cut * step,
            sites.states[block],
            planes,
            block * stride,
            sites.depths[block],
        )
    return total


@njit
def fill_towards(
    sites: Sites, views: NDArray[np.uint64], block: int, count: int, branches: Branches
) -> None:
    """Views towards the cut in one block."""
    rows, most = halves_of(sites.taxa), branches.far.size
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
    """What the side of ``cut`` adds at each branch of a list, exact below ``limit``.

    Returns whether any branch is below: if not, later blocks were left out.
    """
    rows, most = halves_of(sites.taxa), branches.far.size
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
def regraft(back: NDArray[np.int64], taxa: int, cut: int, far: int) -> None:
    """Move the side of ``cut`` to the branch of half ``far``."""
    q = back[cut]
    g = around(q, taxa)
    f = around(g, taxa)
    link(back, back[g], back[f])
    near = back[far]
    link(back, g, far)
    link(back, f, near)
