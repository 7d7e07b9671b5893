"""``ds.genobit`` methods that thin or rank variants by linkage: pruning, clumps, LD scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import aligning, labels, model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.checks import check_share, check_whole
from genobit.data.windows import contig_runs, named_window, window_ends
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike, NDArray

    from genobit.ld.clump import Clumps

COMPLETE = "pairwise complete: r2 is of the calls present at both variants"


class LDPruneMethods(DatasetMethods):
    """Methods of ``ds.genobit`` that thin variants by linkage disequilibrium."""

    def ld_prune(
        self,
        window: int | str = 50,
        step: int = 5,
        threshold: float = 0.2,
        *,
        allele_frequency: str | ArrayLike | xr.DataArray | None = None,
        phased: bool | None = None,
    ) -> xr.DataArray:
        """Prune variants until no pair in a window has an r2 above a limit, as plink does.

        Parameters
        ----------
        window
            Size of a window: a number of variants (50), or a distance from its first variant
            ("500kb", "0.5cM"). Windows never span contigs.
        step
            Number of variants the window moves each step.
        threshold
            Largest r2 of two kept variants in one window.
        allele_frequency
            Allele frequency of each variant, (variants,), or the name of a variable. The default
            is the frequency in these samples. In a pair above the limit, the variant with the
            rarer minor allele is removed. A DataArray or Series is aligned by its labels.
        phased
            As for `ld`.

        Returns
        -------
            bool (variants,), computed, with the labels of the variants: True for a variant that is
            kept. Select with ``ds.genobit.isel(variants=keep)``.

        Raises
        ------
        ValueError
            For a window, step, threshold or frequency out of range, or unsorted positions.
        KeyError
            For a name that the Dataset lacks.

        Notes
        -----
        If all samples are founders, the result is the same as from ``plink --indep-pairwise window
        step threshold``. plink computes r2 from founders only. Allele frequencies in plink are also
        from founders only, unless ``--nonfounders`` is given. Monomorphic variants are removed
        first. If both variants of a pair have the same minor allele frequency, the later one is
        removed. Windows in kb also move by ``step`` variants, as in plink 1.9; plink2 moves them by
        one variant. Each r2 uses the calls present at both variants. Memory holds a few chunks and
        the variants of a window. The result is the same for every chunking and scheduler.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.ld_prune(threshold=0.5).values
        array([ True, False])
        """
        from genobit.ld import prune as ld_prune

        check_share("threshold", threshold)
        check_whole("step", step)
        ds, layout, planes = packed.by_variants(self._ds, phased=phased)
        runs = contig_runs(ds)
        reach = window_ends(ds, window, count=True, runs=runs) + 1
        windows = ld_prune.sliding_windows(reach, runs.starts, step)
        minor = None if allele_frequency is None else _minor(ds, allele_frequency)
        placed = runs.of_variants(reach.size)
        keep = placed & ld_prune.prune(planes, layout, windows, threshold, minor)
        attributes = {
            "long_name": "variant stays when pruned by linkage disequilibrium",
            "window": named_window(window),
            "step": int(step),
            "threshold": float(threshold),
            "source": layout.kind + "s",
            "missing": COMPLETE,
            "kept": int(keep.sum()),
            "unplaced": int((~placed).sum()),
        }
        mask = xr.DataArray(keep, dims=model.VARIANTS, name="ld_prune", attrs=attributes)
        return mask.assign_coords(result_labels.along(ds, model.VARIANTS))

    def ld_clump(
        self,
        p: str | ArrayLike | xr.DataArray,
        threshold: float = 0.5,
        window: int | str = "250kb",
        p1: float = 1e-4,
        p2: float = 1e-2,
        *,
        log10: bool = False,
        statistic: str | None = None,
        phased: bool | None = None,
    ) -> xr.Dataset:
        """Group associated variants into clumps around the smallest p-values, as plink does.

        Parameters
        ----------
        p
            p-value of each variant, (variants,), or the name of a variable. A variant with NaN is
            left out. A DataArray or Series is aligned by its labels.
        threshold
            Members have an r2 above this limit with the index variant. An r2 that exceeds the limit
            only by rounding (relative difference up to 2^-44) counts as equal.
        window
            Limit on the distance between a member and the index variant, on either side. A distance
            in base pairs or cM is exclusive: "250kb" reaches 249,999 bp, as in plink 1.9. A number
            of variants is inclusive: 10 includes the tenth variant.
        p1
            Largest p of an index variant.
        p2
            Members with p below this are marked in ``listed``.
        log10
            Whether ``p`` holds -log10 of the p-values, for p-values too small for float64. ``p1``
            and ``p2`` remain p-values.
        statistic
            "r2", or "r2_em" (dosages only), as for `ld`. The default is "r2" for haplotypes and,
            as in plink 1.9, "r2_em" for dosages.
        phased
            As for `ld`.

        Returns
        -------
            Dataset, computed. Variables along ``clumps``, sorted by p, are

            - ``index_variant``: position along ``variants``
            - ``p``: p of the index variant, as given
            - ``total``: number of members, without the index variant
            - ``nsig``: number of members with p of 0.05 or more
            - ``s05``, ``s01``, ``s001``, ``s0001``: numbers of members with p in [0.01, 0.05),
              [0.001, 0.01), [0.0001, 0.001) and [0, 0.0001)

            Variables along ``members``, clump by clump, are

            - ``member``: position along ``variants``
            - ``clump``: index of the clump
            - ``r2``: r2 with the index variant
            - ``member_p``: p as given
            - ``listed``: whether p is below ``p2``

            The labels of the variants are coordinates along both dimensions.

        Raises
        ------
        ValueError
            For p-values out of range or of another length, p1 larger than p2, another statistic, or
            unsorted positions.
        TypeError
            If ``p`` is not numeric.
        KeyError
            For a name that the Dataset lacks.

        Notes
        -----
        The rule follows ``plink --clump`` without ``--clump-allow-overlap``. Variants with p up to
        p1 are visited in order of p, and in file order for equal p. A visited variant without a
        clump becomes the index variant of a new clump. Members of the clump are the variants in the
        window that are in no other clump, and whose r2 with the index variant is above the limit.
        They may have any p. Each r2 uses the calls present at both variants. Memory holds a window,
        a few chunks, and all pairs above the limit that include a variant with p up to p1.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> clumps = ds.genobit.ld_clump([1e-3, 1e-9], window=10, statistic="r2")
        >>> clumps.index_variant.values, clumps.member.values
        (array([1]), array([0]))
        """
        from genobit.ld import clump as ld_clump
        from genobit.ld import matrix

        check_share("threshold", threshold)
        check_share("p1", p1)
        check_share("p2", p2)
        if p1 > p2:
            msg = f"p1={p1!r} is larger than p2={p2!r}: index variants have the smaller p"
            raise ValueError(msg)
        ds, layout, planes = packed.by_variants(self._ds, phased=phased)
        given = p_values_of(ds, p, log10=log10)
        size = -given if log10 else given
        if statistic is None:
            statistic = "r2" if layout.kind == "haplotype" else "r2_em"
        if statistic not in {"r2", "r2_em"}:
            meant = did_you_mean(statistic, ("r2", "r2_em"))
            msg = f"statistic {statistic!r} of clumps is not one of r2, r2_em{meant}"
            raise ValueError(msg)
        matrix.check_statistic(statistic, layout.kind)
        largest = _limit(p1, log10=log10)
        last = window_ends(ds, window, open_end=True)
        found = ld_clump.clump(planes, layout, statistic, last, size, largest, threshold)
        out = _clump_table(found, size, given, _limit(p2, log10=log10), log10=log10)
        along = result_labels.along(ds, model.VARIANTS)
        for dim, variants in (("clumps", found.leads), ("members", found.members)):
            out = out.assign_coords(_labels_at(along, dim, variants))
        attributes = {
            "threshold": float(threshold),
            "p1": float(p1),
            "p2": float(p2),
            "window": named_window(window),
            "statistic": statistic,
            "source": layout.kind + "s",
            "missing": COMPLETE,
        }
        return out.assign_attrs(attributes)

    def ld_score(
        self, window: int | str = "1cM", *, adjust: bool = True, phased: bool | None = None
    ) -> xr.Dataset:
        """Compute the LD score of each variant: the sum of its r2 with the variants in its window.

        Parameters
        ----------
        window
            Largest distance from the variant, on either side: a number of variants (1000) or a
            distance ("1cM", "1Mb").
        adjust
            Whether to correct r2 for its bias in a sample of n: r2 - (1 - r2) / (n - 2).
        phased
            As for `ld`.

        Returns
        -------
            Dataset of ``ld_score`` float64 (variants,) and ``ld_score_count`` int64 (variants,),
            the number of variants in the sum. Both are lazy, with the labels of the variants.

        Raises
        ------
        ValueError
            For an invalid window, or unsorted positions.

        Notes
        -----
        Scores follow ``ldsc --l2`` (Bulik-Sullivan et al. 2015). Each variant has its own exact
        window, whereas ldsc moves windows by blocks. Each r2 uses the calls present at both
        variants, whereas ldsc imputes the mean. The sum includes the variant itself (r2 = 1) and
        variants at exactly the largest distance. Windows never span contigs. A pair whose r2 is NaN
        adds nothing and is not counted. A monomorphic variant has the score NaN and the count 0.
        The adjustment needs at least three observations. Scores are bit-identical for every
        chunking, because each r2 is rounded to a multiple of 2^-36.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.ld_score(10, adjust=False).ld_score.values.round(2)
        array([1.75, 1.75])
        """
        from genobit.ld import score as ld_score

        ds, layout, planes = packed.by_variants(self._ds, phased=phased)
        both = ld_score.scores(planes, layout, window_ends(ds, window), adjust=adjust)
        attributes = {
            "long_name": "LD score, adjusted" if adjust else "LD score",
            "window": named_window(window),
            "source": layout.kind + "s",
            "missing": COMPLETE,
        }
        counted = {"long_name": "variants that the LD score is a sum of"}
        variables = {
            "ld_score": (model.VARIANTS, both[:, 0], attributes),
            "ld_score_count": (model.VARIANTS, both[:, 1].astype(np.int64), counted),
        }
        coords = result_labels.along(ds, model.VARIANTS)
        return xr.Dataset(variables, coords)


def _minor(ds: xr.Dataset, allele_frequency: str | ArrayLike | xr.DataArray) -> NDArray[np.float64]:
    from genobit.data.frequency import given_frequency

    given = given_frequency(ds, allele_frequency, missing=True)
    return np.minimum(given, 1 - given)


BINS = {"s0001": (0.0, 1e-4), "s001": (1e-4, 1e-3), "s01": (1e-3, 0.01), "s05": (0.01, 0.05)}
"""Bins of p in plink's report, lower bound inclusive; ``nsig`` counts all other members."""


