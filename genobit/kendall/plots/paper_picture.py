"""Nodes and edges of a network on a page: the large component above, the others in rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

from genobit.kendall.plots import paper_key as key
from genobit.kendall.plots.network import HUBS
from genobit.kendall.plots.paper_names import Names, write_name
from genobit.kendall.plots.paper_places import apart, ends_of, into_box, shape_of
from genobit.kendall.plots.paper_zones import LINE, Cell, has_large, zones_of
from genobit.visual.paper.labels import Obstacles, leader, place_labels
from genobit.visual.paper.page import MARGIN, size_of
from genobit.visual.paper.texts import lines_of, text_size
from genobit.visual.style import number
from genobit.visual.tokens import LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.kendall.plots.links import Links

#: Fewest nodes of a component with names below it.
NAMED = 4
#: Gap between discs of the large component and of the others, in millimetres.
GAP, SMALL_GAP = 0.9, 0.35
#: More edges than this are pixels in PDF and SVG.
VECTOR_EDGES = 3000


@dataclass(frozen=True)
class Placed:
    """Nodes on the page: `at` (nodes, 2) and `diameter` (nodes,) in millimetres, NaN if not drawn.

    `height` is that of the page, and `key_top` the y at which the key begins.
    """

    at: np.ndarray
    diameter: np.ndarray
    cells: list[Cell]
    key_top: float
    height: float


@dataclass(frozen=True)
class Picture:
    """The nodes and edges of a network on a page."""

    links: Links
    groups: list[np.ndarray]
    kept: np.ndarray
    names: Names
    colours: key.Colours

    @property
    def sizes(self) -> list[int]:
        """Numbers of nodes of the components."""
        return [len(group) for group in self.groups]

    @cached_property
    def shapes(self) -> list[np.ndarray]:
        """The places of each component without a scale."""
        return [shape_of(self.links, group) for group in self.groups]

    @cached_property
    def edges(self) -> np.ndarray:
        """Indices of the drawn edges, the weakest first."""
        order = np.argsort(np.nan_to_num(np.abs(self.links.tau)), kind="stable")
        return order[self.kept[self.links.first[order]]]

    @cached_property
    def strength(self) -> key.Strength:
        """Strengths of the edges."""
        return key.strength_of(self.links)

    @property
    def negative(self) -> bool:
        """Whether a drawn edge is negative."""
        return bool((self.links.tau[self.edges] < 0).any())

    @property
    def most(self) -> int:
        """The most edges of a drawn node."""
        return int(self.links.degree[self.kept].max())

    @cached_property
    def below(self) -> list[list[int]]:
        """The nodes whose names are below each component."""
        large = has_large(self.sizes)
        return [
            [] if (large and k == 0) or len(group) < NAMED else self._hubs_below(group)
            for k, group in enumerate(self.groups)
        ]

    def _hubs_below(self, group: np.ndarray) -> list[int]:
        nodes = self.names.hubs_of(self.links, group)
        if (self.colours.each[group] == OTHER_GROUP).all():
            # A small community has room for one name, and a name without a label says little.
            nodes = [node for node in nodes[:1] if self.names.given[node]]
        return [node for node in nodes if node not in self.names.wanted]

    def height(self, width: float) -> float:
        """Return the height of the page in millimetres."""
        return self.placed(width).height

    @cached_property
    def _known(self) -> dict[tuple[float, float], Placed]:
        """Pages by width and by height beyond their own: a page is measured before it is drawn."""
        return {}

    def placed(self, width: float, height: float | None = None) -> Placed:
        """Place the nodes on a page; `height` is that of the user's axes."""
        asked = round(width, 3), 0.0
        if asked not in self._known:
            self._known[asked] = self._place(width, 0.0)
        if height is None or not has_large(self.sizes):
            return self._known[asked]
        extra = round(height - self._known[asked].height, 3)
        if (asked[0], extra) not in self._known:
            self._known[asked[0], extra] = self._place(width, extra)
        return self._known[asked[0], extra]

    def _place(self, width: float, extra: float) -> Placed:
        texts = [
            [(self.names.text(n), self.names.is_italic(n)) for n in nodes] for nodes in self.below
        ]
        cells, end = zones_of(self.shapes, texts, width, extra)
        lines = key.edge_lines(negative=self.negative)
        foot = key.key_height(self.colours, width, lines) + 1.5
        foot += 0.85 * key.PITCH * len(self.note(width)) + MARGIN
        at = np.full((self.links.size, 2), np.nan)
        diameter = key.diameters(self.links.degree, self.most)
        for cell in cells:
            group = self.groups[cell.index]
            box, radii = (cell.width, cell.height), diameter[group] / 2
            gap = GAP if cell.index == 0 and has_large(self.sizes) else SMALL_GAP
            inside = into_box(self.shapes[cell.index], radii, *box)
            ends = ends_of(self.links, group)
            pushed = apart(inside, radii, gap, box, ends)
            at[group] = pushed + np.array([cell.left, cell.top])
        return Placed(at, diameter, cells, end + 3.0, end + 3.0 + foot)

    def note(self, width: float) -> list[str]:
        """Return what the picture shows and leaves out, in lines."""
        return lines_of([in_words(self.links, self.kept, self.groups)], width - 2 * MARGIN)

    @property
    def pixels(self) -> bool:
        """Whether the edges are too many for lines in PDF and SVG."""
        return len(self.edges) > VECTOR_EDGES

    def draw(self, axes: Axes) -> None:
        """Draw the page into an empty axes."""
        width, height = size_of(axes)
        placed = self.placed(width, height)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(max(placed.height, height), 0))
        axes.set_autoscale_on(False)
        self._draw_edges(axes, placed)
        self._draw_nodes(axes, placed)
        boxes = self._write_below(axes, placed)
        self._write_beside(axes, placed, boxes, width)
        y = key.draw_key(axes, self.colours, placed.key_top, width)
        corner = (width - MARGIN - key.EDGES_WIDTH, placed.key_top + key.PITCH * 0.8)
        lines = key.edge_lines(negative=self.negative)
        if width < key.NARROW:
            corner = (MARGIN, y + key.PITCH + 1.0)
        key.draw_edge_key(axes, self.strength, corner, self.most, negative=self.negative)
        end = max(y, corner[1] + key.PITCH * (lines - 1)) + key.PITCH + 0.5
        key.draw_note(axes, self.note(width), end)

    def _draw_edges(self, axes: Axes, placed: Placed) -> None:
        links, strength = self.links, self.strength
        if self.pixels:
            warnings.warn(
                f"PDF and SVG hold the {len(self.edges):,} edges as an image, because more than "
                f"{VECTOR_EDGES:,} lines are slow to draw",
                stacklevel=2,
            )
        faint = float(np.clip(np.sqrt(key.FAINT / max(len(self.edges), 1)), 0.3, 1.0))
        negative = self.links.tau[self.edges] < 0
        for edges, below in ((self.edges[~negative], False), (self.edges[negative], True)):
            ends = np.stack([placed.at[links.first[edges]], placed.at[links.second[edges]]], axis=1)
            values = strength.values[edges]
            axes.add_collection(
                LineCollection(
                    list(ends),
                    colors=to_rgba(key.NEGATIVE, faint)
                    if below
                    else strength.colours(values, faint),
                    linewidths=key.NEGATIVE_PT * faint**0.5 if below else strength.widths(values),
                    linestyles=[key.DASHES] if below else "solid",
                    capstyle="butt",
                    zorder=1.2 if below else 1,
                    rasterized=self.pixels,
                    label="negative" if below else "edges",
                ),
                autolim=False,
            )

    def _draw_nodes(self, axes: Axes, placed: Placed) -> None:
        # Large nodes first, so that none hides a small one.
        nodes = np.flatnonzero(self.kept)
        nodes = nodes[np.argsort(-placed.diameter[nodes], kind="stable")]
        ringed = np.isin(nodes, self.names.marked)
        axes.scatter(
            placed.at[nodes, 0],
            placed.at[nodes, 1],
            s=key.area(placed.diameter[nodes]),
            c=self.colours.each[nodes].tolist(),
            linewidths=np.where(ringed, 1.0, 0.35).tolist(),
            edgecolors=np.where(ringed, LIGHT.ink, LIGHT.paper).tolist(),
            zorder=2,
            label="nodes",
        )

    def _write(self, axes: Axes, node: int, x: float, y: float) -> None:
        write_name(axes, self.names.text(node), x, y, self.names.look(node)[1])

    def size(self, node: int) -> tuple[float, float]:
        """Return width and height of the text of a node in millimetres."""
        return text_size(self.names.text(node), **self.names.look(node)[0])

    def _write_below(self, axes: Axes, placed: Placed) -> np.ndarray:
        """Write the names below components, and return their boxes."""
        boxes = []
        for cell in placed.cells:
            for k, node in enumerate(self.below[cell.index]):
                y = cell.names_top + LINE * (k + 0.5)
                self._write(axes, node, cell.middle, y)
                half = np.array([self.size(node)]) / 2
                centre = np.array([[cell.middle, y]])
                boxes.append(np.hstack([centre - half, centre + half])[0])
        return np.array(boxes).reshape(-1, 4)

    def beside(self) -> list[int]:
        """Return the nodes whose names are beside them, the most important first."""
        wanted = [node for node in self.names.wanted if self.kept[node]]
        if not has_large(self.sizes):
            return wanted
        in_large = np.zeros(self.links.size, bool)
        in_large[self.groups[0]] = True
        hubs = [
            self.names.hubs_of(self.links, members)
            for group in self.links.communities
            if len(members := group[in_large[group]]) >= NAMED
        ]
        deep = max(map(len, hubs), default=0)
        ranked = [nodes[k] for k in range(deep) for nodes in hubs if k < len(nodes)]
        return [*wanted, *(node for node in ranked[:HUBS] if node not in wanted)]

    def _weights(self) -> np.ndarray:
        """Return how much labels avoid the drawn edges: negative ones most, weak ones least."""
        share = self.strength.share(self.strength.values[self.edges])
        return np.where(self.links.tau[self.edges] < 0, 3.0, 0.4 + 0.6 * share)

    def _write_beside(self, axes: Axes, placed: Placed, boxes: np.ndarray, width: float) -> None:
        nodes = self.beside()
        links, discs = self.links, np.flatnonzero(self.kept)
        obstacles = Obstacles(
            np.column_stack([placed.at, placed.diameter / 2])[discs],
            np.hstack([placed.at[links.first[self.edges]], placed.at[links.second[self.edges]]]),
            self._weights(),
            (MARGIN / 2, MARGIN / 3, width - MARGIN / 2, placed.key_top - 1.0),
            boxes,
        )
        marks = np.column_stack([placed.at, placed.diameter / 2])[nodes]
        sizes = np.array([self.size(node) for node in nodes]).reshape(-1, 2)
        n_wanted = int(self.kept[list(self.names.wanted)].sum())
        centres = place_labels(marks, sizes, obstacles, n_wanted)
        for node in np.array(nodes)[:n_wanted][np.isnan(centres[:n_wanted, 0])]:
            name = self.names.text(node)
            warnings.warn(f"no room for the name {name!r}; use a wider page", stacklevel=2)
        for node, mark, centre, size in zip(nodes, marks, centres, sizes, strict=True):
            if np.isnan(centre[0]):
                continue
            line = leader(mark, centre, size)
            if line is not None:
                axes.plot(*line.T, zorder=3, **key.leader_style())
            self._write(axes, node, *centre)


def in_words(links: Links, kept: np.ndarray, groups: list[np.ndarray]) -> str:
    """Return what is drawn of a network, the limits of its edges, and what is left out."""
    n_edges, n_nodes = int(kept[links.first].sum()), int(kept.sum())
    left = len(links.components) - len(groups)
    all_nodes, all_edges = number(links.size, "node"), number(len(links.first), "edge")
    text = f"{all_nodes}, {all_edges}"
    if left:
        text = f"{n_nodes:,} of {all_nodes}, {n_edges:,} of {all_edges}"
    text += key.limits_in_words(links)
    if not left:
        return f"{text}; {number(len(groups), 'component')}"
    most = max(len(group) for group in links.components[len(groups) :])
    size = f"2 {'or' if most == 3 else 'to'} {most} nodes" if most > 2 else "2 nodes"
    return f"{text}. Not drawn: {number(left, 'component')} of {size}"
