"""A place in an explorer that shows one picture, or a sentence why there is none."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import holoviews as hv
import ipywidgets

from genobit.visual.bridge import UiThread, as_widget

if TYPE_CHECKING:
    from collections.abc import Callable

Drawn = TypeVar("Drawn")
Frame = hv.streams.Stream.define("Frame", number=0)


class View:
    """A box that shows one picture, or a sentence why there is none."""

    #: The box has the CSS class "{css}-{name}".
    css: ClassVar[str] = "genobit"
    name = ""
    size = (480, 220)

    def __init__(self, home: UiThread) -> None:
        self._home = home
        self._frame: Any = None
        self.box = ipywidgets.VBox().add_class(f"{self.css}-{self.name}")
        self.say("…")

    def say(self, text: str) -> None:
        """Show a sentence of plain text in place of the picture."""
        self._frame = None
        width, height = self.size
        sentence = ipywidgets.HTML(html.escape(text))
        size = {"width": f"{width}px", "height": f"{height}px"}
        self.box.children = (ipywidgets.HBox([sentence], layout=size).add_class("genobit-empty"),)

    def _show(self, picture: Any) -> None:
        """Show a picture that does not change."""
        self._frame = None
        self.box.children = (plot_of(picture, self._home),)

    def _build(self, picture: Callable[[int], Any]) -> None:
        """Show a picture that `_redraw` draws again."""
        self._frame = Frame()
        draw = hv.DynamicMap(picture, streams=[self._frame])
        self.box.children = (plot_of(draw, self._home),)

    def _redraw(self) -> None:
        if self._frame is not None:
            self._frame.event(number=self._frame.number + 1)


def drawn(state: Drawn | None) -> Drawn:
    """Return state that the first drawing sets. Raises ValueError before it."""
    if state is None:
        raise ValueError("nothing has been drawn yet; wait for the pictures")
    return state


def plot_of(picture: Any, home: UiThread) -> ipywidgets.Widget:
    """Wrap a picture as a widget that follows dark themes."""
    return as_widget(picture, home).add_class("genobit-plot")


def hooks_of(picture: Any) -> list[Any]:
    """Return the hooks that a picture already has, so that others can be added."""
    return list(picture.opts.get("plot").kwargs.get("hooks", []))
