"""Network plot for many nodes: one bubble per community, lines for the edges between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.visual.colouring import one_colour_each
from genobit.visual.placing import LETTER, LINE, fit, free_labels, pack_circles
from genobit.visual.style import number
from genobit.visual.tokens import LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    from genobit.kendall.plots.links import Links
    from genobit.visual.colouring import Colouring

#: Most bubbles in one picture; the title counts the smaller communities.
BUBBLES = 60
#: Widths of the thinnest and of the thickest line, in screen pixels.
LINES = (1.0, 12.0)
#: Radius of the largest bubble, as a share of the height of the frame.
LARGEST = 0.115
#: Gap between bubbles, as a share of the radius of the largest.
GAP = 0.45


@dataclass(frozen=True)
class CommunityLayout:
    """Communities with positions and sizes `x`, `y` and `radius` in screen pixels.

    `between` has a row for each pair of communities joined by edges: both indices and the number of
    edges. `frame` is the width and height of the picture.
    """

    links: Links
    x: np.ndarray
    y: np.ndarray
    radius: np.ndarray
    between: np.ndarray
    frame: tuple[float, float]

    @property
    def n(self) -> int:
        """Number of drawn communities."""
        return len(self.x)

    def bubble_at(self, x: float, y: float) -> int | None:
        """Return the community under a point, or None."""
        inside = np.flatnonzero(np.hypot(self.x - x, self.y - y) <= self.radius + 2)
        return int(inside[0]) if len(inside) else None


def gather(links: Links, frame: tuple[float, float], most: int = BUBBLES) -> CommunityLayout:
    """Compute positions of the largest communities in a frame of (width, height) screen pixels."""
    groups = links.communities[:most]
    n_bubbles = len(groups)
    counts = _edges_between(links)[:n_bubbles, :n_bubbles]
    radii = np.sqrt([len(group) for group in groups])
    gap = GAP * radii[0]
    centres = pack_circles(radii, counts, gap, frame[0] / frame[1])
    width, height = frame
    factor, offset = fit(centres, radii, width, height - 2 * LINE)
    factor_of_radius = min(factor, LARGEST * height / radii[0])
    x, y = (factor * centres + offset + np.array([0, LINE])).T
    first, second = np.nonzero(np.triu(counts, 1))
    between = np.column_stack([first, second, counts[first, second]])
    return CommunityLayout(links, x, y, factor_of_radius * radii, between, frame)


def _edges_between(links: Links) -> np.ndarray:
    """Count the edges between communities; returns (communities, communities)."""
    n_communities = len(links.communities)
    first, second = links.community[links.first], links.community[links.second]
    counts = np.zeros((n_communities, n_communities), dtype="i8")
    np.add.at(counts, (first, second), 1)
    return counts + counts.T


def draw_bubbles(bubbles: CommunityLayout, colours: Colouring) -> hv.Overlay:
    """Draw communities; a bubble has the commonest colour of its members.

    Returns hv.Segments (edges between) * hv.Points (communities) * hv.Labels (number of members)
    * hv.Labels (the hub of each, if there is room).
    """
    return _lines(bubbles) * _circles(bubbles, colours) * _counts(bubbles) * _names(bubbles)


def _lines(bubbles: CommunityLayout) -> hv.Segments:
    first, second, count = bubbles.between.T
    most = max(int(count.max(initial=0)), 1)
    thin, thick = LINES
    columns = {
        "x": bubbles.x[first],
        "y": bubbles.y[first],
        "x1": bubbles.x[second],
        "y1": bubbles.y[second],
        "width": thin + (thick - thin) * np.sqrt(count / most),
        "edges": count,
    }
    lines = hv.Segments(columns, ["x", "y", "x1", "y1"], ["width", "edges"], label="Edges")
    return lines.opts(
        color=OTHER_GROUP,
        alpha=0.6,
        line_width="width",
        default_tools=["save"],
        tools=["pan", "wheel_zoom", "reset", HoverTool(tooltips=[("edges between", "@edges")])],
        active_tools=["wheel_zoom"],
    )


def _circles(bubbles: CommunityLayout, colours: Colouring) -> hv.Points:
    each = one_colour_each(colours)
    groups = bubbles.links.communities[: bubbles.n]
    columns: dict[str, Any] = {
        "x": bubbles.x,
        "y": bubbles.y,
        "size": 2 * bubbles.radius,
        "colour": [Counter(each[group]).most_common(1)[0][0] for group in groups],
        "community": [str(bubbles.links.community_names[group[0]]) for group in groups],
        "members": [len(group) for group in groups],
        "hubs": [", ".join(_hubs(bubbles.links, group)) for group in groups],
    }
    circles = hv.Points(columns, ["x", "y"], list(columns)[2:], label="Communities")
    rows = [("community", "@community"), ("members", "@members"), ("hubs", "@hubs")]
    return circles.opts(
        size="size",
        color="colour",
        line_color="white",
        line_width=1,
        fill_alpha=0.85,
        default_tools=[],
        tools=[HoverTool(tooltips=rows)],
    )


def _hubs(links: Links, group: np.ndarray, n_hubs: int = 3) -> list[str]:
    return [str(name) for name in links.names[links.hubs(group)[:n_hubs]]]


def _counts(bubbles: CommunityLayout) -> hv.Labels:
    groups = bubbles.links.communities[: bubbles.n]
    texts = [f"{len(group):,}" for group in groups]
    fits = [k for k in range(bubbles.n) if bubbles.radius[k] > LETTER * len(texts[k]) / 2 + 1]
    rows = [(bubbles.x[k], bubbles.y[k], texts[k]) for k in fits]
    return hv.Labels(rows, ["x", "y"], "text", label="Members").opts(
        text_color=LIGHT.ink, text_font_size="8pt", default_tools=[]
    )


def _names(bubbles: CommunityLayout) -> hv.Labels:
    groups = bubbles.links.communities[: bubbles.n]
    texts = [_hubs(bubbles.links, group, 1)[0] for group in groups]
    y = bubbles.y - bubbles.radius - LINE / 2
    free = free_labels(bubbles.x, y, texts, bubbles.frame[0])
    clear = [k for k in free if not _covered(bubbles, k, y[k])]
    rows = [(bubbles.x[k], y[k], texts[k]) for k in clear]
    return hv.Labels(rows, ["x", "y"], "text", label="Hubs").opts(
        text_color=LIGHT.ink, text_font_size="8pt", default_tools=[]
    )


def _covered(bubbles: CommunityLayout, k: int, y: float) -> bool:
    apart = np.hypot(bubbles.x - bubbles.x[k], bubbles.y - y) < bubbles.radius
    return bool(np.delete(apart, k).any())


def in_words(bubbles: CommunityLayout) -> str:
    """Return the title: the number of variables and communities, and of those left out."""
    links = bubbles.links
    text = f"{number(links.size, 'variable')} in {len(links.communities):,} communities"
    missing = left_out(links, bubbles.n)
    return f"{text}\n{missing}" if missing else text


def left_out(links: Links, n_drawn: int) -> str:
    """Return how many communities and nodes are not drawn; "" if all are drawn."""
    rest = links.communities[n_drawn:]
    if not rest:
        return ""
    n_nodes = sum(map(len, rest))
    return f"Not drawn: {len(rest):,} of {len(links.communities):,} communities, {n_nodes:,} nodes"
