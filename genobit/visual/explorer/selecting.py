"""Selections in bokeh figures: points, table rows, and boxes on the axes.

All code that depends on bokeh's sources and events is in this file, so it can be replaced.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from bokeh.events import SelectionGeometry, Tap
from bokeh.models import BoxSelectTool, LassoSelectTool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: Seconds in which the browser may echo a selection it was sent, even after a newer one.
ECHO = 2.0


class PointSelection:
    """Report and set the selected points of a scatter, or rows of a table.

    `hook` goes on the HoloViews element. `picked` gets the indices that the reader selected.
    """

    def __init__(self, picked: Callable[[list[int]], None]) -> None:
        self._picked = picked
        self._selected: Any = None
        self._sent: list[tuple[float, frozenset[int]]] = []
        self.shown: frozenset[int] = frozenset()

    def hook(self, plot: Any, _element: Any) -> None:
        """Attach to the data source on the first frame (a HoloViews hook)."""
        selected = plot.handles["source"].selected
        if selected is self._selected:
            return
        self._selected = selected
        self._send()
        selected.on_change("indices", self._on_indices)
        for kind in (BoxSelectTool, LassoSelectTool):
            for tool in (
                plot.handles["plot"].select({"type": kind}) if "plot" in plot.handles else ()
            ):
                # Select once, at the end: each step on the way would redraw all linked views.
                tool.continuous = False

    def show(self, indices: Sequence[int]) -> None:
        """Select points or rows by their indices."""
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


class BoxSelection:
    """Report boxes that are drawn over a figure, and taps; `hook` goes on the plot.

    `boxed` gets (x0, y0, x1, y1) in units of the axes when a box is complete, None ignores boxes.
    `tapped` gets (x, y).
    """

    def __init__(
        self,
        boxed: Callable[[float, float, float, float], None] | None,
        tapped: Callable[[float, float], None],
    ) -> None:
        self._boxed = boxed
        self._tapped = tapped
        self._figure: Any = None

    def hook(self, plot: Any, _element: Any) -> None:
        """Attach to the figure on the first frame (a HoloViews hook)."""
        if self._figure is plot.state:
            return
        self._figure = figure = plot.state
        for tool in figure.select({"type": BoxSelectTool}):
            # Without renderers, the box does not select points, and nothing fades.
            tool.renderers = []
            tool.continuous = False
        figure.on_event(SelectionGeometry, self._on_geometry)
        figure.on_event(Tap, lambda event: self._tapped(event.x, event.y))

    def _on_geometry(self, event: Any) -> None:
        geometry = event.geometry
        if self._boxed and event.final and geometry.get("type") == "rect":
            (x0, x1), (y0, y1) = (sorted((geometry[f"{a}0"], geometry[f"{a}1"])) for a in "xy")
            self._boxed(x0, y0, x1, y1)
