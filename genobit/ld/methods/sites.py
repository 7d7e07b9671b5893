"""``DataArray.genobit.ld``: linkage disequilibrium between the sites of an alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import model, result_labels
from genobit.data.alignment import SITES, TAXA, alignment_of
from genobit.data.analysis import ArrayMethods
from genobit.data.size_limit import compute_within_limit
from genobit.data.windows import named_window, window_ends
from genobit.ld.methods.matrix import band_of

if TYPE_CHECKING:
    from genobit.data.alignment import Alignment
    from genobit.ld.sites import Sites


class LDSitesMethods(ArrayMethods):
    """Methods of ``DataArray.genobit`` that compare the sites of an alignment."""

    def ld(
        self,
        statistic: str = "r2",
        *,
        gap: str = "missing",
        window: int | str | None = None,
        compute: bool = False,
    ) -> xr.DataArray:
        """Compute linkage disequilibrium between the sites of an alignment.

        Parameters
        ----------
        statistic
            "r2", "r", "D" or "dprime" for sites of at most two states; each taxon is one haplotype.
            "T" is for sites with any number of states (finite sites). For unlinked sites with v_i
            and v_j states, T approximately follows chi2 with (v_i - 1)(v_j - 1) degrees of freedom.
        gap
            "missing": a gap is a missing value. "state": a gap is one more state.
        window
            Largest distance between two sites: a number of sites (100), or base pairs ("500bp",
            "1kb") if the sites have the coordinate ``variant_position``. The result then has the
            dimensions (sites, offsets).
        compute
            Compute at once. Results larger than ``get_options().eager_limit`` bytes are refused.

        Returns
        -------
            float32, lazy unless ``compute``. Without a window: (sites_0, sites_1) with the labels
            of the sites on both sides. With a window: (sites, offsets), where entry (i, k) is the
            value of sites i and i + offsets[k]. Entries outside the window are NaN. The coordinate
            ``states`` is the number of states of each site. The coordinate ``counted_state``
            (absent for "T") is the state that sets the sign of r, D and D'. If a site has the
            states A and G, this is G, the later one in the alphabet.

        Raises
        ------
        ValueError
            For an array without the dimensions (taxa, sites), an unknown symbol, or an unknown
            statistic. Also for a site with more than two states, unless the statistic is "T".
        TypeError
            If the values are neither text nor integers.
        MemoryError
            With ``compute``, if the result is larger than the limit.

        Notes
        -----
        Missing characters, ambiguity codes and, with ``gap="missing"``, gaps are missing values.
        Each pair uses the taxa with a value at both sites. A site with one state among these taxa
        gives NaN. Formulas and limits: `genobit.ld.sites`.

        The method reads the whole alignment once to find the states of each site. A dask alignment
        is read a few chunks of sites at a time. Computing the result reads it again.

        Examples
        --------
        >>> import genobit, xarray as xr
        >>> rows = [list("AC"), list("AC"), list("GT"), list("GT"), list("-T"), list("NC")]
        >>> aln = xr.DataArray(rows, {"taxa": list("abcdef")}, ("taxa", "sites"))
        >>> aln.genobit.ld("r2").values
        array([[1., 1.],
               [1., 1.]], dtype=float32)
        >>> aln.genobit.ld("T").values
        array([[4., 4.],
               [4., 6.]], dtype=float32)
        """
        from genobit.ld import sites as finite_sites

        aligned = alignment_of(self._da, gap)
        sites = finite_sites.sites_of(aligned.values, aligned.coding, aligned.taxa, statistic)
        of_sites = _labels(self._da, sites, aligned.coding.symbols)
        attributes = _attributes(statistic, aligned)
        if window is not None:
            data = finite_sites.band(
                sites, statistic, window_ends(of_sites.rename({SITES: model.VARIANTS}), window)
            )
            attributes["window"] = named_window(window, SITES)
            result = band_of(data, SITES, of_sites, statistic, attributes)
        else:
            dims, coords = result_labels.of_pairs((SITES, of_sites), (SITES, of_sites))
            data = finite_sites.matrix(sites, statistic)
            result = model.labelled(data, coords, dims, statistic, attributes)
        return compute_within_limit(result, "use window= or select sites") if compute else result


def _labels(da: xr.DataArray, sites: Sites, symbols: tuple[str, ...]) -> xr.Dataset:
    """Return the coordinates of the sites, with ``states`` and ``counted_state``."""
    of_sites = da.coords.to_dataset().drop_vars(TAXA, errors="ignore")
    of_sites = of_sites.assign_coords(states=(SITES, sites.states))
    if sites.counted is None:
        return of_sites
    names = np.array([*symbols, ""], object)
    return of_sites.assign_coords(counted_state=(SITES, names[sites.counted]))


def _attributes(statistic: str, aligned: Alignment) -> dict[str, Any]:
    from genobit.ld.sites import LONG_NAMES

    return {
        "long_name": LONG_NAMES[statistic],
        "statistic": statistic,
        "source": "alignment",
        "taxa": len(aligned.taxa),
        "gap": aligned.attrs["gap"],
        "states": aligned.attrs["states"],
        "missing": "pairwise complete: counts are over the taxa with one state at both sites",
    }
