"""``ds.genobit.filter``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.data import autosomes as chromosomes
from genobit.data import model, packed
from genobit.data.analysis import DatasetMethods
from genobit.data.checks import check_one_of, check_share
from genobit.data.haploid import require_diploid
from genobit.quality.methods.statistics import EXACT, MIDP, dosages_of
from genobit.quality.roles import read_passed, read_roles

if TYPE_CHECKING:
    import xarray as xr


class FilterMethods(DatasetMethods):
    """Method of ``ds.genobit`` that removes variants and samples."""

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
        passed: bool = False,
    ) -> xr.Dataset:
        """Keep the samples and variants that pass all thresholds, as plink 1.9 does.

        The result is lazy, but the statistics are computed at once, in one pass over the genotypes.
        With both ``max_sample_missing`` and a threshold for variants, there are two passes. Each
        threshold is one rule; None switches the rule off. Samples are removed first. Variants are
        then tested on the remaining samples, first by ``max_missing``, then by ``min_hwe`` and last
        by ``min_maf``.

        Parameters
        ----------
        min_maf
            Smallest minor allele frequency (``plink --maf``). A variant without called alleles
            passes.
        max_missing
            Largest share of samples without a call (``plink --geno``).
        max_sample_missing
            Largest share of variants without a call (``plink --mind``).
        min_hwe
            Smallest p-value of the Hardy-Weinberg test (``plink --hwe``). Variants on Y and MT
            pass. Haploid genotypes have no such test, and it is refused.
        hwe, hwe_samples, founders, autosomes
            As for `variant_stats`. With a case/control phenotype, ``plink --hwe`` tests only the
            controls. To do the same, give ``hwe_samples=ds.sample_phenotype == 1``. If the samples
            include relatives, give ``founders=True`` to keep the same variants as plink.
        passed
            Remove variants that failed a filter of the file first: those with a name other than
            PASS in ``variant_filter``. Variants without filters (".") stay, as with
            ``plink2 --var-filter`` and ``bcftools view -f .,PASS``.

        Returns
        -------
            The Dataset with the kept samples and variants. It is packed if the input is packed.
            Each rule that applies has an attribute with the number of variants that it removed,
            such as ``attrs["removed_by_min_maf"]``. The attribute ``removed_by_max_sample_missing``
            is a number of samples. A printed line for each rule says the same:
            ``min_maf=0.01 removed 1 of 2 variants``. The option ``progress=False`` of
            `set_options` switches the lines off.

        See Also
        --------
        mask_calls : Make single calls missing, by genotype quality and depth.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `variant_stats`. Also if a threshold is outside [0, 1], if no rule is given,
            or if no sample or no variant is left.

        Warns
        -----
        UserWarning
            If ``passed``, ``max_missing``, ``max_sample_missing`` or ``min_hwe`` removes more than
            half of the variants or samples that it tests.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> kept = ds.genobit.filter(min_maf=0.01)
        >>> kept.sizes["variants"], kept.attrs["removed_by_min_maf"]
        (1, 1)
        """
        from genobit.quality.filter import Removed, Rules, judge, tell

        check_one_of("hwe", hwe, (EXACT, MIDP))
        rules = Rules(max_sample_missing, max_missing, min_hwe, min_maf, hwe == MIDP)
        for name, limit in rules.thresholds().items():
            check_share(name, limit)
        if not rules.thresholds() and not passed:
            msg = "filter() has no threshold: give min_maf=, max_missing=, max_sample_missing= or "
            raise ValueError(msg + "min_hwe=, or passed=True")
        given, removed = self._ds, []
        # Drop the counts of an earlier call.
        given = given.drop_attrs(deep=False).assign_attrs(
            {k: v for k, v in given.attrs.items() if not str(k).startswith("removed_by_")}
        )
        if passed:
            of_file = read_passed(given)
            lost = int((~of_file).sum())
            removed.append(Removed("passed=True", lost, of_file.size, model.VARIANTS))
            given = packed.isel(given, of_file, None)
        if rules.thresholds():
            if min_hwe is not None or hwe_samples is not None:
                require_diploid(given, "a Hardy-Weinberg test", "leave out min_hwe=, hwe_samples=")
            ds, layout, planes, kinds = dosages_of(given, autosomes)
            roles = read_roles(ds, founders=founders, tested=hwe_samples)
            kept = judge(planes, layout, kinds, roles, rules)
            given = packed.isel(given, kept.variants, kept.samples)
            removed += kept.removed
        for each in removed:
            tell(each)
        return given.assign_attrs({f"removed_by_{each.name}": each.lost for each in removed})
