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
    out = aligned_words(blocks * rows * states * BLOCK_WORDS)
    _fill(sets, np.array([states] * blocks, np.int64), out)
    return out.reshape(blocks, rows, states, BLOCK_WORDS)


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
