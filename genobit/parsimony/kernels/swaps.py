"""Branch swapping: to a local minimum, in rounds of the ratchet, and over equally short trees.

Subtrees are moved to where they add least, until no move shortens the tree.

NNI moves a subtree past one node. SPR moves it to any branch, keeping its root. TBR joins any
branch of one part with any branch of the other. After each cut all its moves are counted, and the
best move is made at once if it shortens the tree. On real data this needed fewer counts than
comparing all cuts before each move.

A round of the parsimony ratchet (Nixon 1999, Cladistics 15: 407-414) doubles the weight of a random
share of the sites and swaps branches to a local minimum under these weights. It then swaps branches
under the true weights. In this way, a search leaves one local minimum for another that fits most of
the data equally well. Each round starts from the last tree that was as short as the shortest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import merged, njit
from genobit.parsimony.kernels.fitch import changes_between, join_block
from genobit.parsimony.kernels.half_edges import empty_views, fill_views, n_half_edges
from genobit.parsimony.kernels.planes import BLOCK_WORDS, weighted
from genobit.parsimony.kernels.prunings import (
    FIRST,
    Branches,
    changes_here,
    count_changes,
    fewest,
    fill_towards,
    list_branches,
    regraft,
    room_for_branches,
)
from genobit.parsimony.kernels.random import next_word, shuffle
from genobit.parsimony.kernels.tree_set import COUNT, LENGTH, SWAPPED, Pool, copy_tree, keep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.planes import Sites

NNI, SPR, TBR = 1, 2, 3


class Work(NamedTuple):
    """Work space of a search."""

    views: NDArray[np.uint64]
    order: NDArray[np.int64]
    rest: Branches
    part: Branches
    """Branches of the subtree that is cut off."""
    rest_sets: NDArray[np.uint64]
    """Join of the two views along each branch of the rest."""
    part_sets: NDArray[np.uint64]


class Move(NamedTuple):
    """A branch that is cut, and the two branches that are joined instead."""

    cut: int
    rest: int
    """Index of the branch of the rest in `Work.rest`; 0 is the old place."""
    part: int
    """Index of the branch of the subtree in `Work.part`; 0 is the old root."""
    saved: int
    """Number of changes by which the tree becomes shorter."""


@njit
def room_for_search(sites: Sites) -> Work:
    """Allocate the work space of a search."""
    rest, part = room_for_branches(sites), room_for_branches(sites)
    return Work(
        empty_views(sites, sites.taxa),
        np.empty(n_half_edges(sites.taxa), np.int64),
        rest,
        part,
        np.empty(rest.towards.size, np.uint64),
        np.empty(rest.towards.size, np.uint64),
    )


@njit
def swap(
    back: NDArray[np.int64],
    sites: Sites,
    moves: int,
    work: Work,
    stream: NDArray[np.uint64],
) -> int:
    """Shorten a tree in place until no move shortens it; return its length."""
    taxa = sites.taxa
    length = fill_views(back, sites, work.views, work.order)
    cuts = np.arange(n_half_edges(taxa))
    shuffle(stream, cuts)
    idle, at = 0, 0
    while idle < cuts.size:
        cut = cuts[at]
        at = (at + 1) % cuts.size
        idle += 1
        if moves == TBR:
            move = best_reconnection(back, sites, cut, work)
        else:
            move = best_regraft(back, sites, cut, taxa if moves == SPR else 1, work)
        if move.saved > 0:
            make(back, taxa, move, work)
            length = fill_views(back, sites, work.views, work.order)
            idle = 0
    return length


@njit
def best_regraft(back: NDArray[np.int64], sites: Sites, cut: int, radius: int, work: Work) -> Move:
    """Return the best new place for the side of ``cut``; ``saved`` is 0 if none is better."""
    if back[cut] < sites.taxa:
        return Move(cut, 0, 0, 0)
    here = changes_here(back, sites, work.views, cut)
    if here == 0:
        return Move(cut, 0, 0, 0)
    count = list_branches(back, sites.taxa, cut, radius, work.rest)
    if not count_changes(sites, work.views, cut, count, here, work.rest):
        return Move(cut, 0, 0, 0)
    best = fewest(work.rest.changes, FIRST, count)
    return Move(cut, best, 0, here - work.rest.changes[best])


@merged
def best_reconnection(back: NDArray[np.int64], sites: Sites, cut: int, work: Work) -> Move:
    """Return the best pair of branches to join; ``saved`` is 0 if none is better."""
    taxa = sites.taxa
    if back[cut] < taxa or (cut >= taxa and cut > back[cut]):
        # Each branch is cut from one side only. If it leads to a tip, the tip is the subtree.
        return Move(cut, 0, 0, 0)
    if cut < taxa:
        return best_regraft(back, sites, cut, taxa, work)
    here = changes_here(back, sites, work.views, cut)
    if here == 0:
        return Move(cut, 0, 0, 0)
    rest, part = prepare_reconnection(back, sites, cut, work)
    best = Move(cut, 0, 0, 0)
    for row in range(part):
        if row == 1:
            continue
        if count_pairs(sites, row, rest, here - best.saved, work):
            k = fewest(work.rest.changes, 0, rest)
            best = Move(cut, k, row, here - work.rest.changes[k])
    return best


@njit
def prepare_reconnection(
    back: NDArray[np.int64], sites: Sites, cut: int, work: Work
) -> tuple[int, int]:
    """Fill the joined sets of all branches of both parts; return their numbers of branches."""
    taxa = sites.taxa
    rest = list_branches(back, taxa, cut, taxa, work.rest)
    part = list_branches(back, taxa, back[cut], taxa, work.part)
    _join_middles(sites, work.views, rest, work.rest, work.rest_sets)
    _join_middles(sites, work.views, part, work.part, work.part_sets)
    return rest, part


@njit
def _join_middles(
    sites: Sites,
    views: NDArray[np.uint64],
    count: int,
    branches: Branches,
    sets: NDArray[np.uint64],
) -> None:
    rows, most = n_half_edges(sites.taxa), branches.far.size
    for block in range(sites.states.size):
        fill_towards(sites, views, block, count, branches)
        states = sites.states[block]
        step = states * BLOCK_WORDS
        origin, target = sites.offsets[block] * rows, sites.offsets[block] * most
        for k in range(count):
            i, j = target + k * step, origin + branches.far[k] * step
            join_block(branches.towards, i, views, j, sets, i, states)


@njit
def count_pairs(sites: Sites, row: int, count: int, limit: int, work: Work) -> bool:
    """Count changes between a branch of the subtree and all branches of the rest.

    Counts are exact below ``limit``. Returns whether any count is below it.
    """
    most, changes = work.rest.far.size, work.rest.changes
    planes, stride = sites.weight_planes.reshape(-1), sites.weight_planes.shape[1] * BLOCK_WORDS
    changes[:count] = 0
    # Entries 0 and 1 are the same branch.
    changes[1] = limit
    for block in range(sites.states.size):
        states, depth = sites.states[block], sites.depths[block]
        step, target = states * BLOCK_WORDS, sites.offsets[block] * most
        below = False
        for k in range(count):
            if changes[k] >= limit:
                continue
            changes[k] += changes_between(
                work.part_sets,
                target + row * step,
                work.rest_sets,
                target + k * step,
                states,
                planes,
                block * stride,
                depth,
            )
            below |= changes[k] < limit
        if not below:
            return False
    return True


@njit
def make(back: NDArray[np.int64], taxa: int, move: Move, work: Work) -> None:
    """Make a move in a tree whose branches are listed in ``work``."""
    if move.rest > 0:
        regraft(back, taxa, move.cut, work.rest.far[move.rest])
    if move.part > 0:
        regraft(back, taxa, back[move.cut], work.part.far[move.part])


def perturbed(
    weights: NDArray[np.int64], share: float, rounds: int, stream: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Draw weights (rounds, patterns) in which each site counts twice with probability ``share``.

    Each pattern takes one binomial draw, because weights may be in the millions.
    """
    generator = np.random.Generator(np.random.Philox(key=int(next_word(stream))))
    return weights + generator.binomial(weights, share, (rounds, weights.size))


