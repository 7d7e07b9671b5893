"""Fitch's down pass with one byte for each site, as in Richer's report (2013).

A state is one bit of a byte, so there are at most eight states. The tests and the benchmark compare
it with state planes, which hold twice as many sites of four states in a register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CHANGES = 2**16 - 1
_PIECE = 4096
"""Sites scored at a time: three rows and the counts of a join take 20 KiB of the L1 cache."""


@njit
def join_bytes(
    x: NDArray[np.uint8], y: NDArray[np.uint8], z: NDArray[np.uint8], changed: NDArray[np.uint16]
) -> None:
    """Join x and y into z, and add 1 to ``changed`` where they share no state; all (sites,)."""
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
    """Return the changes of each pattern on a binary tree, (patterns,).

    sets: (taxa, patterns), each below 256. Changes are counted in 16 bits and added to the total
    before a count can exceed ``most``.
    """
    out = np.empty(sets.shape[1], np.int64)
    # Nodes have at most three children (the root), so a single node cannot exceed `most`.
    _changes(sets.astype(np.uint8), starts, members, out, most)
    return out
