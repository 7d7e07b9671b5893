"""Network plots of correlated variables: nodes if they are few, else communities.

Coordinates are screen pixels of the frame, so that circles stay round and labels can avoid overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import HoverTool
from bokeh.palettes import Viridis256

from genobit.data.pairs.table import ROWS, as_network
from genobit.kendall.plots.communities import CommunityLayout, draw_bubbles, gather, in_words
from genobit.kendall.plots.links import Links, links_of
from genobit.visual.colouring import Colouring, colouring, colouring_of, one_colour_each
from genobit.visual.placing import LETTER, LINE, backed, fit, free_labels, pack_circles
from genobit.visual.style import DIVERGING, SELECTED_COLOUR, WHITE, number, plain_frame, shortened
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from genobit.data.pairs.network import Network
    from genobit.data.pairs.table import PairTable

#: Most nodes drawn one by one; with more nodes, or ten times as many edges, draw communities.
NODES = 400
#: Edges drawn per node: those that keep components connected, then the strongest.
DRAWN_EDGES = 6
#: Share of an even spread in the distances of nodes from the middle of their component, because
#: spring layouts crowd the middle.
EVEN = 0.7
#: Number of nodes of a component per further name in it.
PER_NAME = 12
#: Most hubs with a name, if there is room.
HUBS = 25
#: Size of the picture and width of the key beside it, in screen pixels.
FRAME = (450.0, 400.0)
KEY = 125.0
#: Diameters of the smallest and of the largest node, in screen pixels.
SMALLEST, LARGEST = 5.0, 17.0
POSITIVE, NEGATIVE = DIVERGING[7][1], DIVERGING[1][1]


@dataclass(frozen=True)
class NetworkLayout:
    """Nodes with positions and sizes `x`, `y` and `size` in screen pixels.

    `drawn` holds the indices of the drawn edges. `frame` is the width and height of the picture.
    """

    links: Links
    x: np.ndarray
    y: np.ndarray
    size: np.ndarray
    drawn: np.ndarray
    frame: tuple[float, float] = FRAME

    def ends(self, edges: np.ndarray) -> np.ndarray:
        """Return both ends of edges by index, (edges, 4): x0, y0, x1, y1."""
        first, second = self.links.first[edges], self.links.second[edges]
        return np.column_stack([self.x[first], self.y[first], self.x[second], self.y[second]])

    def node_at(self, x: float, y: float) -> int | None:
        """Return the node under a point, or None."""
        distance = np.hypot(self.x - x, self.y - y)
        nearest = int(np.argmin(distance))
        return nearest if distance[nearest] <= self.size[nearest] / 2 + 2 else None


def kendall_network(
    pairs: PairTable | Network,
    *,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    limit: int = NODES,
    seed: int = 0,
) -> hv.Overlay:
    """Draw correlated variables as a network, or as communities if there are too many nodes.

    Parameters
    ----------
    pairs
        Result of `.genobit.kendall_pairs()`, another table of pairs, or a `Network`.
    colour_by
        Values that colour the nodes, one for each variable of the data. By default, nodes are
        coloured by community. A DataArray or Series is aligned by the names of the variables. Its
        name becomes the title of the colour key.
    limit
        Largest number of nodes to draw one by one. With more than `limit` nodes or `10 * limit`
        edges, each community is drawn as one bubble.
    seed
        Seed of the community detection and of the layout.

    Returns
    -------
        hv.Segments (edges) * hv.Points (nodes) * hv.Labels (names of hubs) * the legend. Components
        are drawn apart, with the largest in the middle. The size of a node grows with its degree.
        Bubbles are drawn by `genobit.kendall.plots.communities.draw_bubbles`.

    Raises
    ------
    ValueError
        If there is no edge.

    Examples
    --------
    >>> import genobit
    >>> pairs = genobit.sample_expression().genobit.kendall_pairs(threshold=0.7)
    >>> picture = kendall_network(pairs)
    >>> len(picture.Points.Nodes), len(picture.Segments.Edges)
    (100, 198)
    """
    network = as_network(pairs)
    links = links_of(network, seed)
    if not links.size:
        raise ValueError("there is no edge to draw; make the table with a lower threshold=")
    return draw(arrange(links, limit), colours_of(links, values_of(network, colour_by)))


def values_of(
    network: Network, colour_by: Colouring | str | ArrayLike | xr.DataArray | None
) -> Colouring | None:
    """Return colours of all variables of the data by values of the user; None by community."""
    if colour_by is None:
        return None
    dim = {row: dim for dim, row in ROWS.items()}.get(network.dim, network.dim)
    return colouring_of(xr.Dataset(coords={dim: network.names}), colour_by, dim)


def arrange(
    links: Links, limit: int = NODES, frame: tuple[float, float] = FRAME
) -> NetworkLayout | CommunityLayout:
    """Compute positions of the nodes, or of the communities if there are too many nodes.

    ``links`` has at least one edge; ``limit`` is that of `kendall_network`. ``frame`` is the width
    and height of the picture in screen pixels, without the key.
    """
    many = links.size > limit or len(links.first) > 10 * limit
    # A single community would show nothing, so draw its nodes.
    several = len(links.communities) > 1
    return gather(links, frame) if many and several else place(links, frame)


def draw(
    laid: NetworkLayout | CommunityLayout,
    colours: Colouring,
    marked: tuple[int, int] | None = None,
    selected: Sequence[int] = (),
) -> Any:
    """Draw the result of `arrange` with the colours of its variables.

    ``marked`` is an edge by the positions of both variables in the data. ``selected`` lists
    positions in the data of variables whose nodes get a ring.
    """
    if isinstance(laid, CommunityLayout):
        picture = draw_bubbles(laid, colours)
    else:
        picture = draw_nodes(laid, colours, marked, selected)
    width, height = laid.frame
    key = _key(colours, laid.frame, nodes=isinstance(laid, NetworkLayout))
    return (picture * key).opts(
        title=layout_in_words(laid),
        fontsize={"title": "9pt"},
        frame_width=round(width + KEY),
        frame_height=round(height),
        xlim=(0, width + KEY),
        ylim=(0, height),
        xaxis=None,
        yaxis=None,
        toolbar="above",
        show_legend=False,
        hooks=[plain_frame],
    )


def colours_of(links: Links, of_all: Colouring | None) -> Colouring:
    """Return the colours of the variables with an edge; by default communities colour them.

    ``of_all`` has one value for each variable of the data.
    """
    if of_all is not None:
        return of_all.of(links.variables)
    return colouring("community", links.community_names)


def place(links: Links, frame: tuple[float, float] = FRAME) -> NetworkLayout:
    """Compute positions of nodes: lay out each component, then pack the components as circles."""
    aspect = frame[0] / frame[1]
    groups, at = links.components, links.layout()
    radii = np.sqrt([len(group) for group in groups])
    centres = pack_circles(radii, gap=0.6, aspect=aspect)
    for group, radius, centre in zip(groups, radii, centres, strict=True):
        at[group] = centre + radius * _spread(at[group])
    room = np.array([LARGEST, LARGEST + LINE])
    factor, offset = fit(centres, radii, *(np.array(frame) - 2 * room))
    x, y = (factor * at + offset + room).T
    if len(groups) == 1:  # A single component may use the full width.
        x = frame[0] / 2 + (x - frame[0] / 2) * aspect
    grown = np.sqrt((links.degree - 1) / max(int(links.degree.max()) - 1, 1))
    # With a few hundred nodes, large nodes would cover the small ones.
    largest = LARGEST if links.size <= 150 else 0.7 * LARGEST
    drawn = DRAWN_EDGES * links.size
    size = SMALLEST + (largest - SMALLEST) * grown
    return NetworkLayout(links, x, y, size, links.backbone(drawn), frame)


def _spread(at: np.ndarray) -> np.ndarray:
    """Scale the positions of a component to the unit circle and spread its middle; (nodes, 2)."""
    at = at - (at.min(axis=0) + at.max(axis=0)) / 2
    distance = np.hypot(*at.T)
    share = distance / (distance.max() or 1.0)
    rank = np.argsort(np.argsort(distance, kind="stable"))
    even = np.sqrt((rank + 1) / len(rank)) if len(rank) > 3 else share
    wanted = (1 - EVEN) * share + EVEN * even
    return at * (wanted / np.maximum(distance, 1e-9))[:, None]


def draw_nodes(
    laid: NetworkLayout,
    colours: Colouring,
    marked: tuple[int, int] | None = None,
    selected: Sequence[int] = (),
) -> hv.Overlay:
    """Draw nodes and edges of the result of `place`; the parameters are the same as in `draw`."""
    nodes = _nodes(laid, colours, selected)
    return _edges(laid) * _mark(laid, marked) * nodes * _names(laid)


def _edges(laid: NetworkLayout) -> hv.Segments:
    links, drawn = laid.links, laid.drawn
    columns = dict(zip(("x", "y", "x1", "y1"), laid.ends(drawn).T, strict=True))
    columns |= {
        "colour": np.where(links.tau[drawn] < 0, NEGATIVE, POSITIVE),
        "tau": links.tau[drawn],
        "first": links.names[links.first[drawn]],
        "second": links.names[links.second[drawn]],
    }
    lines = hv.Segments(columns, ["x", "y", "x1", "y1"], list(columns)[4:], label="Edges")
    rows = [("variable", "@first"), ("variable", "@second"), ("τ", "@tau{0.000}")]
    return lines.opts(
        color="colour",
        # Many lines are drawn fainter, so that the nodes remain visible.
        alpha=0.75 if len(drawn) <= 300 else 0.45,
        line_width=1.5 if len(drawn) <= 300 else 1.0,
        default_tools=["save"],
        tools=["pan", "wheel_zoom", "reset", HoverTool(tooltips=rows)],
        active_tools=["wheel_zoom"],
    )


def _mark(laid: NetworkLayout, marked: tuple[int, int] | None) -> hv.Segments:
    rows = np.empty((0, 4))
    if marked is not None:
        found = np.searchsorted(laid.links.variables, marked)
        here = np.minimum(found, laid.links.size - 1)
        if (laid.links.variables[here] == marked).all():
            a, b = here
            rows = np.array([[laid.x[a], laid.y[a], laid.x[b], laid.y[b]]])
    return hv.Segments(rows, ["x", "y", "x1", "y1"], label="Marked").opts(
        color=SELECTED_COLOUR, line_width=4, default_tools=[]
    )


def _nodes(laid: NetworkLayout, colours: Colouring, selected: Sequence[int]) -> hv.Points:
    links = laid.links
    ringed = np.isin(links.variables, list(selected))
    columns = {
        "x": laid.x,
        "y": laid.y,
        "size": laid.size,
        "colour": one_colour_each(colours),
        "name": links.names,
        "degree": links.degree,
        "value": colours.values,
        "line": np.where(ringed, SELECTED_COLOUR, WHITE),
        "width": np.where(ringed, 3.0, 0.5),
    }
    rows = [("variable", "@name"), ("edges", "@degree"), (colours.name or "variable", "@value")]
    nodes = hv.Points(columns, ["x", "y"], list(columns)[2:], label="Nodes")
    return nodes.opts(
        size="size",
        color="colour",
        line_color="line",
        line_width="width",
        default_tools=[],
        tools=[HoverTool(tooltips=rows)],
    )


def _names(laid: NetworkLayout) -> hv.Labels:
    hubs = laid.links.hubs()
    texts = [str(name) for name in laid.links.names[hubs]]
    x, y = laid.x[hubs], laid.y[hubs] + laid.size[hubs] / 2 + LINE / 2
    # Rank hubs within components, or the densest component would get all the names.
    within, of = laid.links.rank_within_component()
    rank = np.argsort(within[hubs], kind="stable")
    rank = rank[within[hubs][rank] <= of[hubs][rank] / PER_NAME]
    chosen = rank[free_labels(x[rank], y[rank], [texts[k] for k in rank], laid.frame[0])[:HUBS]]
    return hv.Labels([(x[k], y[k], texts[k]) for k in chosen], ["x", "y"], "name").opts(
        text_color=LIGHT.ink,
        text_font_size="8pt",
        text_font_style="bold",
        default_tools=[],
        hooks=[backed],
    )


def layout_in_words(laid: NetworkLayout | CommunityLayout) -> str:
    """Return what a picture shows, and the edges or communities that it leaves out."""
    if isinstance(laid, CommunityLayout):
        return in_words(laid)
    links = laid.links
    text = f"{number(links.size, 'variable')}, {number(len(links.first), 'edge')}"
    if len(laid.drawn) < len(links.first):
        text += f" (the {len(laid.drawn):,} strongest drawn)"
    return f"{text}, {number(len(links.components), 'component')}"


def _key(colours: Colouring, frame: tuple[float, float], *, nodes: bool) -> hv.Overlay:
    """Draw the key of colours and signs in the free space beside the network."""
    left, top = frame[0] + 8, frame[1] - LINE
    entries = [(text, colour) for text, colour in _entries(colours)]
    step = 1.35 * LINE
    rows = [
        (left + 6, top - step * (k + 1), colour, text) for k, (text, colour) in enumerate(entries)
    ]
    texts = [(left, top, colours.name)]
    texts += [(x + 10, y, shortened(text, int((KEY - 24) / LETTER))) for x, y, _, text in rows]
    lines: list[tuple[Any, ...]] = []
    if nodes:
        for k, (text, colour) in enumerate((("τ > 0", POSITIVE), ("τ < 0", NEGATIVE))):
            y = LINE + step * (1 - k)
            lines.append((left, y, left + 14, y, colour))
            texts.append((left + 19, y, text))
    dots = hv.Points([row[:3] for row in rows], ["x", "y"], "colour", label="Key").opts(
        color="colour", size=9, default_tools=[]
    )
    strokes = hv.Segments(lines, ["x", "y", "x1", "y1"], "colour", label="Signs").opts(
        color="colour", line_width=2, default_tools=[]
    )
    return (
        dots
        * strokes
        * hv.Labels(texts, ["x", "y"], "text", label="Meaning").opts(
            text_align="left", text_color=LIGHT.ink, text_font_size="8pt", default_tools=[]
        )
    )


def _entries(colours: Colouring) -> list[tuple[str, str]]:
    """Return labels and colours of the key: the categories, or numbers high to low."""
    if colours.categorical:
        return list(colours.colours.items())
    low, high = colours.limits
    return [
        (f"{low + share * (high - low):.3g}", Viridis256[round(255 * share)])
        for share in (1.0, 0.75, 0.5, 0.25, 0.0)
    ]
