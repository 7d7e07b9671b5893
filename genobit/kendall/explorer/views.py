"""The views of the Kendall explorer: each draws its data, marks items and reports clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from genobit.kendall.plots.communities import CommunityLayout
from genobit.kendall.plots.edges import degree_histogram, draw_edges
from genobit.kendall.plots.heatmap import draw_heatmap
from genobit.kendall.plots.network import NetworkLayout, draw
from genobit.kendall.plots.nodes import draw_nodes_table
from genobit.visual.explorer.selecting import BoxSelection, PointSelection
from genobit.visual.explorer.view import TableView, View, drawn
from genobit.visual.placing import nearest_segment
from genobit.visual.style import fluid, plain_frame, with_hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from genobit.kendall.plots.heatmap import OrderedTau
    from genobit.visual.colouring import Colouring
    from genobit.visual.explorer.home import UiThread

Pair = tuple[int, int]
#: Largest distance in screen pixels at which a click still hits a line.
REACH = 6.0
#: Heights in screen pixels. The heatmap fills the height between the card and the
#: picture below it.
NETWORK, BELOW, TABLE = 514, 194, 490
#: Most variables whose names fit along the axes of the heatmap.
NAMED = 22


def _tools_inside(plot: Any, _element: Any) -> None:
    """Show the tools in the figure while the mouse is over it (a HoloViews hook)."""
    figure = plot.state
    figure.update(toolbar_location="below", toolbar_inner=True)
    figure.toolbar.update(autohide=True, logo=None)


class _KendallView(View):
    css = "genobit-kendall"


class _Clicked(_KendallView):
    """A view drawn by `_picture` that reports clicks to `_tapped`."""

    def _draw(self, *, alike: bool) -> None:
        """Redraw in the existing frame if the new content is of the same kind, else rebuild."""
        if alike and self._frame is not None:
            self._redraw()
        else:
            self._build(self._picture, BoxSelection(None, self._tapped).hook)

    def _picture(self) -> Any:
        raise NotImplementedError

    def _tapped(self, x: float, y: float) -> None:
        raise NotImplementedError


class Network(_Clicked):
    """Network of nodes or of community bubbles; a click selects an edge or node, or opens a bubble.

    `pair_chosen` is called with the positions of two variables, `variable_chosen` with one
    position, and `opened` with the positions of a community.
    """

    name = "network"
    size = (600, 470)

    def __init__(
        self,
        home: UiThread,
        pair_chosen: Callable[[Pair], None],
        variable_chosen: Callable[[int], None],
        opened: Callable[[tuple[int, ...]], None],
    ) -> None:
        super().__init__(home)
        self._pair_chosen, self._variable_chosen = pair_chosen, variable_chosen
        self._opened = opened
        self._content: tuple[NetworkLayout | CommunityLayout, Colouring] | None = None
        self._marked: Pair | None = None
        self._selected: Sequence[int] = ()

    def draw(
        self, laid: NetworkLayout | CommunityLayout, colours: Colouring, marked: Pair | None
    ) -> None:
        """Draw a network with the colours of its variables; mark an edge by its two positions."""
        alike = self._content is not None and type(laid) is type(self._content[0])
        self._content, self._marked = (laid, colours), marked
        self._draw(alike=alike)

    def select(self, selected: Sequence[int]) -> None:
        """Set the positions of the variables to mark at the next drawing."""
        self._selected = selected

    def mark(self, marked: Pair | None, selected: Sequence[int]) -> None:
        """Mark an edge by its two positions, and nodes by their positions."""
        if (marked, list(selected)) == (self._marked, list(self._selected)):
            return
        self._marked, self._selected = marked, selected
        if self._content is not None and isinstance(self._content[0], NetworkLayout):
            self._redraw()

    def _picture(self) -> Any:
        laid, colours = drawn(self._content)
        picture = draw(laid, colours, self._marked, self._selected)
        hooks = [plain_frame, fluid(NETWORK, 6, 0), _tools_inside]
        return picture.opts(framewise=False, title="", hooks=hooks)

    def _tapped(self, x: float, y: float) -> None:
        laid, _ = drawn(self._content)
        if isinstance(laid, CommunityLayout):
            bubble = laid.bubble_at(x, y)
            if bubble is not None:
                members = laid.links.variables[laid.links.communities[bubble]]
                self._opened(tuple(members.tolist()))
            return
        variables = laid.links.variables
        node = laid.node_at(x, y)
        if node is not None:
            self._variable_chosen(int(variables[node]))
            return
        nearest, distance = nearest_segment(laid.ends(laid.drawn), x, y)
        if distance <= REACH:
            edge = laid.drawn[nearest]
            ends = laid.links.first[edge], laid.links.second[edge]
            self._pair_chosen((int(variables[ends[0]]), int(variables[ends[1]])))


class Heatmap(_Clicked):
    """Heatmap of tau of the shown variables; a click calls `chosen` with two positions."""

    name = "heatmap"
    size = (340, 270)

    def __init__(self, home: UiThread, chosen: Callable[[Pair], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._ordered: OrderedTau | None = None
        self._places = np.empty(0, dtype="i8")
        self._marked: Pair | None = None

    def draw(self, ordered: OrderedTau, places: np.ndarray, marked: Pair | None) -> None:
        """Draw variables at the given positions, and mark a pair by its two positions."""
        alike = self._ordered is not None and ordered.named == self._ordered.named
        self._ordered, self._places, self._marked = ordered, places, marked
        self._draw(alike=alike)

    def mark(self, marked: Pair | None) -> None:
        """Mark a pair by the positions of its two variables."""
        self._marked = marked
        self._redraw()

    def _picture(self) -> hv.Overlay:
        marked = None
        if self._marked is not None and np.isin(self._marked, self._places).all():
            first, second = np.searchsorted(self._places, self._marked)
            marked = int(first), int(second)
        ordered = drawn(self._ordered)
        picture = draw_heatmap(ordered, marked)
        axes = {} if ordered.size <= NAMED else {"xaxis": None, "yaxis": None}
        picture.Image.I.opts(title="", **axes)
        return with_hooks(picture, fluid(None, 6, 0), _tools_inside)

    def _tapped(self, x: float, y: float) -> None:
        pair = drawn(self._ordered).pair_at(x, y)
        if pair is not None:
            first, second = sorted(int(self._places[k]) for k in pair)
            self._chosen((first, second))


class Histogram(_KendallView):
    """Histogram of the degrees of the variables."""

    name = "histogram"
    size = (340, 150)

    def __init__(self, home: UiThread) -> None:
        super().__init__(home)
        self._degree = np.empty(0, dtype="i8")

    def draw(self, degree: np.ndarray) -> None:
        """Draw the degrees of all variables of the data, (variables,)."""
        self._degree = degree
        if self._frame is None:
            self._build(self._picture)
        else:
            self._redraw()

    def _picture(self) -> hv.Rectangles:
        picture = degree_histogram(self._degree).opts(title="")
        return with_hooks(picture, fluid(BELOW, 6, 12), _tools_inside)


class Scatter(_KendallView):
    """Scatter plot of the observations of one pair."""

    name = "scatter"
    size = (340, 150)

    def draw(
        self,
        picture: hv.Points,
        selected: Sequence[int],
        chosen: Callable[[Sequence[int]], None],
    ) -> None:
        """Show a picture of `genobit.plots.pair_scatter` and mark the `selected` points.

        `chosen` is called with the points that the user selects.
        """
        self._picks = PointSelection(chosen)
        self.mark(selected)
        # Low enough for eight colours.
        low = {"title": None, "spacing": 0, "label_height": 14, "glyph_height": 14, "padding": 2}
        picture = picture.opts(title="", legend_opts=low)
        self._show(picture, self._picks.hook, fluid(BELOW, 6, 6), _tools_inside)

    def mark(self, selected: Sequence[int]) -> None:
        """Mark points by their index among the drawn points."""
        self._picks.show(selected)


class Edges(_KendallView, TableView):
    """Table of edges; a selected row calls `chosen` with the positions of its two variables."""

    name = "table"
    size = (600, 200)

    def __init__(self, home: UiThread, dim: str, chosen: Callable[[Pair], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._ends = [f"{dim}_0", f"{dim}_1"]
        self.table: pd.DataFrame | None = None

    def draw(self, table: pd.DataFrame, marked: Pair | None) -> None:
        """List a table of `genobit.plots.strongest_edges`, and select the row of a pair."""
        self.table = table
        if len(table):
            picture = draw_edges(table).opts(width=640, height=TABLE)
            self._list(picture, table[self._ends].to_numpy(), marked or ())
        else:
            self.say("There is no such edge.")

    def _picked(self, members: np.ndarray) -> None:
        if len(members):
            first, second = members[-1]
            self._chosen((int(first), int(second)))


class Variables(_KendallView, TableView):
    """Table of variables; a selected row calls `chosen` with the position of its variable."""

    name = "variables"
    size = (600, 200)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self.table: pd.DataFrame | None = None

    def draw(self, table: pd.DataFrame, marked: int | None) -> None:
        """List a table of `nodes_table`, and select the row of a variable."""
        self.table = table
        picture = draw_nodes_table(table, height=TABLE)
        self._list(picture, table.index.to_numpy()[:, None], () if marked is None else (marked,))

    def _picked(self, members: np.ndarray) -> None:
        if len(members):
            self._chosen(int(members[-1, 0]))
