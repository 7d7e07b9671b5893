"""Fitch's down pass with a byte for each site, as in Richer's report (2013).

A state is a bit of a byte, so there are at most eight. The state planes of `fitch` hold twice as
many sites of four states in a register; this is what they are compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STATES = 8
MOST_CHANGES = 2**16 - 1
_PIECE = 4096
"""Sites at a time: a row of the first cache for each of the nodes in use."""


@njit
def join_bytes(
    x: NDArray[np.uint8], y: NDArray[np.uint8], z: NDArray[np.uint8], changed: NDArray[np.uint16]
) -> None:
    """z <- x joined with y, and one more to ``changed`` where they have no state in common."""
    for site in range(z.size):
        both = x[site] & y[site]
        none = both == 0
        z[site] = x[site] | y[site] if none else both
        changed[site] += np.uint16(none)


@njit
def _changes(
    tips: NDArray[np.uint8],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    out: NDArray[np.int64],
    most: int,
) -> None:
    taxa, sites = tips.shape
    nodes = starts.size - 1
    rows = np.empty((nodes, _PIECE), np.uint8)
    changed = np.empty(_PIECE, np.uint16)
    for first in range(0, sites, _PIECE):
        size = min(_PIECE, sites - first)
        total = out[first : first + size]
        total[:] = 0
        changed[:] = 0
        joined = 0
        rows[:taxa, :size] = tips[:, first : first + size]
        for node in range(taxa, nodes):
            begin, end = starts[node], starts[node + 1]
            if joined + (end - begin) > most:
                total += changed[:size]
                changed[:] = 0
                joined = 0
            joined += end - begin
            target = rows[node, :size]
            join_bytes(
                rows[members[begin], :size], rows[members[begin + 1], :size], target, changed
            )
            for member in range(begin + 2, end):
                join_bytes(target, rows[members[member], :size], target, changed)
        total += changed[:size]


def changes(
    sets: NDArray[np.uint64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    most: int = MOST_CHANGES,
) -> NDArray[np.int64]:
    """Changes of each pattern on a binary tree, from state sets (taxa, patterns) below 256.

    They are counted in 16 bits, and added to the total before there can be ``most`` of them.
    """
    out = np.empty(sets.shape[1], np.int64)
    # A tree is binary but for its root, of three, so that no node has as many members.
    _changes(sets.astype(np.uint8), starts, members, out, most)
    return out
