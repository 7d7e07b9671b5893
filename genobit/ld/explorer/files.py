"""Export of the window in view, as a Dataset and as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.ld.explorer.region import region_text
from genobit.visual.files import Export, dataset_writers
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path


class LDFiles:
    """Export methods of the explorer."""

    @property
    def visible(self: Any) -> xr.Dataset:
        """The window in view: the statistic of all its pairs, and the row of the lead variant.

        Dims (variants_0, variants_1) hold the variants that pass the frequency filter. The row is
        there if there is a lead. `attrs` give the region, the filter, thinning and the number of
        samples.
        """
        self.refresh()
        window = self._now()
        matrix = window.matrix
        kept = {key: value for key, value in matrix.attrs.items() if key != "contig_id"}
        variables = {str(matrix.name): matrix.drop_attrs().assign_attrs(kept)}
        if self._row is not None:
            variables["lead_r2"] = self._row.isel(variants_1=0, drop=True).drop_attrs()
        attrs = {
            "region": region_text(self.region),
            "min_maf": self.min_maf,
            "thinned": window.choice.in_words(),
            "samples": self._cohort.n_samples,
        }
        if self.lead is not None:
            attrs["lead_index"] = self.lead
            attrs["lead"] = self._cohort.name_of(self.lead)
        return xr.Dataset(variables, attrs=attrs)

    def save(self: Any, path: str | Path) -> Path:
        """Write `visible` to a new .zarr or .nc file.

        Parameters
        ----------
        path
            Path of the file; its suffix gives the format.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If the suffix is not .zarr or .nc.
        FileExistsError
            If the file exists.
        """
        visible = self.visible
        what = number(visible.sizes["variants_0"], "variant")
        return self._saved(path, dataset_writers(visible), what)

    @property
    def exports(self: Any) -> tuple[Export, ...]:
        """Exports in the save menu."""
        window = "the statistic of all pairs in view, with their labels"
        return (
            Export("window (Zarr)", ".zarr", self.save, window),
            Export("window (NetCDF)", ".nc", self.save, window),
            self.page,
        )
