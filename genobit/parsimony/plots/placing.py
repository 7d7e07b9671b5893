"""Trees with their changes, placed in screen pixels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.data.labels import text
from genobit.data.topology import tips
from genobit.parsimony.plots.layout import (
    TreeLayout,
    depths,
    even_depths,
    radial,
    ranks,
    rectangular,
)
from genobit.visual.placing import LETTER, nearest_segment

if TYPE_CHECKING:
    import xarray as xr

    from genobit.parsimony.plots.layout import Nodes

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
        """Return whether another tree has the same frame, font size and layers."""
        return (self.layout, self.frame, self.pitch) == (
            other.layout,
            other.frame,
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


def arrange(tree: Tree, layout: str = "rectangular", lengths: str = "changes") -> PlacedTree:
    """Compute the positions of a tree; ``layout`` and ``lengths`` as in `parsimony_tree`."""
    parents, rank = tree.parents, ranks(tree.parents)
    by_changes = lengths == "changes" and tree.length > 0
    depth = depths(parents, tree.changes) if by_changes else even_depths(parents)
    longest = max(min(len(str(name)), LETTERS) for name in tree.names[: tree.n_tips])
    if layout == "radial":
        radius = _SIDE / 2 - 12 - longest * LETTER * _LARGEST / 8
        # Long names leave at least half of the circle to the tree.
        radius = max(radius, _SIDE / 4)
        pitch = 2 * np.pi * radius / tree.n_tips
        frame = (_SIDE, _SIDE + _FOOT)
        laid = radial(parents, rank, depth, (_SIDE / 2, _FOOT + _SIDE / 2), radius)
    else:
        height = float(np.clip(_PITCH * tree.n_tips, _LEAST, _MOST))
        pitch = height / tree.n_tips
        right = WIDTH - 16 - longest * LETTER * _LARGEST / 8
        frame = (WIDTH, height + _FOOT + _HEAD)
        laid = rectangular(parents, rank, depth, (10.0, _FOOT, right, _FOOT + height))
    return PlacedTree(tree, laid, layout, lengths if by_changes else "equal", frame, pitch)
