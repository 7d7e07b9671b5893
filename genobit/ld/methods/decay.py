"""``ds.genobit.ld_decay``: decay of linkage disequilibrium with distance, by population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import model, packed
from genobit.data.aligning import populations_of
from genobit.data.analysis import DatasetMethods
from genobit.data.checks import check_share, check_whole
from genobit.data.contigs import contig_of_variants
from genobit.data.windows import named_window, window_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from genobit.ld.decay import Decay, GenomePositions, Resampling

BINS, POPULATIONS, BOUNDS = "bins", model.POPULATIONS, "bounds"
_UNITS = {
    model.VARIANT_POSITION: ("bp", "base pairs"),
    model.VARIANT_GENETIC_POSITION: ("cM", "centimorgans"),
}


class LDDecayMethods(DatasetMethods):
    """Methods of ``ds.genobit`` on the decay of linkage disequilibrium."""

    def ld_decay(
        self,
        window: str = "500kb",
        *,
        bins: int | Sequence[float] = 50,
        populations: str | ArrayLike | xr.DataArray | None = None,
        statistic: str = "r2",
        phased: bool | None = None,
        parts: int = 50,
        resamples: int = 200,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> xr.Dataset:
        """Compute the decay of LD with distance: means, fitted curve and half-decay distance.

        Parameters
        ----------
        window
            Largest distance between two variants: "500kb", "1Mb", "0.5cM". Pairs on different
            contigs are left out.
        bins
            Number of bins of equal width, or the bin edges. Edges are in base pairs, or in cM if
            the window is in cM.
        populations
            Population of each sample, (samples,), or the name of a variable. Decay is computed for
            each population; the result lists populations in sorted order. A DataArray or Series is
            aligned by its labels. Samples without a value are left out. By default all samples are
            one population.
        statistic
            "r2", or "r2_em" (dosages only), as for `ld`.
        phased
            As for `ld`.
        parts, resamples, confidence, seed
            Settings of the block bootstrap: number of blocks, number of resamples, level of the
            confidence intervals, and seed of the random numbers. Blocks have equally many variants
            and never span contigs, so their number is approximate. Blocks should be longer than the
            range of LD, so use fewer for a short region.

        Returns
        -------
            Dataset, computed. If ``populations`` is given, it is the first dimension. Each bin has

            - ``r2`` or ``r2_em``: mean of the statistic
            - ``mean_interval``: its confidence interval, with dimension ``bounds`` (lower, upper)
            - ``pairs``: number of pairs
            - ``distance``: mean distance of the pairs
            - ``curve``: value of the fitted curve
            - ``bin_start``, ``bin_stop``: edges; a pair at an edge is in the lower bin

            Each population has

            - ``rho``: fitted population recombination rate 4 N c per unit of distance
            - ``fit``: "fits" or "does not fit"; "below the bins" or "beyond the bins" if the
              half-decay distance is outside the bins
            - ``fit_r2``: share of the variation between bins that the curve explains
            - ``half_decay``: distance at which the curve is half of its value at 0; NaN if ``fit``
              has another value than "fits"
            - ``half_decay_of_means``: distance at which the means first fall to half of the first
              mean; infinite if they never do
            - ``half_decay_interval``, ``half_decay_of_means_interval``: confidence intervals, with
              dimension ``bounds``
            - ``observations``: number of haplotypes, or number of samples for dosages

            ``attrs["unit"]`` is the unit of distances. ``attrs["fit"]`` describes ``fit`` and
            ``fit_r2`` in words.

        Raises
        ------
        ValueError
            For a window given as a number of variants, an argument with an invalid value, unsorted
            positions, or a population with only one observation.
        KeyError
            If the Dataset lacks the positions for the window, or the variable ``populations``.

        Notes
        -----
        Pairs are streamed: memory holds only sums for each bin and block. The means are
        bit-identical for all chunkings and thread counts, because each r2 is rounded to a multiple
        of 2^-29. This changes a mean by less than 1e-9. Pairs with a monomorphic variant have no r2
        and are left out. Rare variants lower all means, so filter variants by
        `allele_frequency` first. Formulas and references: `genobit.ld.decay`.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> rng = np.random.default_rng(1)
        >>> calls = rng.integers(0, 2, (40, 20, 2)).astype("int8")
        >>> ds = xr.Dataset(
        ...     {
        ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
        ...         "variant_position": ("variants", 1000 * np.arange(40)),
        ...     }
        ... )
        >>> decay = ds.genobit.ld_decay("10kb", bins=5)
        >>> decay.pairs.values, bool((decay.r2 < 0.2).all())
        (array([77, 73, 69, 65, 61]), True)
        """
        from genobit.ld import decay as analysis

        resampling = _resampling(resamples, confidence, seed)
        ds, layout, _ = packed.by_variants(self._ds, phased=phased)
        analysis.check_choice(statistic, layout.kind)
        along, variable, size = _along(ds, window, parts)
        edges = analysis.edges_of(bins, size)
        groups = [("all samples", None)] if populations is None else populations_of(ds, populations)
        found, observations = [], []
        for name, mask in groups:
            chosen = ds if mask is None else packed.isel(ds, None, mask)
            _, part, planes = packed.by_variants(chosen, phased=phased)
            if part.bits < 2:
                msg = f"population {name!r} has one observation, which has no r2: leave it out"
                raise ValueError(msg)
            sums = analysis.sums(planes, part, statistic, along, edges)
            found.append(analysis.decay(sums, edges, part.bits, resampling))
            observations.append(part.bits)
        unit, unit_name = _UNITS[variable]
        attributes = {
            "statistic": statistic,
            "source": layout.kind + "s",
            "window": named_window(window),
            "unit": unit,
            "parts": int(along.part[-1]) + 1,
            **resampling._asdict(),
            "missing": "pairwise complete: counts are over the calls present at both variants",
        }
        fits = [_fit_in_words(decay, unit) for decay in found]
        if populations is not None:
            fits = [f"{name}: {text}" for (name, _), text in zip(groups, fits, strict=True)]
        attributes["fit"] = fits[0] if populations is None else fits
        result = _labelled(found, statistic, edges, unit_name, attributes)
        result["observations"] = (POPULATIONS, observations, {"long_name": "n of the curve"})
        if populations is None:
            return result.isel({POPULATIONS: 0})
        return result.assign_coords({POPULATIONS: [name for name, _ in groups]})


def _resampling(times: int, confidence: float, seed: int) -> Resampling:
    from genobit.ld.decay import Resampling

    check_whole("resamples", times)
    check_whole("seed", seed, 0)
    check_share("confidence", confidence)
    if confidence in (0, 1):
        msg = f"confidence={confidence!r} is outside (0, 1): give a confidence level such as 0.95"
        raise ValueError(msg)
    return Resampling(int(times), float(confidence), int(seed))


def _along(ds: xr.Dataset, window: str, parts: int) -> tuple[GenomePositions, str, float]:
    """Return the variants along the genome, and the variable and size of the window."""
    from genobit.data.windows import parse_window
    from genobit.ld.decay import GenomePositions, parts_of

    variable, size = parse_window(window)
    if variable is None:
        msg = f"window={window!r} is a number of variants: a decay is over a distance, '500kb'"
        raise ValueError(msg)
    check_whole("parts", parts)
    place = model.values(ds, variable, needed_for=f"window={window!r}")
    contig = contig_of_variants(ds)
    cut = parts_of(place.size, contig, parts)
    return GenomePositions(place.astype(np.float64), window_ends(ds, window), cut), variable, size


def _fit_in_words(decay: Decay, unit: str) -> str:
    """Say whether the curve fits the means, and what to change if it has no half-decay distance."""
    from genobit.ld.decay import BELOW, BEYOND, FITS

    fit, seen = decay.fit, decay.distance[decay.pairs > 0]
    compared = f"R² {fit.r2:.2f}, AIC {fit.support:.1f} below that of a constant"
    if fit.verdict == FITS:
        return f"the curve fits the means of the bins ({compared})"
    if fit.verdict == BELOW:
        return (
            f"the curve falls to half before the first bin, at {seen.min():.4g} {unit}: use a "
            "smaller window= or more bins="
        )
    if fit.verdict == BEYOND:
        return (
            f"the curve falls to half after the last bin, at {seen.max():.4g} {unit}: use a "
            "larger window="
        )
    return f"the curve does not fit the means of the bins ({compared}): no half-decay distance"


def _labelled(
    found: list[Decay],
    statistic: str,
    edges: NDArray[np.float64],
    unit: str,
    attributes: dict[str, Any],
) -> xr.Dataset:
    def stacked(name: str) -> NDArray[Any]:
        return np.array([getattr(decay, name) for decay in found])

    by_bin, by_bound = (POPULATIONS, BINS), (POPULATIONS, BOUNDS)
    half, of_means = stacked("half"), stacked("half_of_means")
    about = {"long_name": "half-decay distance of the curve", "units": unit}
    about_means = {"long_name": "half-decay distance of the means", "units": unit}
    return xr.Dataset(
        {
            statistic: (by_bin, stacked("mean"), {"long_name": "mean r²"}),
            "mean_interval": (
                (*by_bin, BOUNDS),
                stacked("interval"),
                {"long_name": "interval of mean r²"},
            ),
            "pairs": (by_bin, stacked("pairs"), {"long_name": "pairs of variants"}),
            "distance": (by_bin, stacked("distance"), {"long_name": "distance", "units": unit}),
            "curve": (by_bin, stacked("curve"), {"long_name": "expectation of r²"}),
            # Object dtype: Zarr has no stable specification for fixed-width text.
            "fit": (
                POPULATIONS,
                np.array([x.fit.verdict for x in found], object),
                {"long_name": "whether the curve fits"},
            ),
            "fit_r2": (
                POPULATIONS,
                [x.fit.r2 for x in found],
                {"long_name": "R² of the curve"},
            ),
            "rho": (
                POPULATIONS,
                stacked("rho"),
                {"long_name": "4 N c", "units": f"1 / {unit}"},
            ),
            "half_decay": (POPULATIONS, half[:, 0], about),
            "half_decay_interval": (by_bound, half[:, 1:], about),
            "half_decay_of_means": (POPULATIONS, of_means[:, 0], about_means),
            "half_decay_of_means_interval": (by_bound, of_means[:, 1:], about_means),
        },
        {
            "bin_start": (BINS, edges[:-1], {"units": unit}),
            "bin_stop": (BINS, edges[1:], {"units": unit}),
            BOUNDS: ["lower", "upper"],
        },
        attributes,
    )
