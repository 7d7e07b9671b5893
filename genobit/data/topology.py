"""Trees as arrays: the parent of each node, tips first and children before parents.

Tips are nodes 0 to n - 1, in the order of their rows. Inner nodes follow, each after its children.
A loop over ascending nodes therefore runs from the tips to the root. The root is the last node and
has no parent (-1). An unrooted tree has three branches at its last node.

A sampled taxon is an inner node of its tree. The arrays have it as a tip below that node, on a
branch that allows no change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NO_PARENT = -1


class Children(NamedTuple):
    """The children of all nodes, one node after another, ascending within each node."""

    starts: NDArray[np.int64]
    """Index in ``members`` of each node's first child, then the end, (nodes + 1,)."""
    members: NDArray[np.int64]
    """Child nodes, (nodes - 1,) without sampled taxa. A sampled taxon is repeated."""

    def of(self, node: int) -> NDArray[np.int64]:
        """Return the children of one node."""
        return self.members[self.starts[node] : self.starts[node + 1]]


def children(parents: NDArray[np.int64], sampled: Sequence[int] = ()) -> Children:
    """Return the children of each node of a tree; a tip has none.

    A sampled taxon is repeated once for each branch of its node. Each copy would change if the node
    had none of its states, so every shortest reconstruction gives the node one of them.
    """
    counts = np.bincount(parents[:-1], minlength=parents.size)
    members = np.argsort(parents, kind="stable")[1:].astype(np.int64)
    if len(sampled):
        nodes = parents[list(sampled)]
        times = np.ones(parents.size, np.int64)
        times[list(sampled)] += counts[nodes]
        members = np.repeat(members, times[members])
        counts[nodes] *= 2
    return Children(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), members)


def tips(parents: NDArray[np.int64]) -> int:
    """Return the number of tips: the smallest parent is the first inner node."""
    return int(parents[:-1].min()) if parents.size > 1 else 1


def is_binary(tree: Children) -> bool:
    """Return whether every inner node has two children, and the root two or three."""
    counts = np.diff(tree.starts)
    counts = counts[counts > 0]
    return bool((counts[:-1] == 2).all() and counts[-1] in {2, 3})
