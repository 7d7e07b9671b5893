"""Planes of site patterns for searches, with as many planes in each block as its states need.

Patterns are sorted by number of states, largest first, then by weight, heaviest first. Most changes
are then in the first blocks, so a search rejects most trees early. Blocks of two states take half
the planes of blocks of four.

Arrays of sets are flat. In an array with ``rows`` rows, the planes of row r in block b start at
``offsets[b] * rows + r * 8 * states[b]``, so all rows of a block are contiguous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.state_planes import BLOCK, BLOCK_WORDS, blocks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.patterns import Informative


class Sites(NamedTuple):
    """Planes and weights of the tips of a search."""

    taxa: int
    tips: NDArray[np.uint64]
    """State planes of the tips, flat."""
    states: NDArray[np.int64]
    """Number of states, hence planes, of each block, (blocks,)."""
    offsets: NDArray[np.int64]
    """Words of one row before each block, and in all blocks, (blocks + 1,)."""
    depths: NDArray[np.int64]
    """Number of bits of the weights of each block, (blocks,)."""
    weight_planes: NDArray[np.uint64]
    """Bits of the weights, lowest first, (blocks, bits, 8)."""
    place: NDArray[np.int64]
    """Bit position of each pattern, (patterns,)."""


def sites_of(patterns: Informative) -> Sites:
    """Arrange informative patterns as planes."""
    taxa, count = patterns.sets.shape
    every = np.bitwise_or.reduce(patterns.sets, axis=0) if count else np.empty(0, np.uint64)
    needed = np.bitwise_count(every).astype(np.int64)
    # Round up to 2, 4, 8, ... states: joins of three states use the code for four.
    classes = np.ceil(np.log2(np.maximum(needed, 2))).astype(np.int64)
    order = np.lexsort((np.arange(count), -patterns.weights, -classes))
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    blocks = blocks_of(count)
    states = np.array(
        [needed[order[b * BLOCK : (b + 1) * BLOCK]].max() for b in range(blocks)], np.int64
    )
    states[states == 3] = 4
    offsets = np.concatenate([[0], np.cumsum(states * BLOCK_WORDS)]).astype(np.int64)
    empty = np.zeros(blocks, np.int64), np.empty((0, 0, 0), np.uint64)
    sites = Sites(taxa, np.empty(0, np.uint64), states, offsets, *empty, place)
    return weighted(sites._replace(tips=filled(patterns.sets, sites)), patterns.weights)


def filled(sets: NDArray[np.uint64], sites: Sites) -> NDArray[np.uint64]:
    """Return flat planes of sets (rows, patterns), in the layout of ``sites``."""
    planes = np.zeros(sites.offsets[-1] * sets.shape[0], np.uint64)
    _fill(sets, sites.place, sites.states, sites.offsets, planes)
    return planes


@njit
def _fill(
    sets: NDArray[np.uint64],
    place: NDArray[np.int64],
    states: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tips: NDArray[np.uint64],
) -> None:
    taxa, count = sets.shape
    one = np.uint64(1)
    for pattern in range(count):
        block, bit = place[pattern] // BLOCK, place[pattern] % BLOCK
        for taxon in range(taxa):
            start = offsets[block] * taxa + taxon * states[block] * BLOCK_WORDS + bit // 64
            for state in range(states[block]):
                there = sets[taxon, pattern] >> np.uint64(state) & one
                tips[start + state * BLOCK_WORDS] |= there << np.uint64(bit % 64)
    for rest in range(count, states.size * BLOCK):
        block, bit = rest // BLOCK, rest % BLOCK
        for taxon in range(taxa):
            start = offsets[block] * taxa + taxon * states[block] * BLOCK_WORDS + bit // 64
            for state in range(states[block]):
                tips[start + state * BLOCK_WORDS] |= one << np.uint64(bit % 64)


@njit
def weighted(sites: Sites, weights: NDArray[np.int64]) -> Sites:
    """Return ``sites`` with other weights (patterns,), 0 or more."""
    blocks = sites.states.size
    most, depths = np.zeros(blocks, np.int64), np.zeros(blocks, np.int64)
    for pattern in range(weights.size):
        block = sites.place[pattern] // BLOCK
        most[block] = max(most[block], weights[pattern])
    deepest = 1
    for block in range(blocks):
        while most[block] >> depths[block]:
            depths[block] += 1
        deepest = max(deepest, depths[block])
    planes = np.zeros((blocks, deepest, BLOCK_WORDS), np.uint64)
    for pattern in range(weights.size):
        block, bit = sites.place[pattern] // BLOCK, sites.place[pattern] % BLOCK
        for depth in range(depths[block]):
            there = np.uint64(weights[pattern] >> depth & 1)
            planes[block, depth, bit // 64] |= there << np.uint64(bit % 64)
    return Sites(
        sites.taxa,
        sites.tips,
        sites.states,
        sites.offsets,
        depths,
        planes,
        sites.place,
    )
