"""The frame of every explorer: controls, tools and status, then pictures and tables."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.visual.controls import export_menu, row
from genobit.visual.explorer import SELECTED, Explorer
from genobit.visual.looks import style

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A region, whose numbers may have commas and units, or a name.
_NAME = re.compile(
    r"[^,;\s]+:\d[\d,.]*(?:[kmb][bp]?)?(?:-|–|\.\.)(?:\d[\d,.]*\d|\d)(?:e\d+|[kmb][bp]?)?"
    r"|[^,;\s]+",
    re.IGNORECASE,
)
_SPINNER = '<i class="fa fa-spinner fa-spin"></i> '


def framed(
    explorer: Explorer,
    controls: Iterable[ipywidgets.Widget],
    body: Iterable[ipywidgets.Widget],
    file: str,
) -> tuple[ipywidgets.Widget, ...]:
    """Return an explorer's children in the order that all explorers share.

    It also sets `controls`, `menu` and `status_row` of the explorer. `file` is the default name of
    saved files.
    """
    explorer.controls = tuple(controls)
    explorer.menu = export_menu(explorer, file)
    selecting = SelectionRow(explorer)
    tools = row(selecting, explorer.menu).add_class("genobit-tools")
    explorer.status_row = StatusRow(explorer)
    said = row(explorer.status_row, selecting.line)
    return (style(), *explorer.controls, tools, said, *body)


class StatusRow(ipywidgets.HBox):
    """The status of an explorer in words, a cancel button and a run-again button."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        css = explorer.css
        self._line = ipywidgets.HTML().add_class(f"{css}-status").add_class("genobit-line")
        self._stop = _button("cancel", "stop", "stop what is being computed")
        self._again = _button("run again", "repeat", "compute what was stopped")
        self._stop.add_class(f"{css}-cancel").on_click(lambda _: explorer.try_to(explorer.stop))
        self._again.add_class(f"{css}-again").on_click(lambda _: explorer.try_to(explorer.again))
        super().__init__((self._stop, self._again, self._line))
        self.layout.align_items = "center"
        explorer.observe(self._say, ["status", "busy"])
        self._say(None)

    def _say(self, _change: Any) -> None:
        explorer = self._explorer
        bad = explorer.status.startswith("Error")
        # Screen readers announce an alert at once, and a status when they pause.
        role = 'role="alert" class="genobit-error"' if bad else 'role="status"'
        spinner = _SPINNER if explorer.busy else ""
        text = f"<span {role}>{spinner}{html.escape(explorer.status)}</span>"
        if self._line.value != text:
            self._line.value = text
        self._stop.disabled = not explorer.busy
        self._again.layout.display = "flex" if explorer.stopped else "none"


def _button(text: str, icon: str, meaning: str) -> ipywidgets.Button:
    return ipywidgets.Button(
        description=text, icon=icon, tooltip=meaning, layout={"width": "100px", "flex": "0 0 auto"}
    )


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
        names = _NAME.findall(text)
        if names:
            self._selection.by_name(names)

    def _say(self) -> None:
        self._text.value = ""
        self._clear.disabled = not (self._selection.variants or self._selection.samples)
        some = [str(name) for kind in SELECTED for name in getattr(self._selection, kind)[:4]]
        more = sum(len(getattr(self._selection, kind)) for kind in SELECTED) > len(some)
        names = f" ({', '.join(some)}{', …' if more else ''})" if some else ""
        self.line.value = html.escape(f"Selected: {self._selection.in_words()}{names}")
