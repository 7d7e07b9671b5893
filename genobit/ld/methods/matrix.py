"""``ds.genobit.ld``: linkage disequilibrium of all pairs or of a window, with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.guards.calls import warn_without_calls
from genobit.data.size_limit import compute_within_limit
from genobit.data.windows import named_window, window_ends

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from genobit.engine.bits.layout import Layout


class LDMethods(DatasetMethods):
    """Methods of ``ds.genobit`` that give LD as a matrix or a band."""

    def ld(
        self,
        statistic: str = "r2",
        *,
        phased: bool | None = None,
        other: xr.Dataset | str | Sequence[str] | None = None,
        window: int | str | None = None,
        compute: bool = False,
    ) -> xr.DataArray:
        """Compute linkage disequilibrium between variants.

        Parameters
        ----------
        statistic
            "r2" or "r" (squared or signed correlation). For haplotypes also "D" or "dprime" (signed
            D'). For dosages also "r2_em" or "dprime_em": r2 and signed D' from EM haplotype
            frequencies. ``plink --r2 dprime`` prints the same values, but D' without its sign.
        phased
            Correlate haplotypes (True) or dosages (False: the composite LD of ``plink --r2``). By
            default, a packed Dataset keeps its haplotypes or dosages, and ``call_genotype`` is
            converted to dosages. Haplotypes need phased calls, as in `pack`.
        other
            Variants to compare with: a Dataset of the same samples, or ids or regions of this
            Dataset, such as `"rs4988235"`. They become the columns of the result. By default all
            variants are compared with each other.
        window
            Largest distance between two variants: a number of variants (1000) or a distance
            ("500kb", "0.5cM"). Pairs on different contigs are left out. The result then has the
            dimensions (variants, offsets).
        compute
            Compute at once, in memory. A result larger than ``get_options().eager_limit`` bytes is
            refused; the error gives its size.

        Returns
        -------
            float32, lazy unless ``compute``. Without a window: (variants_0, variants_1), with the
            labels of the variants on both sides. With a window: (variants, offsets), where entry
            (i, k) is the value of variants i and i + offsets[k]. Entries outside the window are
            NaN.

        Raises
        ------
        ValueError
            For an unknown statistic, or one not defined for the data (haplotypes or dosages). If
            ``other`` has different samples. With ``window``, for unsorted positions.
        MemoryError
            With ``compute``, if the result is larger than the limit.

        Notes
        -----
        Each pair uses the calls present at both variants. Monomorphic variants give NaN. The cost
        grows with variants^2 x samples. Formulas and references: `genobit.ld.matrix`.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.ld("r2").values.round(2)
        array([[1.  , 0.75],
               [0.75, 1.  ]], dtype=float32)
        """
        from genobit.ld import matrix as ld

        warn_without_calls(self._ds, "LD values")
        ds, layout, planes = packed.by_variants(self._ds, phased=phased)
        ld.check_statistic(statistic, layout.kind)
        if window is not None and other is not None:
            msg = "window= and other= do not go together: a band is of one set of variants"
            raise ValueError(msg)
        right, right_planes = ds, None
        if other is not None:
            right, right_planes = packed.other_by_variants(other, ds, layout)
        last = None if window is None else window_ends(ds, window)
        attributes = _ld_attributes(statistic, layout, ds)
        if last is not None and window is not None:
            data = ld.band(planes, layout, statistic, last)
            wide = named_window(window)
            band = band_of(data, model.VARIANTS, ds, statistic, {**attributes, "window": wide})
            smaller = f"use a window= smaller than {wide} or ld_pairs(), select variants"
            return compute_within_limit(band, smaller) if compute else band
        data = ld.matrix(planes, layout, statistic, right_planes)
        dims, coords = result_labels.of_pairs((model.VARIANTS, ds), (model.VARIANTS, right))
        matrix = model.labelled(data, coords, dims, statistic, attributes)
        smaller = "select variants" if other is not None else "use window= or ld_pairs()"
        return compute_within_limit(matrix, smaller) if compute else matrix


def band_of(
    data: Any, dim: str, ds: xr.Dataset, statistic: str, attributes: dict[str, Any]
) -> xr.DataArray:
    """Return a band (dim, offsets) with the labels that ``ds`` has along ``dim``."""
    coords: dict[Hashable, Any] = result_labels.along(ds, dim)
    coords["offsets"] = ("offsets", np.arange(1, data.shape[1] + 1))
    return model.labelled(data, coords, (dim, "offsets"), statistic, attributes)


def _ld_attributes(statistic: str, layout: Layout, ds: xr.Dataset) -> dict[str, Any]:
    from genobit.ld.matrix import LONG_NAMES

    return {
        "long_name": LONG_NAMES[statistic],
        "statistic": statistic,
        "source": layout.kind + "s",
        "missing": "pairwise complete: counts are over the calls present at both variants",
        model.COUNTED_ALLELE: model.counted_allele(ds),
    }
