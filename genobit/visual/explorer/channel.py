"""Messages between an anywidget and Python that also pass on a busy page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

if TYPE_CHECKING:
    from collections.abc import Callable

#: JavaScript function that returns the model of a widget in a trait, such as a channel.
MODEL_IN = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


class Channel(ipywidgets.Widget):
    """The messages of an anywidget, and the snapshot from which a page starts.

    anywidget 0.11 gives a model two seconds to initialize. A later model loses all messages and
    changes from Python. The model of a plain widget hears them at once.
    """

    # The value that is sent is the snapshot at that time, also when a page asks for all widgets.
    snapshot = traitlets.Int(0).tag(sync=True, to_json=lambda _revision, channel: channel.make())

    def __init__(self, make: Callable[[], dict[str, Any]] = dict) -> None:
        self.make = make
        super().__init__(snapshot=1)
