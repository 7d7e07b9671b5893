"""``ds.genobit.mask_calls``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, layouts, model
from genobit.data.analysis import DatasetMethods
from genobit.data.checks import check_number, check_share

if TYPE_CHECKING:
    from genobit.quality.mask import Rule

_MOST_BALANCE = 0.5


class MaskMethods(DatasetMethods):
    """Method of ``ds.genobit`` that makes calls missing."""

    def mask_calls(
        self,
        *,
        min_gq: float | None = None,
        min_dp: float | None = None,
        max_dp: float | None = None,
        min_balance: float | None = None,
    ) -> xr.Dataset:
        """Make calls of low quality missing.

        Each threshold is one rule; None switches the rule off. A call at a threshold stays. A call
        whose value is missing (-1 or -2 in integers, NaN in floats) stays. The result is lazy if
        the genotypes or the values are lazy.

        Parameters
        ----------
        min_gq
            Smallest genotype quality, ``call_GQ`` (``vcftools --minGQ``, ``plink2 --vcf-min-gq``).
        min_dp
            Smallest read depth, ``call_DP`` (``vcftools --minDP``, ``plink2 --vcf-min-dp``).
        max_dp
            Largest read depth, ``call_DP`` (``vcftools --maxDP``, ``plink2 --vcf-max-dp``).
        min_balance
            Smallest allele balance of heterozygous diploid calls, from 0 to 0.5. It is the share of
            the rarer of the two called alleles in the reads of both, from the depths ``call_AD``
            (variants, samples, alleles). A call without reads stays.

        Returns
        -------
            The Dataset with masked ``call_genotype``: the alleles of masked calls are -1, and the
            -2 of a lower ploidy stays. ``call_genotype_phased`` is false there. Dosages and
            probabilities are missing where a rule fails, also without a call, as in plink2:
            ``call_dosage``, ``call_genotype_probability``, ``call_DS``, ``call_HDS`` and
            ``call_GP``. Masks of these variables, such as ``call_genotype_mask``, are true where a
            value is missing. All other variables stay. Two variables say what was masked, along
            ``rules``, the names of the rules. "any" stands for all rules together:

            - ``masked_calls``: number of calls that the rule masks. A call that fails two rules
              counts for both.
            - ``masked_share``: their share of the calls before. A call with one allele or more
              counts as a call.

            The counts are lazy too. Looking at them reads the values once more, unless they are
            computed together with the calls, as in ``ds.compute()`` or `to_zarr`.

        See Also
        --------
        filter : Remove variants, also those that failed the filters of the file
            (``passed=True``).

        Raises
        ------
        KeyError
            If the Dataset lacks ``call_genotype``, or the values of a rule. Read them with
            ``gb.open_vcf(path, fields=["GQ", "DP"])``.
        TypeError
            If a threshold or a value is not a number.
        ValueError
            If no threshold is given, if one is negative, or if ``min_balance`` is above 0.5. If the
            values of a rule have other dimensions, or ``call_AD`` lacks an allele. If the Dataset
            is packed, or ``min_balance`` meets a ploidy above 2.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0], [-1, -1]]], "int8")
        >>> ds = xr.Dataset(
        ...     {
        ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
        ...         "call_GQ": (("variants", "samples"), [[50, 12, -1, 3]]),
        ...     }
        ... )
        >>> masked = ds.genobit.mask_calls(min_gq=20)
        >>> masked.call_genotype.values.tolist()
        [[[0, 1], [-1, -1], [0, 0], [-1, -1]]]
        >>> masked[["masked_calls", "masked_share"]].to_dataframe().round(2)
               masked_calls  masked_share
        rules
        min_gq            1          0.33
        any               1          0.33
        """
        from genobit.quality.mask import masked

        given = {
            "min_gq": min_gq,
            "min_dp": min_dp,
            "max_dp": max_dp,
            "min_balance": min_balance,
        }
        rules = _rules({name: limit for name, limit in given.items() if limit is not None})
        ds = self._ds
        if layouts.layout_of(ds) is not None:
            msg = "mask_calls() takes calls, and these are packed: mask the calls, then call pack()"
            raise ValueError(msg)
        calls, phase = model.require_genotypes(ds), model.phase_of(ds)
        fields = {rule.field: _values(ds, rule) for rule in rules}
        ploidy = calls.sizes[model.PLOIDY]
        if min_balance is not None and ploidy > 2:
            msg = f"min_balance= takes diploid calls, and call_genotype has ploidy {ploidy}"
            raise ValueError(f"{msg}: leave out min_balance=")
        likely = {name: _per_call(ds, name) for name in _LIKELY if name in ds}
        found = masked(
            calls.data,
            None if phase is None else phase.data,
            {name: x.data for name, x in likely.items()},
            fields,
            rules,
        )
        changed: dict[str, Any] = {model.CALL_GENOTYPE: (calls.dims, found.calls, calls.attrs)}
        changed |= {name: (x.dims, found.likely[name], x.attrs) for name, x in likely.items()}
        for name, (dims, values, _) in [*changed.items()]:
            mask = name + _MASK
            if mask in ds:
                missing = np.isnan(values) if values.dtype.kind == "f" else values < 0
                changed[mask] = dims, missing, ds[mask].attrs
        if phase is not None:
            changed[model.CALL_GENOTYPE_PHASED] = phase.dims, found.phased, phase.attrs
        names = [*(rule.name for rule in rules), "any"]
        changed[model.RULES] = model.RULES, names
        changed["masked_calls"] = model.RULES, found.counts, {"long_name": "masked calls"}
        share = {"long_name": "share of masked calls"}
        changed["masked_share"] = model.RULES, found.counts / np.maximum(found.called, 1), share
        return ds.drop_vars(_COUNTS, errors="ignore").assign(_texts(ds) | changed)


_MASK = "_mask"
"""Ending of a variable that says which values are missing, as sgkit writes it."""
_LIKELY = ("call_dosage", "call_DS", "call_HDS", "call_genotype_probability", "call_GP")
"""Dosages and probabilities of genotypes, as readers, sgkit and VCF name them."""
_COUNTS = (model.RULES, "masked_calls", "masked_share")
"""Variables of an earlier call."""


def _texts(ds: xr.Dataset) -> dict[Any, xr.Variable]:
    """Return the labels of text as objects of str, as all results have them."""
    return {
        name: labels.as_objects(variable, str(name))
        for name, variable in ds.variables.items()
        if name not in ds.xindexes and variable.chunks is None and variable.dtype.kind in "SO"
    }


def _rules(limits: dict[str, float]) -> tuple[Rule, ...]:
    from genobit.quality.mask import FIELDS, Rule

    if not limits:
        msg = "mask_calls() has no threshold: give min_gq=, min_dp=, max_dp= or min_balance="
        raise ValueError(msg)
    for name, limit in limits.items():
        if name == "min_balance":
            check_share(name, limit)
            if limit > _MOST_BALANCE:
                msg = f"{name}={limit!r} is above 0.5, the largest share of the rarer allele"
                raise ValueError(msg)
        else:
            check_number(name, limit, "give a number, such as 20")
            if limit < 0:
                msg = f"{name}={limit!r} is negative: give 0 or more, or None for no rule"
                raise ValueError(msg)
    return tuple(Rule(name, FIELDS[name], float(limit)) for name, limit in limits.items())


def _values(ds: xr.Dataset, rule: Rule) -> Any:
    """Return the values of a rule: (variants, samples), or depths (variants, samples, alleles)."""
    name, key = rule.field, rule.field.removeprefix("call_")
    alleles = key == "AD"
    if name not in ds:
        msg = (
            f"{rule.name}= needs the variable {name!r} (variants, samples"
            f"{', alleles' * alleles}), which the Dataset lacks: read it with "
            f'gb.open_vcf(path, fields=["{key}"])'
        )
        raise KeyError(msg)
    return _per_call(ds, name, (2 + alleles,)).data


def _per_call(ds: xr.Dataset, name: str, ndims: tuple[int, ...] = (2, 3)) -> xr.DataArray:
    """Return numbers of calls (variants, samples) or (variants, samples, more)."""
    values = ds[name]
    if not {model.VARIANTS, model.SAMPLES} <= {*values.dims} or values.ndim not in ndims:
        expected = f"('variants', 'samples'{', and one more' * (ndims != (2,))})"
        msg = f"{name} has dimensions {values.dims}, expected {expected}: rename or select them"
        raise ValueError(msg)
    if values.dtype.kind not in "iuf":
        msg = (
            f"{name} is {values.dtype}, expected numbers: "
            f"ds.assign({name}=ds.{name}.astype('float32'))"
        )
        raise TypeError(msg)
    return values.transpose(model.VARIANTS, model.SAMPLES, ...)
