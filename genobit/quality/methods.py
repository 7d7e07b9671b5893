"""``ds.genobit.allele_frequency``: validate, compute, and label the result."""

from __future__ import annotations

import xarray as xr

from genobit.data import labels, model, packed


class QualityMethods:
    """Methods of ``ds.genobit`` about the quality of variants."""

    _ds: xr.Dataset

    def allele_frequency(self) -> xr.DataArray:
        """Compute the frequency of the counted allele of each variant.

        Returns
        -------
            float64 (variants,), lazy: the number of copies of the counted allele, divided by the
            number of called alleles. A variant without calls is NaN. ``attrs["counted_allele"]``
            names the counted allele. The minor allele frequency is ``np.minimum(f, 1 - f)``.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [-1, -1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.allele_frequency().values
        array([0.75])
        """
        from genobit.data.frequency import allele_frequency

        ds, layout, planes = packed.by_variants(self._ds, phased=None)
        return xr.DataArray(
            allele_frequency(planes, layout),
            dims=model.VARIANTS,
            coords=labels.along(ds, model.VARIANTS),
            name="allele_frequency",
            attrs={
                "long_name": "frequency of the counted allele",
                model.COUNTED_ALLELE: model.counted_allele(ds),
            },
        )
