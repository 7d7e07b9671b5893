"""Rows of controls over the LD explorer, each linked to a trait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.ld.explorer.region import region_text
from genobit.visual.controls import button, dropdown, linked, row
from genobit.visual.pixels import AGGREGATES
from genobit.visual.style import scale_of

if TYPE_CHECKING:
    from genobit.ld.explorer.traits import LDTraits


def ld_controls(explorer: LDTraits) -> tuple[ipywidgets.HBox, ...]:
    """Make the rows of controls, which read and set the traits of the explorer."""
    return (
        _what(explorer),
        _filters(explorer),
        _where(explorer),
        _more(explorer),
    )


def _what(explorer: LDTraits) -> ipywidgets.HBox:
    statistic = linked(
        explorer,
        "statistic",
        ipywidgets.Dropdown(
            options=[(scale_of(name).label, name) for name in explorer.statistics],
            value=explorer.statistic,
            description="statistic",
            layout={"width": "170px"},
        ),
    )
    view = ipywidgets.ToggleButtons(
        options=["triangle", "square"], value=explorer.view, style={"button_width": "80px"}
    )
    axis = ipywidgets.ToggleButtons(
        options=[("evenly spaced", "rank"), ("to scale", "position")],
        value=explorer.axis,
        style={"button_width": "130px"},
    )
    return row(statistic, linked(explorer, "view", view), linked(explorer, "axis", axis))


def _filters(explorer: LDTraits) -> ipywidgets.HBox:
    min_maf = _slider("minor allele frequency ≥", explorer.min_maf, 0.5)
    min_r2 = _slider("hide below", explorer.min_r2, 1.0)
    return row(linked(explorer, "min_maf", min_maf), linked(explorer, "min_r2", min_r2))


def _where(explorer: LDTraits) -> ipywidgets.HBox:
    contig = ipywidgets.Dropdown(
        options=explorer.contigs,
        value=explorer.region[0],
        description="contig",
        tooltip="show the first variants of a contig",
        layout={"width": "170px"},
    )
    text = ipywidgets.Text(
        value=region_text(explorer.region),
        description="region",
        placeholder="contig:from-to, or a gene",
        tooltip="contig:from-to in base pairs, kb or Mb, or the name of a gene; then Enter",
        continuous_update=False,
        layout={"width": "360px"},
    ).add_class("genobit-ld-region")

    def show(change: Any) -> None:
        # No loop: `ask` ignores a text that names the current region.
        text.value = region_text(change["new"])
        contig.value = change["new"][0]

    def ask(change: Any) -> None:
        if change["new"] != region_text(explorer.region):
            explorer.try_to(explorer.go_to, change["new"])

    def change_contig(change: Any) -> None:
        if change["new"] != explorer.region[0]:
            explorer.try_to(explorer.go_to_contig, change["new"])

    explorer.observe(show, "region")
    text.observe(ask, "value")
    contig.observe(change_contig, "value")
    buttons = (
        button(explorer, "zoom in", "search-plus", "100px", explorer.widen, 0.5),
        button(explorer, "zoom out", "search-minus", "100px", explorer.widen, 2.0),
        button(explorer, "to selection", "crosshairs", "120px", explorer.go_to_selection),
    )
    return row(contig, text, *buttons)


def _more(explorer: LDTraits) -> ipywidgets.HBox:
    aggregate = dropdown("aggregate", [(name, name) for name in AGGREGATES], "310px")
    blocks = ipywidgets.ToggleButton(
        value=explorer.show_blocks,
        description="haplotype blocks",
        icon="object-group",
        tooltip="outline blocks of Gabriel et al. (2002)",
        layout={"width": "150px"},
    )
    kinds = ["nothing", "variants", "pairs", "decay"]
    samples = dropdown("samples", [("all", "all"), ("selected", "selected")], "150px")
    beside = dropdown("side panel", [(kind, kind) for kind in kinds], "220px")
    return row(
        linked(explorer, "aggregate", aggregate),
        linked(explorer, "show_blocks", blocks),
        linked(explorer, "of_samples", samples),
        linked(explorer, "beside", beside),
    )


def _slider(description: str, value: float, top: float) -> ipywidgets.FloatSlider:
    return ipywidgets.FloatSlider(
        value=value,
        min=0.0,
        max=top,
        step=0.01,
        description=description,
        style={"description_width": "initial"},
        layout={"width": "390px"},
    )
