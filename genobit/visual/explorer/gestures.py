"""Report the x range, the size and the taps of a bokeh figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bokeh.events import MouseWheel, Tap
from bokeh.models import CustomJS, Image
from bokeh.models.annotations import Label

from genobit.visual.explorer.home import PATIENCE, Throttled
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

    from genobit.visual.explorer.home import UiThread


#: Seconds after which a wheel that turns without a pause gets a picture.
TURNING = 0.4


class Gestures:
    """Report the x range and the taps of one bokeh figure; `hook` goes on a HoloViews plot.

    HoloViews' own RangeXY stream waits for half a second; the properties of the range do not.
    The function `moved` gets the new (start, end) of the x axis when the reader pans or zooms.
    The function `tapped` gets (x, y). The y range follows the x range by `shape`: "square" copies
    it, and "" leaves it alone. "down" is for a triangle below its base: y is the distance of two
    places on the x axis, from `-depth` to 0. Its cells are squares that stand on a corner. If the
    frame cuts the apex off, a note gives the largest distance of the shown pairs, in `unit`. The
    function `resized` is called when the `size` (width, height) of a triangle's frame changes.
    """

    def __init__(
        self,
        home: UiThread,
        moved: Callable[[float, float], None],
        tapped: Callable[[float, float], None],
        shape: str = "",
        unit: str = "variants",
        resized: Callable[[], None] | None = None,
    ) -> None:
        self._moved = Throttled(home, lambda: moved(*self._asked))
        self._asked = (0.0, 0.0)
        self._tapped = tapped
        self._resized = None if resized is None else Throttled(home, resized)
        self._shape, self._unit = shape, unit
        self._figure: Any = None
        self._aims = 0
        self._note = Label(
            x=6,
            y=6,
            x_units="screen",
            y_units="screen",
            text="",
            text_color=LIGHT.quiet,
            text_font_size="11px",
            background_fill_color=LIGHT.paper,
            background_fill_alpha=0.85,
            visible=False,
        )
        self.target: tuple[float, float] | None = None
        self.size: tuple[float, float] | None = None

    def aim(self, start: float, end: float) -> None:
        """Show this range of the x axis, in units of the axis."""
        self.target = (start, end)
        if self._figure is not None:
            self._apply()

    def pixels(self, start: float, end: float) -> float | None:
        """Return the width on the screen of a stretch of the x axis, None before the first size."""
        if self.size is None or self.target is None or self.target[0] == self.target[1]:
            return None
        return self.size[0] * (end - start) / (self.target[1] - self.target[0])

    def say(self, *lines: str) -> None:
        """Show these lines in a corner of a square or a triangle."""
        if self._note.tags != list(lines):
            self._note.tags = list(lines)

    def hook(self, plot: Any, _element: Any) -> None:
        """Attach to the figure on the first frame (a HoloViews hook)."""
        if self._figure is plot.state:
            return
        self._figure = figure = plot.state
        self._apply()
        # Start and end would be two messages; the property `tags` carries both in one.
        figure.x_range.on_change("tags", self._on_range)
        follow, tell = _follow(self._shape, self._unit, figure, self._note), _tell(figure)
        for edge in ("start", "end"):
            figure.x_range.js_on_change(edge, follow, tell)
        turned = "x.genobit_turned = performance.now()"
        figure.js_on_event(MouseWheel, CustomJS(args={"x": figure.x_range}, code=turned))
        if self._shape:
            figure.add_layout(self._note)
            self._note.js_on_change("tags", follow)
        if self._shape == "down":
            _image_of(figure).js_on_change("data", follow)
            # Another view of the figure may have set y for its own height.
            figure.y_range.js_on_change("start", follow)
            for side in ("inner_width", "inner_height"):
                figure.js_on_change(side, follow)
            on_size(figure, self._on_size)
        figure.on_event(Tap, lambda event: self._tapped(event.x, event.y))

    def _apply(self) -> None:
        if self.target is None:
            return
        start, end = self.target
        _show(self._figure.x_range, start, end)
        if self._shape == "square":
            _show(self._figure.y_range, start, end)
        elif self._shape == "down":
            width, height = self.size or (2.0, 1.0)
            _show(self._figure.y_range, (start - end) * 2 * height / width, 0.0)
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

    def _on_size(self, _attr: str, _old: list[Any], new: list[Any]) -> None:
        before, self.size = self.size, (float(new[0]), float(new[1]))
        # A scroll bar that comes and goes is no reason to draw again.
        if before is not None and abs(self.size[0] - before[0]) < before[0] / 50:
            return
        if self._resized is not None:
            self._resized()


def _show(axis_range: Any, start: float, end: float) -> None:
    axis_range.update(start=start, end=end, reset_start=start, reset_end=end)


def _image_of(figure: Any) -> Any:
    """Return the data source of the image of a figure."""
    return next(r.data_source for r in figure.renderers if isinstance(r.glyph, Image))


def _follow(shape: str, unit: str, figure: Any, note: Label) -> Any:
    """Return browser code that couples the y axis to the x axis, and writes the note."""
    code = """
        const {start, end} = x
        if (shape == "square") y.setv({start, end})
        if (shape == "") return
        const lines = [...note.tags]
        if (shape == "down") {
            const {inner_width: width, inner_height: height} = figure.properties
            const laid_out = !width.is_unset && !height.is_unset && width.get_value() > 0
            const share = laid_out ? 2 * height.get_value() / width.get_value() : 1
            const depth = (end - start) * share
            // Each view has its own height: Python and other views do not hear of it.
            y.setv({start: -depth, end: 0}, {sync: false})
            const apart = unit == "Mb" ? `${(1e3 * depth).toFixed(depth < 0.01 ? 1 : 0)} kb`
                : `${Math.floor(depth).toLocaleString("en")} ${unit}`
            if (image.data.dh[0] > 1.01 * depth) lines.push(`pairs up to ${apart} apart`)
        }
        note.setv({text: lines.join("\\n"), visible: lines.length > 0}, {sync: false})
    """
    arguments = {"x": figure.x_range, "y": figure.y_range, "shape": shape, "note": note}
    if shape == "down":
        arguments |= {"figure": figure, "unit": unit, "image": _image_of(figure)}
    return CustomJS(args=arguments, code=code)


def _tell(figure: Any) -> Any:
    """Return browser code that reports the x range to Python, throttled.

    While the wheel turns, it waits for a pause: Python cannot leave a picture half drawn, and the
    last one would come after it.
    `picture.js` sets `genobit_known` to a range that Python sent. The code does not report this
    range, so two views of one figure do not answer each other.
    """
    code = """
        const {start, end} = x
        const known = x.genobit_known
        if (known && (known.start !== start || known.end !== end)) x.genobit_known = null
        window.clearTimeout(x.genobit_timer)
        const now = performance.now()
        x.genobit_moved ??= now
        const tell = () => {
            const at = performance.now()
            if (at - x.genobit_turned < patience && at - x.genobit_moved < longest) {
                x.genobit_timer = window.setTimeout(tell, patience - (at - x.genobit_turned))
                return
            }
            x.genobit_moved = null
            if (x.genobit_known) return
            x.genobit_told = at
            x.tags = [x.start, x.end, x.name]
        }
        const wait = Math.max(10, patience - (now - (x.genobit_told ?? 0)))
        x.genobit_timer = window.setTimeout(tell, wait)
    """
    waits = {"patience": 1e3 * PATIENCE, "longest": 1e3 * TURNING}
    return CustomJS(args={"x": figure.x_range, **waits}, code=code)


def on_size(figure: Any, heard: Callable[[str, list[Any], list[Any]], None]) -> None:
    """Call ``heard`` (a Bokeh callback of `tags`) with the size of the frame when it rests."""
    code = """
        window.clearTimeout(figure.genobit_timer)
        const tell = () => {
            const {inner_width, inner_height} = figure
            if (inner_width > 0 && inner_height > 0) figure.tags = [inner_width, inner_height]
        }
        figure.genobit_timer = window.setTimeout(tell, 100)
    """
    tell = CustomJS(args={"figure": figure}, code=code)
    for side in ("inner_width", "inner_height"):
        figure.js_on_change(side, tell)
    figure.on_change("tags", heard)
