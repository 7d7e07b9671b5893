"""The rows of controls above the Kendall explorer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.visual.controls import button, dropdown, linked, row

if TYPE_CHECKING:
    import numpy as np

    from genobit.kendall.explorer.traits import KendallTraits


def kendall_controls(explorer: KendallTraits) -> tuple[ipywidgets.HBox, ...]:
    """Return the rows of controls, linked to the traits of the explorer."""
    return (_threshold(explorer), _colours(explorer))


def _threshold(explorer: KendallTraits) -> ipywidgets.HBox:
    by = ipywidgets.ToggleButtons(
        options=[("|τ|", "tau"), ("FDR", "fdr")], style={"button_width": "60px"}
    )
    wide = {"style": {"description_width": "initial"}, "layout": {"width": "420px"}}
    tau = ipywidgets.FloatSlider(
        value=explorer.min_abs,
        min=0.0,
        max=1.0,
        step=0.01,
        description="edges with |τ| ≥",
        readout_format=".2f",
        **wide,
    )
    fdr = ipywidgets.FloatLogSlider(
        value=explorer.fdr,
        base=10,
        min=-20,
        max=0,
        step=0.1,
        description="edges with FDR ≤",
        readout_format=".1e",
        **wide,
    )
    sliders = {
        "tau": linked(explorer, "min_abs", tau),
        "fdr": linked(explorer, "fdr", fdr),
    }

    def offer(_change: Any) -> None:
        for name, slider in sliders.items():
            slider.layout.display = "flex" if name == explorer.threshold_by else "none"
        # A slider counts its steps from its minimum: 0.1418 would turn 0.70 into 0.7018.
        tau.min = math.floor(100 * min(explorer.floor, explorer.min_abs)) / 100
        by.disabled = not explorer.has_fdr

    explorer.observe(offer, ["threshold_by", "floor", "has_fdr"])
    offer(None)
    return row(linked(explorer, "threshold_by", by), *sliders.values(), explorer.count_line)


def _colours(explorer: KendallTraits) -> ipywidgets.HBox:
    known = explorer.correlated
    colour = _labels("colour nodes by", known.variable_labels, known.variable, "community")
    points = _labels("colour points by", known.observation_labels, known.observation, "none")
    back = button(explorer, "all communities", "expand", "150px", explorer.close_community)
    every = button(explorer, "list all edges", "list", "150px", explorer.list_all)

    def offer(_change: Any) -> None:
        back.disabled = explorer.opened is None
        every.disabled = explorer.variable is None

    explorer.observe(offer, ["opened", "variable"])
    offer(None)
    return row(
        linked(explorer, "colour_by", colour),
        linked(explorer, "colour_points_by", points),
        back,
        every,
    )


def _labels(
    text: str, labels: dict[str, np.ndarray], dim: str, without: str
) -> ipywidgets.Dropdown:
    prefix = f"{dim.removesuffix('s')}_"
    names = {name.removeprefix(prefix).replace("_", " "): name for name in labels}
    return dropdown(text, [(without, ""), *names.items()], "260px")
