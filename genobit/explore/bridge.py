"""How a HoloViews object becomes an ipywidget, and how the browser's gestures come back.

Everything that depends on panel, on jupyter_bokeh or on the kernel's event loop is here, so
that another bridge is one file.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import ipywidgets

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds in which further gestures join the first: shorter than a frame is felt.
PATIENCE = 0.04
#: Seconds between attempts to show a plot whose JavaScript was not ready.
RETRIES = (1.0, 1.5, 2.5, 5.0, 10.0, 20.0)


def as_widget(view: Any, alive: Callable[[], bool]) -> ipywidgets.Widget:
    """Wrap a HoloViews object as an ipywidget, or say what is missing to do so.

    Parameters
    ----------
    view
        What HoloViews draws with bokeh.
    alive
        Whether a browser has been heard from, as `Gestures.alive` says.
    """
    try:
        import jupyter_bokeh  # noqa: F401  panel asks for it with a message of its own
        import panel as pn
    except ModuleNotFoundError as error:
        return ipywidgets.HTML(
            f"<b>The plot cannot be shown: {error.name} is not installed.</b> "
            "Run <code>pip install 'genobit[viz]'</code> and restart the kernel. "
            "The controls and <code>explorer.visible</code> work without it."
        )
    # Without inline=True the view stays empty where there is no network.
    if not pn.extension._loaded:  # noqa: SLF001  panel keeps no public flag
        pn.extension(inline=True)
    return _mounted(pn.ipywidget(pn.pane.HoloViews(view)), alive)


def _mounted(plot: ipywidgets.Widget, alive: Callable[[], bool]) -> ipywidgets.Box:
    """Attach a plot to a box again and again until the browser shows it.

    BokehJS arrives with the output of the same cell and takes its time to start; a view made
    before it has is an error message for good, and nothing tells Python so.
    """
    box = ipywidgets.VBox([plot])
    waits = iter(RETRIES)

    def check() -> None:
        if alive():
            return
        wait = next(waits, None)
        if wait is not None:
            box.children = ()
            box.children = (plot,)
            asyncio.get_running_loop().call_later(wait, check)

    with contextlib.suppress(RuntimeError):  # no event loop: a script, and nobody looks
        asyncio.get_running_loop().call_later(RETRIES[0], check)
    return box


class Coalesced:
    """Calls a function once for many requests that come close together.

    Without a running event loop, as in a script or a test, it calls at once.

    Parameters
    ----------
    function
        Called without arguments.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._pending: asyncio.TimerHandle | None = None

    def __call__(self) -> None:
        """Ask for a call."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._function()
            return
        if self._pending is None:
            self._pending = loop.call_later(PATIENCE, self._run)

    def _run(self) -> None:
        self._pending = None
        self._function()


class Gestures:
    """Listens to the ranges and taps of one bokeh figure; its hook goes on a HoloViews plot.

    HoloViews' own RangeXY waits for half a second; the properties of the range do not.

    Parameters
    ----------
    moved
        Called with the new (start, end) of the x axis when the reader pans or zooms.
    tapped
        Called with (x, y) where the reader clicks.
    square
        Keep the y range equal to the x range.
    """

    def __init__(
        self,
        moved: Callable[[float, float], None],
        tapped: Callable[[float, float], None],
        *,
        square: bool,
    ) -> None:
        self._moved = Coalesced(lambda: moved(*self._asked))
        self._asked = (0.0, 0.0)
        self._tapped = tapped
        self._square = square
        self._figure: Any = None
        self.target: tuple[float, float] | None = None
        self._ours = False

    def aim(self, start: float, end: float) -> None:
        """Show this stretch of the x axis.

        Parameters
        ----------
        start, end
            In the units of the axis.
        """
        self.target = (start, end)
        if self._figure is not None:
            self._apply()

    def alive(self) -> bool:
        """Tell whether a browser has laid the figure out."""
        return bool(self._figure is not None and self._figure.inner_width)

    def hook(self, plot: Any, element: Any) -> None:  # noqa: ARG002  HoloViews passes both
        """Take hold of the figure on the first frame.

        Parameters
        ----------
        plot, element
            As HoloViews calls hooks.
        """
        if self._figure is plot.state:
            return
        from bokeh.events import Tap

        self._figure = figure = plot.state
        self._apply()
        for edge in ("start", "end"):
            figure.x_range.on_change(edge, self._on_range)
            if self._square:
                figure.x_range.js_link(edge, figure.y_range, edge)
        figure.on_event(Tap, lambda event: self._tapped(event.x, event.y))

    def _apply(self) -> None:
        if self.target is None:
            return
        start, end = self.target
        self._ours = True
        try:
            ranges = [self._figure.x_range] + [self._figure.y_range] * self._square
            for axis_range in ranges:
                axis_range.update(start=start, end=end, reset_start=start, reset_end=end)
        finally:
            self._ours = False

    def _on_range(self, attr: str, old: float, new: float) -> None:  # noqa: ARG002  bokeh's form
        if self._ours:
            return
        x_range = self._figure.x_range
        start, end = x_range.start, x_range.end
        # New data nudges the range; less than a pixel is nobody's gesture.
        pixel = abs(end - start) / 1000
        before = self.target or (start, end)
        if max(abs(start - before[0]), abs(end - before[1])) < pixel:
            return
        self.target = self._asked = (start, end)
        self._moved()
