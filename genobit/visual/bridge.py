"""Convert HoloViews objects to ipywidgets, and receive the browser's gestures.

This file has all code that depends on panel, jupyter_bokeh or the event loop of the kernel. It also
has all private names of other packages that explorers need, because no public name does the same:

- jupyter_bokeh, `BokehModel._model`: the bokeh model that a widget shows
- jupyter_bokeh, `BokehModel._sync_model`: the receiver of browser messages, to call it at home
- jupyter_bokeh, `BokehModel._document_patched`: the sender of changes, to bundle them
- ipywidgets, `DOMWidget._view_count`: whether the browser shows the widget
- panel, `extension._loaded`: whether BokehJS was sent to the browser
- BokehJS, `Model._trigger_on_change`: the listener of changes, to skip echoes

Tested with jupyter_bokeh 4.1.0, ipywidgets 8.1.9, panel 1.9.4 and bokeh 3.9.2.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
from bokeh.events import Tap
from bokeh.models import CustomJS
from bokeh.protocol import Protocol

from genobit.engine.extras import needed_by

if TYPE_CHECKING:
    from collections.abc import Callable

#: Throttle interval in seconds: requests within it after a call become one call.
PATIENCE = 0.03
#: Seconds that BokehJS usually takes to start.
START_OF_BOKEHJS = 1.0
#: Seconds between attempts to attach a plot if BokehJS starts more slowly.
RETRIES = (3.0, 4.0, 6.0, 10.0, 20.0)
#: A timer that is this many seconds late means that the event loop has messages queued.
LATE = 0.5
_started = -START_OF_BOKEHJS
_sent_with = ""


class UiThread:
    """Run functions on the thread and event loop that an explorer was made on.

    JupyterLab handles widget messages on a different thread from the one that runs cells. bokeh,
    panel and HoloViews share state between threads without a lock. Drawing on both threads
    stopped pictures from being sent.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self.loop: asyncio.AbstractEventLoop | None
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:  # a script or a test
            self.loop = None

    def run(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call `function` on the home thread: at once if already there, else soon."""
        if self.loop is None or threading.get_ident() == self._thread:
            function(*arguments)
        else:
            self.loop.call_soon_threadsafe(function, *arguments)


class Throttled:
    """Throttle a function: requests that come close together become one call.

    The first call follows as soon as the current message is handled. Without an event loop, as
    in a script or a test, each request calls at once.
    """

    def __init__(self, home: UiThread, function: Callable[[], None]) -> None:
        self._home = home
        self._function = function
        self._pending = False
        self._called = -PATIENCE

    def __call__(self) -> None:
        """Request a call."""
        self._home.run(self._ask)

    def _ask(self) -> None:
        if self._home.loop is None:
            self._function()
        elif not self._pending:
            self._pending = True
            rest = self._called + PATIENCE - time.monotonic()
            self._home.loop.call_later(max(rest, 0.0), self._run)

    def _run(self) -> None:
        self._pending = False
        self._function()
        # Count from the end of the call: messages that arrived meanwhile are still queued.
        self._called = time.monotonic()


class Bundle:
    """Send all changes of a plot during one callback as one message.

    The plot is a BokehModel of jupyter_bokeh, which sends three messages for each property. The
    browser paints between them: the old picture in the new ranges, then the new picture.
    """

    def __init__(self, plot: Any, home: UiThread) -> None:
        self._plot = plot
        self._home = home
        self._events: list[Any] = []
        plot._document_patched = self._collect

    def _collect(self, event: Any) -> None:
        if event.setter is self._plot:  # the browser sent this change
            return
        self._events.append(event)
        if len(self._events) == 1 and self._home.loop is not None:
            self._home.loop.call_soon(self.send)

    def clear(self) -> None:
        """Discard the collected changes, which a view of the whole document already has."""
        self._events.clear()

    def send(self) -> None:
        """Send all collected changes."""
        if not self._events:
            return
        # Empty the list first, so that a change that cannot be sent does not block later ones.
        events, self._events = self._events, []
        message = Protocol().create("PATCH-DOC", events)
        for part in (message.header_json, message.metadata_json, message.content_json):
            self._plot.send({"msg": "patch", "payload": part})
        for buffer in message.buffers:
            self._plot.send({"msg": "patch", "payload": json.dumps(buffer.ref)})
            self._plot.send({"msg": "patch"}, [buffer.to_bytes()])


def as_widget(view: Any, home: UiThread) -> ipywidgets.Widget:
    """Wrap a HoloViews object as an ipywidget, or return a message that names a missing package.

    Messages of the browser are handled on the home thread.
    """
    try:
        start_bokehjs()
    except ModuleNotFoundError as error:
        return ipywidgets.HTML(
            f"<b>The plot cannot be shown. {error}</b>, then restart the kernel. "
            "The controls and the explorer's attributes work without it."
        )
    import panel as pn

    plot = pn.ipywidget(pn.pane.HoloViews(view, align="start", linked_axes=False))
    _without_echo(plot)
    loop = home.loop
    if loop is None:
        return plot
    receive = plot._sync_model
    plot.on_msg(receive, remove=True)
    plot.on_msg(partial(home.run, receive))
    return _mounted(plot, home, loop, _started + START_OF_BOKEHJS - time.monotonic())


def model_of(widget: Any) -> Any:
    """Return the bokeh model that a widget shows, None if it shows none."""
    model = getattr(widget, "_model", None)
    return model if hasattr(model, "document") else None


def start_bokehjs() -> None:
    """Send BokehJS to the browser with the output of this cell, once per cell.

    Once per kernel is not enough: a reloaded page loses BokehJS, but its kernel goes on. An
    explorer that draws later calls this while its cell is running. Raises ModuleNotFoundError if
    panel or jupyter_bokeh is missing.
    """
    global _sent_with, _started  # one page for all explorers of a kernel
    with needed_by("A plot in a notebook"):
        import jupyter_bokeh  # noqa: F401  panel asks for it with a message of its own
        import panel as pn

    cell = _running_cell()
    if not pn.extension._loaded or cell not in {"", _sent_with}:
        # Without inline=True the view stays empty if there is no network.
        pn.extension(inline=True)
        _sent_with, _started = cell, time.monotonic()


def _running_cell() -> str:
    """Return the message id of the running cell, "" outside of a cell, as in a callback."""
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    header = {} if kernel is None else kernel.get_parent().get("header", {})
    return str(header["msg_id"]) if header.get("msg_type") == "execute_request" else ""


def _without_echo(plot: Any) -> None:
    """Stop the browser from sending back the changes that Python sent, a whole picture per frame.

    BokehJS marks such a change, and its own client skips it; jupyter_bokeh does not.
    """
    code = """
        const tell = cb_obj._trigger_on_change?.bind(cb_obj)
        const echoed = (event) => event.kind == "ModelChanged" && event.sync === false
        if (tell) cb_obj._trigger_on_change = (event) => { if (!echoed(event)) tell(event) }
    """
    document = plot._model.document
    document.js_on_event("document_ready", CustomJS(code=code))
    plot.update_from_model(plot._model)


def _mounted(
    plot: ipywidgets.Widget, home: UiThread, loop: asyncio.AbstractEventLoop, early: float
) -> ipywidgets.Widget:
    """Return a box with the plot, which is attached again if the browser was not ready for it.

    BokehJS arrives with the output of the same cell and takes time to start. A view made before
    that stays an error message. A working view raises the plot's view count. The first attempt
    waits for `early` seconds.
    """
    box = ipywidgets.VBox([ipywidgets.HTML("Loading the plot …")] if early > 0 else [plot])
    pending = Bundle(plot, home)
    waits = iter(RETRIES)
    # A change before the first view reaches nobody, so the view needs an updated bundle.
    changed: list[Any] = []
    plot._model.document.on_change(changed.append)

    def bundle() -> None:
        if changed:
            changed.clear()
            pending.clear()
            plot.update_from_model(plot._model)

    def attach(due: float) -> None:
        if plot._view_count:
            return
        late = loop.time() - due
        if late > LATE:
            # The count of a working view may still be queued; replacing that view loses a click.
            look_in(late)
            return
        bundle()
        box.children = ()
        box.children = (plot,)
        wait = next(waits, None)
        if wait is not None:
            look_in(wait)

    def look_in(seconds: float) -> None:
        loop.call_later(seconds, attach, loop.time() + seconds)

    def viewed(change: Any) -> None:
        if not change["old"] and change["new"]:
            home.run(bundle)

    plot.observe(viewed, "_view_count")
    look_in(early if early > 0 else RETRIES[0])
    return box


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
    """Return browser code that couples the y axis at once and reports x to Python, throttled."""
    code = """
        const {start, end} = x
        if (shape == "square") y.setv({start, end})
        if (shape == "down") y.setv({start: start - end, end: 0})
        window.clearTimeout(x.genobit_timer)
        const now = performance.now()
        const tell = () => { x.genobit_told = performance.now(); x.tags = [x.start, x.end, x.name] }
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
