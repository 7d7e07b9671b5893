"""Branch and bound over all binary trees (Hendy and Penny 1982, Mathematical Biosciences 59: 277).

Trees grow taxon by taxon, and every tree of all taxa grows in one way. A partial tree is given up
when even the least that the other taxa add makes it too long: the changes of one taxon at its best
branch, and one for each state that only later taxa have (such a state is one more change wherever
they stand). Which taxon comes next is chosen for each partial tree: the one with the fewest
branches that are not too long (after the max-mini order of Purdom et al. 2000, Bioinformatics 16:
140). A search is a stack of levels in arrays, so it can be left, kept and taken up anywhere.
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
    halves_of,
    link,
)
from genobit.parsimony.kernels.random import below
from genobit.parsimony.kernels.sites import filled
from genobit.parsimony.kernels.state_planes import BLOCK_WORDS
from genobit.parsimony.kernels.tree_set import COUNT, LENGTH, Pool, keep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.patterns import Informative
    from genobit.parsimony.kernels.sites import Sites


class Later(NamedTuple):
    """What tells which states only later taxa have."""

    known: NDArray[np.uint64]
    """Planes of the tips, none set where a taxon is missing."""
    every: NDArray[np.uint64]
    """Planes of one row: states that some taxon has without doubt."""


class Levels(NamedTuple):
    """The stack of a search: level m is a tree of m tips."""

    back: NDArray[np.int64]
    """The partial tree."""
    state: NDArray[np.int64]
    """The level, and the partial trees that were looked at."""
    tips: NDArray[np.int64]
    """The taxon that is added at each level; the first three from 0 on, (taxa + 1,)."""
    counts: NDArray[np.int64]
    """Branches where it is tried."""
    at: NDArray[np.int64]
    """The next of them."""
    halves: NDArray[np.int64]
    """These, those that add least first, (taxa + 1, 2 taxa)."""
    changes: NDArray[np.int64]
    """Length of the tree with the taxon there, the same shape."""
    seen: NDArray[np.uint64]
    """States that the tips of each level have, (taxa + 1, words)."""


DEPTH, LOOKED = 0, 1


def later(patterns: Informative, sites: Sites) -> Later:
    """Which taxa have which states without doubt."""
    sets = patterns.sets
    every, none = np.bitwise_or.reduce(sets, axis=0), sets.dtype.type(0)
    known = filled(np.where(sets == every, none, sets), sites)
    alone = np.where(np.bitwise_count(sets) == 1, sets, none)
    # One row that has the states of all.
    row = np.bitwise_or.reduce(alone, axis=0)[None]
    return Later(known, filled(row, sites))


@njit
def new_states(sites: Sites, later: Later, seen: NDArray[np.uint64], tip: int) -> np.int64:
    """Weight of the states that neither the tips seen nor ``tip`` have."""
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
    """States of the next level: those of this one and of a tip."""
    taxa = sites.taxa
    for block in range(sites.states.size):
        step, start = sites.states[block] * BLOCK_WORDS, sites.offsets[block]
        for i in range(step):
            own = later.known[start * taxa + tip * step + i]
            seen[level + 1, start + i] = seen[level, start + i] | own


def first_level(sites: Sites, later: Later, three: NDArray[np.int64]) -> Levels:
    """The tree of three taxa, the first of them 0."""
    taxa, words = sites.taxa, int(sites.offsets[-1])
    shape = (taxa + 1, 2 * taxa)
    levels = Levels(
        np.full(halves_of(taxa), -1, np.int64),
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
    """Look at up to so many partial trees; returns whether the search is at its end.

    The pool has the length of a tree that is known, and receives all that are as short.
    """
    taxa, stop = sites.taxa, levels.state[LOOKED] + most
    order = np.empty(halves_of(taxa), np.int64)
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
    """The longest tree that is still wanted: a full pool asks for shorter ones."""
    full = pool.state[COUNT] == pool.trees.shape[0]
    return pool.state[LENGTH] - 1 if full else pool.state[LENGTH]


@njit
def _remove(back: NDArray[np.int64], taxa: int, made: int) -> None:
    free = taxa + 3 * made
    link(back, back[free + 1], back[free + 2])


@njit
def _leave(levels: Levels, taxa: int) -> None:
    """Go back a level, and take off the tip that led here."""
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
    branches, rows = 2 * level - 3, halves_of(taxa)
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
        # Of those with the same length in their order along the tree.
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
    """Partial trees of a search as one random way down tells (Knuth 1975); levels are used up.

    The mean of many is right on average (Mathematics of Computation 29: 121).
    """
    taxa = sites.taxa
    order = np.empty(halves_of(taxa), np.int64)
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
    """Share of the search that is behind it, were all branches of a level alike."""
    share, width = 0.0, 1.0
    for level in range(3, levels.state[DEPTH] + 1):
        count = levels.counts[level]
        if count <= 0:
            break
        # The branch that is open is before ``at``.
        share += width * max(levels.at[level] - 1, 0) / count
        width /= count
    return share


def best_three(sites: Sites, later: Later) -> NDArray[np.int64]:
    """Taxon 0 and the two with which the next taxon adds most, so that the bound is high early."""
    taxa = sites.taxa
    views, order = empty_views(sites, taxa), np.empty(halves_of(taxa), np.int64)
    best, chosen = -1, (1, 2)
    for b in range(1, taxa):
        for c in range(b + 1, taxa):
            levels = first_level(sites, later, np.array([0, b, c]))
            open_level(sites, later, levels, 2**62, views, order)
            if levels.changes[3, 0] > best:
                best, chosen = int(levels.changes[3, 0]), (b, c)
    return np.array([0, *chosen], np.int64)
