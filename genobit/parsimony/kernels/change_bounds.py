"""Fewest and most changes of a pattern on any tree.

The fewest changes are the size of the smallest hitting set of the taxa's state sets, less one. A
hitting set shares a state with every taxon's set. Some tree keeps the taxa of each of its states
together.

- If every taxon has one state or all states, the size is the number of states seen.
- Otherwise, every state that some taxon has alone must be in the hitting set. The remaining sets
  are searched for one more state, for two, and so on. Each step tries every state of the first set
  that is not hit. A greedy choice can take one state too many.

The most changes are the changes on a star: the taxa less those that share the commonest state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def _left(sets: NDArray[np.uint64], hit: np.uint64, out: NDArray[np.uint64]) -> int:
    """Copy to ``out`` the sets without a state of ``hit``; return their number.

    Sets that contain an earlier copied set are left out.
    """
    count = 0
    for candidate in sets:
        if candidate & hit:
            continue
        known = False
        for other in range(count):
            if out[other] & candidate == out[other]:
                known = True
        if not known:
            out[count] = candidate
            count += 1
    return count


@njit
def _first_left(sets: NDArray[np.uint64], hit: np.uint64) -> np.uint64:
    for candidate in sets:
        if candidate & hit == 0:
            return candidate
    return np.uint64(0)


@njit
def _can_be_hit(sets: NDArray[np.uint64], states: int, stack: NDArray[np.uint64]) -> bool:
    """Return whether ``states`` states are enough to hit every set, by depth-first search.

    stack: (2, states + 1), the states chosen down to each depth, and the states not yet tried.
    """
    one = np.uint64(1)
    stack[0, 0] = np.uint64(0)
    stack[1, 0] = _first_left(sets, np.uint64(0))
    depth = 0
    while depth >= 0:
        untried = stack[1, depth]
        if untried == 0:
            depth -= 1
            continue
        state = untried & (~untried + one)
        stack[1, depth] = untried ^ state
        chosen = stack[0, depth] | state
        left = _first_left(sets, chosen)
        if left == 0:
            return True
        if depth + 1 < states:
            depth += 1
            stack[0, depth] = chosen
            stack[1, depth] = left
    return False


@njit
def _bounds(
    columns: NDArray[np.uint64], states: int, fewest: NDArray[np.int64], most: NDArray[np.int64]
) -> None:
    patterns, taxa = columns.shape
    one = np.uint64(1)
    work = np.empty(taxa, np.uint64)
    stack = np.empty((2, states + 1), np.uint64)
    number = np.empty(states, np.int64)
    for pattern in range(patterns):
        number[:] = 0
        single = np.uint64(0)
        for taxon in range(taxa):
            found = columns[pattern, taxon]
            for state in range(states):
                number[state] += np.int64(found >> np.uint64(state) & one)
            if found & (found - one) == 0:
                single |= found
        most[pattern] = taxa - number.max()
        left = work[: _left(columns[pattern], single, work)]
        more = 0
        if left.size > 0:
            more = 1
            while not _can_be_hit(left, more, stack):
                more += 1
        fewest[pattern] = np.int64(popcount(single)) + more - 1


def bounds(sets: NDArray[np.uint64], states: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the fewest and most changes of each pattern, from state sets (taxa, patterns)."""
    fewest = np.empty(sets.shape[1], np.int64)
    most = np.empty_like(fewest)
    _bounds(np.ascontiguousarray(sets.T), states, fewest, most)
    return fewest, most
