"""Places in an explorer that show a picture or a table, or a sentence why there is none."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import holoviews as hv
import ipywidgets
import numpy as np

from genobit.visual.explorer.picture import Picture, fill
from genobit.visual.explorer.selecting import PointSelection
from genobit.visual.style import with_hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genobit.visual.explorer.home import UiThread
    from genobit.visual.style import Hook

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
        self.say("computing …")

    def say(self, text: str) -> None:
        """Show a sentence of plain text in place of the picture."""
        self._frame = None
        width, height = self.size
        sentence = ipywidgets.HTML(html.escape(text))
        least = f"min({width}px, 100% - 42px)"
        size = {"width": "100%", "min_width": least, "height": f"{height}px"}
        fill(self.box, ipywidgets.HBox([sentence], layout=size).add_class("genobit-empty"))

    def _show(self, picture: Any, *hooks: Hook) -> None:
        """Show a picture that does not change, with more hooks."""
        self._frame = None
        fill(self.box, plot_of(with_hooks(picture, *hooks), self._home))

    def _build(self, picture: Callable[[], Any], *hooks: Hook) -> None:
        """Show a picture that `_redraw` draws again, with more hooks."""

        def draw(number: int) -> Any:  # noqa: ARG001  the counter of the stream
            return with_hooks(picture(), *hooks)

        self._frame = Frame()
        fill(self.box, plot_of(hv.DynamicMap(draw, streams=[self._frame]), self._home))

    def _redraw(self) -> None:
        if self._frame is not None:
            self._frame.event(number=self._frame.number + 1)


class TableView(View):
    """A table in an explorer, whose rows stand for members, such as the two samples of a pair."""

    _members = np.empty((0, 1), "i8")
    _picks: PointSelection

    def _list(self, picture: hv.Table, members: np.ndarray, marked: Sequence[int]) -> None:
        """Show a table; members: (rows, members of a row), positions in the data."""
        # New picks: SlickGrid would report the selected rows of the old list for the new one.
        # A late message of the old list is about the old members.
        picked = PointSelection(lambda rows: self._picked(members[rows]))
        self._members, self._picks = members, picked
        self.mark(marked)
        self._show(picture, self._picks.hook)

    def say(self, text: str) -> None:
        """Show a sentence in place of the table."""
        self._members = self._members[:0]
        super().say(text)

    def mark(self, marked: Sequence[int]) -> None:
        """Select the rows whose members are all marked."""
        if len(self._members):
            inside = np.isin(self._members, list(marked)).all(axis=1)
            self._picks.show(np.flatnonzero(inside).tolist())

    def _picked(self, members: np.ndarray) -> None:
        """Hear that rows with these members were selected; members: (rows, members of a row)."""
        raise NotImplementedError


def drawn(state: Drawn | None) -> Drawn:
    """Return state that the first drawing sets. Raises ValueError before it."""
    if state is None:
        raise ValueError("nothing has been drawn yet; wait for the pictures")
    return state


def plot_of(picture: Any, home: UiThread) -> ipywidgets.Widget:
    """Wrap a picture as a widget that follows dark themes."""
    return Picture(picture, home)
