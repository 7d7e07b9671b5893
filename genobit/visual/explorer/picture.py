"""Show HoloViews objects as widgets that stay alike in Python and in every view.

A `Picture` has a Bokeh document. Python and the browser exchange patches of the document. Each view
starts with the document as it is, so pictures appear again when a page is reloaded. All messages
pass through a `Channel`. `picture.js` is the browser's side.

Names of other packages that are not documented:

- Bokeh: `Protocol().create("PATCH-DOC", events)`, its `content_json` and `buffers`, and the
  `Buffer` in the content of `Document.to_json`
- BokehJS, declared in its type files: `Document.on_change`, `create_json_patch`,
  `apply_json_patch`, `get_model_by_id`, `DocumentEvent.sync`, `ViewManager.roots`, `documents`
- BokehJS, declared: `GlyphRendererView.update_data`
- anywidget, declared: `widget_manager` of a model, used in `channel.js`
- BokehJS, not declared: `require("core/visuals/visual")`, `VisualProperties._get_css_value`,
  `require("models/renderers/glyph_renderer")`

Tested with bokeh 3.7.0 and 3.9.2, anywidget 0.9.13 and 0.11.0, ipywidgets 8.1.9, HoloViews 1.23.2.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import bokeh
import holoviews as hv
import ipywidgets
import traitlets
from bokeh.core.serialization import Buffer
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import Plot
from bokeh.protocol import Protocol
from bokeh.util.paths import static_path

from genobit.visual.explorer.channel import MODEL_IN, Channel
from genobit.visual.theming import DARKENING, dark_colours, make_readable, theme

if TYPE_CHECKING:
    from genobit.visual.explorer.home import UiThread

#: Parts of BokehJS. A page keeps one BokehJS, so all pictures load the same parts.
PIECES = ("bokeh", "bokeh-widgets", "bokeh-tables")
#: Seconds that a page that opens waits for a busy home thread.
BUSY = 1.0
#: Seconds until a picture that was replaced is closed: the browser may still be drawing it.
CLOSING = 5.0


class Library(ipywidgets.Widget):
    """BokehJS, 0.54 MB compressed, which all pictures of a kernel share."""

    version = traitlets.Unicode(bokeh.__version__).tag(sync=True)
    pieces = traitlets.Dict().tag(sync=True)
    """Gzipped JavaScript by name, in the order in which the parts load."""
    colours = traitlets.Dict(dark_colours()).tag(sync=True)
    """Colours of the dark theme: `plain` maps single colours, `ramps` are the ramps of both."""


_libraries: list[Library] = []


def library() -> Library:
    """Return the BokehJS of this kernel."""
    if not _libraries or _libraries[-1].comm is None:  # closed, as by Widget.close_all()
        _libraries[:] = [Library(pieces={name: _piece(name) for name in PIECES})]
    return _libraries[-1]


@cache
def _piece(name: str) -> bytes:
    return gzip.compress(Path(static_path(), "js", f"{name}.min.js").read_bytes(), mtime=0)


class Picture(anywidget.AnyWidget):
    """A HoloViews object as a widget.

    Parameters
    ----------
    view
        HoloViews object; a DynamicMap stays dynamic.
    home
        Thread that changes the document.

    Attributes
    ----------
    document
        The Bokeh document.
    """

    _esm = DARKENING + MODEL_IN + Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    library = traitlets.Instance(Library).tag(sync=True, **ipywidgets.widget_serialization)
    channel = traitlets.Instance(Channel).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self, view: Any, home: UiThread) -> None:
        self.home = home
        self.document = document_of(view)
        self._events: list[DocumentPatchedEvent] = []
        self._pages: set[str] = set()
        self._number = self._copies = 0
        self.document.on_change(self._collect)
        channel = Channel(lambda: home.result(self.as_it_is, BUSY))
        channel.on_msg(lambda _widget, content, _buffers: home.run(self._receive, content))
        # A class that is added later is a message to this widget, which a late model loses.
        super().__init__(library=library(), channel=channel, _dom_classes=("genobit-plot",))

    def close(self) -> None:
        """Remove the views."""
        # A closed widget is closed again when it is deleted.
        if self.comm is not None:
            self.document.remove_on_change(self._collect)
            self.channel.close()
            super().close()

    def close_later(self) -> None:
        """Remove the views of a picture that was replaced."""
        if self.home.loop is None:
            self.close()
        else:
            self.home.loop.call_later(CLOSING, self.close)

    def as_it_is(self) -> dict[str, Any]:
        """Return the document for a new view: JSON, its buffers, and the number of patches."""
        self._send_changes()  # the document has these changes
        found = self.document.to_json()
        buffers: dict[str, bytes] = {}

        def put_aside(buffer: Buffer) -> Any:
            buffers[buffer.id] = buffer.to_bytes()
            return buffer.ref

        # Older releases of bokeh return the content alone.
        text = json.dumps(getattr(found, "content", found), default=put_aside)
        self._copies += 1
        return {
            "copy": self._copies,
            "number": self._number,
            "json": text,
            "buffers": buffers,
        }

    def _collect(self, event: Any) -> None:
        # A change with this setter came from a view.
        if not isinstance(event, DocumentPatchedEvent) or event.setter is self:
            return
        loop = self.home.loop
        if loop is None:  # no kernel, so no view
            return
        self._events.append(event)
        if len(self._events) == 1:
            # One message for all changes of a callback: the browser paints between messages.
            loop.call_soon(self._send_changes)

    def _send_changes(self) -> None:
        if not self._events:
            return
        # Empty the list first, so that a change that cannot be sent does not block later ones.
        events, self._events = self._events, []
        message = Protocol().create("PATCH-DOC", events)
        names = [str(buffer.id) for buffer in message.buffers]
        self._send_patch(message.content_json, "", names, [b.to_bytes() for b in message.buffers])

    def _send_patch(self, content: str, page: str, names: list[str], buffers: list[bytes]) -> None:
        """Send a patch to all views but those of `page`, which made it."""
        self._number += 1
        about = {"kind": "patch", "number": self._number, "page": page}
        self.channel.send({**about, "content": content, "names": names}, buffers)

    def _receive(self, content: dict[str, Any]) -> None:
        """Handle a message of a view."""
        if content["kind"] == "opened":
            self._pages.add(content["page"])
            if content["number"] != self._number:  # it missed a patch while it was loading
                self.channel.send_state("snapshot")
        elif content["kind"] == "refresh":
            self.channel.send_state("snapshot")
        elif content["kind"] == "patch":
            patch = json.loads(content["content"])
            changes = [event for event in patch["events"] if event["kind"] != "MessageSent"]
            # Before the changes that Python makes in return.
            if changes and len(self._pages) > 1:
                self._send_patch(json.dumps({"events": changes}), content["page"], [], [])
            self.document.apply_json_patch(patch, setter=self)


def document_of(view: Any) -> Document:
    """Return a Bokeh document that shows a HoloViews object."""
    document = Document(theme=theme())
    plot = hv.renderer("bokeh").get_plot(view)
    plot.document = document
    for figure in plot.state.select({"type": Plot}):
        # HoloViews fixes the size of the frame, and Bokeh then misses the total size.
        if figure.sizing_mode == "fixed" and figure.width is None:
            figure.sizing_mode = None
    make_readable(plot.state)
    document.add_root(plot.state)
    return document


def fill(box: ipywidgets.Box, *widgets: ipywidgets.Widget) -> None:
    """Show widgets in a box, and close the pictures that were in it."""
    before, box.children = box.children, widgets
    for widget in before:
        if isinstance(widget, Picture) and widget not in widgets:
            widget.close_later()
