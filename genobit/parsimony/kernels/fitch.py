"""Fitch's join of two sets on state planes, the count of changes, and lengths of binary trees.

The join is the intersection of two sets. If the intersection is empty, it is their union, and one
change is counted (Fitch 1971, Systematic Zoology 20: 406-416). With planes x_s and y_s for each
state s:

    common_s = x_s & y_s,   some = common_1 | common_2 | ...,   z_s = common_s | (x_s | y_s) & ~some

A change is counted for each bit that is not set in ``some``. See
docs/internals/parsimony-passes.md for moves of a search and lengths of trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.registers import REGISTER_WORDS, aligned, load_register, zero_register
from genobit.engine.simd.vector import andnot, popcount, reduce_add, store
from genobit.parsimony.kernels.planes import BLOCK, BLOCK_WORDS, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.data.topology import Children

_1, _2, _3 = BLOCK_WORDS, 2 * BLOCK_WORDS, 3 * BLOCK_WORDS


@inlined
def join_block(
    x: NDArray[np.uint64],
    i: int,
    y: NDArray[np.uint64],
    j: int,
    out: NDArray[np.uint64],
    k: int,
    states: int,
) -> None:
    """Join x[i] and y[j] into out[k], for one block."""
    # Register by register: 30 ns for four states of 4,096 sites, against 72 ns with all eight words
    # at once, which spill to memory (Zen 3). Counting the changes adds 15 ns.
    for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
        join_register(x, i + w, y, j + w, out, k + w, states)


@inlined
def join_register(
    x: NDArray[np.uint64],
    i: int,
    y: NDArray[np.uint64],
    j: int,
    out: NDArray[np.uint64],
    k: int,
    states: int,
) -> Any:
    """Join x[i] and y[j] into out[k], for one register; return where they share a state."""
    if states == 2:
        a0, a1 = load_register(x, i), load_register(x, i + _1)
        b0, b1 = load_register(y, j), load_register(y, j + _1)
        c0, c1 = a0 & b0, a1 & b1
        some = c0 | c1
        store(out, k, c0 | andnot(a0 | b0, some))
        store(out, k + _1, c1 | andnot(a1 | b1, some))
        return some
    if states == 4:
        a0, a1 = load_register(x, i), load_register(x, i + _1)
        a2, a3 = load_register(x, i + _2), load_register(x, i + _3)
        b0, b1 = load_register(y, j), load_register(y, j + _1)
        b2, b3 = load_register(y, j + _2), load_register(y, j + _3)
        c0, c1, c2, c3 = a0 & b0, a1 & b1, a2 & b2, a3 & b3
        some = (c0 | c1) | (c2 | c3)
        store(out, k, c0 | andnot(a0 | b0, some))
        store(out, k + _1, c1 | andnot(a1 | b1, some))
        store(out, k + _2, c2 | andnot(a2 | b2, some))
        store(out, k + _3, c3 | andnot(a3 | b3, some))
        return some
    some = common_register(x, i, y, j, states)
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        a, b = load_register(x, i + s), load_register(y, j + s)
        store(out, k + s, (a & b) | andnot(a | b, some))
    return some


@inlined
def common_register(
    x: NDArray[np.uint64], i: int, y: NDArray[np.uint64], j: int, states: int
) -> Any:
    """Return a register of the patterns in which x[i] and y[j] share a state."""
    some = zero_register()
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        some = some | (load_register(x, i + s) & load_register(y, j + s))
    return some


@inlined
def branch_register(
    x: NDArray[np.uint64],
    i: int,
    y: NDArray[np.uint64],
    j: int,
    z: NDArray[np.uint64],
    k: int,
    states: int,
) -> Any:
    """Return where z[k] shares a state with the join of x[i] and y[j], for one register."""
    # The join is the shared states of x and y where there are any, else all states of both.
    some, shared, either = zero_register(), zero_register(), zero_register()
    for s in range(0, states * BLOCK_WORDS, BLOCK_WORDS):
        a, b, c = load_register(x, i + s), load_register(y, j + s), load_register(z, k + s)
        both = a & b
        some = some | both
        shared = shared | (both & c)
        either = either | ((a | b) & c)
    return shared | andnot(either, some)


@inlined
def changes_at_branch(
    x: NDArray[np.uint64],
    i: int,
    y: NDArray[np.uint64],
    j: int,
    z: NDArray[np.uint64],
    k: int,
    states: int,
    planes: NDArray[np.uint64],
    first: int,
    depth: int,
) -> int:
    """Return the weight of the patterns of a block where z[k] shares no state with x[i] join y[j].

    Weights are ``depth`` planes, starting at ``planes[first]``.
    """
    counts = zero_register()
    for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
        if states == 2:
            some = branch_register(x, i + w, y, j + w, z, k + w, 2)
        elif states == 4:
            some = branch_register(x, i + w, y, j + w, z, k + w, 4)
        else:
            some = branch_register(x, i + w, y, j + w, z, k + w, states)
        counts = counts + weigh(some, planes, first + w, depth)
    return reduce_add(counts)


@inlined
def changes_between(
    x: NDArray[np.uint64],
    i: int,
    y: NDArray[np.uint64],
    j: int,
    states: int,
    planes: NDArray[np.uint64],
    first: int,
    depth: int,
) -> int:
    """Return the weight of the patterns of a block in which x[i] and y[j] share no state."""
    counts = zero_register()
    for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
        if states == 2:
            some = common_register(x, i + w, y, j + w, 2)
        elif states == 4:
            some = common_register(x, i + w, y, j + w, 4)
        else:
            some = common_register(x, i + w, y, j + w, states)
        counts = counts + weigh(some, planes, first + w, depth)
    return reduce_add(counts)


@inlined
def weigh(some: Any, planes: NDArray[np.uint64], first: int, depth: int) -> Any:
    """Return the summed weights of the bits not set in ``some``, for each lane."""
    total = zero_register()
    for d in range(depth - 1, -1, -1):
        bits = andnot(load_register(planes, first + d * BLOCK_WORDS), some)
        total = total + total + popcount(bits)
    return total


@njit
def joins(starts: NDArray[np.int64], members: NDArray[np.int64], taxa: int) -> NDArray[np.int64]:
    """Return the joins of a binary tree, (joins, 3): left, right and result.

    starts, members: as in `topology.Children`. A tip is its row (0 or more), a slot is negative.
    In a join of a tip and a slot, the slot is on the left.
    """
    # Slots are reused, so that a block stays in the L1 cache: 3.0 us for 50 taxa x 4,095 patterns,
    # against 3.7 us with a row for each inner node (Zen 3).
    out = np.empty((taxa - 1, 3), np.int64)
    nodes = starts.size - 1
    place = np.arange(nodes)
    free = np.empty(nodes, np.int64)
    freed, slots, row = 0, 0, 0
    for node in range(taxa, nodes):
        left = place[members[starts[node]]]
        for member in range(starts[node] + 1, starts[node + 1]):
            right = place[members[member]]
            out[row, 0], out[row, 1] = min(left, right), max(left, right)
            for side in (left, right):
                if side < 0:
                    free[freed] = side
                    freed += 1
            if freed == 0:
                slots += 1
                free[0], freed = -slots, 1
            freed -= 1
            left = free[freed]
            out[row, 2] = left
            row += 1
        place[node] = left
    return out


class Workspace(NamedTuple):
    """Planes of the tips, followed by the slots that the joins of a tree write to.

    A workspace scores any number of trees of the same tips, in one thread at a time.
    """

    words: NDArray[np.uint64]
    """Planes (blocks, taxa, states, 8), then slots (taxa, states, 8), flat."""
    shape: tuple[int, int, int, int]
    """Shape of the planes of the tips."""
    weights: Weights
    """Weights of the patterns."""

    def length(self, tree: Children) -> int:
        """Return the length of a binary tree whose root has two or three branches."""
        blocks, taxa, states, _ = self.shape
        common, planes = self.weights
        return int(_length(self.words, blocks, taxa, states, *tree, common, planes))


def workspace(tips: NDArray[np.uint64], weights: Weights) -> Workspace:
    """Copy planes of tips (blocks, taxa, states, 8) into a workspace for scoring trees."""
    blocks, taxa, states, words = tips.shape
    flat = aligned(((blocks + 1) * taxa * states * words,), np.uint64)
    flat[: tips.size] = tips.reshape(-1)
    return Workspace(flat, (blocks, taxa, states, words), weights)


@njit
def _place(of: int, origin: int, slots: int, step: int) -> int:
    """Return the offset of the words of a tip (0 or more) or of a slot (negative)."""
    return origin + of * step if of >= 0 else slots - (of + 1) * step


@inlined
def _changes(
    flat: NDArray[np.uint64],
    plan: NDArray[np.int64],
    origin: int,
    slots: int,
    weights: NDArray[np.uint64],
    first: int,
    depth: int,
    states: int,
) -> int:
    """Make the joins of a block; return its changes, by weight if ``depth`` > 0."""
    step = states * BLOCK_WORDS
    counts = zero_register()
    for row in range(plan.shape[0]):
        i = _place(plan[row, 0], origin, slots, step)
        j = _place(plan[row, 1], origin, slots, step)
        k = _place(plan[row, 2], origin, slots, step)
        # Finish all registers of a join before the next join, which waits for their stores.
        for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
            some = join_register(flat, i + w, flat, j + w, flat, k + w, states)
            if depth == 0:
                counts = counts + popcount(some)
            else:
                counts = counts + weigh(some, weights, first + w, depth)
    return reduce_add(counts) if depth > 0 else plan.shape[0] * BLOCK - reduce_add(counts)


@njit
def _length(
    flat: NDArray[np.uint64],
    blocks: int,
    taxa: int,
    states: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    common: NDArray[np.int64],
    planes: NDArray[np.uint64],
) -> int:
    # Joins and scoring share one compiled call: a call from Python costs as much as a small tree.
    plan = joins(starts, members, taxa)
    step = states * BLOCK_WORDS
    slots = blocks * taxa * step
    weights = planes.reshape(-1)
    total = 0
    for block in range(blocks):
        origin, first = block * taxa * step, block * planes.shape[1] * BLOCK_WORDS
        depth = 0 if common[block] > 0 else planes.shape[1]
        if states == 4:
            changes = _changes(flat, plan, origin, slots, weights, first, depth, 4)
        else:
            changes = _changes(flat, plan, origin, slots, weights, first, depth, states)
        total += max(common[block], 1) * changes
    return total
