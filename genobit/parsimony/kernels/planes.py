"""State sets of site patterns as bit planes: one bit for each state and pattern.

A block is 512 patterns, eight words for each state. Planes are (blocks, rows, states, 8): bit b of
word w of block k is pattern 512 k + 64 w + b, and a row is a taxon or an inner node. Trees are
scored block by block, so all rows of a block are contiguous: 100 nodes of four states take 25 KiB.

Bits past the last pattern are set in all states, like a missing call, so they never change.

Patterns are sorted by weight, heaviest first. Nearly every block then has a single weight, by which
its popcount is multiplied.

Searches have planes with as many states in each block as it needs (`Sites`). Their patterns are
sorted by number of states, largest first, then by weight. Most changes are then in the first
blocks, so a search rejects most trees early. Blocks of two states take half the planes of blocks of
four. Arrays of sets are flat. In an array with ``rows`` rows, the planes of row r in block b start
at ``offsets[b] * rows + r * 8 * states[b]``, so all rows of a block are contiguous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import aligned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.patterns import Informative

BLOCK_WORDS = 8
"""Words of a state in a block: one register of 512 bits, or two of 256."""
BLOCK = 64 * BLOCK_WORDS
"""Patterns in a block."""


class Weights(NamedTuple):
    """Weights of patterns, block by block."""

    common: NDArray[np.int64]
    """Weight of all patterns of a block, 0 if they differ, (blocks,)."""
    planes: NDArray[np.uint64]
    """Bits of the weights of blocks whose weights differ, lowest first, (blocks, bits, 8)."""


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


def blocks_of(patterns: int) -> int:
    """Return the number of blocks that hold ``patterns`` patterns."""
    return -(-patterns // BLOCK)


def state_planes(sets: NDArray[np.uint64], states: int) -> NDArray[np.uint64]:
    """Convert state sets (rows, patterns) to planes (blocks, rows, states, 8)."""
    rows, patterns = sets.shape
    blocks = blocks_of(patterns)
    out = aligned((blocks, rows, states, BLOCK_WORDS), np.uint64)
    _fill(sets, np.array([states] * blocks, np.int64), out.reshape(-1))
    return out


def filled(sets: NDArray[np.unsignedinteger], states: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Convert state sets (rows, patterns) to flat planes, with states[b] planes in block b."""
    out = aligned((sets.shape[0] * BLOCK_WORDS * int(states.sum()),), np.uint64)
    _fill(sets, states, out)
    return out


@njit
def _fill(
    sets: NDArray[np.unsignedinteger],
    states: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    rows, patterns = sets.shape
    one, every = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
    for row in range(rows):
        before = 0
        for block in range(states.size):
            step = states[block] * BLOCK_WORDS
            for word in range(BLOCK_WORDS):
                first = block * BLOCK + word * 64
                count = patterns - first
                for state in range(states[block]):
                    shift, bits = np.uint64(state), every
                    if count >= 64:
                        # The compiler unrolls a loop of known length.
                        bits = np.uint64(0)
                        for k in range(64):
                            bits |= (sets[row, first + k] >> shift & one) << np.uint64(k)
                    elif count > 0:
                        bits = every << np.uint64(count)
                        for k in range(count):
                            bits |= (sets[row, first + k] >> shift & one) << np.uint64(k)
                    out[before + row * step + state * BLOCK_WORDS + word] = bits
            before += rows * step


@njit
def add_bits(plane: NDArray[np.uint64], digit: int, out: NDArray[np.uint64], first: int) -> None:
    """Add 2**digit to out[first + k] for each bit k that is set in ``plane``."""
    one, digits = np.uint64(1), np.uint64(digit)
    for word in range(plane.size):
        bits, start = plane[word], first + 64 * word
        for bit in range(min(64, out.size - start)):
            out[start + bit] += (bits >> np.uint64(bit) & one) << digits


def weight_planes(weights: NDArray[np.int64]) -> Weights:
    """Arrange the weights of patterns (patterns,) by block."""
    blocks = blocks_of(weights.size)
    common, mixed = np.zeros(blocks, np.int64), np.zeros(blocks * BLOCK, np.uint64)
    for block in range(blocks):
        part = slice(block * BLOCK, (block + 1) * BLOCK)
        values = weights[part]
        if (values == values[0]).all():
            common[block] = values[0]
        else:
            mixed[part][: values.size] = values
    depth = max(1, int(mixed.max(initial=0)).bit_length())
    # The bits of a weight are filled like the states of a set.
    return Weights(common, state_planes(mixed[None], depth)[:, 0])


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
