"""The controls of the relationship explorer, which read and set its traits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets

from genobit.visual.explorer.controls import button, dropdown, linked

if TYPE_CHECKING:
    from typing import Any

    from genobit.grm.explorer.traits import GRMTraits

#: Up to this many selected samples, the search box shows their names.
_SHOWN = 3


def toolbar(explorer: GRMTraits) -> list[ipywidgets.Widget]:
    """Return the controls over the picture: method, colours and zoom."""
    relations = explorer.relations
    method = ipywidgets.Dropdown(
        options=[(relations.label_of(name), name) for name in relations.methods],
        tooltip="method of the relationship matrix",
        layout={"width": "136px"},
    )
    names = {"": "none"} | {
        name: name.removeprefix("sample_").replace("_", " ") for name in relations.variables
    }
    colour = dropdown("colour by", [(text, name) for name, text in names.items()], "190px")
    colour.tooltip = "variable of the samples that colours them"
    return [
        linked(explorer, "method", method),
        linked(explorer, "colour_by", colour),
        _zoom(explorer),
    ]


def drawer(explorer: GRMTraits) -> dict[str, list[ipywidgets.Widget]]:
    """Return the sections of the drawer."""
    components = [(f"PC{k}", k) for k in range(1, explorer.relations.n_components + 1)]
    x, y = (dropdown(axis, components, "") for axis in ("x", "y"))
    pairs = [("all", "all"), ("any selected", "any"), ("both selected", "both")]
    over = [("all", "all"), ("selected", "selected")]
    whole = button(explorer, "any relationship", "arrows-h", "", explorer.show_any)

    def offer(_change: Any) -> None:
        whole.disabled = explorer.between is None

    explorer.observe(offer, "between")
    offer(None)
    kinds = [("histogram", "histogram"), ("KING kinship", "kinship")]
    plot = dropdown("plot", kinds, "")
    plot.tooltip = (
        "plot of pairs: histogram of the relationships, or KING kinship against the share of "
        "opposite homozygotes, from all variants"
    )
    shown = linked(explorer, "pairs_as", plot)
    return {
        "Components": [linked(explorer, "component_x", x), linked(explorer, "component_y", y)],
        "Relatives": [
            shown,
            linked(explorer, "pairs_of", dropdown("list pairs", pairs, "")),
            whole,
        ],
        "Variants": [linked(explorer, "of_variants", dropdown("variants", over, ""))],
    }


def _zoom(explorer: GRMTraits) -> ipywidgets.HBox:
    zoom = button(explorer, "", "search-plus", "32px", explorer.zoom_to_selection)
    every = button(explorer, "", "expand", "32px", explorer.show_all)
    zoom.add_class("genobit-grm-zoom-to-selection")
    every.add_class("genobit-grm-all-samples")

    def offer(_change: Any) -> None:
        zoom.disabled = len(explorer.selected) < 2
        every.disabled = explorer.shown is None

    explorer.observe(offer, ["selected", "shown"])
    offer(None)
    return ipywidgets.HBox([zoom, every]).add_class("genobit-group")


def search(explorer: GRMTraits) -> ipywidgets.Text:
    """Return the search box, which selects samples and shows up to three of them."""
    finder = explorer.finder
    text = ipywidgets.Text(
        placeholder=finder.wanted,
        tooltip=f"select by {finder.wanted}, with commas or spaces between; then Enter",
        continuous_update=False,
    ).add_class("genobit-grm-search")

    def shown() -> str:
        names = [str(explorer.relations.names[k]) for k in explorer.selected[: _SHOWN + 1]]
        return ", ".join(names) if len(names) <= _SHOWN else ""

    def show(_change: Any) -> None:
        text.value = shown()

    def ask(change: Any) -> None:
        # No loop: the text of the current selection asks for nothing.
        if change["new"].strip() and change["new"] != shown():
            explorer.try_to(explorer.find, change["new"])
        else:
            explorer._forget_refusal()
            text.value = shown()

    explorer.observe(show, "selected")
    text.observe(ask, "value")
    show(None)
    return text
