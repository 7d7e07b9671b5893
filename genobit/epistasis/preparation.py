"""Arguments of `epistasis` against a Dataset: a search that is checked and ready to run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import xarray as xr

from genobit.data import aligning, labels, model, packed
from genobit.data.contigs import contigs_in
from genobit.data.windows import named_window
from genobit.epistasis.covariates import covariates_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from genobit.epistasis.arguments import Limits, SearchSpec
    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.limits import EpistasisLimits
    from genobit.epistasis.schedule.search import CombinationSearch
    from genobit.epistasis.search import Columns


class Prepared(NamedTuple):
    """A search whose arguments are checked and whose genotypes are in memory."""

    ds: xr.Dataset
    wanted: SearchSpec
    classes: tuple[str, ...]
    about: dict[str, Any]
    """Attributes of the result."""
    search: CombinationSearch | None
    """None for single variants."""
    columns_of: Any
    single_variants: Callable[[], tuple[Best, Columns]]


def prepared(
    whole: xr.Dataset,
    phenotype: str | ArrayLike | xr.DataArray,
    order: int,
    top: int,
    statistic: str,
    covariates: Any,
    limits: EpistasisLimits | None,
    permutations: int,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
) -> Prepared:
    """Check the arguments of a search and make it ready; ranks and estimates start from here."""
    from genobit.epistasis import arguments, phenotypes, regression, trait
    from genobit.epistasis import search as epistasis

    given = arguments.limits_of(limits)
    ds, layout, planes = packed.by_variants(whole, phased=False)
    values, name, note = phenotype_of(ds, phenotype)
    regresses = statistic in arguments.REGRESSIONS
    found: Any
    prepare: Any
    if statistic in {"f", "linear"}:
        found, prepare = phenotypes.trait(values, name, note), trait.prepared
    else:
        found, prepare = phenotypes.classes(values, name, note), epistasis.prepared
    used = phenotypes.present(values)
    if regresses:
        beside = covariates_of(ds, covariates)
        found = phenotypes.with_covariates(found, beside.known, name)
        used = found.samples
        prepare = partial(regression.prepared, covariates=beside)
    wanted = arguments.checked(
        order=order,
        top=top,
        statistic=statistic,
        permutations=permutations,
        seed=seed,
        min_n=given.min_n,
        min_count=given.min_count,
        variants=ds.sizes[model.VARIANTS],
        samples=used,
        classes=len(found.names),
    )
    if covariates is not None and not regresses:
        raise _without_regression(statistic)
    scope = _scope(ds, order, given)
    about = {"phenotype": name, "samples": used, "samples_left_out": layout.bits - used}
    about |= scope.described(None if given.min_gap is None else named_window(given.min_gap))
    if regresses and beside.names:
        about["covariates"] = ", ".join(beside.names)
    search, columns_of = None, None
    if order > 1:
        search, columns_of = prepare(planes, layout, found, wanted, scope)
    elif checkpoint is not None or not scope.none:
        msg = "order=1 ranks single variants: limits on members and checkpoint= take order=2"
        raise ValueError(msg)
    single = partial(epistasis.single_variants, planes, layout, found, wanted)
    return Prepared(ds, wanted, found.names, about, search, columns_of, single)


def _without_regression(statistic: str) -> ValueError:
    return ValueError(
        f"covariates= does not take statistic={statistic!r}: give statistic='linear' for a "
        "quantitative trait or statistic='logistic' for two classes"
    )


def _scope(ds: xr.Dataset, order: int, given: EpistasisLimits) -> Limits:
    """Return the limits as arrays along the variants."""
    from genobit.data.windows import parse_window
    from genobit.epistasis.arguments import Limits, checked_limits, members_of

    count = ds.sizes[model.VARIANTS]
    ids = labels.ids(ds, model.VARIANTS)
    masks = []
    for name in ("variants_0", "variants_1"):
        plain = aligning.selected(ds, getattr(given, name), model.VARIANTS, name)
        masks.append(None if plain is None else members_of(name, plain, count, ids))
    gap, contigs, coordinates = 0.0, None, None
    min_gap = given.min_gap
    if min_gap is not None:
        variable, gap = parse_window(min_gap, "min_gap")
        found = contigs_in(ds)
        contigs = None if found is None else found.numbers
        if variable is not None:
            coordinates = model.values(ds, variable, needed_for=f"min_gap={min_gap!r}")
            if coordinates.dtype.kind not in "iuf":
                msg = f"{variable} is of dtype {coordinates.dtype}, and min_gap= takes numbers"
                raise TypeError(msg)
    limits = Limits((masks[0], masks[1]), gap, contigs, coordinates, given.max_r2, given.prefilter)
    return checked_limits(limits, order, count)


def phenotype_of(
    ds: xr.Dataset, phenotype: str | ArrayLike | xr.DataArray
) -> tuple[NDArray[Any], str, str]:
    """Return a phenotype in the order of the samples, its name, and its attribute ``note``."""
    if isinstance(phenotype, str):
        phenotype = model.named(ds, phenotype, model.SAMPLES)
    own = phenotype.name if isinstance(phenotype, xr.DataArray | pd.Series) else None
    name = "phenotype" if own is None else str(own)
    note = str(phenotype.attrs.get("note", "")) if isinstance(phenotype, xr.DataArray) else ""
    return aligning.aligned(ds, phenotype, model.SAMPLES, name), name, note
