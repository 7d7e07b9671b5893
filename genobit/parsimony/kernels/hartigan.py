"""Hartigan's down pass on state planes, for nodes with any number of children.

For a node with k children, count the children in which each state is possible. The node's set holds
the states with the largest count m, and k - m children change (Hartigan 1973, Biometrics 29: 53-65,
theorem 1). The upper set holds the states with count m - 1, which cost one change more. The up pass
needs it. With two children, the set is Fitch's intersection or union.

Counts are bit-sliced: planes of their bits, for a register of patterns at a time. The largest count
is found from the highest bit down. If any remaining state has the bit, the states without it drop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS, load_register, zero_register
from genobit.engine.simd.vector import andnot, store
from genobit.parsimony.kernels.state_planes import BLOCK, BLOCK_WORDS, add_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.data.topology import Children


class Numbers(NamedTuple):
    """Work space of one thread: bit-sliced counts, one register for each bit."""

    of_states: NDArray[np.uint64]
    """Number of children in which each state is possible, (states * depth * REGISTER_WORDS,)."""
    most: NDArray[np.uint64]
    """The largest count, then the largest less one, (2 * depth * REGISTER_WORDS,)."""
    every: NDArray[np.uint64]
    """A register with all bits set."""


@njit
def depth_of(number: int) -> int:
    """Return the number of bits of a number."""
    depth = 0
    while number >> depth:
        depth += 1
    return depth


@njit
def numbers(states: int, depth: int) -> Numbers:
    """Allocate work space for nodes with less than 2**depth children."""
    return Numbers(
        np.zeros(states * depth * REGISTER_WORDS, np.uint64),
        np.zeros(2 * depth * REGISTER_WORDS, np.uint64),
        np.full(REGISTER_WORDS, np.uint64(0xFFFFFFFFFFFFFFFF)),
    )


@njit
def _count_children(
    lower: NDArray[np.uint64],
    below: NDArray[np.int64],
    w: int,
    states: int,
    depth: int,
    of_states: NDArray[np.uint64],
) -> None:
    """Count the nodes of ``below`` in which each state is possible, at word w."""
    of_states[:] = np.uint64(0)
    for child in range(below.size):
        first = below[child] * states * BLOCK_WORDS + w
        for state in range(states):
            carry = load_register(lower, first + state * BLOCK_WORDS)
            for bit in range(depth):
                place = (state * depth + bit) * REGISTER_WORDS
                old = load_register(of_states, place)
                store(of_states, place, old ^ carry)
                carry = old & carry


@njit
def _largest(lower: NDArray[np.uint64], first: int, states: int, depth: int, work: Numbers) -> None:
    """Write the states with the largest count to ``lower``, and that count to ``work.most``."""
    of_states, most, every = work
    for state in range(states):
        store(lower, first + state * BLOCK_WORDS, load_register(every, 0))
    for bit in range(depth - 1, -1, -1):
        some = zero_register()
        for state in range(states):
            number = load_register(of_states, (state * depth + bit) * REGISTER_WORDS)
            some = some | (load_register(lower, first + state * BLOCK_WORDS) & number)
        for state in range(states):
            number = load_register(of_states, (state * depth + bit) * REGISTER_WORDS)
            still = load_register(lower, first + state * BLOCK_WORDS)
            store(lower, first + state * BLOCK_WORDS, andnot(still, andnot(some, number)))
        store(most, bit * REGISTER_WORDS, some)


@njit
def _second(upper: NDArray[np.uint64], first: int, states: int, depth: int, work: Numbers) -> None:
    """Write the states with one less than the largest count to ``upper``."""
    of_states, most, every = work
    borrow = load_register(every, 0)
    for bit in range(depth):
        digit = load_register(most, bit * REGISTER_WORDS)
        store(most, (depth + bit) * REGISTER_WORDS, digit ^ borrow)
        borrow = andnot(borrow, digit)
    for state in range(states):
        same = load_register(every, 0)
        for bit in range(depth):
            number = load_register(of_states, (state * depth + bit) * REGISTER_WORDS)
            wanted = load_register(most, (depth + bit) * REGISTER_WORDS)
            same = andnot(same, number ^ wanted)
        store(upper, first + state * BLOCK_WORDS, same)


@njit
def down_block(
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    taxa: int,
    states: int,
    work: Numbers,
    kept: NDArray[np.uint64],
) -> None:
    """Fill the sets and upper sets of the inner nodes of a tree, in one block.

    lower, upper: flat planes (nodes, states, 8), with the tips' sets given in ``lower``.
    kept: flat bit-sliced counts (bits, 8), to which the children without a change are added.
    """
    depth = work.most.size // (2 * REGISTER_WORDS)
    step = states * BLOCK_WORDS
    for node in range(taxa, starts.size - 1):
        below = members[starts[node] : starts[node + 1]]
        for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
            first = node * step + w
            _count_children(lower, below, w, states, depth, work.of_states)
            _largest(lower, first, states, depth, work)
            _second(upper, first, states, depth, work)
            for bit in range(depth):
                carry = load_register(work.most, bit * REGISTER_WORDS)
                for place in range(bit * BLOCK_WORDS + w, kept.size, BLOCK_WORDS):
                    old = load_register(kept, place)
                    store(kept, place, old ^ carry)
                    carry = old & carry


@njit
def _kept(
    tips: NDArray[np.uint64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    depth: int,
    out: NDArray[np.uint64],
) -> None:
    blocks, taxa, states, words = tips.shape
    nodes = starts.size - 1
    step = states * words
    lower, upper = np.empty(nodes * step, np.uint64), np.empty(nodes * step, np.uint64)
    work = numbers(states, depth)
    kept = np.empty(depth_of(nodes) * words, np.uint64)
    for block in range(blocks):
        lower[: taxa * step] = tips[block].reshape(-1)
        kept[:] = np.uint64(0)
        down_block(lower, upper, starts, members, taxa, states, work, kept)
        for bit in range(kept.size // words):
            add_bits(kept[bit * words : (bit + 1) * words], bit, out, block * BLOCK)


def changes(tips: NDArray[np.uint64], tree: Children, patterns: int) -> NDArray[np.int64]:
    """Return the changes of each pattern on a tree, (patterns,), from planes of all taxa."""
    kept = np.zeros(patterns, np.uint64)
    _kept(tips, tree.starts, tree.members, most_children(tree), kept)
    return tree.members.size - kept.view(np.int64)


def most_children(tree: Children) -> int:
    """Return the number of bits of the largest number of children of a node."""
    return int(np.diff(tree.starts).max()).bit_length()
