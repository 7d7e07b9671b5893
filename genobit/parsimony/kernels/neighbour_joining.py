"""Neighbour joining (Saitou and Nei 1987, by the criterion of Studier and Keppler 1988).

From n nodes, the pair i, j with the least (n - 2) d_ij - r_i - r_j is joined, until three nodes are
left. Here r_i is the sum of the distances of i. The distance of the new node to another node k is
(d_ik + d_jk - d_ij) / 2.

Ties go to the pair with the lowest first node, then the lowest second node. A node ranks as the
lowest of its taxa. Repeated distances tie often, so the result depends on this rule.
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
    """Return the parents of the tree of three taxa or more, from distances (taxa, taxa)."""
    taxa = len(distances)
    d = distances.copy()
    root = 2 * taxa - 3
    parents = np.full(root + 1, NO_PARENT, np.int64)
    # A node takes the row of the lowest of its taxa; rows in use come first, in order.
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
    """Return the positions in ``rows`` of the pair to join, the lower first."""
    sums = np.zeros(rows.size)
    # Summed anew for each join: sums updated from join to join would accumulate errors.
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
