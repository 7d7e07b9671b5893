"""``ds.genobit.variant_stats``, ``sample_stats``, ``filter`` and ``allele_frequency``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import autosomes as chromosomes
from genobit.data import labels, model, packed
from genobit.data.checks import check_one_of, check_share
from genobit.data.packer import pack
from genobit.quality.roles import read_roles

if TYPE_CHECKING:
    from collections.abc import Iterable

    import dask.array as da

    from genobit.engine.bits.layout import Layout

EXACT, MIDP = "exact", "midp"


class QualityMethods:
    """Methods of ``ds.genobit`` about the quality of variants and samples."""

    _ds: xr.Dataset

    def allele_frequency(self) -> xr.DataArray:
        """Compute the frequency of the counted allele of each variant.

        Returns
        -------
            float64 (variants,), lazy: the number of copies of the counted allele, divided by the
            number of called alleles. A variant without calls is NaN. ``attrs["counted_allele"]``
            names the counted allele. The minor allele frequency is ``np.minimum(f, 1 - f)``. On
            chromosomes X, Y and MT of humans, alleles count as in `variant_stats`. Planes of
            haplotypes count each called haplotype.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [-1, -1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.allele_frequency().values
        array([0.75])
        """
        from genobit.data.frequency import allele_frequency

        layout = model.layout_of(self._ds)
        if layout is not None and layout.kind == "haplotype":
            ds, layout, planes = packed.by_variants(self._ds, phased=None)
            found = allele_frequency(planes, layout)
        else:
            if layout is None:
                model.require_genotypes(self._ds)
            human = chromosomes.are_human(self._ds)
            ds, stats = _variant_stats(
                self._ds, ["allele_frequency"], None, founders=False, autosomes=human
            )
            found = stats["allele_frequency"]
        return xr.DataArray(
            found,
            dims=model.VARIANTS,
            coords=labels.along(ds, model.VARIANTS),
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
    ) -> xr.Dataset:
        """Compute call rate, allele frequency and Hardy-Weinberg test of each variant.

        The numbers are those of ``plink --freq --missing --hardy``, version 1.9.

        Parameters
        ----------
        hwe
            "exact" is the exact test of Wigginton et al. (2005). "midp" counts half of the
            probability of the observed genotypes.
        hwe_samples
            Samples of the Hardy-Weinberg test: a boolean mask, a labelled mask such as
            ``ds.sample_phenotype == 1``, or the name of a boolean variable. By default all samples;
            ``plink --hwe`` takes controls only if the phenotype is case/control.
        founders
            Leave samples with a known parent (``sample_father_id``, ``sample_mother_id``) out of
            allele frequencies, genotype counts and the test, as plink does by default. Call rates
            are always those of all samples.
        autosomes
            True recognises human chromosomes by the names of the contigs. Give the number of
            autosomes of another species, or the names of the contigs with two copies. False counts
            two alleles for each sample at every variant.

        Returns
        -------
            Dataset along variants with their labels. Every variable is lazy:

            - ``call_rate``, ``n_called``: samples with a call. On Y only males count.
            - ``allele_count``, ``allele_number``: copies of the counted allele, called alleles.
            - ``allele_frequency``, ``maf``: frequency of the counted and of the rarer allele.
            - ``n_hom_ref``, ``n_het``, ``n_hom_alt``: genotypes of samples with two copies.
            - ``het``, ``het_expected``: their share of heterozygotes, and 2 p (1 - p).
            - ``hwe_p``: p-value of the test. NaN on Y and MT; 1 without calls (0.5 for "midp").
            - ``n_het_haploid``: heterozygous calls where a sample has one copy.

            On X, males (``sample_sex`` is 1) count one allele, and are left out of genotype counts
            and the test. On Y males count one allele, and on MT all samples. Heterozygous calls
            there count no allele, but they count as called. Without ``sample_sex``, all samples
            have two copies of X, and all count on Y. A haploid call of a VCF, (a, -2), is read as
            (a, a). Dosages are needed: a call of two alleles of which one is missing is missing.

        Raises
        ------
        KeyError
            If ``founders=True`` and the Dataset has no parents, or a named variable does not exist.
        TypeError, ValueError
            For an unknown ``hwe``, values of ``sample_sex`` other than 0, 1 and 2, a mask that does
            not fit the samples, or contigs that the species does not have.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0], [-1, -1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> stats = ds.genobit.variant_stats()
        >>> stats.call_rate.values, stats.maf.values, stats.hwe_p.values
        (array([0.75]), array([0.5]), array([1.]))
        """
        from genobit.quality.variants import STATISTICS

        check_one_of("hwe", hwe, (EXACT, MIDP))
        other = "hwe_p" if hwe == MIDP else "hwe_midp"
        names = [name for name in STATISTICS if name != other]
        ds, found = _variant_stats(
            self._ds, names, hwe_samples, founders=founders, autosomes=autosomes
        )
        described = {name: STATISTICS[name].description for name in names}
        result = _labelled(ds, found, described, model.VARIANTS)
        return result.rename(hwe_midp="hwe_p") if hwe == MIDP else result

    def sample_stats(
        self,
        *,
        founders: bool = False,
        small_sample: bool = False,
        sex_limits: tuple[float, float] = (0.2, 0.8),
        autosomes: chromosomes.Autosomes = True,
    ) -> xr.Dataset:
        """Compute call rate, heterozygosity, inbreeding and inferred sex of each sample.

        The numbers are those of ``plink --missing --het --check-sex``, version 1.9.

        Parameters
        ----------
        founders
            Take allele frequencies of samples without known parents, as plink does by default.
        small_sample
            Multiply expected heterozygosity of autosomes by n / (n - 1) for n called alleles, as
            ``plink --het small-sample``.
        sex_limits
            A sample is inferred female if F of X is below the first, and male if F is above the
            second.
        autosomes
            As for `variant_stats`.

        Returns
        -------
            Dataset along samples with their labels. Every variable is lazy:

            - ``call_rate``, ``n_called``: variants with a call. Y counts for males only.
            - ``n_alt``: copies of the counted allele.
            - ``n_autosomal``, ``n_hom``, ``n_hom_expected``: N(NM), O(HOM) and E(HOM) of plink,
              the calls at polymorphic autosomal variants, and how many are homozygous.
            - ``het``: share of heterozygotes among these calls.
            - ``inbreeding``: F = (O(HOM) - E(HOM)) / (N(NM) - E(HOM)).

            With variants on X also ``x_inbreeding``, F of X, and ``sex_inferred`` (1 male, 2
            female, 0 undecided). With ``sample_sex`` also ``sex_status``: "OK" if both sexes are
            known and equal, else "PROBLEM".

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `variant_stats`, and for limits that are not two rising numbers.

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

        ds, layout, planes = _dosages(self._ds)
        kinds, roles = chromosomes.kinds(ds, autosomes), read_roles(ds, founders=founders)
        limits = _limits(sex_limits)
        sums = samples.sample_sums(planes, kinds, roles, layout, small_sample=small_sample)
        found = samples.statistics(sums, roles, kinds, limits)
        names = {name: samples.DESCRIPTIONS[name] for name in found}
        return _labelled(ds, found, names, model.SAMPLES)

    def filter(
        self,
        *,
        min_maf: float | None = None,
        max_missing: float | None = None,
        max_sample_missing: float | None = None,
        min_hwe: float | None = None,
        hwe: str = EXACT,
        hwe_samples: Any = None,
        founders: bool = False,
        autosomes: chromosomes.Autosomes = True,
    ) -> xr.Dataset:
        """Keep the samples and variants that pass all thresholds, as plink 1.9 does.

        The result is lazy, but the statistics are computed at once: one pass over the genotypes for
        the variants, and one more with ``max_sample_missing``. Each threshold is one rule, and None
        applies no rule. Samples are removed first. Variants are judged by the samples that are
        left, and by ``max_missing``, ``min_hwe`` and ``min_maf`` in this order.

        Parameters
        ----------
        min_maf
            Least frequency of the rarer allele (``plink --maf``). A variant without called alleles
            has none, and passes.
        max_missing
            Largest share of samples without a call (``plink --geno``).
        max_sample_missing
            Largest share of variants without a call (``plink --mind``).
        min_hwe
            Least p-value of the Hardy-Weinberg test (``plink --hwe``). Variants on Y and MT pass.
        hwe, hwe_samples, founders, autosomes
            As for `variant_stats`. With a case/control phenotype, ``plink --hwe`` tests controls:
            give ``hwe_samples=ds.sample_phenotype == 1``. With relatives, give ``founders=True`` to
            keep the variants that plink keeps.

        Returns
        -------
            The Dataset with the kept samples and variants, packed or not as before.
            ``attrs["removed_by_min_maf"]`` is the number of variants that this rule removed, and so
            on for each rule of the call; ``removed_by_max_sample_missing`` counts samples.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `variant_stats`, for a threshold outside [0, 1], for a call without thresholds,
            and if no sample or no variant is left.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> kept = ds.genobit.filter(min_maf=0.01)
        >>> kept.sizes["variants"], kept.attrs["removed_by_min_maf"]
        (1, 1)
        """
        from genobit.quality.filter import Rules, judge

        check_one_of("hwe", hwe, (EXACT, MIDP))
        rules = Rules(max_sample_missing, max_missing, min_hwe, min_maf, hwe == MIDP)
        for name, limit in rules.thresholds().items():
            check_share(name, limit)
        if not rules.thresholds():
            msg = "filter() has no threshold: give min_maf=, max_missing=, max_sample_missing= or "
            raise ValueError(msg + "min_hwe=")
        ds, layout, planes = _dosages(self._ds)
        roles = read_roles(ds, founders=founders, tested=hwe_samples)
        kinds = chromosomes.kinds(ds, autosomes)
        kept = judge(planes, layout, kinds, roles, rules)
        chosen = packed.isel(self._ds, kept.variants, kept.samples)
        return chosen.assign_attrs({f"removed_by_{rule}": n for rule, n in kept.removed.items()})


def _dosages(ds: xr.Dataset) -> tuple[xr.Dataset, Layout, dict[str, da.Array]]:
    """Return the packed Dataset, its layout and planes of dosages; doubles haploid calls."""
    if model.layout_of(ds) is None:
        ds = pack(
            ds, rows="variants", phased=False, multiallelic="refuse", missing="keep", haploid=True
        )
    return packed.by_variants(ds, phased=False)


def _variant_stats(
    ds: xr.Dataset,
    names: Iterable[str],
    hwe_samples: Any,
    *,
    founders: bool,
    autosomes: chromosomes.Autosomes,
) -> tuple[xr.Dataset, dict[str, da.Array]]:
    """Return the packed Dataset and statistics of its variants by name."""
    from genobit.quality import variants
    from genobit.quality.sets import sample_sets

    ds, layout, planes = _dosages(ds)
    roles = read_roles(ds, founders=founders, tested=hwe_samples)
    kinds = chromosomes.kinds(ds, autosomes)
    counts = variants.variant_counts(planes, kinds, sample_sets(roles), layout)
    return ds, variants.statistics(counts, names)


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
        name: xr.Variable((dim,), values, {"long_name": names[name]})
        for name, values in found.items()
    }
    counted = {model.COUNTED_ALLELE: model.counted_allele(ds)}
    return xr.Dataset(variables, labels.along(ds, dim), counted)
