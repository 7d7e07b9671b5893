"""A network of many nodes on paper: one bubble per community, lines for the edges between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

from genobit.kendall.plots import paper_key as key
from genobit.kendall.plots.communities import BUBBLES, CommunityLayout, gather, left_out
from genobit.kendall.plots.paper_names import Names, write_name
from genobit.visual.paper.labels import Obstacles, leader, place_labels
from genobit.visual.paper.page import MARGIN, size_of
from genobit.visual.paper.texts import lines_of, text_size, write_text
from genobit.visual.style import number
from genobit.visual.tokens import LIGHT, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.kendall.plots.links import Links

#: Millimetres per screen pixel of `gather`: its largest bubble has a radius of 46 pixels.
PIXEL = 0.19
#: Height by width of the bubbles.
SHAPE = 0.72
#: Widths in points and opacity of lines, from one edge between communities to the most.
WIDTHS, ALPHAS = (0.4, 4.5), (0.15, 0.7)


@dataclass(frozen=True)
class Bubbles:
    """The communities of a network on a page; `fewest` is the fewest members of a drawn one."""

    links: Links
    names: Names
    colours: key.Colours
    fewest: int
    limit: int

    @property
    def drawn(self) -> list[np.ndarray]:
        """The drawn communities."""
        groups = [group for group in self.links.communities if len(group) >= self.fewest]
        return (groups or self.links.communities[:1])[:BUBBLES]

    def note(self, width: float) -> list[str]:
        """Return what the picture shows and leaves out, in lines."""
        links = self.links
        text = (
            f"{number(links.size, 'node')}, {number(len(links.first), 'edge')}"
            f"{key.limits_in_words(links)}. Too many to draw one by one (limit={self.limit:,}): "
            f"a bubble is a community and its number of nodes"
        )
        if missing := left_out(links, len(self.drawn)):
            text += f". {missing}"
        return lines_of([text], width - 2 * MARGIN)

    def _foot(self, width: float) -> float:
        lines = len(self.note(width))
        return key.key_height(self.colours, width, 2) + 1.5 + 0.85 * key.PITCH * lines + MARGIN

    def height(self, width: float) -> float:
        """Return the height of the page in millimetres."""
        return MARGIN + SHAPE * (width - 2 * MARGIN) + 3.0 + self._foot(width)

    def draw(self, axes: Axes) -> None:
        """Draw the page into an empty axes."""
        width, height = size_of(axes)
        tall = max(height - MARGIN - 3.0 - self._foot(width), 12.0)
        frame = (width - 2 * MARGIN, tall)
        laid = gather(self.links, (frame[0] / PIXEL, frame[1] / PIXEL), len(self.drawn))
        at = np.column_stack([laid.x, frame[1] / PIXEL - laid.y]) * PIXEL + MARGIN
        radii = laid.radius * PIXEL
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(max(height, tall + MARGIN + 3.0 + self._foot(width)), 0))
        axes.set_autoscale_on(False)
        self._draw_lines(axes, laid, at)
        self._draw_circles(axes, at, radii)
        top = MARGIN + tall + 3.0
        self._write_names(
            axes, laid, at, radii, (MARGIN / 2, MARGIN / 3, width - MARGIN / 2, top - 0.5)
        )
        y = key.draw_key(axes, self.colours, top, width)
        corner = (width - MARGIN - key.EDGES_WIDTH, top + key.PITCH * 0.8)
        if width < key.NARROW:
            corner = (MARGIN, y + key.PITCH + 1.0)
        _draw_line_key(axes, laid.between[:, 2], corner)
        end = max(y, corner[1] + key.PITCH) + key.PITCH + 0.5
        key.draw_note(axes, self.note(width), end)

    def _draw_lines(self, axes: Axes, laid: CommunityLayout, at: np.ndarray) -> None:
        """Draw the edges between communities, the fewest first."""
        first, second, count = laid.between[np.argsort(laid.between[:, 2], kind="stable")].T
        widths, colours = _look_of(count, int(count.max(initial=1)))
        ends = np.stack([at[first], at[second]], axis=1)
        lines = LineCollection(
            list(ends), linewidths=widths, colors=colours, zorder=1, label="edges"
        )
        axes.add_collection(lines, autolim=False)

    def _draw_circles(self, axes: Axes, at: np.ndarray, radii: np.ndarray) -> None:
        each = self.colours.each
        colours = [Counter(each[group].tolist()).most_common(1)[0][0] for group in self.drawn]
        for (x, y), radius, group, colour in zip(at, radii, self.drawn, colours, strict=True):
            text = f"{len(group):,}"
            if text_size(text)[0] < 1.7 * radius:
                write_text(axes, x, y, text, ha="center", color=ink_on(colour), zorder=4)
        axes.scatter(
            at[:, 0],
            at[:, 1],
            s=key.area(2 * radii),
            c=colours,
            edgecolors=LIGHT.paper,
            linewidths=1.0,
            zorder=2,
            label="communities",
        )

    def _write_names(
        self,
        axes: Axes,
        laid: CommunityLayout,
        at: np.ndarray,
        radii: np.ndarray,
        page: tuple[float, float, float, float],
    ) -> None:
        """Write the first hub of each community beside its bubble."""
        groups = self.drawn
        hubs = [self.names.hubs_of(self.links, group, min(1, self.names.hubs)) for group in groups]
        named = [k for k, nodes in enumerate(hubs) if nodes]
        nodes = [hubs[k][0] for k in named]
        looks = [self.names.look(node) for node in nodes]
        texts = [self.names.text(node) for node in nodes]
        sizes = np.array(
            [text_size(t, **style) for t, (style, _) in zip(texts, looks, strict=True)]
        ).reshape(-1, 2)
        discs = np.column_stack([at, radii])
        first, second, _ = laid.between.T
        lines = np.hstack([at[first], at[second]])
        weights = _look_of(laid.between[:, 2], int(laid.between[:, 2].max(initial=1)))[1][:, 3]
        centres = place_labels(discs[named], sizes, Obstacles(discs, lines, weights, page))
        for k, text, (_, look), centre, size in zip(
            named, texts, looks, centres, sizes, strict=True
        ):
            if np.isnan(centre[0]):
                continue
            line = leader(discs[k], centre, size)
            if line is not None:
                axes.plot(*line.T, zorder=3, **key.leader_style())
            write_name(axes, text, centre[0], centre[1], look)


def _look_of(count: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return widths in points and colours (lines, 4) of lines for numbers of edges."""
    share = np.asarray(count) / most
    rgba = np.tile(to_rgba(LIGHT.slate), (len(share), 1))
    rgba[:, 3] = ALPHAS[0] + (ALPHAS[1] - ALPHAS[0]) * share
    return WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * share, rgba


def _draw_line_key(axes: Axes, counts: np.ndarray, at: tuple[float, float]) -> None:
    """Draw the key of the lines between communities."""
    left, y = at
    if not len(counts):
        write_text(axes, left, y, "No edges between", color=LIGHT.slate)
        return
    write_text(axes, left, y, "Line: edges between", color=LIGHT.slate)
    most = int(counts.max())
    shown = np.array(sorted({1, (most + 1) // 2, most}))
    for k, (count, width, colour) in enumerate(
        zip(shown.tolist(), *_look_of(shown, most), strict=True)
    ):
        x, level = left + 10.0 * k, y + key.PITCH
        axes.plot([x, x + 4], [level] * 2, color=colour, lw=width, solid_capstyle="butt")
        write_text(axes, x + 4.7, level, f"{count:,}")
