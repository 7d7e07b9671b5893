"""What the controls of explorers are made of; each is linked to a trait of the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

if TYPE_CHECKING:
    from .explorer import Explorer


def linked(explorer: Explorer, trait: str, control: ipywidgets.Widget) -> ipywidgets.Widget:
    """Keep a control's value and a trait alike, and give the control the trait's CSS class.

    Parameters
    ----------
    explorer, trait
        Whose trait.
    control
        What the reader changes.
    """
    traitlets.link((explorer, trait), (control, "value"))
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
