"""Tree of samples beside a matrix, in the colours of its groups, and the blocks that it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection

from genobit.visual.clusters import DRAWN_MERGES
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.visual.clusters import Dendrogram
    from genobit.visual.colouring import Colouring

#: A tree is cut at this quantile of its joins, so that relatives do not take all of its width.
TRIMMED = 0.88
#: A block is cut in two where each group has at least this share of its samples on one side.
ONE_SIDE = 0.95
#: Above this number of samples, lines to single samples are not drawn, nor all joins.
LEAVES = 400
_WIDTHS = 0.2, 0.45


def group_codes(chosen: Colouring | None, n_samples: int) -> tuple[np.ndarray, list[str]]:
    """Return the group of each sample and the colour of each group; numbers are one group."""
    if chosen is None or not chosen.categorical:
        return np.zeros(n_samples, "i8"), [LIGHT.slate]
    names = {name: k for k, name in enumerate(chosen.colours)}
    codes = np.array([names[str(value)] for value in chosen.values], "i8")
    return codes, list(chosen.colours.values())


@dataclass(frozen=True)
class Nodes:
    """Nodes of a tree: the leaves in the order of the data, then the merges.

    `low` and `high` are the ranks of the first and last leaf below, `place` the rank at which the
    node is drawn, and `value` its relationship, inf for leaves. `group` is the group of all leaves
    below, -1 for several. `children` has the two nodes of each merge.
    """

    low: np.ndarray
    high: np.ndarray
    place: np.ndarray
    value: np.ndarray
    group: np.ndarray
    children: np.ndarray


def nodes_of(tree: Dendrogram, groups: np.ndarray) -> Nodes:
    """Return the nodes of a tree; groups: (samples,) int, the group of each sample."""
    n = len(tree.merges) + 1
    present = np.sort(tree.order[: len(tree.order) - tree.without])
    rank = tree.rank[present]
    total = 2 * n - 1
    place = np.concatenate([rank, np.zeros(n - 1)])
    low, high = (np.concatenate([rank, np.zeros(n - 1, "i8")]) for _ in range(2))
    group = np.concatenate([groups[present], np.full(n - 1, -1)])
    children = tree.merges[:, :2].astype("i8")
    for node, (a, b) in zip(range(n, total), children.tolist(), strict=True):
        place[node] = (place[a] + place[b]) / 2
        low[node], high[node] = min(low[a], low[b]), max(high[a], high[b])
        if group[a] == group[b]:
            group[node] = group[a]
    value = np.concatenate([np.full(n, np.inf), tree.top - tree.merges[:, 2]])
    return Nodes(low, high, place, value, group, children)


def draw_tree(axes: Axes, nodes: Nodes, colours: list[str], n_samples: int) -> None:
    """Draw a tree with its leaves at the right; groups of -1 have the colour of plain marks."""
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(n_samples - 0.5, -0.5))
    segments, each = tree_lines(nodes, colours)
    drawn = LineCollection(
        list(segments),
        colors=each,
        linewidths=float(np.clip(60 / (len(nodes.children) + 1), *_WIDTHS)),
        capstyle="projecting",
    )
    axes.add_collection(drawn)


def tree_lines(nodes: Nodes, colours: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return the lines of a tree, (lines, 2, 2), and their colours.

    x is 0 to 1 from the root to the leaves, and y is a rank. A group of -1 has the colour of plain
    marks.
    """
    n = len(nodes.children) + 1
    if n < 2:
        return np.empty((0, 2, 2)), []
    # Many leaves or joins would be a block of colour.
    first = 0 if n <= LEAVES else max(n - 1 - DRAWN_MERGES, 0)
    parents = np.arange(n + first, 2 * n - 1)
    a, b = nodes.children[first:].T
    joins = nodes.value[parents]
    low = float(joins.min())
    high = float(np.quantile(joins, TRIMMED) if n > 20 else joins.max())
    span = (high - low) or 1.0
    at = np.clip((nodes.value - low + 0.02 * span) / (1.07 * span), 0, 1)
    lines = [_segments(at[parents], nodes.place[a], at[parents], nodes.place[b])]
    lines += [_segments(at[parents], nodes.place[c], at[c], nodes.place[c]) for c in (a, b)]
    groups = np.concatenate([nodes.group[parents], nodes.group[a], nodes.group[b]])
    segments = np.concatenate(lines)
    # Joins that were trimmed would be dots at the edge.
    shown = segments[:, 0, 0] < 1
    if n > LEAVES:
        shown &= np.concatenate([np.ones(len(parents), bool), a >= n, b >= n])
    palette = np.array([*colours, LIGHT.slate])
    return segments[shown], palette[groups[shown]].tolist()


def _segments(x0: np.ndarray, y0: np.ndarray, x1: np.ndarray, y1: np.ndarray) -> np.ndarray:
    return np.stack([np.column_stack([x0, y0]), np.column_stack([x1, y1])], axis=1)


@dataclass(frozen=True)
class Block:
    """A run of ranks, `first` to `last` inclusive, with the groups of its samples."""

    first: int
    last: int
    groups: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of samples."""
        return self.last - self.first + 1


def blocks_of(nodes: Nodes, groups: np.ndarray, n_groups: int) -> list[Block]:
    """Return the blocks that a tree separates, by rank; groups: (ranks,) int.

    Starting at the root, a node is split as long as each group has at least `ONE_SIDE` of its
    samples on one side. Outliers belong to the block beside them that has more of their groups.
    """
    found: list[Block] = []
    waiting = [len(nodes.value) - 1] if len(nodes.children) else []
    n = len(nodes.children) + 1
    whole = np.bincount(groups, minlength=n_groups)
    while waiting:
        node = waiting.pop()
        inside = _counts(groups, nodes.low[node], nodes.high[node], n_groups)
        if node >= n and nodes.group[node] < 0:
            pair = nodes.children[node - n].tolist()
            sides = [_counts(groups, nodes.low[k], nodes.high[k], n_groups) for k in pair]
            if (np.max(sides, axis=0) >= ONE_SIDE * inside).all():
                waiting += pair
                continue
        # A group with less than 5 % of its samples here is at home in another block.
        named = np.flatnonzero((inside > (1 - ONE_SIDE) * whole) & (inside > 0))
        found.append(Block(int(nodes.low[node]), int(nodes.high[node]), tuple(named.tolist())))
    found = _without_outliers(sorted(found, key=lambda block: block.first), groups, n_groups)
    return found if len(found) > 1 else []


def _without_outliers(blocks: list[Block], groups: np.ndarray, n_groups: int) -> list[Block]:
    """Join each block without a named group to a block beside it."""
    blocks = list(blocks)
    while len(blocks) > 1 and not all(block.groups for block in blocks):
        k = next(k for k, block in enumerate(blocks) if not block.groups)
        own = _counts(groups, blocks[k].first, blocks[k].last, n_groups)
        sides = [side for side in (k - 1, k + 1) if 0 <= side < len(blocks)]
        other = max(sides, key=lambda side: int(own[list(blocks[side].groups)].sum()))
        low, high = sorted((k, other))
        joined = Block(blocks[low].first, blocks[high].last, blocks[other].groups)
        blocks[low : high + 1] = [joined]
    return blocks


def _counts(groups: np.ndarray, first: int, last: int, n_groups: int) -> np.ndarray:
    return np.bincount(groups[first : last + 1], minlength=n_groups)
