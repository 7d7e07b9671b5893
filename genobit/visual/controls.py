"""What the controls of explorers are made of; each is linked to a trait of the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

if TYPE_CHECKING:
    from genobit.visual.explorer import Explorer


def linked(explorer: Explorer, trait: str, control: ipywidgets.Widget) -> ipywidgets.Widget:
    """Keep a control's value and a trait alike, and give the control the trait's CSS class.

    What the trait means is its tooltip, unless it has one already.

    Parameters
    ----------
    explorer, trait
        Whose trait.
    control
        What the reader changes.
    """
    traitlets.link((explorer, trait), (control, "value"))
    if not control.tooltip:
        control.tooltip = explorer.meaning(trait)
    return control.add_class(f"{explorer.css}-{trait.replace('_', '-')}")


def row(*widgets: ipywidgets.Widget) -> ipywidgets.HBox:
    """Put controls beside each other, and below where there is no room.

    Parameters
    ----------
    *widgets
        From left to right.
    """
    return ipywidgets.HBox(widgets, layout={"flex_flow": "row wrap", "align_items": "center"})


def dropdown(text: str, options: list[tuple[str, Any]], width: str) -> ipywidgets.Dropdown:
    """Make a list to choose from, with its name before it.

    Parameters
    ----------
    text
        What is chosen.
    options
        Texts and values.
    width
        In CSS.
    """
    return ipywidgets.Dropdown(
        options=options,
        description=text,
        style={"description_width": "initial"},
        layout={"width": width},
    )


def button(
    explorer: Explorer, text: str, icon: str, width: str, action: Any, *arguments: Any
) -> ipywidgets.Button:
    """Make a button that calls a method of the explorer, which says what it is for.

    Parameters
    ----------
    explorer
        Says what goes wrong.
    text, icon, width
        On it; its CSS class is that of the explorer and the text.
    action, *arguments
        The method and its arguments.
    """
    made = ipywidgets.Button(
        description=text, icon=icon, tooltip=_first_line(action), layout={"width": width}
    )
    made.on_click(lambda _: explorer.try_to(action, *arguments))
    return made.add_class(f"{explorer.css}-{text.replace(' ', '-')}")


def _first_line(action: Any) -> str:
    return (action.__doc__ or "").partition("\n")[0].rstrip(".")


def export_menu(explorer: Explorer, name: str) -> ipywidgets.HBox:
    """Make the menu of what can be saved.

    Parameters
    ----------
    explorer
        Its `exports` are offered.
    name
        Of the files, to begin with.
    """
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
