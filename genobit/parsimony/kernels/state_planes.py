"""State sets of site patterns as bit planes: one bit for each state and pattern.

A block is 512 patterns, eight words for each state. Planes are (blocks, rows, states, 8): bit b of
word w of block k is pattern 512 k + 64 w + b, and a row is a taxon or an inner node. Trees are
scored block by block, so all rows of a block are contiguous: 100 nodes of four states take 25 KiB.

Bits past the last pattern are set in all states, like a missing call, so they never change.

Patterns are sorted by weight, heaviest first. Nearly every block then has a single weight, by which
its popcount is multiplied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import aligned

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_WORDS = 8
"""Words of a state in a block: one register of 512 bits, or two of 256."""
BLOCK = 64 * BLOCK_WORDS
"""Patterns in a block."""
MOST_STATES = 64
"""Most states of a set in 64 bits."""


class Patterns(NamedTuple):
    """Unique columns of an alignment."""

    sets: NDArray[Any]
    """State sets, (rows, patterns)."""
    weights: NDArray[np.int64]
    """Number of sites with each pattern, or the sum of their weights, descending, (patterns,)."""
    of_site: NDArray[np.int64]
    """Pattern of each site, -1 for sites of weight 0, (sites,)."""


class Weights(NamedTuple):
    """Weights of patterns, block by block."""

    common: NDArray[np.int64]
    """Weight of all patterns of a block, 0 if they differ, (blocks,)."""
    planes: NDArray[np.uint64]
    """Bits of the weights of blocks whose weights differ, lowest first, (blocks, bits, 8)."""


def compressed(sets: NDArray[np.unsignedinteger], weights: NDArray[np.integer]) -> Patterns:
    """Return the unique columns of state sets (rows, sites) as uint64, with summed weights."""
    found = different(sets, weights)
    return found._replace(sets=found.sets.astype(np.uint64))


def different(sets: NDArray[np.unsignedinteger], weights: NDArray[np.integer]) -> Patterns:
    """Return the unique columns of state sets (rows, sites), with summed weights (sites,)."""
    heavy = np.flatnonzero(weights > 0)
    used = sets if heavy.size == weights.size else sets[:, heavy]
    columns = np.ascontiguousarray(used.T)
    # Sorting each column as one value of bytes is 30 times faster than np.unique(axis=1).
    keys = columns.view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    totals = np.bincount(inverse, weights[heavy], first.size).astype(np.int64)
    # Patterns of equal weight keep the order of their first sites.
    order = np.lexsort((first, -totals))
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    of_site = np.full(weights.size, -1, np.int64)
    of_site[heavy] = rank[inverse]
    return Patterns(np.ascontiguousarray(columns[first[order]].T), totals[order], of_site)


def blocks_of(patterns: int) -> int:
    """Return the number of blocks that hold ``patterns`` patterns."""
    return -(-patterns // BLOCK)


def state_planes(sets: NDArray[np.uint64], states: int) -> NDArray[np.uint64]:
    """Convert state sets (rows, patterns) to planes (blocks, rows, states, 8)."""
    rows, patterns = sets.shape
    blocks = blocks_of(patterns)
    flat = filled(sets, np.full(blocks, states, np.int64))
    return flat.reshape(blocks, rows, states, BLOCK_WORDS)


def filled(sets: NDArray[np.unsignedinteger], states: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Convert state sets (rows, patterns) to flat planes; states: states of each block, (blocks,)."""
    out = aligned_words(sets.shape[0] * BLOCK_WORDS * int(states.sum()))
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
    start = 0
    for block in range(states.size):
        for row in range(rows):
            for word in range(BLOCK_WORDS):
                first = block * BLOCK + word * 64
                count = min(64, patterns - first)
                for state in range(states[block]):
                    bits = np.uint64(0) if count > 0 else every
                    if 0 < count < 64:
                        bits = every << np.uint64(count)
                    for k in range(count):
                        bits |= (sets[row, first + k] >> np.uint64(state) & one) << np.uint64(k)
                    out[start + state * BLOCK_WORDS + word] = bits
            start += states[block] * BLOCK_WORDS


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
    common = np.zeros(blocks_of(weights.size), np.int64)
    mixed = weights.copy()
    for block in range(common.size):
        values = mixed[block * BLOCK : (block + 1) * BLOCK]
        if (values == values[0]).all():
            common[block] = values[0]
            values[:] = 0
    return Weights(common, weight_bits(mixed, np.arange(mixed.size), common.size)[1])


@njit
def weight_bits(
    weights: NDArray[np.int64], order: NDArray[np.int64], blocks: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the number of bits of each block's weights (blocks,), and the bits (blocks, bits, 8).

    Bits are lowest first, and pattern order[k] is bit k of the planes.
    """
    depths = np.zeros(blocks, np.int64)
    for k in range(order.size):
        while weights[order[k]] >> depths[k // BLOCK]:
            depths[k // BLOCK] += 1
    deepest = 1
    for block in range(blocks):
        deepest = max(deepest, depths[block])
    planes = np.zeros((blocks, deepest, BLOCK_WORDS), np.uint64)
    for k in range(order.size):
        block, bit = k // BLOCK, k % BLOCK
        for depth in range(depths[block]):
            there = np.uint64(weights[order[k]] >> depth & 1)
            planes[block, depth, bit // 64] |= there << np.uint64(bit % 64)
    return depths, planes
