"""Tanglegrams: two trees of the same tips face to face, with few crossings of their tip lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np

from genobit.data.labels import text
from genobit.data.topology import children, tips
from genobit.parsimony.plots.layout import even_depths, leaves, ranks, rectangular
from genobit.parsimony.plots.pixel_layers import Layer, Lines, Texts, figure
from genobit.parsimony.rooting import rooted_at, splits
from genobit.visual.placing import LETTER
from genobit.visual.style import LEAD_COLOUR, number
from genobit.visual.tokens import GROUPS, LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    import xarray as xr

    from genobit.parsimony.plots.layout import Floats, Nodes, TreeLayout

_WIDTH = 900.0
_PITCH, _LEAST, _MOST = 17.0, 220.0, 900.0
#: Screen pixels between the names of both sides.
_BETWEEN = 170.0
_LETTERS = 20
#: Most rounds of rotations of both trees; few nodes rotate after the second.
_ROUNDS = 4
#: Most starts, and tips x starts; large trees get fewer starts.
_STARTS, _STARTED = 12, 600
_SHARED, _CROSSED, _STRAIGHT = LIGHT.slate, GROUPS[1], OTHER_GROUP


@dataclass(frozen=True)
class TreePair:
    """Two trees with rotated nodes: ranks of all nodes, and branches that only one tree has."""

    parents: tuple[Nodes, Nodes]
    ranks: tuple[Floats, Floats]
    own: tuple[np.ndarray, np.ndarray]
    crossings: int

    @property
    def distance(self) -> int:
        """Robinson-Foulds distance: the number of splits that only one of the trees has."""
        return len(_inner_splits(self.parents[0]) ^ _inner_splits(self.parents[1]))


def tanglegram(
    left: xr.Dataset, right: xr.Dataset, *, names: tuple[str, str] = ("left", "right")
) -> hv.Overlay:
    """Draw two trees of the same taxa face to face.

    Parameters
    ----------
    left, right
        Results of `.genobit.ancestral_states()` of the same alignment.
    names
        Names of the left and the right tree.

    Returns
    -------
        hv.Overlay. A branch is blue if the other tree does not contain its split. A line
        between the trees joins the two tips of a taxon; it is orange if it crosses another such
        line. The title gives the Robinson-Foulds distance.

    Raises
    ------
    ValueError
        If the taxa of the trees differ.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> trees = ["((a,b),(c,d),e);", "((a,e),(c,d),b);"]
    >>> picture = tanglegram(*(aln.genobit.ancestral_states(tree) for tree in trees))
    >>> picture.opts.get().kwargs["title"].splitlines()[0]
    'left and right: Robinson–Foulds distance 2 of 4, 0 crossings'
    """
    parents = tuple(found["node_parent"].values.astype("i8") for found in (left, right))
    n_tips = tips(parents[0])
    labels = [
        text(found["node"].values[: tips(found["node_parent"].values)]) for found in (left, right)
    ]
    if len(labels[0]) != len(labels[1]) or (labels[0] != labels[1]).any():
        raise ValueError("the trees are of different taxa; take both from one alignment")
    return draw_faced(face(parents[0], parents[1]), labels[0][:n_tips], names)


def face(left: Nodes, right: Nodes) -> TreePair:
    """Rotate the nodes of two trees to reduce the crossings between the lines of their tips.

    left, right: parents (nodes,); both trees have the same tips. The right tree is rooted on the
    same branch as the left one, if it has that branch. The root does not change a tree's length.
    """
    right = _rooted_alike(left, right)
    parents, generator = (left, right), np.random.default_rng(0)
    # Alternating rotations may end in a local minimum, which several starts make less likely.
    n_starts = int(np.clip(_STARTED // tips(left), 1, _STARTS))
    starts = [ranks(left), *(ranks(left, generator.random(left.size)) for _ in range(1, n_starts))]
    turned = [_turned(parents, start) for start in starts]
    crossed, of_left, of_right = min(turned, key=lambda found: found[0])
    parted = [splits(of) for of in parents]
    common = set(parted[0]) & set(parted[1])
    own = tuple(np.array([split not in common for split in found]) for found in parted)
    return TreePair(parents, (of_left, of_right), (own[0], own[1]), crossed)


def _turned(parents: tuple[Nodes, Nodes], left: Floats) -> tuple[int, Floats, Floats]:
    """Rotate both trees in turn until no crossing is removed; return the crossings and ranks."""
    n_tips = tips(parents[0])

    def turn(ranked: list[Floats], side: int) -> tuple[int, list[Floats]]:
        keys = _keys(parents[side], ranked[1 - side][:n_tips])
        both = ranked.copy()
        both[side] = ranks(parents[side], keys)
        return crossings(both[0][:n_tips], both[1][:n_tips]), both

    count, ranked = turn([left, left], 1)
    for side in (0, 1) * _ROUNDS:
        fewer, other = turn(ranked, side)
        if fewer >= count:
            break
        count, ranked = fewer, other
    return count, ranked[0], ranked[1]


def _rooted_alike(left: Nodes, right: Nodes) -> Nodes:
    found = splits(right)
    parted = splits(left)
    for child in np.flatnonzero(left == left.size - 1)[::-1]:
        if parted[child] in found:
            return rooted_at(right, found.index(parted[child])).parents
    return right


def crossings(left: Floats, right: Floats) -> int:
    """Count the crossings of lines between two rankings of the same tips, (tips,) each.

    Examples
    --------
    >>> crossings(np.array([0.0, 1, 2]), np.array([2.0, 0, 1]))
    2
    """
    order = right[np.argsort(left)]
    return int(sum((order[:k] > order[k]).sum() for k in range(1, len(order))))


def _keys(parents: Nodes, other: Floats) -> Floats:
    """Return keys by which `ranks` rotates each node to follow the other tree's tips, (nodes,)."""
    n_tips, of = tips(parents), children(parents)
    below: list[np.ndarray] = [other[[k]] for k in range(n_tips)]
    keys = np.zeros(parents.size)
    for node in range(n_tips, parents.size):
        mine = of.of(node)
        # The share of pairs that cross with this child first; exact for two children.
        for child in mine:
            later = np.sort(np.concatenate([below[k] for k in mine if k != child]))
            smaller = np.searchsorted(later, below[child]).sum()
            keys[child] = smaller / (len(later) * len(below[child]))
        below.append(np.concatenate([below[k] for k in mine]))
    return keys


