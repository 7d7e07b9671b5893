"""The export menu of explorers: figures, data, and the code that makes the view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from genobit.visual.explorer.channel import MODEL_IN, Channel

if TYPE_CHECKING:
    from genobit.visual.explorer.explorer import Explorer

#: Text of the menu while nothing is chosen, and of the entry that copies code.
EXPORT, COPY = "Export", "copy Python"


class Copier(anywidget.AnyWidget):
    """Puts text on the clipboard of the browser."""

    _esm = MODEL_IN + Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    channel = traitlets.Instance(Channel).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self) -> None:
        super().__init__(channel=Channel())

    def copy(self, text: str) -> None:
        """Put a text on the clipboard; the same text again, too."""
        self.channel.send({"text": text})


def file_name(explorer: Explorer, name: str) -> ipywidgets.Text:
    """Return the text box with the name of files, without their endings."""
    return ipywidgets.Text(
        value=name,
        description="save as",
        tooltip="path and name of new files, without their endings",
    ).add_class(f"{explorer.css}-file")


def export_menu(explorer: Explorer, named: ipywidgets.Text, copier: Copier) -> ipywidgets.Dropdown:
    """Return the menu of the explorer's exports, which acts and then shows its title again."""
    exports = explorer.exports
    options = [(EXPORT, 0), *((export.text, k) for k, export in enumerate(exports, 1))]
    options.append((COPY, len(options)))
    menu = ipywidgets.Dropdown(options=options, tooltip="save the picture or the data")

    def act(change: Any) -> None:
        chosen = change["new"]
        if not chosen:
            return
        menu.value = 0
        if chosen > len(exports):
            explorer.try_to(_copy, explorer, copier)
        else:
            export = exports[chosen - 1]
            explorer.try_to(export.save, free_name(named.value, export.ending))

    menu.observe(act, "value")
    menu.layout.width = "96px"
    return menu.add_class(f"{explorer.css}-export")


def _copy(explorer: Explorer, copier: Copier) -> None:
    code = explorer.python()
    copier.copy(code)
    explorer.status = f"Copied: {code}"


def free_name(name: str, ending: str) -> str:
    """Return the name of a file that does not exist yet: "ld.pdf", then "ld-2.pdf".

    Examples
    --------
    >>> free_name("no-such-file", ".csv")
    'no-such-file.csv'
    """
    target, number = f"{name}{ending}", 2
    while Path(target).expanduser().exists():
        target, number = f"{name}-{number}{ending}", number + 1
    return target
