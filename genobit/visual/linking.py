"""Linked selection: explorers that share a `genobit.Selection` follow each other."""

from __future__ import annotations

import html
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.data.selection import KINDS, Names, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import xarray as xr

    from genobit.visual.explorer import Explorer

_KINDS = ("variants", "samples")


class Linked:
    """The part of an explorer that reads and sets a `genobit.Selection`."""

    selection: Selection
    selectable = "variants or samples"
    """Kind of names in the placeholder of the text box."""
    _names: dict[str, Names]
    _quiet = False

    def _join(self: Any, selection: Selection | None, data: xr.Dataset | xr.DataArray) -> None:
        """Share the given selection, or start a new one.

        Data without variants, sites, samples or taxa are accepted if no selection is given.
        """
        if selection is not None and not isinstance(selection, Selection):
            raise TypeError(
                f"selection is a {type(selection).__name__}; hand in a genobit.Selection, such as "
                "another explorer's .selection"
            )
        self.selection = Selection() if selection is None else selection
        shares = selection is not None or any(dim in KINDS for dim in data.dims)
        self._names = self.selection.know(data) if shares else {}
        self._watchers: list[Callable[[Any], None]] = []
        self._watch_selection(self._on_selection)

    def _watch_selection(self: Any, watcher: Callable[[Any], None]) -> None:
        """Call `watcher` at each change of the selection, until `_leave`."""
        self._watchers.append(watcher)
        self.selection.observe(watcher, _KINDS)

    def _leave(self: Any) -> None:
        """Stop sharing the selection."""
        for watcher in self._watchers:
            self.selection.unobserve(watcher, _KINDS)

    def _places(self: Any, kind: str) -> np.ndarray:
        """Return the positions of the selected members in this explorer's data."""
        if kind not in self._names:
            return np.empty(0, dtype="i8")
        return self.selection.places(kind, self._names[kind])

    def _select(self: Any, kind: str, places: Iterable[int]) -> None:
        """Select members by their positions, for all explorers that share the selection."""
        if self._quiet or kind not in self._names:
            return
        self._quiet = True
        try:
            setattr(self.selection, kind, self._names[kind].index[list(places)].tolist())
        finally:
            self._quiet = False

    def _on_selection(self: Any, change: Any) -> None:
        # Run at home: another explorer may have changed the selection on another thread.
        show = partial(self._follow_quietly, change["name"], own=self._quiet)
        self._home.run(self._try, show)

    def _follow_quietly(self: Any, kind: str, *, own: bool) -> None:
        before, self._quiet = self._quiet, True
        try:
            self._follow(kind, own=own)
        finally:
            self._quiet = before

    def _follow(self: Any, kind: str, *, own: bool) -> None:
        """Show the current selection; `own` is True if this explorer made it."""
        raise NotImplementedError


class SelectionRow(ipywidgets.HBox):
    """A text box to select by name and a button to clear the selection.

    `line` is a widget that shows the selection in words; it is placed elsewhere.
    """

    def __init__(self, explorer: Explorer) -> None:
        self._selection = explorer.selection
        css = explorer.css
        self._text = ipywidgets.Text(
            description="select",
            placeholder=f"names of {explorer.selectable}",
            tooltip=f"names of {explorer.selectable}, with commas or spaces between; then Enter",
            continuous_update=False,
            style={"description_width": "initial"},
            layout={"width": "290px"},
        ).add_class(f"{css}-select")
        self._clear = ipywidgets.Button(
            description="clear", icon="times", tooltip="select nothing", layout={"width": "80px"}
        ).add_class(f"{css}-clear-selection")
        self.line = ipywidgets.HTML().add_class(f"{css}-selection").add_class("genobit-selected")
        self._text.observe(lambda change: explorer.try_to(self._read, change["new"]), "value")
        self._clear.on_click(lambda _: explorer.try_to(self._selection.clear))
        super().__init__((self._text, self._clear))
        explorer._watch_selection(lambda _: explorer.try_to(self._say))
        self._say()

    def _read(self, text: str) -> None:
        names = [name for name in re.split(r"[,;\s]+", text) if name]
        if names:
            self._selection.by_name(names)

    def _say(self) -> None:
        self._text.value = ""
        self._clear.disabled = not (self._selection.variants or self._selection.samples)
        some = [str(name) for kind in _KINDS for name in getattr(self._selection, kind)[:4]]
        more = sum(len(getattr(self._selection, kind)) for kind in _KINDS) > len(some)
        names = f" ({', '.join(some)}{', …' if more else ''})" if some else ""
        self.line.value = html.escape(f"Selected: {self._selection.in_words()}{names}")
