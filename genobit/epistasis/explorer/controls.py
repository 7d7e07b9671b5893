"""The controls of the epistasis explorer, which read and set its traits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets

from genobit.visual.explorer.controls import button, dropdown, linked

if TYPE_CHECKING:
    from genobit.epistasis.explorer.traits import EpistasisTraits


def toolbar(explorer: EpistasisTraits) -> list[ipywidgets.Widget]:
    """Return the class and the steps through the ranking."""
    parts = []
    if explorer.classes:
        names = [(name, name) for name in explorer.classes]
        parts.append(linked(explorer, "shown_class", dropdown("share of", names, "160px")))
    steps = [
        button(explorer, "", icon, "32px", step).add_class(f"genobit-epistasis-{name}")
        for name, icon, step in (
            ("before", "step-backward", explorer.previous_combination),
            ("after", "step-forward", explorer.next_combination),
        )
    ]
    return [*parts, ipywidgets.HBox(steps).add_class("genobit-group")]


def drawer(explorer: EpistasisTraits) -> dict[str, list[ipywidgets.Widget]]:
    """Return the section of the ranking."""
    text = ipywidgets.Text(
        description="filter",
        placeholder="name or region",
        tooltip="list only combinations that match all these words; then Enter",
        continuous_update=False,
    )
    every = [("all", "all"), ("selected variants", "selected")]
    offered = dropdown("combinations", every, "")
    return {"Ranking": [linked(explorer, "filter", text), linked(explorer, "of_variants", offered)]}
