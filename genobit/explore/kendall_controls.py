"""The rows of controls over the Kendall explorer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ipywidgets

from .controls import dropdown, linked, row
from .kendall_files import FORMATS

if TYPE_CHECKING:
    import numpy as np

    from .kendall import KendallExplorer


def kendall_controls(explorer: KendallExplorer) -> tuple[ipywidgets.HBox, ...]:
    """Make the controls of the Kendall explorer.

    Parameters
    ----------
    explorer
        Its traits are read and set by the controls.
    """
    return (_threshold(explorer), _colours(explorer), _export(explorer))


def _threshold(explorer: KendallExplorer) -> ipywidgets.HBox:
    by = ipywidgets.ToggleButtons(
        options=[("|τ|", "tau"), ("FDR", "fdr")], style={"button_width": "60px"}
    )
    wide = {"style": {"description_width": "initial"}, "layout": {"width": "420px"}}
    tau = ipywidgets.FloatSlider(
        value=explorer.min_abs,
        min=0.0,
        max=1.0,
        step=0.01,
        description="edges from |τ| ≥",
        readout_format=".2f",
        **wide,
    )
    fdr = ipywidgets.FloatLogSlider(
        value=explorer.fdr,
        base=10,
        min=-20,
        max=0,
        step=0.1,
        description="edges of FDR (q) ≤",
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
        # A slider counts its steps from its end: 0.1418 would turn 0.70 into 0.7018.
        tau.min = math.floor(100 * min(explorer.floor, explorer.min_abs)) / 100
        by.disabled = not explorer.has_fdr

    explorer.observe(offer, ["threshold_by", "floor", "has_fdr"])
    offer(None)
    return row(linked(explorer, "threshold_by", by), *sliders.values(), explorer.count_line)


def _colours(explorer: KendallExplorer) -> ipywidgets.HBox:
    known = explorer.correlated
    colour = _labels("colour nodes by", known.variable_labels, known.variable, "community")
    points = _labels("colour points by", known.observation_labels, known.observation, "nothing")
    back = _button(explorer, "all communities", "expand", explorer.close_community)
    every = _button(explorer, "list all edges", "list", explorer.list_all)

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


def _button(explorer: KendallExplorer, text: str, icon: str, action: Any) -> ipywidgets.Button:
    button = ipywidgets.Button(description=text, icon=icon, layout={"width": "150px"})
    button.on_click(lambda _: explorer.try_to(action))
    return button.add_class(f"genobit-kendall-{text.replace(' ', '-')}")


def _export(explorer: KendallExplorer) -> ipywidgets.HBox:
    name = ipywidgets.Text(
        value="kendall_edges",
        description="file",
        style={"description_width": "initial"},
        layout={"width": "220px"},
    ).add_class("genobit-kendall-file")
    buttons = []
    for suffix, text in FORMATS.items():
        button = ipywidgets.Button(
            description=f"save {text}",
            icon="save",
            tooltip=f"the edges of the threshold as {text}; {suffix} is put behind the name",
            layout={"width": "auto"},
        ).add_class(f"genobit-kendall-save-{suffix[1:]}")
        button.on_click(
            lambda _, suffix=suffix: explorer.try_to(explorer.save, f"{name.value}{suffix}")
        )
        buttons.append(button)
    return row(name, *buttons)
