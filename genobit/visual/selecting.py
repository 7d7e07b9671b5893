"""Selections in bokeh figures: which points or rows, and which stretch of the axes.

Beside `bridge`, and as replaceable: whatever depends on bokeh's sources and events is here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: Seconds in which the browser may repeat what it was told to select, after newer news too.
ECHO = 2.0


class Picks:
    """Listens to the selected points of a scatter or rows of a table, and selects them.

    Its hook goes on the HoloViews element.

    Parameters
    ----------
    picked
        Called with the indices that the reader selected.
    """

    def __init__(self, picked: Callable[[list[int]], None]) -> None:
        self._picked = picked
        self._selected: Any = None
        self._sent: list[tuple[float, frozenset[int]]] = []
        self.shown: frozenset[int] = frozenset()

    def hook(self, plot: Any, _element: Any) -> None:
        """Take hold of the source on the first frame.

        Parameters
        ----------
        plot, _element
            As HoloViews calls hooks.
        """
        selected = plot.handles["source"].selected
        if selected is self._selected:
            return
        from bokeh.models import BoxSelectTool, LassoSelectTool

        self._selected = selected
        self._send()
        selected.on_change("indices", self._on_indices)
        for kind in (BoxSelectTool, LassoSelectTool):
            for tool in (
                plot.handles["plot"].select({"type": kind}) if "plot" in plot.handles else ()
            ):
                # Once, at the end: what is selected on the way would be drawn everywhere.
                tool.continuous = False

    def show(self, indices: Sequence[int]) -> None:
        """Select these.

        Parameters
        ----------
        indices
            Of points or rows.
        """
        shown = frozenset(int(k) for k in indices)
        if shown != self.shown:
            self.shown = shown
            self._send()

    def _send(self) -> None:
        if self._selected is not None:
            now = time.monotonic()
            self._sent = [sent for sent in self._sent if now - sent[0] < ECHO]
            self._sent.append((now, self.shown))
            self._selected.indices = sorted(self.shown)

    def _on_indices(self, _attr: str, _old: list[int], new: list[int]) -> None:
        picked = frozenset(new)
        if picked == self.shown:
            return
        now = time.monotonic()
        if any(picked == sent and now - at < ECHO for at, sent in self._sent):
            return
        self.shown = picked
        self._picked(sorted(picked))


class Boxes:
    """Listens to boxes that are drawn over a figure, and to taps; its hook goes on the plot.

    Parameters
    ----------
    boxed
        Called with (x0, y0, x1, y1), in the units of the axes, when a box is complete.
    tapped
        Called with (x, y).
    """

    def __init__(
        self,
        boxed: Callable[[float, float, float, float], None],
        tapped: Callable[[float, float], None],
    ) -> None:
        self._boxed = boxed
        self._tapped = tapped
        self._figure: Any = None

    def hook(self, plot: Any, _element: Any) -> None:
        """Take hold of the figure on the first frame.

        Parameters
        ----------
        plot, _element
            As HoloViews calls hooks.
        """
        if self._figure is plot.state:
            return
        from bokeh.events import SelectionGeometry, Tap
        from bokeh.models import BoxSelectTool

        self._figure = figure = plot.state
        for tool in figure.select({"type": BoxSelectTool}):
            # The box is for us: nothing in the figure is to fade for it.
            tool.renderers = []
            tool.continuous = False
        figure.on_event(SelectionGeometry, self._on_geometry)
        figure.on_event(Tap, lambda event: self._tapped(event.x, event.y))

    def _on_geometry(self, event: Any) -> None:
        geometry = event.geometry
        if event.final and geometry.get("type") == "rect":
            (x0, x1), (y0, y1) = (sorted((geometry[f"{a}0"], geometry[f"{a}1"])) for a in "xy")
            self._boxed(x0, y0, x1, y1)
