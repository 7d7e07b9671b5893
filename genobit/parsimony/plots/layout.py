"""Positions of the nodes and branches of a tree with its changes, in screen pixels.

Trees are arrays of parents, as in `genobit.data.topology`. A branch has the number of the node
below it. It is drawn in straight pieces: from its parent's place across to its own line, and along
that line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.labels import text
from genobit.data.topology import children, tips
from genobit.visual.placing import LETTER, nearest_segment

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Length of a straight piece of an arc, in screen pixels.
_PIECE = 7.0
#: Angle of the circle that is left free between the first tip and the last.
_GAP = np.pi / 36
#: Width of the tree with its names, in screen pixels.
WIDTH = 600.0
#: Preferred distance of two tips, and least and greatest height of the tree, in screen pixels.
_PITCH, _LEAST, _MOST = 19.0, 250.0, 720.0
#: Side of the frame of a radial tree, in screen pixels.
_SIDE = 600.0
#: Smallest and largest font size of a name, in points; screen pixels of a line for each point.
_SMALLEST, _LARGEST, _LINE = 6.0, 9.0, 1.5
#: Most letters of a name in the figure; the hover shows the whole name.
LETTERS = 24
#: Screen pixels below the tree, for the scale bar.
_FOOT = 34.0
#: Screen pixels above the tree, for the number of the first branch.
_HEAD = 6.0


class TreeLayout(NamedTuple):
    """A tree with its positions."""

    parents: Nodes
    x: Floats
    """x of all nodes, in screen pixels; y as well."""
    y: Floats
    angle: Floats
    """Direction of the branch above each node, in radians; 0 points to the right."""
    pieces: Floats
    """Straight pieces, (pieces, 4): x0, y0, x1, y1; the last piece of a branch goes along it."""
    branch: Nodes
    """Branch of each piece, ascending."""
    scale: float
    """Screen pixels of one unit of length."""

    @property
    def stems(self) -> Floats:
        """Pieces along the branches, (nodes - 1, 4), in order of the branches."""
        last = np.flatnonzero(np.diff(self.branch, append=-1))
        return self.pieces[last]


def leaves(parents: Nodes) -> Nodes:
    """Count the tips below each node, 1 for a tip; (nodes,).

    Examples
    --------
    >>> leaves(np.array([3, 3, 4, 4, -1])).tolist()
    [1, 1, 1, 2, 3]
    """
    below = np.zeros(parents.size, dtype=np.int64)
    below[: tips(parents)] = 1
    for node, parent in enumerate(parents[:-1].tolist()):
        below[parent] += below[node]
    return below


def ranks(parents: Nodes, keys: Floats | Nodes | None = None) -> Floats:
    """Return the drawing order of the tips from 0, and inner nodes midway between their children.

    Children of a node are drawn in ascending order of ``keys`` (nodes,). By default, keys are the
    numbers of tips below each node, so that the tree is ladderised.

    Examples
    --------
    >>> ranks(np.array([3, 3, 4, 4, -1])).tolist()
    [1.0, 2.0, 0.0, 1.5, 0.75]
    """
    below = leaves(parents)
    order: NDArray[Any] = below if keys is None else keys
    n_tips, starts = tips(parents), np.zeros(parents.size, dtype=np.int64)
    of = children(parents)
    rank = np.zeros(parents.size)
    for node in range(parents.size - 1, n_tips - 1, -1):
        mine = of.of(node)
        mine = mine[np.argsort(order[mine], kind="stable")]
        starts[mine] = starts[node] + np.concatenate([[0], np.cumsum(below[mine])[:-1]])
    rank[:n_tips] = starts[:n_tips]
    for node in range(n_tips, parents.size):
        inside = rank[of.of(node)]
        rank[node] = (inside.min() + inside.max()) / 2
    return rank


def depths(parents: Nodes, lengths: Floats | Nodes) -> Floats:
    """Sum the lengths of branches from the root to each node; lengths: (nodes,).

    Examples
    --------
    >>> depths(np.array([3, 3, 4, 4, -1]), np.array([1, 2, 5, 3, 0])).tolist()
    [4.0, 5.0, 5.0, 3.0, 0.0]
    """
    depth = np.zeros(parents.size)
    for node in range(parents.size - 2, -1, -1):
        depth[node] = depth[parents[node]] + lengths[node]
    return depth


def even_depths(parents: Nodes) -> Floats:
    """Return depths with all tips at the depth of the deepest, and inner nodes by their height.

    Examples
    --------
    >>> even_depths(np.array([3, 3, 4, 4, -1])).tolist()
    [2.0, 2.0, 2.0, 1.0, 0.0]
    """
    height = np.zeros(parents.size)
    for node, parent in enumerate(parents[:-1].tolist()):
        height[parent] = max(height[parent], height[node] + 1)
    return height[-1] - height


def rectangular(
    parents: Nodes, rank: Floats, depth: Floats, box: tuple[float, float, float, float]
) -> TreeLayout:
    """Lay out a tree from left to right, with the first tip at the top.

    rank: from `ranks`; depth: from `depths` or `even_depths`. ``box`` is the left, bottom, right
    and top of the frame of the nodes. If left and right are exchanged, the tree grows to the left.
    """
    left, bottom, right, top = box
    longest = float(depth.max()) or 1.0
    n_tips = tips(parents)
    x = left + (right - left) * depth / longest
    y = top - (top - bottom) * (rank + 0.5) / n_tips
    branch = np.arange(parents.size - 1)
    from_x, from_y = x[parents[:-1]], y[parents[:-1]]
    across = np.column_stack([from_x, from_y, from_x, y[:-1]])
    along = np.column_stack([from_x, y[:-1], x[:-1], y[:-1]])
    pieces = np.stack([across, along], axis=1).reshape(-1, 4)
    angle = np.full(parents.size, 0.0 if right > left else np.pi)
    return TreeLayout(
        parents, x, y, angle, pieces, np.repeat(branch, 2), abs(right - left) / longest
    )


def radial(
    parents: Nodes, rank: Floats, depth: Floats, centre: tuple[float, float], radius: float
) -> TreeLayout:
    """Lay out a tree from the centre of a circle outwards, with the deepest node at ``radius``.

    rank: from `ranks`; depth: from `depths` or `even_depths`.
    """
    longest = float(depth.max()) or 1.0
    scale = radius / longest
    angle = np.pi / 2 - _GAP / 2 - (2 * np.pi - _GAP) * (rank + 0.5) / tips(parents)
    out = scale * depth
    middle = np.array(centre)

    def at(distance: Floats, direction: Floats) -> Floats:
        spokes = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
        return middle + distance[..., None] * spokes

    above = parents[:-1]
    turn = angle[:-1] - angle[above]
    n_pieces = np.ceil(np.abs(turn) * out[above] / _PIECE).astype(np.int64)
    # Each branch has the pieces of its arc, and one piece along the branch.
    branch = np.repeat(np.arange(above.size), n_pieces + 1)
    first = np.cumsum(n_pieces + 1) - n_pieces - 1
    step = np.arange(branch.size) - first[branch]
    of = np.maximum(n_pieces, 1)[branch]
    starts = angle[above][branch] + turn[branch] * np.minimum(step, of) / of
    starts = np.where(n_pieces[branch] == step, angle[branch], starts)
    ends = angle[above][branch] + turn[branch] * (step + 1) / of
    along = step == n_pieces[branch]
    ends = np.where(along, angle[branch], ends)
    outer = np.where(along, out[branch], out[above][branch])
    pieces = np.column_stack([at(out[above][branch], starts), at(outer, ends)])
    x, y = at(out, angle).T
    return TreeLayout(parents, x, y, angle, pieces, branch, scale)


@dataclass(frozen=True)
class Tree:
    """A tree to draw; `support` is NaN for branches without support.

    If ancestors are not resolved, `changes` are the fewest possible on each branch.
    """

    parents: Nodes
    names: np.ndarray
    changes: Nodes
    support: np.ndarray
    resolved: bool = True

    @property
    def n_tips(self) -> int:
        """Number of tips."""
        return tips(self.parents)

    @property
    def length(self) -> int:
        """Sum of the changes on all branches."""
        return int(self.changes[:-1].sum())

    @property
    def supported(self) -> bool:
        """Whether any branch has support."""
        return not np.isnan(self.support).all()


@dataclass(frozen=True)
class PlacedTree:
    """A tree with its positions, its frame, and the distance of two tips, in screen pixels."""

    tree: Tree
    laid: TreeLayout
    layout: str
    lengths: str
    frame: tuple[float, float]
    pitch: float

    @property
    def size(self) -> float:
        """Font size of the names, in points."""
        return float(np.clip(self.pitch / _LINE, _SMALLEST, _LARGEST))

    @property
    def every(self) -> int:
        """Step between tips with a name: 1 if there is room for all names."""
        return max(1, int(np.ceil(_SMALLEST * _LINE / self.pitch)))

    @cached_property
    def named(self) -> Nodes:
        """Tips with a name, in the order in which they are drawn."""
        n_tips = self.tree.n_tips
        return np.argsort(ranks(self.tree.parents)[:n_tips], kind="stable")[:: self.every]

    def drawn_alike(self, other: PlacedTree) -> bool:
        """Return whether another tree has the same height, font size and layers."""
        return (self.layout, self.frame[1], self.pitch) == (
            other.layout,
            other.frame[1],
            other.pitch,
        ) and self.tree.supported == other.tree.supported

    def branch_at(self, x: float, y: float) -> tuple[int, float]:
        """Return the branch nearest to a point, and its distance, in screen pixels."""
        piece, distance = nearest_segment(self.laid.pieces, x, y)
        return int(self.laid.branch[piece]), distance


def tree_of(ancestors: xr.Dataset, support: np.ndarray | None = None) -> Tree:
    """Make a tree from a result of `.genobit.ancestral_states()`; support: (nodes,)."""
    parents = ancestors["node_parent"].values.astype("i8")
    if support is None:
        support = np.full(parents.size, np.nan)
    names = text(ancestors["node"].values)
    changes = ancestors["branch_changes"].values.astype("i8")
    return Tree(parents, names, changes, support, ancestors.attrs.get("resolve") != "sets")


def arrange(
    tree: Tree,
    layout: str = "rectangular",
    lengths: str = "changes",
    size: tuple[float, float] | None = None,
) -> PlacedTree:
    """Compute the positions of a tree; ``layout`` and ``lengths`` as in `parsimony_tree`.

    ``size`` is the width and height of the frame. By default, they follow from the tree.
    """
    parents, rank = tree.parents, ranks(tree.parents)
    by_changes = lengths == "changes" and tree.length > 0
    depth = depths(parents, tree.changes) if by_changes else even_depths(parents)
    longest = max(min(len(str(name)), LETTERS) for name in tree.names[: tree.n_tips])
    if layout == "radial":
        frame = size or (_SIDE, _SIDE + _FOOT)
        side = min(frame[0], frame[1] - _FOOT)
        radius = side / 2 - 12 - longest * LETTER * _LARGEST / 8
        # Long names leave at least half of the circle to the tree.
        radius = max(radius, side / 4)
        pitch = 2 * np.pi * radius / tree.n_tips
        laid = radial(parents, rank, depth, (frame[0] / 2, _FOOT + side / 2), radius)
    else:
        height = float(np.clip(_PITCH * tree.n_tips, _LEAST, _MOST))
        frame = size or (WIDTH, height + _FOOT + _HEAD)
        height = frame[1] - _FOOT - _HEAD
        pitch = height / tree.n_tips
        right = max(frame[0] - 16 - longest * LETTER * _LARGEST / 8, frame[0] / 4)
        laid = rectangular(parents, rank, depth, (10.0, _FOOT, right, _FOOT + height))
    return PlacedTree(tree, laid, layout, lengths if by_changes else "equal", frame, pitch)
