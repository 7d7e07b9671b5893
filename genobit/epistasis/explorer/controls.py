"""Controls of the epistasis explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets

from genobit.visual.controls import dropdown, linked, row

if TYPE_CHECKING:
    from genobit.epistasis.explorer.explorer import EpistasisExplorer


def epistasis_controls(explorer: EpistasisExplorer) -> tuple[ipywidgets.HBox, ...]:
    """Return the rows of controls, linked to the traits of the explorer."""
    return (_choice(explorer),)


def _choice(explorer: EpistasisExplorer) -> ipywidgets.HBox:
    text = ipywidgets.Text(
        description="filter",
        placeholder="names, contig:, position, contig:from-to",
        tooltip="words that every listed combination has; then Enter",
        continuous_update=False,
        style={"description_width": "initial"},
        layout={"width": "330px"},
    )
    parts = [linked(explorer, "filter", text)]
    if explorer.classes:
        names = [(name, name) for name in explorer.classes]
        offered = dropdown("share of class", names, "190px")
        parts.append(linked(explorer, "shown_class", offered))
    every = [("whatever is selected", "all"), ("the selected variants", "selected")]
    parts.append(linked(explorer, "of_variants", dropdown("with", every, "230px")))
    return row(*parts, explorer.count_line)
