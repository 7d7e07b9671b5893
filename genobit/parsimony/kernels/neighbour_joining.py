"""Neighbour joining (Saitou and Nei 1987, by the criterion of Studier and Keppler 1988).

Of n nodes the pair i, j of the least (n - 2) d_ij - r_i - r_j is joined, r_i the sum of the
distances of i, until three are left. The new node is (d_ik + d_jk - d_ij) / 2 from another, k.

Of pairs that tie the one of the lowest first, then second node, a node counted as the lowest of
its taxa. Distances that repeat tie often, so a rule belongs to the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.topology import NO_PARENT
from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def joined(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Parents of the tree of three taxa or more from the distances of all pairs (taxa, taxa)."""
    taxa = len(distances)
    d = distances.copy()
    root = 2 * taxa - 3
    parents = np.full(root + 1, NO_PARENT, np.int64)
    # A node stands in the row of the lowest of its taxa; rows in use come first, in order.
    node_of, rows = np.arange(taxa), np.arange(taxa)
    for node in range(taxa, root):
        count = 2 * taxa - node
        first, second = _nearest(d, rows[:count])
        i, j = rows[first], rows[second]
        parents[node_of[i]] = parents[node_of[j]] = node
        node_of[i] = node
        rows[second : count - 1] = rows[second + 1 : count].copy()
        for k in rows[: count - 1]:
            if k != i:
                d[i, k] = d[k, i] = (d[i, k] + d[j, k] - d[i, j]) / 2
    for k in rows[:3]:
        parents[node_of[k]] = root
    return parents


@njit
def _nearest(d: NDArray[np.float64], rows: NDArray[np.int64]) -> tuple[int, int]:
    """Positions in ``rows`` of the pair to join, the lower first."""
    sums = np.zeros(rows.size)
    # From the rest up in order: sums carried from join to join would gather errors.
    for a in range(rows.size):
        for k in rows:
            sums[a] += d[rows[a], k]
    first, second, least = 0, 1, np.inf
    for a in range(rows.size):
        for b in range(a + 1, rows.size):
            found = (rows.size - 2) * d[rows[a], rows[b]] - sums[a] - sums[b]
            if found < least:
                first, second, least = a, b, found
    return first, second
