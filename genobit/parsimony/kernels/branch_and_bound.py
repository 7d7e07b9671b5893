"""Branch and bound over all binary trees (Hendy and Penny 1982, Mathematical Biosciences 59: 277).

Trees grow taxon by taxon, and every complete tree grows in exactly one way. A partial tree is
rejected if a lower bound on its final length exceeds the bound of the search. The lower bound adds
the changes of one taxon at its best branch, and one change for each state that only later taxa
have. Such a state costs one more change at any place.

The next taxon is chosen for each partial tree: the one with the fewest branches within the bound
(after the max-mini order of Purdom et al. 2000, Bioinformatics 16: 140). The state of a search is a
stack of levels in arrays, so a search can stop, be saved and resume at any point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import popcount
from genobit.parsimony.kernels.additions import add_tip, first_three
from genobit.parsimony.kernels.half_edges import (
    branch_changes,
    empty_views,
    fill_views,
    link,
    n_half_edges,
)
from genobit.parsimony.kernels.planes import BLOCK_WORDS, filled
from genobit.parsimony.kernels.random import below
from genobit.parsimony.kernels.tree_set import COUNT, LENGTH, Pool, keep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.patterns import Informative
    from genobit.parsimony.kernels.planes import Sites


class Later(NamedTuple):
    """Planes that tell which states only later taxa have."""

    known: NDArray[np.uint64]
    """State planes of the tips, with no bit set where a taxon is missing."""
    every: NDArray[np.uint64]
    """Planes of one row: the states that some taxon has unambiguously."""


class Levels(NamedTuple):
    """Stack of a search: level m is a partial tree of m tips."""

    back: NDArray[np.int64]
    """The partial tree, as half-edges."""
    state: NDArray[np.int64]
    """The current level, and the number of partial trees examined."""
    tips: NDArray[np.int64]
    """Taxon added at each level; entries 0 to 2 are the first three taxa, (taxa + 1,)."""
    counts: NDArray[np.int64]
    """Number of branches where the taxon is tried, (taxa + 1,); -1 for levels not open."""
    at: NDArray[np.int64]
    """Index of the next branch to try, (taxa + 1,)."""
    halves: NDArray[np.int64]
    """Half-edges of the branches to try, shortest tree first, (taxa + 1, 2 taxa)."""
    changes: NDArray[np.int64]
    """Lower bound on the length with the taxon at each branch, (taxa + 1, 2 taxa)."""
    seen: NDArray[np.uint64]
    """States of the tips of each level, (taxa + 1, words)."""


DEPTH, LOOKED = 0, 1


def later(patterns: Informative, sites: Sites) -> Later:
    """Find the states of each taxon, and the states that some taxon has unambiguously."""
    sets = np.take(patterns.sets, sites.order, axis=1)
    every, none = np.bitwise_or.reduce(sets, axis=0), sets.dtype.type(0)
    known = filled(np.where(sets == every, none, sets), sites.states)
    alone = np.where(np.bitwise_count(sets) == 1, sets, none)
    # A single row with the states of all taxa.
    row = np.bitwise_or.reduce(alone, axis=0)[None]
    return Later(known, filled(row, sites.states))


@njit
def new_states(sites: Sites, later: Later, seen: NDArray[np.uint64], tip: int) -> np.int64:
    """Return the weight of the states that neither ``tip`` nor the tips in ``seen`` have."""
    total, taxa = np.int64(0), sites.taxa
    for block in range(sites.states.size):
        start = sites.offsets[block]
        for plane in range(sites.states[block]):
            for w in range(BLOCK_WORDS):
                i = plane * BLOCK_WORDS + w
                own = later.known[start * taxa + tip * sites.states[block] * BLOCK_WORDS + i]
                bits = later.every[start + i] & ~(seen[start + i] | own)
                if bits:
                    for d in range(sites.depths[block]):
                        heavy = bits & sites.weight_planes[block, d, w]
                        total += np.int64(popcount(heavy)) << d
    return total


@njit
def see(sites: Sites, later: Later, seen: NDArray[np.uint64], level: int, tip: int) -> None:
    """Set the states seen at the next level: those of this level and of ``tip``."""
    taxa = sites.taxa
    for block in range(sites.states.size):
        step, start = sites.states[block] * BLOCK_WORDS, sites.offsets[block]
        for i in range(step):
            own = later.known[start * taxa + tip * step + i]
            seen[level + 1, start + i] = seen[level, start + i] | own


def first_level(sites: Sites, later: Later, three: NDArray[np.int64]) -> Levels:
    """Return levels that start with the tree of three taxa; the first taxon is 0."""
    taxa, words = sites.taxa, int(sites.offsets[-1])
    shape = (taxa + 1, 2 * taxa)
    levels = Levels(
        np.full(n_half_edges(taxa), -1, np.int64),
        np.array([3, 0], np.int64),
        np.concatenate([three, np.full(taxa - 2, -1, np.int64)]).astype(np.int64),
        np.full(taxa + 1, -1, np.int64),
        np.zeros(taxa + 1, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros((taxa + 1, words), np.uint64),
    )
    first_three(levels.back, taxa, int(three[1]), int(three[2]))
    for level in range(3):
        see(sites, later, levels.seen, level, int(three[level]))
    return levels


@njit
def search_levels(
    sites: Sites, later: Later, levels: Levels, pool: Pool, views: NDArray[np.uint64], most: int
) -> bool:
    """Examine up to ``most`` partial trees; return whether the search is complete.

    The pool starts with the length of a known tree, and receives all trees as short.
    """
    taxa, stop = sites.taxa, levels.state[LOOKED] + most
    order = np.empty(n_half_edges(taxa), np.int64)
    while levels.state[DEPTH] >= 3:
        level = levels.state[DEPTH]
        if levels.counts[level] < 0:
            if levels.state[LOOKED] >= stop:
                return False
            open_level(sites, later, levels, bound_of(pool), views, order)
        at, bound = levels.at[level], bound_of(pool)
        if at >= levels.counts[level] or levels.changes[level, at] > bound:
            _leave(levels, taxa)
            continue
        levels.at[level] = at + 1
        add_tip(levels.back, taxa, levels.tips[level], level - 2, levels.halves[level, at])
        if level + 1 == taxa:
            keep(levels.back, levels.changes[level, at], pool)
            _remove(levels.back, taxa, level - 2)
        else:
            see(sites, later, levels.seen, level, levels.tips[level])
            levels.state[DEPTH] = level + 1
            levels.counts[level + 1] = -1
    return True


@njit
def bound_of(pool: Pool) -> int:
    """Return the greatest length still wanted; a full pool asks for shorter trees."""
    full = pool.state[COUNT] == pool.trees.shape[0]
    return pool.state[LENGTH] - 1 if full else pool.state[LENGTH]


@njit
def _remove(back: NDArray[np.int64], taxa: int, made: int) -> None:
    free = taxa + 3 * made
    link(back, back[free + 1], back[free + 2])


@njit
def _leave(levels: Levels, taxa: int) -> None:
    """Go back one level, and remove the tip that led to the current one."""
    level = levels.state[DEPTH]
    levels.counts[level] = -1
    levels.state[DEPTH] = level - 1
    if level > 3:
        _remove(levels.back, taxa, level - 3)


@njit
def open_level(
    sites: Sites,
    later: Later,
    levels: Levels,
    bound: int,
    views: NDArray[np.uint64],
    order: NDArray[np.int64],
) -> None:
    """Choose the next taxon of the partial tree, and the branches where it is tried."""
    taxa, level = sites.taxa, levels.state[DEPTH]
    levels.state[LOOKED] += 1
    length = fill_views(levels.back, sites, views, order)
    branches, rows = 2 * level - 3, n_half_edges(taxa)
    used = np.zeros(taxa, np.bool_)
    used[levels.tips[:level]] = True
    trial = np.empty(branches, np.int64)
    fewest, largest = branches + 1, -1
    for tip in range(taxa):
        if used[tip]:
            continue
        others = length + new_states(sites, later, levels.seen[level], tip)
        count, least = 0, 2**62
        for k in range(branches):
            h = order[k]
            added = branch_changes(
                sites, views, h, rows, views, levels.back[h], rows, views, tip, rows, 2**62
            )
            trial[k] = others + added
            count += trial[k] <= bound
            least = min(least, trial[k])
            if count > fewest:
                break
        if count > fewest or (count == fewest and least <= largest):
            continue
        fewest, largest = count, least
        levels.tips[level] = tip
        # A stable sort keeps ties in their order along the tree.
        ranks = np.argsort(trial, kind="mergesort")
        for k in range(count):
            levels.halves[level, k] = order[ranks[k]]
            levels.changes[level, k] = trial[ranks[k]]
        if count == 0:
            break
    levels.counts[level], levels.at[level] = fewest, 0


@njit
def probe(
    sites: Sites,
    later: Later,
    levels: Levels,
    bound: int,
    views: NDArray[np.uint64],
    stream: NDArray[np.uint64],
) -> float:
    """Estimate the number of partial trees by one random descent (Knuth 1975); uses up ``levels``.

    The mean of many descents is unbiased (Mathematics of Computation 29: 121).
    """
    taxa = sites.taxa
    order = np.empty(n_half_edges(taxa), np.int64)
    total, width = 0.0, 1.0
    while True:
        level = levels.state[DEPTH]
        open_level(sites, later, levels, bound, views, order)
        total += width
        count = levels.counts[level]
        if count == 0 or level + 1 == taxa:
            return total
        width *= count
        at = below(stream, count)
        add_tip(levels.back, taxa, levels.tips[level], level - 2, levels.halves[level, at])
        see(sites, later, levels.seen, level, levels.tips[level])
        levels.state[DEPTH] = level + 1


@njit
def done(levels: Levels) -> float:
    """Return the share of the search done, if all branches of a level were equal in size."""
    share, width = 0.0, 1.0
    for level in range(3, levels.state[DEPTH] + 1):
        count = levels.counts[level]
        if count <= 0:
            break
        # The branch in progress is the one before ``at``.
        share += width * max(levels.at[level] - 1, 0) / count
        width /= count
    return share


def best_three(sites: Sites, later: Later) -> NDArray[np.int64]:
    """Return taxon 0 and the two taxa with which the next taxon adds most.

    The lower bound is then high early.
    """
    taxa = sites.taxa
    views, order = empty_views(sites, taxa), np.empty(n_half_edges(taxa), np.int64)
    best, chosen = -1, (1, 2)
    for b in range(1, taxa):
        for c in range(b + 1, taxa):
            levels = first_level(sites, later, np.array([0, b, c]))
            open_level(sites, later, levels, 2**62, views, order)
            if levels.changes[3, 0] > best:
                best, chosen = int(levels.changes[3, 0]), (b, c)
    return np.array([0, *chosen], np.int64)
