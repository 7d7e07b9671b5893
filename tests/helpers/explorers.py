"""What explorers say and show."""

from __future__ import annotations


def said(view) -> str:
    """The sentence in the place of a picture; "" where there is a picture."""
    inside = getattr(view.box.children[0], "children", ())
    return inside[0].value if inside and hasattr(inside[0], "value") else ""


def _all(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _all(child)


def named(explorer, name):
    """The part of an explorer with a CSS class."""
    return next(widget for widget in _all(explorer) if name in widget._dom_classes)
