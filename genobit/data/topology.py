"""Trees as arrays: each node's parent, tips first and children before parents.

Tips are nodes 0 to n - 1, in the order of the rows they stand for. Inner nodes follow, each after
its children, so that a loop over ascending nodes runs from the tips to the root, which is the last
and has no parent (-1). A tree without a root comes with three branches at its last node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_PARENT = -1


class Children(NamedTuple):
    """The children of all nodes, one after another, ascending within each node."""

    starts: NDArray[np.int64]
    """First child of each node in ``members``, and the end, (nodes + 1,)."""
    members: NDArray[np.int64]
    """(nodes - 1,)."""

    def of(self, node: int) -> NDArray[np.int64]:
        """Children of one node."""
        return self.members[self.starts[node] : self.starts[node + 1]]


def children(parents: NDArray[np.int64]) -> Children:
    """Children of each node of a tree, none of a tip."""
    nodes = parents.size
    members = np.argsort(parents, kind="stable")[1:].astype(np.int64)
    counts = np.bincount(parents[:-1], minlength=nodes)
    return Children(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), members)


def tips(parents: NDArray[np.int64]) -> int:
    """How many tips a tree has: its first inner node is the smallest of all parents."""
    return int(parents[:-1].min()) if parents.size > 1 else 1


def is_binary(parents: NDArray[np.int64]) -> bool:
    """Whether every inner node has two children, and the root two or three."""
    counts = np.bincount(parents[:-1], minlength=parents.size)[tips(parents) :]
    return bool((counts[:-1] == 2).all() and counts[-1] in {2, 3})
