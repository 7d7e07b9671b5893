"""The traits of the Kendall explorer, and their controls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import traitlets

from genobit.visual.controls import button, dropdown, linked, row
from genobit.visual.explorer import Explorer, one_of

if TYPE_CHECKING:
    from genobit.data.pairs.network import Network
    from genobit.kendall.explorer.candidates import Candidates
    from genobit.kendall.explorer.data import KendallData

#: Initial |tau| threshold.
THRESHOLD = 0.6


class KendallTraits(Explorer):
    """The state of a Kendall explorer: its traits, and the edges that they select."""

    correlated: KendallData
    count_line: ipywidgets.HTML

    css = "genobit-kendall"
    threshold_by = traitlets.Enum(("tau", "fdr"), "tau")
    threshold = traitlets.Float(THRESHOLD, min=0.0, max=1.0)
    fdr = traitlets.Float(0.01, min=0.0, max=1.0)
    floor = traitlets.Float(0.0)
    has_fdr = traitlets.Bool(True)  # noqa: FBT003  traitlets takes the default first
    colour_by = traitlets.Unicode("")
    colour_points_by = traitlets.Unicode("")
    pair: Any = traitlets.Tuple(
        traitlets.Int(), traitlets.Int(), default_value=None, allow_none=True
    )
    variable: Any = traitlets.Int(None, allow_none=True)
    opened: Any = traitlets.Tuple(default_value=None, allow_none=True)

    # Results.

    @property
    def pairs(self) -> Network:
        """Edges that pass the threshold; waits until they are computed."""
        held = self.correlated.candidates()
        return held.table(self._found(held))

    def _found(self, held: Candidates) -> np.ndarray:
        by_tau = self.threshold_by == "tau"
        return held.at_least(self.threshold) if by_tau else held.up_to(self.fdr)

    def close_community(self) -> None:
        """Show all communities again."""
        self.opened = None

    def list_all(self) -> None:
        """List the edges of all variables in the table."""
        self.variable = None

    # Validation of traits.

    @traitlets.validate("colour_by")
    def _check_colour(self, proposal: Any) -> str:
        return one_of("colour_by", proposal["value"], ("", *self.correlated.variable_labels))

    @traitlets.validate("colour_points_by")
    def _check_colour_of_points(self, proposal: Any) -> str:
        labels = self.correlated.observation_labels
        return one_of("colour_points_by", proposal["value"], ("", *labels))

    @traitlets.validate("pair", "variable", "opened")
    def _check_places(self, proposal: Any) -> Any:
        value, name = proposal["value"], proposal["trait"].name
        if value is None:
            return None
        places = np.atleast_1d(np.asarray(value, dtype="i8"))
        last = self.correlated.n_variables - 1
        if len(places) and not 0 <= places.min() <= places.max() <= last:
            raise traitlets.TraitError(f"{name} is {value}, and the variables are 0 to {last}")
        if name == "variable":
            return int(value)
        places = np.unique(places)
        if name == "pair" and len(places) != 2:
            raise traitlets.TraitError(f"pair is {value}; a pair is two variables")
        return tuple(places.tolist())


def kendall_controls(explorer: KendallTraits) -> tuple[ipywidgets.HBox, ...]:
    """Return the rows of controls, linked to the traits of the explorer."""
    return (_threshold(explorer), _colours(explorer))


def _threshold(explorer: KendallTraits) -> ipywidgets.HBox:
    by = ipywidgets.ToggleButtons(
        options=[("|τ|", "tau"), ("FDR", "fdr")], style={"button_width": "60px"}
    )
    wide = {"style": {"description_width": "initial"}, "layout": {"width": "420px"}}
    tau = ipywidgets.FloatSlider(
        value=explorer.threshold,
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
        "tau": linked(explorer, "threshold", tau),
        "fdr": linked(explorer, "fdr", fdr),
    }

    def offer(_change: Any) -> None:
        for name, slider in sliders.items():
            slider.layout.display = "flex" if name == explorer.threshold_by else "none"
        # A slider counts its steps from its minimum: 0.1418 would turn 0.70 into 0.7018.
        tau.min = math.floor(100 * min(explorer.floor, explorer.threshold)) / 100
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
