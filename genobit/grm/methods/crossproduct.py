"""``ds.genobit.crossproduct``: products of dosages, with labels."""

from __future__ import annotations

import xarray as xr

from genobit.data import model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.size_limit import compute_within_limit


class CrossproductMethods(DatasetMethods):
    """Methods of ``ds.genobit`` that multiply dosages."""

    def crossproduct(self, kernel: str = "auto", *, compute: bool = False) -> xr.DataArray:
        """Compute M M': for each pair of samples, the sum over variants of products of dosages.

        Parameters
        ----------
        kernel
            Kernel to use. "auto" takes the kernel of `grm`, the fastest on this CPU. "multiply",
            "hamming", "threebit", "twobit", "shuffle" and "packed" are the kernels compared by
            Schlather (2020). "popcount" computes four products of bit planes; each product counts
            the bits that are set in both planes. All kernels return the same integers.
        compute
            Compute at once, in memory. A result larger than ``get_options().eager_limit`` bytes is
            refused; the error gives its size.

        Returns
        -------
            int64 (samples_0, samples_1), exact, lazy unless ``compute``, with the labels of the
            samples on both sides. A dosage is the number of copies of the counted allele, 0 to 2.

        Raises
        ------
        ValueError
            For an unknown kernel, or for "shuffle" on a CPU without byte lookup instructions
            (SSSE3, AVX2, NEON). For missing calls, when the result is computed; `grm` can handle
            missing calls.
        MemoryError
            With ``compute``, if the result is larger than the limit.

        Notes
        -----
        All variants are used, including variants on X, Y and MT, which `grm` leaves out by default.
        `genobit.grm.kernels.published_products` describes the coding, the formula and the number of
        operations of each kernel.

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
        dims, coords = result_labels.of_pairs((model.SAMPLES, ds), (model.SAMPLES, ds))
        products = crossproduct(samples, kernel)
        result = model.labelled(products, coords, dims, "crossproduct", attributes)
        return (
            compute_within_limit(result, "to_zarr() or ds.genobit.isel(samples=...)")
            if compute
            else result
        )
