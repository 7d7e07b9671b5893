"""Exports of the LD explorer: the variants in view, and their picture as a figure for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.ld.explorer.papers import square_figure, triangle_figure
from genobit.ld.explorer.region import region_text
from genobit.ld.explorer.traits import LDTraits
from genobit.visual.explorer.files import Export, dataset_writers
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from genobit.ld.explorer.data import Window
    from genobit.ld.plots.drawing import PictureOptions
    from genobit.visual.figure import Figure


class LDFiles(LDTraits):
    """The files of an LD explorer."""

    _row: xr.DataArray | None

    def refresh(self) -> None:
        """Compute and draw all stale parts."""
        raise NotImplementedError

    def _now(self) -> Window:
        raise NotImplementedError

    def _look(self) -> PictureOptions:
        raise NotImplementedError

    @property
    def visible(self) -> xr.Dataset:
        """Dataset of the variants in view, with the statistic of all pairs.

        The matrix (variants_0, variants_1) has the variants that pass the frequency filter. If
        there is a lead variant, its r² with these variants is a variable too. In a large
        region, only some of these variants are kept (thinned). `attrs` give the region, the
        frequency filter, the thinning and the number of samples.
        """
        self.refresh()
        window = self._now()
        attrs = {
            "region": region_text(self.region),
            "min_maf": self.min_maf,
            "thinned": window.choice.in_words(),
            "samples": self._cohort.n_samples,
        }
        if self.lead is not None:
            attrs |= {"lead_index": self.lead, "lead": self._cohort.name_of(self.lead)}
        return window.as_dataset(self._row).assign_attrs(attrs)

    def save(self, path: str | Path) -> Path:
        """Write `visible` to a new .zarr or .nc file.

        Returns the absolute path. Raises FileExistsError for an existing file.
        """
        visible = self.visible
        what = number(visible.sizes["variants_0"], "variant")
        return self._saved(path, dataset_writers(visible), what)

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        window = "the statistic of all pairs in view, with their labels"
        return (
            *self.papers,
            Export("matrix in view (Zarr)", ".zarr", self.save, window),
            Export("matrix in view (NetCDF)", ".nc", self.save, window),
            self.page,
        )

    def figure(self) -> Figure:
        """Return the picture in view as a figure for papers."""
        self.refresh()
        matrix, look = self._now().matrix, self._look()
        association, genes = self._given["association"], self._given["genes"]
        if self.view == "square":
            return square_figure(matrix, look, genes)
        return triangle_figure(self, matrix, look, association, genes)
