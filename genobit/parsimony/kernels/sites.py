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
from genobit.parsimony.kernels.state_planes import BLOCK, BLOCK_WORDS, blocks_of, filled

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
    order: NDArray[np.int64]
    """Pattern of each bit, (patterns,)."""


def sites_of(patterns: Informative) -> Sites:
    """Arrange informative patterns as planes."""
    taxa, count = patterns.sets.shape
    every = np.bitwise_or.reduce(patterns.sets, axis=0) if count else np.empty(0, np.uint64)
    needed = np.bitwise_count(every).astype(np.int64)
    # Round up to 2, 4, 8, ... states: joins of three states use the code for four.
    classes = np.ceil(np.log2(np.maximum(needed, 2))).astype(np.int64)
    order = np.lexsort((np.arange(count), -patterns.weights, -classes))
    blocks = blocks_of(count)
    states = np.array(
        [needed[order[b * BLOCK : (b + 1) * BLOCK]].max() for b in range(blocks)], np.int64
    )
    states[states == 3] = 4
    offsets = np.concatenate([[0], np.cumsum(states * BLOCK_WORDS)]).astype(np.int64)
    tips = filled(np.take(patterns.sets, order, axis=1), states)
    empty = np.empty(0, np.int64), np.empty((0, 0, 0), np.uint64)
    return weighted(Sites(taxa, tips, states, offsets, *empty, order), patterns.weights)


@njit
def weighted(sites: Sites, weights: NDArray[np.int64]) -> Sites:
    """Return ``sites`` with other weights (patterns,), 0 or more."""
    blocks = sites.states.size
    depths = np.zeros(blocks, np.int64)
    for k in range(weights.size):
        while weights[sites.order[k]] >> depths[k // BLOCK]:
            depths[k // BLOCK] += 1
    deepest = 1
    for block in range(blocks):
        deepest = max(deepest, depths[block])
    planes = np.zeros((blocks, deepest, BLOCK_WORDS), np.uint64)
    for block in range(blocks):
        for depth in range(depths[block]):
            for word in range(BLOCK_WORDS):
                first, bits = block * BLOCK + word * 64, np.uint64(0)
                for k in range(min(64, weights.size - first)):
                    there = np.uint64(weights[sites.order[first + k]] >> depth & 1)
                    bits |= there << np.uint64(k)
                planes[block, depth, word] = bits
    return Sites(sites.taxa, sites.tips, sites.states, sites.offsets, depths, planes, sites.order)
