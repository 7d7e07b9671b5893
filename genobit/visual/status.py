"""The status line of an explorer, with buttons to cancel and to run again."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets

if TYPE_CHECKING:
    from genobit.visual.explorer import Explorer

_SPINNER = '<i class="fa fa-spinner fa-spin"></i> '


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