def ratchet_rounds(
    back: NDArray[np.int64],
    sites: Sites,
    perturbed_weights: NDArray[np.int64],
    moves: int,
    lengths: NDArray[np.int64],
    pool: Pool,
    work: Work,
    stream: NDArray[np.uint64],
) -> None:
    """Run one round for each row of ``lengths``: its own length, and the shortest so far.

    perturbed_weights: (rounds, patterns), from `perturbed`. ``back`` is a tree of the pool at a
    local minimum, and is updated in place. A round is two searches, so its loop is Python: as a
    kernel, LLVM would optimise the search once more.
    """
    for number in range(len(lengths)):
        trial = back.copy()
        other = weighted(sites, perturbed_weights[number])
        swap(trial, other, moves, work, stream)
        length = swap(trial, sites, moves, work, stream)
        if length <= pool.state[LENGTH]:
            copy_tree(trial, back)
        keep(trial, length, pool)
        lengths[number, 0] = length
        lengths[number, 1] = pool.state[LENGTH]


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
        for cut in range(n_half_edges(sites.taxa)):
            _keep_moves(back, length, sites, cut, moves, pool, work)
            if pool.state[LENGTH] < length:
                break


@merged
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
            # numba would compile the function again for a literal.
            root = int(np.int64(0))
            _keep_row(back, length, sites, cut, root, count, here, pool, work)
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
