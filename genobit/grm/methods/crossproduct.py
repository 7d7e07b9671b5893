"""``ds.genobit`` on products of dosages.

A part of the accessor, and like it labels in, labels out. May import: packed and what is below.
"""

from __future__ import annotations

import xarray as xr

from genobit.data import labels, model, packed
from genobit.data.size_limit import computed


class CrossproductMethods:
    """Methods of ``ds.genobit`` that multiply dosages."""

    _ds: xr.Dataset

    def crossproduct(self, kernel: str = "auto", *, compute: bool = False) -> xr.DataArray:
        """Sums over variants of products of dosages, M M', of all pairs of samples.

        Parameters
        ----------
        kernel
            Which multiplication: "auto", the fastest here, or one of those that Schlather (2020)
            compares, "multiply", "hamming", "threebit", "twobit", "shuffle" and "packed", or
            "popcount", four AND products of bit planes. All give the same integers.
        compute
            Compute at once, in memory. Refused, with its size, where the result would be larger
            than ``get_options().eager_limit`` bytes.

        Returns
        -------
            int64 (samples_0, samples_1), exact, lazy unless ``compute``, with the labels of the
            samples on both sides. A dosage is the number of copies of the counted allele, 0 to 2.

        Raises
        ------
        ValueError
            For an unknown kernel, or "shuffle" on a CPU without a byte lookup; when computed, for
            missing calls: `grm` says how they count.
        MemoryError
            With ``compute``, for a result past the limit.

        Notes
        -----
        Every variant counts, those on X, Y and MT too: a product has no model of chromosomes, while
        `grm` leaves them out. The codings, identities and operation counts are in
        `genobit.grm.kernels.crossproducts`, one module a kernel.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.crossproduct("shuffle").values
        array([[2, 3, 0],
               [3, 5, 0],
               [0, 0, 0]])
        """
        from genobit.grm.crossproduct import crossproduct

        ds, _, samples = packed.by_samples(self._ds)
        attributes = {
            "long_name": "sum of products of dosages",
            "kernel": kernel,
            "missing": "refused",
            "variants": sum(samples.variants),
            model.COUNTED_ALLELE: model.counted_allele(ds),
        }
        result = xr.DataArray(
            crossproduct(samples, kernel),
            {**labels.along(ds, model.SAMPLES, "_0"), **labels.along(ds, model.SAMPLES, "_1")},
            (model.SAMPLES + "_0", model.SAMPLES + "_1"),
            "crossproduct",
            attributes,
        )
        return computed(result, "to_zarr() or ds.genobit.isel(samples=...)") if compute else result
