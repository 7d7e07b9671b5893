"""Report the x range and the taps of a bokeh figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bokeh.events import Tap
from bokeh.models import CustomJS

from genobit.visual.home import PATIENCE, Throttled

if TYPE_CHECKING:
    from collections.abc import Callable

    from genobit.visual.home import UiThread


class Gestures:
    """Report the x range and the taps of one bokeh figure; `hook` goes on a HoloViews plot.

    HoloViews' own RangeXY stream waits for half a second; the properties of the range do not.
    The function `moved` gets the new (start, end) of the x axis when the reader pans or zooms.
    The function `tapped` gets (x, y). The y range follows the x range by `shape`: "square" copies
    it, "down" makes it run from start - end to 0, "" leaves it alone.
    """

    def __init__(
        self,
        home: UiThread,
        moved: Callable[[float, float], None],
        tapped: Callable[[float, float], None],
        shape: str = "",
    ) -> None:
        self._moved = Throttled(home, lambda: moved(*self._asked))
        self._asked = (0.0, 0.0)
        self._tapped = tapped
        self._shape = shape
        self._figure: Any = None
        self._aims = 0
        self.target: tuple[float, float] | None = None

    def aim(self, start: float, end: float) -> None:
        """Show this range of the x axis, in units of the axis."""
        self.target = (start, end)
        if self._figure is not None:
            self._apply()

    def hook(self, plot: Any, _element: Any) -> None:
        """Attach to the figure on the first frame (a HoloViews hook)."""
        if self._figure is plot.state:
            return
        self._figure = figure = plot.state
        self._apply()
        # Start and end would be two messages; the property `tags` carries both in one.
        figure.x_range.on_change("tags", self._on_range)
        follow = _follow(self._shape, figure)
        for edge in ("start", "end"):
            figure.x_range.js_on_change(edge, follow)
        figure.on_event(Tap, lambda event: self._tapped(event.x, event.y))

    def _apply(self) -> None:
        if self.target is None:
            return
        start, end = self.target
        _show(self._figure.x_range, start, end)
        if self._shape == "square":
            _show(self._figure.y_range, start, end)
        elif self._shape == "down":
            _show(self._figure.y_range, start - end, 0.0)
        # Rename last: the browser sent a range with an older name before it got this one.
        self._aims += 1
        self._figure.x_range.name = str(self._aims)

    def _on_range(self, _attr: str, _old: list[Any], new: list[Any]) -> None:
        start, end, name = new
        if name != self._figure.x_range.name:
            return
        before = self.target or (start, end)
        # The browser echoes the range it was sent; a move by less than a pixel is no gesture.
        pixel = abs(end - start) / 1000
        if max(abs(start - before[0]), abs(end - before[1])) < pixel:
            return
        self.target = self._asked = (start, end)
        self._moved()


def _show(axis_range: Any, start: float, end: float) -> None:
    axis_range.update(start=start, end=end, reset_start=start, reset_end=end)


def _follow(shape: str, figure: Any) -> Any:
    """Return browser code that couples the y axis at once and reports x to Python, throttled.

    `picture.js` sets `genobit_known` to a range that Python sent. Such a range is not reported, so
    two views of one figure do not answer each other.
    """
    code = """
        const {start, end} = x
        const known = x.genobit_known
        if (known && (known.start !== start || known.end !== end)) x.genobit_known = null
        if (shape == "square") y.setv({start, end})
        if (shape == "down") y.setv({start: start - end, end: 0})
        window.clearTimeout(x.genobit_timer)
        const now = performance.now()
        const tell = () => {
            if (x.genobit_known) return
            x.genobit_told = performance.now()
            x.tags = [x.start, x.end, x.name]
        }
        const wait = Math.max(10, patience - (now - (x.genobit_told ?? 0)))
        x.genobit_timer = window.setTimeout(tell, wait)
    """
    arguments = {
        "x": figure.x_range,
        "y": figure.y_range,
        "shape": shape,
        "patience": 1e3 * PATIENCE,
    }
    return CustomJS(args=arguments, code=code)
