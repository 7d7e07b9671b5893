"""Controls of explorers, each linked to a trait with the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

if TYPE_CHECKING:
    from genobit.visual.explorer.explorer import Explorer


def linked(explorer: Explorer, trait: str, control: ipywidgets.Widget) -> ipywidgets.Widget:
    """Link a control's value to a trait, and give the control the trait's CSS class.

    The trait's meaning becomes the tooltip, unless the control already has one.
    """
    traitlets.link((explorer, trait), (control, "value"))
    if not control.tooltip:
        control.tooltip = explorer.meaning(trait)
    return control.add_class(f"{explorer.css}-{trait.replace('_', '-')}")


def slider(text: str, value: float, top: float) -> ipywidgets.FloatSlider:
    """Return a slider from 0 with its name in front."""
    return ipywidgets.FloatSlider(
        value=value,
        min=0.0,
        max=top,
        step=0.01,
        description=text,
        readout_format=".2f",
        style={"description_width": "initial"},
        continuous_update=True,
    )


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
