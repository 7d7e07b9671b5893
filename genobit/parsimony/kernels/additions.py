"""Stepwise addition: taxa are added one by one, each at the branch where it adds least.

Taxa come in random order, and ties between branches are broken at random. With "closest", the next
taxon is always the one that adds least, which takes longer by a factor of the number of taxa.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.half_edges import (
    branch_changes,
    empty_views,
    fill_views,
    link,
    n_half_edges,
)
from genobit.parsimony.kernels.prunings import NOWHERE
from genobit.parsimony.kernels.random import below, shuffle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.planes import Sites


@njit
def first_three(back: NDArray[np.int64], taxa: int, b: int, c: int) -> None:
    """Set ``back`` to the tree of tips 0, b and c."""
    back[:] = -1
    link(back, 0, taxa)
    link(back, b, taxa + 1)
    link(back, c, taxa + 2)


@njit
def add_tip(back: NDArray[np.int64], taxa: int, tip: int, made: int, half: int) -> None:
    """Attach a tip to the branch of ``half``, with inner node number ``made``."""
    free = taxa + 3 * made
    other = back[half]
    link(back, free, tip)
    link(back, free + 1, half)
    link(back, free + 2, other)


@njit
def best_branch(
    back: NDArray[np.int64],
    sites: Sites,
    views: NDArray[np.uint64],
    order: NDArray[np.int64],
    count: int,
    tip: int,
    stream: NDArray[np.uint64],
) -> tuple[int, int]:
    """Return the branch where a tip adds least, and the changes; ties are broken at random."""
    rows = n_half_edges(sites.taxa)
    best, where, equal = NOWHERE, -1, 0
    for at in range(count):
        h = order[at]
        # The limit is one more than the best, so that ties are counted exactly.
        changes = branch_changes(
            sites, views, h, rows, views, back[h], rows, views, tip, rows, best + 1
        )
        if changes < best:
            best, where, equal = changes, h, 1
        elif changes == best:
            equal += 1
            if below(stream, equal) == 0:
                where = h
    return where, best


@njit
def added_stepwise(sites: Sites, closest: bool, stream: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a tree made by stepwise addition, as half-edges ``back``."""
    taxa = sites.taxa
    back = np.empty(n_half_edges(taxa), np.int64)
    left = np.arange(1, taxa)
    shuffle(stream, left)
    first_three(back, taxa, left[0], left[1])
    views, order = empty_views(sites, taxa), np.empty(n_half_edges(taxa), np.int64)
    for made in range(1, taxa - 2):
        fill_views(back, sites, views, order)
        # A tree of made + 2 tips has 2 made + 1 branches.
        count = 2 * made + 1
        chosen, best, where = made + 1, NOWHERE, -1
        for k in range(made + 1, taxa - 1 if closest else made + 2):
            half, changes = best_branch(back, sites, views, order, count, left[k], stream)
            if changes < best:
                chosen, best, where = k, changes, half
        left[made + 1], left[chosen] = left[chosen], left[made + 1]
        add_tip(back, taxa, left[made + 1], made, where)
    return back
