"""The five views of the Kendall explorer: each draws, marks, and tells what was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from genobit.kendall.plots.communities import Bubbles
from genobit.kendall.plots.edges import degree_histogram, draw_edges
from genobit.kendall.plots.heatmap import draw_heatmap
from genobit.kendall.plots.network import Laid, draw
from genobit.visual.placing import nearest_segment
from genobit.visual.selecting import Boxes, Picks
from genobit.visual.view import View, hooks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from genobit.kendall.plots.heatmap import Ordered
    from genobit.visual.bridge import Home
    from genobit.visual.colouring import Colouring

Pair = tuple[int, int]
#: Screen pixels beside a line that are still a click on it.
REACH = 6.0


class _KendallView(View):
    css = "genobit-kendall"


class _Clicked(_KendallView):
    """A view that is drawn by `_picture`, and tells `_tapped` where it is clicked."""

    _taps: Boxes

    def _draw(self, *, alike: bool) -> None:
        """Draw anew, in the frame that stands there if what it shows is alike."""
        if alike and self._frame is not None:
            self._redraw()
        else:
            self._taps = Boxes(lambda *_box: None, self._tapped)
            self._build(self._picture)

    def _picture(self, number: int) -> Any:
        raise NotImplementedError

    def _tapped(self, x: float, y: float) -> None:
        raise NotImplementedError


class Network(_Clicked):
    """Nodes, or bubbles of communities; a click chooses an edge or a node, or opens a bubble.

    Parameters
    ----------
    home
        Where to draw.
    pair_chosen, variable_chosen, opened
        Called with two places of variables, with one, and with those of a community.
    """

    name = "network"
    size = (640, 420)

    def __init__(
        self,
        home: Home,
        pair_chosen: Callable[[Pair], None],
        variable_chosen: Callable[[int], None],
        opened: Callable[[tuple[int, ...]], None],
    ) -> None:
        super().__init__(home)
        self._pair_chosen, self._variable_chosen = pair_chosen, variable_chosen
        self._opened = opened
        self._laid: Laid | Bubbles | None = None
        self._colours: Colouring | None = None
        self._marked: Pair | None = None
        self._selected: Sequence[int] = ()

    def draw(self, laid: Laid | Bubbles, colours: Colouring, marked: Pair | None) -> None:
        """Draw a network.

        Parameters
        ----------
        laid
            What to draw.
        colours
            Of its variables.
        marked
            Places of the two variables of an edge to mark.
        """
        alike = type(laid) is type(self._laid)
        self._laid, self._colours, self._marked = laid, colours, marked
        self._draw(alike=alike)

    def select(self, selected: Sequence[int]) -> None:
        """Take nodes to mark in what is drawn next.

        Parameters
        ----------
        selected
            Places of variables.
        """
        self._selected = selected

    def mark(self, marked: Pair | None, selected: Sequence[int]) -> None:
        """Mark an edge, and nodes.

        Parameters
        ----------
        marked
            Places of its two variables.
        selected
            Places of variables.
        """
        self._marked, self._selected = marked, selected
        if isinstance(self._laid, Laid):
            self._redraw()

    def _picture(self, number: int) -> Any:  # noqa: ARG002  the counter of the stream
        picture = draw(self._laid, self._colours, self._marked, self._selected)
        title = picture.opts.get("plot").kwargs["title"]
        if isinstance(self._laid, Bubbles):
            first, *rest = title.splitlines()
            title = "\n".join([f"{first}: click one to open it", *rest])
        hooks = [*hooks_of(picture), self._taps.hook]
        return picture.opts(framewise=False, title=title, hooks=hooks)

    def _tapped(self, x: float, y: float) -> None:
        laid = self._laid
        if isinstance(laid, Bubbles):
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
    """Tau of the shown variables; a click chooses a pair.

    Parameters
    ----------
    home
        Where to draw.
    chosen
        Called with two places of variables.
    """

    name = "heatmap"
    size = (440, 420)

    def __init__(self, home: Home, chosen: Callable[[Pair], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._ordered: Ordered | None = None
        self._places = np.empty(0, dtype="i8")
        self._marked: Pair | None = None

    def draw(self, ordered: Ordered, places: np.ndarray, marked: Pair | None) -> None:
        """Draw variables.

        Parameters
        ----------
        ordered
            What to draw.
        places
            The place of each of its variables.
        marked
            Places of two variables to mark.
        """
        alike = self._ordered is not None and ordered.named == self._ordered.named
        self._ordered, self._places, self._marked = ordered, places, marked
        self._draw(alike=alike)

    def mark(self, marked: Pair | None) -> None:
        """Mark a pair.

        Parameters
        ----------
        marked
            Places of its two variables.
        """
        self._marked = marked
        self._redraw()

    def _picture(self, number: int) -> hv.Overlay:  # noqa: ARG002  the counter of the stream
        marked = None
        if self._marked is not None and np.isin(self._marked, self._places).all():
            first, second = np.searchsorted(self._places, self._marked)
            marked = int(first), int(second)
        picture = draw_heatmap(self._ordered, marked)
        return picture.opts(hooks=[*hooks_of(picture), self._taps.hook])

    def _tapped(self, x: float, y: float) -> None:
        pair = self._ordered.pair_at(x, y)
        if pair is not None:
            first, second = sorted(int(self._places[k]) for k in pair)
            self._chosen((first, second))


class Histogram(_KendallView):
    """Variables by their number of edges.

    Parameters
    ----------
    home
        Where to draw.
    """

    name = "histogram"
    size = (480, 180)

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._degree = np.empty(0, dtype="i8")

    def draw(self, degree: np.ndarray) -> None:
        """Count variables.

        Parameters
        ----------
        degree
            Of every variable of the data.
        """
        self._degree = degree
        if self._frame is None:
            self._build(self._picture)
        else:
            self._redraw()

    def _picture(self, number: int) -> hv.Rectangles:  # noqa: ARG002  the counter of the stream
        return degree_histogram(self._degree)


class Scatter(_KendallView):
    """The observations of one pair.

    Parameters
    ----------
    home
        Where to draw.
    """

    name = "scatter"
    size = (400, 330)

    def draw(
        self,
        picture: hv.Points,
        selected: Sequence[int],
        chosen: Callable[[Sequence[int]], None],
    ) -> None:
        """Show a pair.

        Parameters
        ----------
        picture
            From `genobit.plots.pair_scatter`.
        selected
            Points to mark.
        chosen
            Called with points that the reader selects.
        """
        self._picks = Picks(chosen)
        self.mark(selected)
        self._show(picture.opts(hooks=[*hooks_of(picture), self._picks.hook]))

    def mark(self, selected: Sequence[int]) -> None:
        """Mark points.

        Parameters
        ----------
        selected
            Which of those drawn.
        """
        self._picks.show(selected)


class Edges(_KendallView):
    """The table; a row chooses its pair.

    Parameters
    ----------
    home
        Where to draw.
    dim
        The dimension of the variables.
    chosen
        Called with two places of variables.
    """

    name = "table"
    size = (480, 200)

    def __init__(self, home: Home, dim: str, chosen: Callable[[Pair], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._ends = [f"{dim}_0", f"{dim}_1"]
        self.table: pd.DataFrame | None = None

    def draw(self, table: pd.DataFrame, marked: Pair | None) -> None:
        """List edges.

        Parameters
        ----------
        table
            From `genobit.plots.strongest_edges`.
        marked
            The places of a pair whose row is to be selected.
        """
        self.table = table
        if not len(table):
            self.say("There is no such edge.")
            return
        # Made anew: SlickGrid reports the rows of the old list as selected in the new one.
        self._picks = Picks(self._picked)
        self.mark(marked)
        picture = draw_edges(table)
        self._show(picture.opts(hooks=[*hooks_of(picture), self._picks.hook]))

    def mark(self, marked: Pair | None) -> None:
        """Select the row of a pair.

        Parameters
        ----------
        marked
            Its places, or None.
        """
        if self.table is None or not len(self.table):
            return
        rows = np.empty(0, dtype="i8")
        if marked is not None:
            rows = np.flatnonzero((self.table[self._ends] == list(marked)).all(axis=1))
        self._picks.show(rows.tolist())

    def _picked(self, rows: list[int]) -> None:
        if rows:
            first, second = self.table[self._ends].iloc[rows[-1]]
            self._chosen((int(first), int(second)))
