"""Controls of explorers, each linked to a trait with the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

if TYPE_CHECKING:
    from genobit.visual.explorer import Explorer


def linked(explorer: Explorer, trait: str, control: ipywidgets.Widget) -> ipywidgets.Widget:
    """Link a control's value to a trait, and give the control the trait's CSS class.

    The trait's meaning becomes the tooltip, unless the control already has one.
    """
    traitlets.link((explorer, trait), (control, "value"))
    if not control.tooltip:
        control.tooltip = explorer.meaning(trait)
    return control.add_class(f"{explorer.css}-{trait.replace('_', '-')}")


def row(*widgets: ipywidgets.Widget) -> ipywidgets.HBox:
    """Return widgets in a row that wraps if there is no room."""
    return ipywidgets.HBox(widgets, layout={"flex_flow": "row wrap", "align_items": "center"})


def dropdown(text: str, options: list[tuple[str, Any]], width: str) -> ipywidgets.Dropdown:
    """Return a dropdown list with its name in front; `options` are (text, value) pairs."""
    return ipywidgets.Dropdown(
        options=options,
        description=text,
        style={"description_width": "initial"},
        layout={"width": width},
    )


def button(
    explorer: Explorer, text: str, icon: str, width: str, action: Any, *arguments: Any
) -> ipywidgets.Button:
    """Return a button that calls a method of the explorer.

    The first line of the method's docstring becomes the tooltip. Errors go to the explorer's status
    line.
    """
    made = ipywidgets.Button(
        description=text, icon=icon, tooltip=_first_line(action), layout={"width": width}
    )
    made.on_click(lambda _: explorer.try_to(action, *arguments))
    return made.add_class(f"{explorer.css}-{text.replace(' ', '-')}")


def _first_line(action: Any) -> str:
    return (action.__doc__ or "").partition("\n")[0].rstrip(".")


def export_menu(explorer: Explorer, name: str) -> ipywidgets.HBox:
    """Return the menu of the explorer's exports; `name` is the default name of files."""
    exports = explorer.exports
    what = dropdown("save", [(export.text, k) for k, export in enumerate(exports)], "270px")
    what.add_class(f"{explorer.css}-export")
    file = ipywidgets.Text(
        value=name,
        description="as",
        tooltip="path and name of a new file, without its ending",
        style={"description_width": "initial"},
        layout={"width": "220px"},
    ).add_class(f"{explorer.css}-file")
    ending = ipywidgets.HTML().add_class("genobit-quiet")
    save = ipywidgets.Button(description="save", icon="save", layout={"width": "80px"})

    def offer(_change: Any) -> None:
        ending.value = exports[what.value].ending
        what.tooltip = save.tooltip = exports[what.value].meaning

    def write(_button: Any) -> None:
        chosen = exports[what.value]
        explorer.try_to(chosen.save, f"{file.value}{chosen.ending}")

    what.observe(offer, "value")
    offer(None)
    save.on_click(write)
    return row(what, file, ending, save.add_class(f"{explorer.css}-save"))