def _inner_splits(parents: Nodes) -> set[int]:
    """Return the splits of a tree, without splits that separate a single tip."""
    n_tips = tips(parents)
    found = set(splits(parents))
    return {split for split in found if 1 < split.bit_count() < n_tips - 1}


def draw_faced(
    faced: TreePair,
    labels: np.ndarray,
    names: tuple[str, str],
    size: tuple[float, float] | None = None,
) -> hv.Overlay:
    """Draw two trees face to face, with the names of the tips and of both trees.

    ``size`` is the width and height of the frame. By default, they follow from the trees.
    """
    n_tips = len(labels)
    width, height = size or (_WIDTH, float(np.clip(_PITCH * n_tips, _LEAST, _MOST)) + 6)
    layers, every = _faced_layers(faced, labels, width, height - 6)
    return figure(layers, width, height, faced_in_words(faced, names, every))


def faced_in_words(faced: TreePair, names: tuple[str, str], every: int = 1) -> str:
    """Say in two lines how far two trees are apart, and which branches are blue."""
    distance, most = faced.distance, 2 * (tips(faced.parents[0]) - 3)
    return (
        f"{names[0]} and {names[1]}: Robinson–Foulds distance {distance} of {max(most, 0)}"
        f"{' (the same tree)' if not distance else ''}, {number(faced.crossings, 'crossing')}\n"
        "blue branches: groups of tips that the other tree has not"
        + (f"; every {every}th name is written" if every > 1 else "")
    )


def _faced_layers(
    faced: TreePair, labels: np.ndarray, width: float, height: float
) -> tuple[list[Layer], int]:
    """Return the layers of two trees, and the step between tips with a name."""
    n_tips = len(labels)
    size = float(np.clip(height / n_tips / 1.5, 6, 9))
    every = max(1, int(np.ceil(9 * n_tips / height)))
    short = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in labels]
    room = max(len(name) for name in short) * LETTER * size / 8 + 20
    between = min(_BETWEEN, width / 5)
    inner = (width - between) / 2 - room
    sides = ((8.0, inner), (width - 8.0, width - inner))
    laid = [
        rectangular(of, rank, even_depths(of), (outer, 6.0, to, height))
        for of, rank, (outer, to) in zip(faced.parents, faced.ranks, sides, strict=True)
    ]
    ends = np.column_stack(
        [
            np.full(n_tips, inner + room),
            laid[0].y[:n_tips],
            np.full(n_tips, width - inner - room),
            laid[1].y[:n_tips],
        ]
    )
    straight = _uncrossed(faced.ranks[0][:n_tips], faced.ranks[1][:n_tips])
    colours = [_STRAIGHT if there else _CROSSED for there in straight]
    layers: list[Layer] = [Lines("Between", ends, colours, [1.2] * n_tips, {"tip": list(labels)})]
    for label, place, own, align in zip(
        ("Left", "Right"), laid, faced.own, ("left", "right"), strict=True
    ):
        layers.append(_tree(label, place, own))
        away = 5 if align == "left" else -5
        shown = np.argsort(place.y[:n_tips])[::every]
        x, y = place.x[shown] + away, place.y[shown]
        words = [short[k] for k in shown]
        layers.append(Texts(f"{label} names", x, y, words, size, align=align))
    return layers, every


def _tree(label: str, laid: TreeLayout, own: np.ndarray) -> Lines:
    """Draw the branches of one tree; inner branches that only this tree has are blue."""
    mark = own[laid.branch] & (leaves(laid.parents)[laid.branch] > 1)
    colours = [LEAD_COLOUR if there else _SHARED for there in mark]
    return Lines(label, laid.pieces, colours, np.where(mark, 2.5, 1.3).tolist())


def _uncrossed(left: Floats, right: Floats) -> np.ndarray:
    """Return the tips whose lines cross no other line, (tips,) bool."""
    order = np.argsort(left)
    at = right[order]
    before = np.maximum.accumulate(np.append(-1, at))[:-1]
    after = np.minimum.accumulate(np.append(len(at), at[::-1]))[:-1][::-1]
    straight = np.empty(len(at), dtype=bool)
    straight[order] = (before < at) & (at < after)
    return straight
