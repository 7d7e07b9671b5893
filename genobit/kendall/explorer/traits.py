"""The traits of the Kendall explorer, and their controls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import traitlets

from genobit.kendall.explorer.searching import SHOWN, Finder
from genobit.visual.explorer.controls import button, dropdown, linked
from genobit.visual.explorer.explorer import Explorer, label_of
from genobit.visual.explorer.traits import Label, Member, Members
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.data.pairs.network import Network
    from genobit.kendall.explorer.candidates import Candidates
    from genobit.kendall.explorer.data import KendallData

#: Initial |tau| threshold.
THRESHOLD = 0.6


def _variables(explorer: KendallTraits) -> str:
    return explorer.correlated.variable


class KendallTraits(Explorer):
    """The state of a Kendall explorer: its traits, and the edges that they select."""

    correlated: KendallData
    _candidates: Candidates | None
    _finder: Finder | None = None

    css = "genobit-kendall"
    finds_all = True
    opened_by = "explore.kendall"
    tabs = ("picture", "edges", "variables")
    threshold_by = traitlets.Enum(("tau", "fdr"), "tau")
    threshold = traitlets.Float(THRESHOLD, min=0.0, max=1.0)
    fdr = traitlets.Float(0.01, min=0.0, max=1.0)
    floor = traitlets.Float(0.0)
    has_fdr = traitlets.Bool(True)  # noqa: FBT003  traitlets takes the default first
    colour_by = Label("")
    colour_points_by = Label("")
    pair: Any = Members(
        _variables, traitlets.Int(), traitlets.Int(), default_value=None, allow_none=True
    )
    variable: Any = Member(_variables, None, allow_none=True)
    opened: Any = Members(_variables, default_value=None, allow_none=True)

    # Results.

    @property
    def pairs(self) -> Network:
        """Edges that pass the threshold; waits until they are computed."""
        held = self.correlated.candidates()
        return held.table(self._found(held), self._limits)

    def _found(self, held: Candidates) -> np.ndarray:
        by_tau = self.threshold_by == "tau"
        return held.at_least(self.threshold) if by_tau else held.up_to(self.fdr)

    @property
    def _limits(self) -> dict[str, float]:
        """Limits that edges pass, named as attributes of `kendall_pairs`."""
        if self.threshold_by == "tau":
            return {"threshold": self.threshold}
        return {"threshold": self.floor, "fdr": self.fdr}

    def close_community(self) -> None:
        """Show all communities again."""
        self.opened = None

    def list_all(self) -> None:
        """List the edges of all variables in the table."""
        self.variable = None

    def clear_choice(self) -> None:
        """Choose no pair and no variable."""
        self.pair, self.variable = None, None

    def go_to(self, text: str) -> None:
        """Choose the variables that a text names; errors go to the status line.

        One name lists the edges of its variable. Two names choose a pair. Three or more names, a
        group (all variables with one value of a label) or a region of variants opens the network of
        these variables. Names or groups of observations select these observations. An empty text
        clears the chosen pair and variable.

        Parameters
        ----------
        text
            Names of variables or observations, or values of their labels, with commas between.
        """
        held = self._candidates
        if held is None:
            raise ValueError("names are known when τ has been computed; try again then")
        if not text.strip():
            self.clear_choice()
            return
        found = self._find_names().find(text)
        if found.variables:
            self._choose_places(sorted(found.variables), held, in_groups=found.in_groups)
        if found.observations:
            if "samples" not in self._names:
                dim = self.correlated.observation
                raise ValueError(f"only samples can be selected; rename {dim!r} to 'samples'")
            self._select("samples", found.observations)

    def _choose_places(self, places: list[int], held: Candidates, *, in_groups: bool) -> None:
        """Choose one variable, two as a pair, or open the network of a group or of more."""
        if len(places) == 2 and not in_groups:
            self.pair = places
            return
        if len(places) == 1 and not in_groups:
            self.variable = places[0]
        elif not held.joins(self._found(held), np.asarray(places)):
            raise ValueError(f"no edge joins two of these {number(len(places), 'variable')}")
        else:
            self.opened = places
        self._select("variants", places)

    def _find_names(self) -> Finder:
        if self._finder is None:
            known, samples = self.correlated, self._names.get("samples")
            observations = [] if samples is None else samples.index
            self._finder = Finder(
                {str(name): k for k, name in enumerate(known.names)},
                {str(name): k for k, name in enumerate(observations)},
                known.variable_labels,
                known.observation_labels,
                self._variants_within,
            )
        return self._finder

    def _variants_within(self, region: str) -> list[int]:
        variants = self._names.get("variants")
        inside = [] if variants is None else variants.within(region)
        return [] if variants is None else variants.index.get_indexer(inside).tolist()

    # Validation of traits.

    @traitlets.validate("colour_by")
    def _check_colour(self, proposal: Any) -> str:
        kept = self.correlated
        return label_of("colour_by", proposal["value"], kept.variable_labels, kept.variable)

    @traitlets.validate("colour_points_by")
    def _check_colour_of_points(self, proposal: Any) -> str:
        kept = self.correlated
        value, labels = proposal["value"], kept.observation_labels
        return label_of("colour_points_by", value, labels, kept.observation)

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


def toolbar(explorer: KendallTraits) -> list[ipywidgets.Widget]:
    """Return the controls over the picture: what makes an edge, its threshold, and colours."""
    known = explorer.correlated
    colour = _labels("colour", known.variable_labels, known.variable, "community")
    colour.layout.width = "190px"
    return [*_threshold(explorer), linked(explorer, "colour_by", colour)]


def drawer(explorer: KendallTraits) -> dict[str, list[ipywidgets.Widget]]:
    """Return the sections of the drawer."""
    known = explorer.correlated
    points = _labels("colour points by", known.observation_labels, known.observation, "none")
    back = button(explorer, "all communities", "expand", "", explorer.close_community)
    every = button(explorer, "list all edges", "list", "", explorer.list_all)
    none = button(explorer, "clear choice", "times", "", explorer.clear_choice)

    def offer(_change: Any) -> None:
        back.disabled = explorer.opened is None
        every.disabled = explorer.variable is None
        none.disabled = explorer.variable is None and explorer.pair is None

    explorer.observe(offer, ["opened", "variable", "pair"])
    offer(None)
    return {
        "Scatter": [linked(explorer, "colour_points_by", points)],
        "Network": [back, every, none],
    }


def search(explorer: KendallTraits) -> ipywidgets.Text:
    """Return the search box, which shows the chosen pair or variable and takes other names."""
    groups = [*explorer.correlated.variable_labels, *explorer.correlated.observation_labels]
    others = f", or values of {', '.join(groups[:SHOWN])}" if groups else ""
    text = ipywidgets.Text(
        placeholder="one variable, a pair, or a group",
        tooltip=f"names of variables or observations{others}; then Enter",
        continuous_update=False,
    ).add_class("genobit-kendall-search")

    shown = ""

    def show(change: Any) -> None:
        nonlocal shown
        places = np.atleast_1d([] if change["new"] is None else change["new"]).astype("i8")
        shown = ", ".join(str(name) for name in explorer.correlated.names[places])
        text.value = shown

    def ask(change: Any) -> None:
        # Ignore text that the explorer itself wrote, or it would search for this text.
        if change["new"] != shown:
            explorer.try_to(explorer.go_to, change["new"])
        else:
            explorer._forget_refusal()

    explorer.observe(show, ["pair", "variable"])
    text.observe(ask, "value")
    return text


def _threshold(explorer: KendallTraits) -> list[ipywidgets.Widget]:
    by = ipywidgets.ToggleButtons(
        options=[("|τ|", "tau"), ("FDR", "fdr")],
        tooltips=["edges by their absolute τ", "edges by their q-value"],
        style={"button_width": "52px"},
        layout={"width": "auto"},
    )
    wide = {"style": {"description_width": "initial"}, "layout": {"width": "210px"}}
    tau = ipywidgets.FloatSlider(
        value=explorer.threshold,
        min=0.0,
        max=1.0,
        step=0.01,
        description="≥",
        readout_format=".2f",
        **wide,
    )
    fdr = ipywidgets.FloatLogSlider(
        value=explorer.fdr,
        base=10,
        min=-20,
        max=0,
        step=0.1,
        description="≤",
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
    return [linked(explorer, "threshold_by", by), *sliders.values()]


def _labels(
    text: str, labels: dict[str, np.ndarray], dim: str, without: str
) -> ipywidgets.Dropdown:
    prefix = f"{dim.removesuffix('s')}_"
    names = {name.removeprefix(prefix).replace("_", " "): name for name in labels}
    made = dropdown(text, [(without, ""), *names.items()], "")
    made.tooltip = f"label of the {dim} that colours them"
    return made
