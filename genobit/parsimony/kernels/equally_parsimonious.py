"""Search of equally short trees, starting from given ones and following equally short moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.half_edges import fill_views, halves_of
from genobit.parsimony.kernels.prunings import FIRST, changes_here, count_changes, list_branches
from genobit.parsimony.kernels.swaps import (
    NNI,
    TBR,
    Move,
    Work,
    count_pairs,
    make,
    prepare_reconnection,
)
from genobit.parsimony.kernels.tree_set import COUNT, LENGTH, SWAPPED, Pool, keep

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.sites import Sites


@njit
def swap_pool(sites: Sites, moves: int, trees: int, pool: Pool, work: Work) -> None:
    """Swap the next ``trees`` unswapped trees of a pool, and keep all results as short.

    A shorter tree empties the pool and is swapped next. A full pool accepts only a shorter tree, so
    its trees are still swapped.
    """
    for _ in range(trees):
        if pool.state[SWAPPED] == pool.state[COUNT]:
            return
        back = pool.trees[pool.state[SWAPPED]].copy()
        pool.state[SWAPPED] += 1
        length = fill_views(back, sites, work.views, work.order)
        for cut in range(halves_of(sites.taxa)):
            _keep_moves(back, length, sites, cut, moves, pool, work)
            if pool.state[LENGTH] < length:
                break


@njit
def _keep_moves(
    back: NDArray[np.int64],
    length: int,
    sites: Sites,
    cut: int,
    moves: int,
    pool: Pool,
    work: Work,
) -> None:
    taxa = sites.taxa
    if back[cut] < taxa or (moves == TBR and cut >= taxa and cut > back[cut]):
        return
    here = changes_here(back, sites, work.views, cut)
    if moves != TBR or cut < taxa:
        radius = 1 if moves == NNI else taxa
        count = list_branches(back, taxa, cut, radius, work.rest)
        if count_changes(sites, work.views, cut, count, here + 1, work.rest):
            _keep_row(back, length, sites, cut, 0, count, here, pool, work)
        return
    rest, part = prepare_reconnection(back, sites, cut, work)
    for row in range(part):
        if row != 1 and count_pairs(sites, row, rest, here + 1, work):
            _keep_row(back, length, sites, cut, row, rest, here, pool, work)


@njit
def _keep_row(
    back: NDArray[np.int64],
    length: int,
    sites: Sites,
    cut: int,
    row: int,
    count: int,
    here: int,
    pool: Pool,
    work: Work,
) -> None:
    """Keep the trees that join one branch of the subtree with the listed branches of the rest."""
    full = pool.state[COUNT] == pool.trees.shape[0]
    for k in range(FIRST if row == 0 else 0, count):
        changes = work.rest.changes[k]
        if changes > here or k == 1 or (full and changes == here):
            continue
        trial = back.copy()
        make(trial, sites.taxa, Move(cut, k, row, here - changes), work)
        keep(trial, length - here + changes, pool)
