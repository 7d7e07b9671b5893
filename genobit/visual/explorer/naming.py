"""Names of an explorer and of its controls for screen readers."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets


class Names(anywidget.AnyWidget):
    """Names the explorer that it is part of, and its controls by their labels or tooltips."""

    _esm = Path(__file__).with_suffix(".js")
    name = traitlets.Unicode("").tag(sync=True)
