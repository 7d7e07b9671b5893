"""A tree with its changes, and where it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.data.labels import text
from genobit.data.topology import tips
from genobit.parsimony.plots.layout import Laid, depths, even_depths, radial, ranks, rectangular
from genobit.visual.placing import LETTER, nearest_segment

if TYPE_CHECKING:
    import xarray as xr

    from genobit.parsimony.plots.layout import Nodes

#: Screen pixels of the tree with its names.
WIDTH = 600.0
#: Screen pixels of a tip at best, and of all of them.
_PITCH, _LEAST, _MOST = 19.0, 250.0, 720.0
#: Side of the frame of a radial tree.
_SIDE = 600.0
#: Points of the smallest and the largest name, and the pixels that a line of one point takes.
_SMALLEST, _LARGEST, _LINE = 6.0, 9.0, 1.5
#: Letters of a name that are written; the hover has all of them.
LETTERS = 24
#: Below the tree, for the scale bar.
_FOOT = 34.0
#: Above it, for the number of the first branch.
_HEAD = 6.0


@dataclass(frozen=True)
class Tree:
    """A tree as it is drawn: `support` is NaN where there is none.

    `changes` are the fewest that may be on each branch where ancestors are not resolved.
    """

    parents: Nodes
    names: np.ndarray
    changes: Nodes
    support: np.ndarray
    resolved: bool = True

    @property
    def n_tips(self) -> int:
        """How many tips."""
        return tips(self.parents)

    @property
    def length(self) -> int:
        """All its changes."""
        return int(self.changes[:-1].sum())

    @property
    def supported(self) -> bool:
        """Whether any branch has support."""
        return not np.isnan(self.support).all()


@dataclass(frozen=True)
class Placed:
    """A tree in its place: its frame, and the pitch between two tips, in screen pixels."""

    tree: Tree
    laid: Laid
    layout: str
    lengths: str
    frame: tuple[float, float]
    pitch: float

    @property
    def size(self) -> float:
        """Points of a name."""
        return float(np.clip(self.pitch / _LINE, _SMALLEST, _LARGEST))

    @property
    def every(self) -> int:
        """Of how many tips one has its name written."""
        return max(1, int(np.ceil(_SMALLEST * _LINE / self.pitch)))

    @cached_property
    def named(self) -> Nodes:
        """The tips whose names are written, in the order in which they are drawn."""
        n_tips = self.tree.n_tips
        return np.argsort(ranks(self.tree.parents)[:n_tips], kind="stable")[:: self.every]

    def drawn_alike(self, other: Placed) -> bool:
        """Whether another tree has the same frame, the same letters and the same layers.

        Parameters
        ----------
        other
            The other tree.
        """
        return (self.layout, self.frame, self.pitch) == (
            other.layout,
            other.frame,
            other.pitch,
        ) and self.tree.supported == other.tree.supported

    def branch_at(self, x: float, y: float) -> tuple[int, float]:
        """Find the branch nearest to a point, and its distance.

        Parameters
        ----------
        x, y
            Of the point.
        """
        piece, distance = nearest_segment(self.laid.pieces, x, y)
        return int(self.laid.branch[piece]), distance


def tree_of(ancestors: xr.Dataset, support: np.ndarray | None = None) -> Tree:
    """Read a tree off its ancestral states.

    Parameters
    ----------
    ancestors
        Result of `.genobit.ancestral_states()`.
    support
        As `parsimony_tree` takes it.
    """
    parents = ancestors["node_parent"].values.astype("i8")
    if support is None:
        support = np.full(parents.size, np.nan)
    names = text(ancestors["node"].values)
    changes = ancestors["branch_changes"].values.astype("i8")
    return Tree(parents, names, changes, support, ancestors.attrs.get("resolve") != "sets")


def arrange(tree: Tree, layout: str = "rectangular", lengths: str = "changes") -> Placed:
    """Give a tree its place.

    Parameters
    ----------
    tree
        From `tree_of`.
    layout, lengths
        As `parsimony_tree` takes them.
    """
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
    return Placed(tree, laid, layout, lengths if by_changes else "equal", frame, pitch)