def p_values_of(
    ds: xr.Dataset, p: str | ArrayLike | xr.DataArray, *, log10: bool
) -> NDArray[np.float64]:
    """Return p-values or -log10 of them (variants,); raise ValueError for one out of range."""
    given = aligning.aligned_numbers(ds, p, model.VARIANTS, "p")
    wrong = np.flatnonzero((given < 0) | ((given > 1) & (not log10)))
    if wrong.size:
        k = int(wrong[0])
        remedy = "is negative" if log10 else "is outside [0, 1]; -log10 of p goes with log10=True"
        msg = f"p[{k}] = {given[k]} {remedy}"
        raise ValueError(msg)
    return given


def _limit(p: float, *, log10: bool) -> float:
    if not log10:
        return p
    return float(np.log10(p)) if p > 0 else -np.inf


def _clump_table(
    found: Clumps, size: NDArray[np.float64], p: NDArray[np.float64], listed: float, *, log10: bool
) -> xr.Dataset:
    """Return the variables of clumps and of their members, without labels."""
    clump = np.repeat(np.arange(found.leads.size), found.sizes)
    of_members = size[found.members]
    counts = {}
    for name, ends in BINS.items():
        low, high = (_limit(end, log10=log10) for end in ends)
        within = (of_members >= low) & (of_members < high)
        counts[name] = np.bincount(clump[within], minlength=found.leads.size)
    counts["nsig"] = found.sizes - sum(counts.values())
    clumps = {"index_variant": found.leads, "p": p[found.leads], "total": found.sizes, **counts}
    members = {
        "member": found.members,
        "clump": clump,
        "r2": found.r2,
        "member_p": p[found.members],
        "listed": of_members < listed,
    }
    out = xr.Dataset(
        {name: ("clumps", x) for name, x in clumps.items()}
        | {name: ("members", x) for name, x in members.items()}
    )
    for name in ("p", "member_p"):
        out[name].attrs["long_name"] = "-log10 of the p-value" if log10 else "p-value"
    return out


def _labels_at(
    along: dict[Hashable, Any], dim: str, variants: NDArray[np.int64]
) -> dict[Hashable, Any]:
    """Return the labels of ``variants`` as coordinates along ``dim``, with its singular prefix."""
    if not along:
        return {}
    at = xr.Dataset(coords=along).isel({model.VARIANTS: variants}).rename({model.VARIANTS: dim})
    return {f"{dim[:-1]}_{x}": labels.as_objects(at[x].variable, str(x)) for x in at.coords}
