"""Select by name, and show the selection in words."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import ipywidgets

from genobit.visual.explorer.explorer import SELECTED

if TYPE_CHECKING:
    from genobit.visual.explorer.explorer import Explorer

#: A region, whose numbers may have commas and units, or a name.
_NAME = re.compile(
    r"[^,;\s]+:\d[\d,.]*(?:[kmb][bp]?)?(?:-|–|\.\.)(?:\d[\d,.]*\d|\d)(?:e\d+|[kmb][bp]?)?"
    r"|[^,;\s]+",
    re.IGNORECASE,
)


class SelectionRow:
    """A text box to select by name, the selection in words, and a button to clear it."""

    def __init__(self, explorer: Explorer) -> None:
        self._selection, self._nouns = explorer.selection, explorer.nouns
        css = explorer.css
        self.text = ipywidgets.Text(
            placeholder=f"select {explorer.selectable} by name",
            tooltip=f"names of {explorer.selectable}, with commas or spaces between; then Enter",
            continuous_update=False,
        ).add_class(f"{css}-select")
        self._clear = ipywidgets.Button(
            description="clear", icon="times", tooltip="select nothing"
        ).add_class(f"{css}-clear-selection")
        self.line = ipywidgets.HTML().add_class(f"{css}-selection").add_class("genobit-selected")
        self.text.observe(lambda change: explorer.try_to(self._read, change["new"]), "value")
        self._clear.on_click(lambda _: explorer.try_to(self._selection.clear))
        explorer._watch_selection(lambda _: explorer.try_to(self._say))
        self._say()

    def parts(self, *, alone: bool) -> list[ipywidgets.Widget]:
        """Return the widgets of a drawer; the text box is elsewhere if it stands alone."""
        return [*([] if alone else [self.text]), self.line, self._clear]

    def _read(self, text: str) -> None:
        names = _NAME.findall(text)
        if names:
            self._selection.by_name(names)

    def _say(self) -> None:
        self.text.value = ""
        self._clear.disabled = not (self._selection.variants or self._selection.samples)
        some = [str(name) for kind in SELECTED for name in getattr(self._selection, kind)[:4]]
        more = sum(len(getattr(self._selection, kind)) for kind in SELECTED) > len(some)
        names = f" ({', '.join(some)}{', …' if more else ''})" if some else ""
        words = self._selection.in_words(self._nouns)
        self.line.value = html.escape(f"Selected: {words}{names}")
