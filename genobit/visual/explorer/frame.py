"""The frame of every explorer: a toolbar, the picture or a table, a drawer, tabs and a status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.visual.explorer.card import Card
from genobit.visual.explorer.menu import Copier, export_menu, file_name
from genobit.visual.explorer.naming import Names
from genobit.visual.explorer.searching import SelectionRow
from genobit.visual.looks import escaped, style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genobit.visual.explorer.explorer import Explorer

_SPINNER = '<i class="fa fa-spinner fa-spin"></i> '
#: Name of the tab that shows the picture.
PICTURE = "picture"


def framed(
    explorer: Explorer,
    toolbar: Sequence[ipywidgets.Widget],
    drawer: Mapping[str, Sequence[ipywidgets.Widget]],
    tabs: Mapping[str, ipywidgets.Widget],
    file: str,
    search: ipywidgets.Widget | None = None,
    docked: Card | None = None,
) -> tuple[ipywidgets.Widget, ...]:
    """Return an explorer's children in the places that all explorers share.

    `toolbar` has up to three controls. The search box, the export menu and the drawer's button
    follow them. `search` is the search box. Without it, the box for names is in the toolbar. With
    it, that box is in the drawer, if the search box does not find all names. `drawer` maps titles
    of sections to controls. `tabs` maps the values of the explorer's trait `tab` to their contents,
    the picture first. `file` is the default name of saved files. `docked` is a card
    that has a place in the picture; without it, the card is over the picture.

    It also sets `menu`, `drawer`, `card` and `status_row` of the explorer.
    """
    selecting = SelectionRow(explorer)
    named, copier = file_name(explorer, file), Copier()
    explorer.card = docked or Card(explorer.css)
    explorer.observe(lambda _: explorer.card.place(over_picture=explorer.tab == PICTURE), "tab")
    explorer.menu = export_menu(explorer, named, copier)
    explorer.status_row = StatusRow(explorer)
    alone = search is None or explorer.finds_all
    sections = {**drawer, "Selection": selecting.parts(alone=alone), "Files": [named]}
    explorer.drawer = _drawer(sections)
    opener = _opener(explorer.drawer)
    found = search or selecting.text
    found.add_class("genobit-search")
    bar = ipywidgets.HBox([*toolbar, found, explorer.menu, opener]).add_class("genobit-toolbar")
    body = ipywidgets.VBox([_place(explorer, tabs, part) for part in dict.fromkeys(tabs.values())])
    over = [] if docked else [explorer.card]
    middle = ipywidgets.HBox([body.add_class("genobit-body"), *over, explorer.drawer])
    foot = ipywidgets.HBox([*_tabs(explorer, list(tabs)), explorer.status_row])
    explorer.add_class("genobit-framed")
    return (
        style(),
        bar,
        middle.add_class("genobit-middle"),
        foot.add_class("genobit-foot"),
        copier,
        Names(name=f"{explorer.css.removeprefix('genobit-')} explorer"),
    )


def _drawer(sections: Mapping[str, Sequence[ipywidgets.Widget]]) -> ipywidgets.VBox:
    parts: list[ipywidgets.Widget] = []
    for title, controls in sections.items():
        parts += [ipywidgets.HTML(title).add_class("genobit-section"), *controls]
    return ipywidgets.VBox(parts, layout={"display": "none"}).add_class("genobit-drawer")


def _opener(drawer: ipywidgets.VBox) -> ipywidgets.ToggleButton:
    button = ipywidgets.ToggleButton(icon="sliders", tooltip="more controls")

    def show(change: Any) -> None:
        drawer.layout.display = "flex" if change["new"] else "none"

    button.observe(show, "value")
    return button.add_class("genobit-icon").add_class("genobit-open")


def _place(
    explorer: Explorer, tabs: Mapping[str, ipywidgets.Widget], part: ipywidgets.Widget
) -> ipywidgets.Widget:
    """Return the content of tabs, which is there while one of them is chosen."""

    def show(_change: Any) -> None:
        part.layout.display = "flex" if tabs[explorer.tab] is part else "none"

    explorer.observe(show, "tab")
    show(None)
    return part if tabs[PICTURE] is part else part.add_class("genobit-table")


def _tabs(explorer: Explorer, names: list[str]) -> list[ipywidgets.Button]:
    """Return the buttons of the tabs, of which the chosen one is marked."""
    buttons = {
        name: ipywidgets.Button(description=name.capitalize(), tooltip=f"show the {name}")
        for name in names
    }

    def mark(_change: Any) -> None:
        for name, button in buttons.items():
            change = button.add_class if explorer.tab == name else button.remove_class
            change("genobit-on")

    for name, button in buttons.items():
        button.add_class("genobit-tab").add_class(f"{explorer.css}-tab-{name}")
        button.on_click(lambda _, name=name: explorer.try_to(setattr, explorer, "tab", name))
    explorer.observe(mark, "tab")
    mark(None)
    return list(buttons.values())


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
        super().__init__((self._line, self._stop, self._again))
        self.layout.align_items = "center"
        self.add_class("genobit-say")
        explorer.observe(self._say, ["status", "busy"])
        self._say(None)

    def _say(self, _change: Any) -> None:
        explorer = self._explorer
        bad = explorer.status.startswith("Error")
        # Screen readers announce an alert at once, and a status when they pause.
        role = 'role="alert" class="genobit-error"' if bad else 'role="status"'
        spinner = _SPINNER if explorer.busy else ""
        text = f"<span {role}>{spinner}{escaped(explorer.status)}</span>"
        if self._line.value != text:
            self._line.value = text
        self._stop.layout.display = "flex" if explorer.busy else "none"
        self._again.layout.display = "flex" if explorer.stopped else "none"


def _button(text: str, icon: str, meaning: str) -> ipywidgets.Button:
    return ipywidgets.Button(
        description=text, icon=icon, tooltip=meaning, layout={"width": "auto", "flex": "0 0 auto"}
    )
