"""``ds.genobit.variant_stats``, ``sample_stats`` and ``allele_frequency``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import aligning, layouts, model, packed, result_labels
from genobit.data import autosomes as chromosomes
from genobit.data.analysis import DatasetMethods
from genobit.data.checks import check_one_of
from genobit.data.haploid import as_diploid, is_haploid, require_diploid
from genobit.engine.bits.layout import words_for
from genobit.engine.options import get_options
from genobit.quality.roles import read_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.array as da
    from numpy.typing import ArrayLike, NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.quality.roles import Roles

EXACT, MIDP = "exact", "midp"
CHUNK_BYTES = 2**22
"""Bytes of the planes of a chunk. dask takes 2 ms for the tasks of a chunk, as long as the counts
of 2 MB (Zen 4), and a larger chunk would leave the cache."""


class QualityMethods(DatasetMethods):
    """Methods of ``ds.genobit`` about the quality of variants and samples."""

    def allele_frequency(self) -> xr.DataArray:
        """Compute the frequency of the counted allele of each variant.

        Returns
        -------
            float64 (variants,), lazy: the number of copies of the counted allele, divided by the
            number of called alleles. A variant without calls is NaN. ``attrs["counted_allele"]``
            names the counted allele. The minor allele frequency is ``np.minimum(f, 1 - f)``. On
            human chromosomes X, Y and MT, alleles are counted as in `variant_stats`. With packed
            haplotypes, each called haplotype counts as one allele.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [-1, -1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.allele_frequency().values
        array([0.75])
        """
        from genobit.data.frequency import allele_frequency

        layout = layouts.layout_of(self._ds)
        if layout is not None and layout.kind == "haplotype":
            ds, layout, planes = packed.by_variants(self._ds, phased=None)
            found = allele_frequency(planes, layout)
        else:
            if layout is None:
                model.require_genotypes(self._ds)
            human = chromosomes.are_human(self._ds)
            ds, stats = _variant_stats(
                self._ds, ["allele_frequency"], None, None, founders=False, autosomes=human
            )
            found = stats["allele_frequency"]
        return xr.DataArray(
            found,
            dims=model.VARIANTS,
            coords=result_labels.along(ds, model.VARIANTS),
            name="allele_frequency",
            attrs={
                "long_name": "frequency of the counted allele",
                model.COUNTED_ALLELE: model.counted_allele(ds),
            },
        )

    def variant_stats(
        self,
        *,
        hwe: str = EXACT,
        hwe_samples: Any = None,
        founders: bool = False,
        autosomes: chromosomes.Autosomes = True,
        populations: str | ArrayLike | xr.DataArray | None = None,
    ) -> xr.Dataset:
        """Compute call rate, allele frequency and Hardy-Weinberg test of each variant.

        With ``founders=True``, the values are the same as from ``plink --freq --missing --hardy``,
        version 1.9.

        Parameters
        ----------
        hwe
            "exact" is the exact test of Wigginton et al. (2005). "midp" is its mid-p version: the
            observed genotype counts contribute half of their probability.
        hwe_samples
            Samples of the Hardy-Weinberg test: a boolean mask, a labelled mask such as
            ``ds.sample_phenotype == 1``, or the name of a boolean variable. The default is all
            samples, or all founders if ``founders`` is True. With a case/control phenotype,
            ``plink --hwe`` tests only the controls.
        founders
            Compute allele frequencies, genotype counts and the test from founders only, as plink
            does by default. Founders are samples without a known parent (``sample_father_id``,
            ``sample_mother_id``). Call rates also count nonfounders.
        autosomes
            True recognises human chromosomes by the names of the contigs. Give the number of
            autosomes of another species, or the names of the contigs with two copies. False counts
            two alleles for each sample at every variant.
        populations
            Population of each sample, (samples,), or the name of a variable. A DataArray or Series
            is aligned by its labels. Each population is analysed alone. Samples without a value are
            left out. By default all samples are one population.

        Returns
        -------
            Dataset along variants with their labels. With ``populations``, every variable is
            (populations, variants), and populations are in sorted order. Every variable is lazy:

            - ``call_rate``, ``n_called``: share and number of samples with a call. On Y only males
              count.
            - ``allele_count``, ``allele_number``: number of copies of the counted allele, and
              number of called alleles.
            - ``allele_frequency``, ``maf``: frequency of the counted allele and of the minor
              allele.
            - ``n_hom_ref``, ``n_het``, ``n_hom_alt``: genotype counts of samples that have two
              copies of the chromosome. "alt" is the counted allele.
            - ``het``, ``het_expected``: observed share of heterozygotes in these counts, and
              expected share 2 p (1 - p). p is the allele frequency in these counts.
            - ``hwe_p``: p-value of the test. It is NaN on Y and MT. Without calls, it is 1 (0.5 for
              "midp").
            - ``n_het_haploid``: number of heterozygous calls of samples that have one copy of the
              chromosome.

            A male (``sample_sex`` is 1) has one allele on X and on Y. Every sample has one allele
            on MT. On X, genotype counts and the test leave out males. Where a sample has one
            allele, a heterozygous call is left out of the allele counts, but it counts as called.
            Without ``sample_sex``, all samples have two copies of X, and all samples count on Y. A
            haploid call of a VCF, (a, -2), is read as (a, a). A call with one missing allele counts
            as missing. For haploid genotypes (ploidy 1), each call counts one allele. The result
            then has no genotype counts, no heterozygosity and no test.

        Raises
        ------
        KeyError
            If ``founders=True`` and the Dataset has no parents, or a named variable does not exist.
        TypeError, ValueError
            For an unknown ``hwe``, or values of ``sample_sex`` other than 0, 1 and 2. For a mask
            or populations that do not fit the samples, or contigs that the species does not have.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0], [-1, -1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> stats = ds.genobit.variant_stats()
        >>> stats.call_rate.values, stats.maf.values, stats.hwe_p.values
        (array([0.75]), array([0.5]), array([1.]))

        Frequencies in each population:

        >>> of = ds.genobit.variant_stats(populations=["north", "north", "south", "south"])
        >>> of.allele_frequency.to_series()
        populations  variants
        north        0           0.75
        south        0           0.00
        Name: allele_frequency, dtype: float64
        """
        from genobit.quality.variants import OF_HAPLOIDS, STATISTICS

        check_one_of("hwe", hwe, (EXACT, MIDP))
        other = "hwe_p" if hwe == MIDP else "hwe_midp"
        names = [name for name in STATISTICS if name != other]
        if is_haploid(self._ds):
            if hwe_samples is not None:
                require_diploid(self._ds, "hwe_samples=", "leave it out")
            names = [*OF_HAPLOIDS]
        groups = None
        if populations is not None:
            groups = aligning.populations_of(self._ds, populations)
        ds, found = _variant_stats(
            self._ds, names, hwe_samples, groups, founders=founders, autosomes=autosomes
        )
        described = {name: STATISTICS[name].description for name in names}
        result = _labelled(ds, found, described, model.VARIANTS)
        if groups is not None:
            result = result.assign_coords({model.POPULATIONS: [name for name, _ in groups]})
        return result.rename(hwe_midp="hwe_p") if "hwe_midp" in result else result

    def sample_stats(
        self,
        *,
        founders: bool = False,
        small_sample: bool = False,
        sex_limits: tuple[float, float] = (0.2, 0.8),
        autosomes: chromosomes.Autosomes = True,
    ) -> xr.Dataset:
        """Compute call rate, heterozygosity, inbreeding and inferred sex of each sample.

        With ``founders=True``, the values are the same as from ``plink --missing --het
        --check-sex``, version 1.9.

        Parameters
        ----------
        founders
            Compute allele frequencies from founders only, as plink does by default. Founders are
            samples without a known parent.
        small_sample
            Multiply the expected heterozygosity of autosomes by n / (n - 1), as ``plink --het
            small-sample`` does. n is the number of called alleles.
        sex_limits
            Two limits for F on chromosome X. A sample is inferred female if F is below the first
            limit, and male if F is above the second limit.
        autosomes
            As for `variant_stats`.

        Returns
        -------
            Dataset along samples with their labels. Every variable is lazy:

            - ``call_rate``, ``n_called``: share and number of variants with a call. Variants on Y
              count for males only.
            - ``n_alt``: number of copies of the counted allele.
            - ``n_autosomal``: number of calls at polymorphic autosomal variants, N(NM) in plink.
            - ``n_hom``, ``n_hom_expected``: observed and expected number of homozygotes among
              these calls, O(HOM) and E(HOM) in plink.
            - ``het``: share of heterozygotes among these calls.
            - ``inbreeding``: F = (O(HOM) - E(HOM)) / (N(NM) - E(HOM)).

            If there are variants on X, the Dataset also has ``x_inbreeding`` (F on X) and
            ``sex_inferred`` (1 male, 2 female, 0 undecided). If ``sample_sex`` is known too, the
            Dataset also has ``sex_status``. It is "OK" if the inferred and the given sex are known
            and equal, else "PROBLEM". For haploid genotypes (ploidy 1), it has only ``call_rate``,
            ``n_called`` and ``n_alt``.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `variant_stats`, and for ``sex_limits`` that are not two ascending numbers.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> stats = ds.genobit.sample_stats()
        >>> stats.call_rate.values, stats.n_alt.values, stats.n_hom.values
        (array([1., 1.]), array([1, 3]), array([1, 1]))
        """
        from genobit.quality import samples

        ds, layout, planes, kinds = dosages_of(self._ds, autosomes)
        roles = read_roles(ds, founders=founders)
        limits = _limits(sex_limits)
        sums = samples.sample_sums(planes, kinds, roles, layout, small_sample=small_sample)
        found = samples.statistics(sums, roles, kinds, limits)
        names = {name: samples.DESCRIPTIONS[name] for name in found}
        if is_haploid(self._ds):
            names = {name: names[name] for name in samples.OF_HAPLOIDS}
        return _labelled(ds, found, names, model.SAMPLES)


def dosages_of(
    ds: xr.Dataset, autosomes: chromosomes.Autosomes
) -> tuple[xr.Dataset, Layout, dict[str, da.Array], NDArray[np.uint8]]:
    """Return the packed Dataset, its layout, planes of dosages, and kinds of chromosomes.

    kinds: (variants,). Haploid calls are doubled. Each counts one allele whatever the sex of the
    sample, as calls on MT do.
    """
    haploid, ds = is_haploid(ds), as_diploid(ds)
    chunk = None
    if model.CALL_GENOTYPE in ds and get_options().chunk_rows_is_default:
        words = words_for(model.require_genotypes(ds).sizes[model.SAMPLES])
        chunk = max(get_options().edge, CHUNK_BYTES // (24 * words))
    ds, layout, planes = packed.by_variants(ds, phased=False, chunk=chunk, haploid=True)
    if haploid:
        kinds = np.full(ds.sizes[model.VARIANTS], chromosomes.MT, np.uint8)
    else:
        kinds = chromosomes.kinds(ds, autosomes)
    return ds, layout, planes, kinds


def _variant_stats(
    ds: xr.Dataset,
    names: Sequence[str],
    hwe_samples: Any,
    groups: Sequence[tuple[Any, NDArray[np.bool_]]] | None,
    *,
    founders: bool,
    autosomes: chromosomes.Autosomes,
) -> tuple[xr.Dataset, dict[str, da.Array]]:
    """Return the packed Dataset and statistics of its variants by name.

    With ``groups`` of samples they are (groups, variants). All groups read the same planes.
    """
    import dask.array as da

    from genobit.quality import variants
    from genobit.quality.sets import sample_sets

    ds, layout, planes, kinds = dosages_of(ds, autosomes)
    roles = read_roles(ds, founders=founders, tested=hwe_samples)

    def of(roles: Roles) -> dict[str, da.Array]:
        counts = variants.variant_counts(planes, kinds, sample_sets(roles), layout)
        return variants.statistics(counts, names)

    if groups is None:
        return ds, of(roles)
    found = [of(roles._replace(kept=mask)) for _, mask in groups]
    return ds, {name: da.stack([each[name] for each in found]) for name in names}


def _limits(given: Any) -> tuple[float, float]:
    """Return the limits of the sex check as two rising numbers."""
    try:
        female, male = (float(limit) for limit in given)
    except (TypeError, ValueError):
        female, male = 1, 0
    if not female <= male:
        msg = f"sex_limits={given!r} are not two rising numbers, such as (0.2, 0.8)"
        raise ValueError(msg)
    return female, male


def _labelled(ds: xr.Dataset, found: dict[str, Any], names: dict[str, str], dim: str) -> xr.Dataset:
    """Return statistics along a dimension with its labels and their descriptions."""
    variables = {
        name: xr.Variable(
            (model.POPULATIONS, dim)[-found[name].ndim :], found[name], {"long_name": about}
        )
        for name, about in names.items()
    }
    counted = {model.COUNTED_ALLELE: model.counted_allele(ds)}
    return xr.Dataset(variables, result_labels.along(ds, dim), counted)
