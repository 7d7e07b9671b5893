"""Rows of controls above the relationship explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.visual.controls import button, dropdown, linked, row

if TYPE_CHECKING:
    from genobit.grm.explorer.traits import GRMTraits


def grm_controls(explorer: GRMTraits) -> tuple[ipywidgets.HBox, ...]:
    """Return the controls of the relationship explorer, which read and set its traits."""
    return (_what(explorer), _selection(explorer))


def _what(explorer: GRMTraits) -> ipywidgets.HBox:
    relations = explorer.relations
    method = dropdown(
        "method", [(relations.label_of(name), name) for name in relations.methods], "240px"
    )
    names = {"": "none"} | {
        name: name.removeprefix("sample_").replace("_", " ") for name in relations.variables
    }
    colour = dropdown("colour by", [(text, name) for name, text in names.items()], "220px")
    components = [(f"PC{k}", k) for k in range(1, relations.n_components + 1)]
    x, y = (dropdown(axis, components, "110px") for axis in ("x", "y"))
    over = [("all", "all"), ("selected", "selected")]
    return row(
        linked(explorer, "method", method),
        linked(explorer, "of_variants", dropdown("variants", over, "150px")),
        linked(explorer, "colour_by", colour),
        linked(explorer, "component_x", x),
        linked(explorer, "component_y", y),
    )


def _selection(explorer: GRMTraits) -> ipywidgets.HBox:
    zoom = button(explorer, "zoom to selection", "search-plus", "160px", explorer.zoom_to_selection)
    every = button(explorer, "all samples", "expand", "130px", explorer.show_all)
    whole = button(explorer, "any relationship", "arrows-h", "150px", explorer.show_any)

    def offer(_change: Any) -> None:
        zoom.disabled = len(explorer.selected) < 2
        every.disabled = explorer.shown is None
        whole.disabled = explorer.between is None

    explorer.observe(offer, ["selected", "between", "shown"])
    offer(None)
    return row(zoom, every, whole)


def pair_filter(explorer: GRMTraits) -> ipywidgets.Widget:
    """Return the dropdown above the table, which sets the trait `pairs_of`."""
    options = [
        ("all samples", "all"),
        ("selection with any sample", "any"),
        ("selection", "both"),
    ]
    return linked(explorer, "pairs_of", dropdown("closest pairs of", options, "300px"))
