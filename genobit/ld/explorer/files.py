"""What the LD explorer gives away: the window in view, as a Dataset and as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.ld.explorer.region import region_text
from genobit.visual.files import Export, dataset_writers
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path


class LDFiles:
    """Taking away and saving, for the explorer."""

    @property
    def visible(self: Any) -> xr.Dataset:
        """The window in view: the statistic of all its pairs, and the lead's row if there is one.

        Dims (variants_0, variants_1), the variants after the frequency filter; `attrs` say the
        region, the filter, and whether the window was thinned or is of some samples.
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
            Where to; the suffix says the format.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If the suffix is another one.
        FileExistsError
            If there is such a file already.
        """
        visible = self.visible
        what = number(visible.sizes["variants_0"], "variant")
        return self._saved(path, dataset_writers(visible), what)

    @property
    def exports(self: Any) -> tuple[Export, ...]:
        """What can be saved: the lines of the menu."""
        window = "the statistic of all pairs in view, with their labels"
        return (
            Export("window (Zarr)", ".zarr", self.save, window),
            Export("window (NetCDF)", ".nc", self.save, window),
            self.page,
        )
