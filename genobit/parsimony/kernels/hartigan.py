"""Hartigan's passes on state planes, for nodes with any number of children.

Down pass: V, the set of a node, holds the states that are possible in most children (m of k), and
k - m children change (Hartigan 1973, Biometrics 29: 53-65, theorem 1). B, its upper set, holds the
states with count m - 1. Up pass, with F the states of the parent (theorem 2):

    F of the node = F where it is a part of V, else V | (F & B)

Counts are bit-sliced, so one operation counts a register of patterns. See
docs/internals/parsimony-passes.md for the passes and the rules ACCTRAN and DELTRAN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS, load_register, zero_register
from genobit.engine.simd.vector import andnot, popcount, reduce_add, store
from genobit.parsimony.kernels.fitch import weigh
from genobit.parsimony.kernels.planes import BLOCK, BLOCK_WORDS, Weights, add_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.data.topology import Children

RULES = {"sets": 0, "acctran": 1, "deltran": 2}


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
    kept = np.empty(depth_of(members.size) * words, np.uint64)
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


class Ancestors(NamedTuple):
    """States of all nodes, and the changes on the branch above each."""

    sets: NDArray[np.uint64]
    """State sets, (nodes, patterns): one state, or all possible states with rule "sets"."""
    changes: NDArray[np.int64]
    """Weighted changes on each node's branch, the fewest with rule "sets", (nodes,)."""
    most_changes: NDArray[np.int64]
    """Most weighted changes with rule "sets", else equal to ``changes``, (nodes,)."""


@njit
def _lowest(x: NDArray[np.uint64], first: int, states: int) -> None:
    """Keep only the lowest state of each pattern's set."""
    taken = zero_register()
    for s in range(first, first + states * BLOCK_WORDS, BLOCK_WORDS):
        here = load_register(x, s)
        store(x, s, andnot(here, taken))
        taken = taken | here


@njit
def _all_sets(
    x: NDArray[np.uint64], upper: NDArray[np.uint64], i: int, parent: int, states: int
) -> tuple[Any, Any]:
    """Set x[i] to all states of a node; return where a change may be, and where none is needed.

    x: flat planes, in which the parent's states are final.
    """
    outside, near = zero_register(), zero_register()
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        above, own = load_register(x, parent + s), load_register(x, i + s)
        outside = outside | andnot(above, own)
        near = near | (above & (own | load_register(upper, i + s)))
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        above, own = load_register(x, parent + s), load_register(x, i + s)
        wide = own | (above & load_register(upper, i + s))
        store(x, i + s, (wide & outside) | andnot(above, outside))
    return outside, near


@njit
def _one_state(
    x: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    i: int,
    parent: int,
    states: int,
    late: bool,
) -> Any:
    """Set x[i] to one state of a node; return where it is the parent's state."""
    kept = zero_register()
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        own = load_register(x, i + s)
        if late:
            own = own | load_register(upper, i + s)
        kept = kept | (load_register(x, parent + s) & own)
    _lowest(x, i, states)
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        above = load_register(x, parent + s)
        store(x, i + s, (above & kept) | andnot(load_register(x, i + s), kept))
    return kept


@njit
def _changes(kept: Any, w: int, common: int, planes: NDArray[np.uint64]) -> int:
    """Return the summed weight of the patterns not set in ``kept``, a register at word w."""
    if common > 0:
        return common * (64 * REGISTER_WORDS - reduce_add(popcount(kept)))
    return reduce_add(weigh(kept, planes, w, planes.size // BLOCK_WORDS))


@njit
def _up_block(
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    parents: NDArray[np.int64],
    states: int,
    rule: int,
    every: NDArray[np.uint64],
    common: int,
    planes: NDArray[np.uint64],
    fewest: NDArray[np.int64],
    most: NDArray[np.int64],
) -> None:
    """Replace ``lower`` by the final states, and add the changes to those of each branch."""
    step = states * BLOCK_WORDS
    root = parents.size - 1
    for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
        full = load_register(every, 0)
        if rule > 0:
            _lowest(lower, root * step + w, states)
        for node in range(root - 1, -1, -1):
            i, parent = node * step + w, parents[node] * step + w
            if rule == 0:
                may, near = _all_sets(lower, upper, i, parent, states)
                fewest[node] += _changes(near, w, common, planes)
                most[node] += _changes(andnot(full, may), w, common, planes)
            else:
                kept = _one_state(lower, upper, i, parent, states, rule == 2)
                changed = _changes(kept, w, common, planes)
                fewest[node] += changed
                most[node] += changed


@njit
def _ancestors(
    tips: NDArray[np.uint64],
    parents: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    depth: int,
    rule: int,
    common: NDArray[np.int64],
    planes: NDArray[np.uint64],
    sets: NDArray[np.uint64],
    fewest: NDArray[np.int64],
    most: NDArray[np.int64],
) -> None:
    blocks, taxa, states, words = tips.shape
    nodes = parents.size
    step = states * words
    lower, upper = np.empty(nodes * step, np.uint64), np.zeros(nodes * step, np.uint64)
    work = numbers(states, depth)
    kept = np.zeros(depth_of(members.size) * words, np.uint64)
    for block in range(blocks):
        lower[: taxa * step] = tips[block].reshape(-1)
        down_block(lower, upper, starts, members, taxa, states, work, kept)
        weights = planes[block].copy().reshape(-1)
        _up_block(
            lower, upper, parents, states, rule, work.every, common[block], weights, fewest, most
        )
        for node in range(nodes):
            for state in range(states):
                place = node * step + state * words
                add_bits(lower[place : place + words], state, sets[node], block * BLOCK)


def ancestors(
    tips: NDArray[np.uint64],
    parents: NDArray[np.int64],
    tree: Children,
    weights: Weights,
    patterns: int,
    rule: str,
) -> Ancestors:
    """Reconstruct the states of all nodes by one of `RULES`, from planes of all taxa."""
    nodes = parents.size
    found = Ancestors(
        np.zeros((nodes, patterns), np.uint64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    )
    _ancestors(
        tips,
        parents,
        tree.starts,
        tree.members,
        most_children(tree),
        RULES[rule],
        weights.common,
        weights.planes,
        *found,
    )
    return found
