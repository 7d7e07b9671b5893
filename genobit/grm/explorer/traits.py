"""The traits of the relationship explorer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from genobit.data import model
from genobit.data.genotype_methods import GenotypeMethods
from genobit.grm.explorer.data import GIVEN
from genobit.visual.explorer.explorer import Explorer, label_of, one_of
from genobit.visual.explorer.files import dataset_writers
from genobit.visual.explorer.traits import Label, Members
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from genobit.grm.explorer.data import GRMData
    from genobit.grm.explorer.search import Finder


#: File endings for lists of samples.
_OF_IDS = (".txt", ".id", ".keep")


class GRMTraits(Explorer):
    """The state of a relationship explorer: its traits, and the results that they determine."""

    relations: GRMData
    methods: tuple[str, ...]

    css = "genobit-grm"
    opened_by = "explore.grm"
    selectable = "samples or variants"
    tabs = ("picture", "relatives", "samples", "components")
    method = traitlets.Unicode()
    colour_by = Label("")
    component_x = traitlets.Int(1, min=1)
    component_y = traitlets.Int(2, min=1)
    selected: Any = Members(lambda _: model.SAMPLES)
    shown: Any = Members(lambda _: model.SAMPLES, default_value=None, allow_none=True)
    between: Any = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True
    )
    pairs_of = traitlets.Enum(("all", "any", "both"), "all")
    pairs_as = traitlets.Enum(("histogram", "kinship"), "histogram")
    of_variants = traitlets.Enum(("all", "selected"), "all")

    # Results for the reader.

    @property
    def selected_dataset(self) -> xr.Dataset:
        """Dataset of the selected samples only, lazy if the whole Dataset is."""
        return GenotypeMethods(self.relations.ds).isel(samples=list(self.selected))

    @property
    def matrix(self) -> xr.DataArray:
        """Relationships of all samples, by the chosen method and from the chosen variants."""
        return self.relations.matrix(self.method, self.chosen_variants())

    def chosen_variants(self) -> tuple[int, ...]:
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

    def save(self, path: str | Path) -> Path:
        """Write the ids of the selected samples to a new text file, as `plink --keep` reads them.

        The suffix is .txt, .id or .keep. Returns the absolute path. Raises ValueError if nothing is
        selected, and FileExistsError for an existing file.
        """
        if not self.selected:
            raise ValueError("nothing is selected; draw a lasso round samples first")
        write = partial(self.relations.write_ids, self.selected)
        return self._saved(
            path, dict.fromkeys(_OF_IDS, write), number(len(self.selected), "sample id")
        )

    def save_matrix(self, path: str | Path) -> Path:
        """Write the relationships of all samples to a new .zarr or .nc file.

        Returns the absolute path. Raises FileExistsError for an existing file.
        """
        matrix = self.matrix
        what = f"the relationships of {number(self.relations.n_samples, 'sample')}"
        return self._saved(path, dataset_writers(matrix.to_dataset(name=matrix.name)), what)

    def show_any(self) -> None:
        """List pairs of any relationship: remove the range of the histogram."""
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
        return label_of("colour_by", proposal["value"], self.relations.variables, "samples")

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
