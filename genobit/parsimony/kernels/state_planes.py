"""State sets of site patterns as bit planes: one bit for each state and pattern.

A block is 512 patterns, eight words for each state. Planes are (blocks, rows, states, 8): bit b of
word w of block k is pattern 512 k + 64 w + b, and a row is a taxon or an inner node. Trees are
scored block by block, so all rows of a block are contiguous: 100 nodes of four states take 25 KiB.

Bits past the last pattern are set in all states, like a missing call, so they never change.

Patterns are sorted by weight, heaviest first. Nearly every block then has a single weight, by which
its popcount is multiplied.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

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


def aligned_words(size: int) -> NDArray[np.uint64]:
    """Return uninitialised words that start on a cache line.

    A register across two cache lines costs twice as much.
    """
    spare = np.empty(size + BLOCK_WORDS - 1, np.uint64)
    first = -(spare.ctypes.data // spare.itemsize) % BLOCK_WORDS
    return spare[first : first + size]


def state_planes(sets: NDArray[np.uint64], states: int) -> NDArray[np.uint64]:
    """Convert state sets (rows, patterns) to planes (blocks, rows, states, 8)."""
    shape = (blocks_of(sets.shape[1]), sets.shape[0], states, BLOCK_WORDS)
    out = aligned_words(math.prod(shape)).reshape(shape)
    _fill(sets, out)
    return out


@njit
def _fill(sets: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    rows, patterns = sets.shape
    blocks, _, states, words = out.shape
    one, every = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
    for row in range(rows):
        for block in range(blocks):
            for word in range(words):
                first = (block * words + word) * 64
                count = min(64, patterns - first)
                for state in range(states):
                    bits = np.uint64(0) if count > 0 else every
                    if 0 < count < 64:
                        bits = every << np.uint64(count)
                    for k in range(count):
                        bits |= (sets[row, first + k] >> np.uint64(state) & one) << np.uint64(k)
                    out[block, row, state, word] = bits


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
    padded = np.zeros(blocks * BLOCK, np.int64)
    padded[: weights.size] = weights
    common = np.zeros(blocks, np.int64)
    for block in range(blocks):
        values = weights[block * BLOCK : (block + 1) * BLOCK]
        if (values == values[0]).all():
            common[block] = values[0]
    mixed = padded.reshape(blocks, BLOCK)[common == 0]
    depth = int(mixed.max(initial=0)).bit_length()
    planes = np.zeros((blocks, depth, BLOCK_WORDS), np.uint64)
    for bit in range(depth):
        flags = (mixed >> bit & 1).astype(np.uint8)
        planes[common == 0, bit] = np.packbits(flags, axis=1, bitorder="little").view("<u8")
    return Weights(common, planes)
