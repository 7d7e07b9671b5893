"""The traits of the relationship explorer, and their controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import traitlets

from genobit.grm.explorer.data import GIVEN
from genobit.visual.controls import button, dropdown, linked
from genobit.visual.explorer import Explorer, one_of

if TYPE_CHECKING:
    import xarray as xr

    from genobit.grm.explorer.data import GRMData
    from genobit.grm.explorer.search import Finder


class GRMTraits(Explorer):
    """The state of a relationship explorer: its traits, and the results that they determine."""

    relations: GRMData
    methods: tuple[str, ...]

    css = "genobit-grm"
    opened_by = "explore.grm"
    selectable = "samples or variants"
    tabs = ("picture", "relatives", "samples", "components")
    method = traitlets.Unicode()
    colour_by = traitlets.Unicode("")
    component_x = traitlets.Int(1, min=1)
    component_y = traitlets.Int(2, min=1)
    selected: Any = traitlets.Tuple()
    shown: Any = traitlets.Tuple(default_value=None, allow_none=True)
    between: Any = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True
    )
    pairs_of = traitlets.Enum(("all", "any", "both"), "all")
    of_variants = traitlets.Enum(("all", "selected"), "all")

    # Results for the reader.

    @property
    def selected_dataset(self) -> xr.Dataset:
        """Dataset of the selected samples only, lazy if the whole Dataset is."""
        return self.relations.ds.genobit.isel(samples=list(self.selected))

    @property
    def matrix(self) -> xr.DataArray:
        """Relationships of all samples, by the chosen method and from the chosen variants."""
        return self.relations.matrix(self.method, self._chosen_variants())

    def _chosen_variants(self) -> tuple[int, ...]:
        """Return the positions of the variants to use, empty for all."""
        if self.of_variants == "all" or self.method == GIVEN:
            return ()
        return tuple(self._places("variants").tolist())

    @property
    def finder(self) -> Finder:
        """Names and labels of samples that the search box finds."""
        return self.relations.finder

    def find(self, text: str) -> None:
        """Select samples by their names, or by labels such as a family or a population.

        Parameters
        ----------
        text
            Names and labels, with commas or spaces between.
        """
        self.selected = self.finder.find(text)

    def show_any(self) -> None:
        """List pairs of any relationship: clear the range ``between``."""
        self.between = None

    def zoom_to_selection(self) -> None:
        """Draw the heatmap of the selected samples only, with their own tree."""
        if len(self.selected) < 2:
            raise ValueError("select two samples or more to zoom to them")
        self.shown = self.selected

    def show_all(self) -> None:
        """Draw the heatmap of all samples."""
        self.shown = None

    # Validation of traits.

    @traitlets.validate("method")
    def _check_method(self, proposal: Any) -> str:
        return one_of("method", proposal["value"], self.methods)

    @traitlets.validate("colour_by")
    def _check_colour(self, proposal: Any) -> str:
        return one_of("colour_by", proposal["value"], ("", *self.relations.variables))

    @traitlets.validate("component_x", "component_y")
    def _check_component(self, proposal: Any) -> int:
        value, last = proposal["value"], self.relations.n_components
        if value > last:
            raise traitlets.TraitError(f"there is no component {value}; use 1 to {last}")
        return int(value)

    @traitlets.validate("selected", "shown")
    def _check_samples(self, proposal: Any) -> tuple[int, ...] | None:
        if proposal["value"] is None:
            return None
        places = np.unique(np.asarray(proposal["value"], dtype="i8"))
        if len(places) and not 0 <= places[0] <= places[-1] < self.relations.n_samples:
            last = self.relations.n_samples - 1
            raise traitlets.TraitError(
                f"{proposal['trait'].name} holds {places[0]} to {places[-1]}, and the samples "
                f"are 0 to {last}"
            )
        return tuple(places.tolist())


def toolbar(explorer: GRMTraits) -> list[ipywidgets.Widget]:
    """Return the controls over the picture: method, colours and zoom."""
    relations = explorer.relations
    method = ipywidgets.Dropdown(
        options=[(relations.label_of(name), name) for name in relations.methods],
        layout={"width": "136px"},
    )
    names = {"": "none"} | {
        name: name.removeprefix("sample_").replace("_", " ") for name in relations.variables
    }
    colour = dropdown("colour by", [(text, name) for name, text in names.items()], "190px")
    return [
        linked(explorer, "method", method),
        linked(explorer, "colour_by", colour),
        _zoom(explorer),
    ]


def drawer(explorer: GRMTraits) -> dict[str, list[ipywidgets.Widget]]:
    """Return the sections of the drawer."""
    components = [(f"PC{k}", k) for k in range(1, explorer.relations.n_components + 1)]
    x, y = (dropdown(axis, components, "") for axis in ("x", "y"))
    pairs = [("all samples", "all"), ("selection, any", "any"), ("selection, both", "both")]
    over = [("all", "all"), ("selected", "selected")]
    whole = button(explorer, "any relationship", "arrows-h", "", explorer.show_any)

    def offer(_change: Any) -> None:
        whole.disabled = explorer.between is None

    explorer.observe(offer, "between")
    offer(None)
    return {
        "Components": [linked(explorer, "component_x", x), linked(explorer, "component_y", y)],
        "Relatives": [linked(explorer, "pairs_of", dropdown("pairs of", pairs, "")), whole],
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
