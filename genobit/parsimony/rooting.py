"""Rerooting of trees, and the splits of their branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.data.topology import tips

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Nodes = NDArray[np.int64]


class Rooted(NamedTuple):
    """A rerooted tree, with the original branch of each of its branches."""

    parents: Nodes
    branch: Nodes
    """Node below each branch in the original tree, (nodes,); -1 for the root."""


def rooted_at(parents: Nodes, branch: int) -> Rooted:
    """Root a tree in the middle of the branch above node ``branch``, which is not the root.

    Tips keep their numbers. If the old root had two branches, they are merged.

    Examples
    --------
    >>> rooted_at(np.array([4, 4, 5, 5, 5, -1]), 2).parents.tolist()
    [4, 4, 6, 5, 5, 6, -1]
    """
    root, n_tips = parents.size - 1, tips(parents)
    ends = {node: (node, int(parent)) for node, parent in enumerate(parents[:-1].tolist())}
    top = np.flatnonzero(parents == root).tolist()
    if len(top) == 2:
        joined, gone = top
        del ends[gone]
        ends[joined] = (joined, gone)
        branch = joined if branch == gone else branch
    beside: dict[int, list[tuple[int, int]]] = {node: [] for node in range(parents.size)}
    for name, (a, b) in ends.items():
        beside[a].append((b, name))
        beside[b].append((a, name))
    a, b = ends[branch]
    # From the new root outwards: a node, the index of its parent in `found`, and its branch.
    found = [(-1, -1, -1)]
    waiting = [(a, 0, branch), (b, 0, branch)]
    while waiting:
        node, above, name = waiting.pop()
        found.append((node, above, name))
        place = len(found) - 1
        waiting += [(other, place, edge) for other, edge in beside[node] if edge != name]
    numbers = np.empty(len(found), dtype=np.int64)
    inner = [k for k, (node, _, _) in enumerate(found) if not 0 <= node < n_tips]
    numbers[inner] = n_tips + np.arange(len(inner))[::-1]
    rooted, names = np.full((2, len(found)), -1, dtype=np.int64)
    for k, (node, _, _) in enumerate(found):
        numbers[k] = node if 0 <= node < n_tips else numbers[k]
    for k, (_, above, name) in enumerate(found[1:], start=1):
        rooted[numbers[k]], names[numbers[k]] = numbers[above], name
    return Rooted(rooted, names)


def splits(parents: Nodes) -> list[int]:
    """Return the split of each branch, as the bits of the tips on the side without the first tip.

    Examples
    --------
    >>> [bin(split) for split in splits(np.array([4, 4, 5, 5, 5, -1]))]
    ['0b1110', '0b10', '0b100', '0b1000', '0b1100']
    """
    n_tips = tips(parents)
    below = [1 << k if k < n_tips else 0 for k in range(parents.size)]
    for node, parent in enumerate(parents[:-1].tolist()):
        below[parent] |= below[node]
    return [split ^ below[-1] if split & 1 else split for split in below[:-1]]


def branch_of(parents: Nodes, members: Iterable[int]) -> int | None:
    """Return the branch that separates the tips ``members`` from all others, or None.

    Examples
    --------
    >>> branch_of(np.array([4, 4, 5, 5, 5, -1]), [0, 1]), branch_of(np.array([3, 3, 3, -1]), [])
    (4, None)
    """
    wanted = sum(1 << int(tip) for tip in members)
    if wanted & 1:
        wanted ^= (1 << tips(parents)) - 1
    found = splits(parents)
    return found.index(wanted) if wanted in found else None
