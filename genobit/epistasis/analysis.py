"""Searches for interactions among the analyses: methods, explorer, warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.data.analysis import OF_DOSAGES, Analysis, Cohorts, Explorer, Method
from genobit.data.availability import CLASSES, few, levels, phenotypes, why_not
from genobit.epistasis.methods import EpistasisMethods

if TYPE_CHECKING:
    import xarray as xr

#: A button starts searches of up to this many seconds; longer ones should write a checkpoint.
PATIENCE = 600.0
_NO_PHENOTYPE = (
    "there is no phenotype: assign a variable of the samples with two classes or more, such as "
    "ds['sample_case'] = ('samples', ...)"
)


def _note(ds: xr.Dataset) -> str:
    named = phenotypes(ds)
    return f"a variable along samples, such as {named[0]!r}" if named else ""


def _why_not(ds: xr.Dataset) -> str:
    traits = phenotypes(ds)
    found = why_not(ds, "epistasis") if traits else why_not(ds, "kendall") or _NO_PHENOTYPE
    return found or few(ds, "variants")


def search_to_explore(ds: xr.Dataset, phenotype: str, order: int) -> tuple[xr.Dataset, xr.Dataset]:
    """Return the Dataset, and the result of a search for combinations of `order` variants.

    Raises ValueError if the estimated time is over `PATIENCE`.
    """
    from genobit.data.estimates import estimates_class

    classes = len(levels(ds[phenotype].values)) <= CLASSES
    options: dict[str, Any] = {"order": order}
    options["statistic"] = "mutual_information" if classes else "f"
    estimates: Any = estimates_class(EpistasisMethods, "ds.genobit")(ds)
    expected = estimates.epistasis(phenotype, **options)
    if expected.seconds > PATIENCE:
        raise ValueError(
            f"{expected.what} would take about "
            f"{expected.seconds / 60:,.0f} minutes: explore fewer variants, "
            f"ds.isel(variants=...).genobit.explore(), or call ds.genobit.epistasis("
            f"{phenotype!r}, order={order}, checkpoint=...) and give its result to "
            "ds.genobit.explore.epistasis()"
        )
    return ds, EpistasisMethods(ds).epistasis(phenotype, **options)


def _warm(cohorts: Cohorts) -> None:
    for ds in cohorts:
        few_variants = EpistasisMethods(ds.isel(variants=slice(0, 24)))
        for statistic in ("mutual_information", "boost", "gain", "chi2"):
            few_variants.epistasis("sample_case", statistic=statistic, permutations=1)
        few_variants.epistasis("sample_case", order=3)
        few_variants.epistasis("sample_trait", statistic="f", permutations=1)
        few_variants.epistasis("sample_trait", statistic="linear", covariates="case")
        few_variants.epistasis("sample_case", statistic="logistic", covariates="trait")


ANALYSIS = Analysis(
    "epistasis",
    of_datasets=(EpistasisMethods,),
    methods={
        "epistasis": Method(
            OF_DOSAGES._replace(phenotype=True), "interactions", "epistasis(phenotype)", _note
        )
    },
    explorer=Explorer(
        "explorer.explorer.EpistasisExplorer",
        "interactions",
        "Which combinations of variants go with a phenotype?",
        _why_not,
        search_to_explore,
        lambda ds: (
            ("phenotype", "phenotype", tuple(phenotypes(ds))),
            ("order", "variants", (2, 3)),
        ),
        "result",
    ),
    warm=_warm,
    compiled=1,
)
