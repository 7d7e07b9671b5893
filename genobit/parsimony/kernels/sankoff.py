"""Costs of changes by Sankoff's algorithm: the cheapest assignment for any cost matrix.

The cost of a node in state i is a sum over its children. Each child adds the minimum over its
states j of cost[i, j] + the child's cost in state j (Sankoff 1975, SIAM Journal on Applied
Mathematics 28: 35-42). Costs need not be a metric, symmetric, or zero on the diagonal. A repeated
child is a sampled taxon (`genobit.data.topology`), whose branch allows no change.

Costs are float64, which adds whole costs exactly up to 2**53.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def _costs(
    columns: NDArray[np.uint64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    costs: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    patterns, taxa = columns.shape
    nodes = starts.size - 1
    states = costs.shape[0]
    table = np.empty((nodes, states))
    for pattern in range(patterns):
        for taxon in range(taxa):
            for state in range(states):
                inside = columns[pattern, taxon] >> np.uint64(state) & np.uint64(1)
                table[taxon, state] = 0.0 if inside else np.inf
        for node in range(taxa, nodes):
            for state in range(states):
                total = 0.0
                last = starts[node + 1] - 1
                for member in range(starts[node], last + 1):
                    child = members[member]
                    if member < last and members[member + 1] == child:
                        total += table[child, state]
                        continue
                    least = np.inf
                    for other in range(states):
                        least = min(least, costs[state, other] + table[child, other])
                    total += least
                table[node, state] = total
        out[pattern] = table[nodes - 1].min()


def tree_costs(
    sets: NDArray[np.uint64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    costs: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the cost of each pattern on a tree, (patterns,), from state sets (taxa, patterns).

    costs: (states, states), from the row's state at a node to the column's state at its child.
    """
    out = np.empty(sets.shape[1])
    _costs(np.ascontiguousarray(sets.T), starts, members, costs, out)
    return out
