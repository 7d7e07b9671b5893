"""Rank correlation among the analyses: methods, explorers, warm-up."""

from __future__ import annotations

import numpy as np
import xarray as xr

from genobit.data.analysis import MEASUREMENTS, OF_DOSAGES, Analysis, Cohorts, Explorer, Method
from genobit.data.availability import few, why_not
from genobit.kendall.methods.matrix import KendallArrayMethods, KendallGenotypeMethods
from genobit.kendall.methods.pairs import KendallArrayPairsMethods, KendallGenotypePairsMethods

MISSING = 0.05


def _why_not_array(da: xr.DataArray) -> str:
    small = min(da.shape, default=0) < 2
    few_here = "it needs two variables and two observations" if small else ""
    return why_not(da, "kendall_pairs") or few_here


def _warm(cohorts: Cohorts) -> None:
    rng = np.random.default_rng(1)
    # The number of observations, and of their distinct values, chooses the kernel.
    for variables, observations in ((60, 50), (40, 400), (8, 20_000)):
        values = xr.DataArray(rng.normal(size=(variables, observations)), dims=("gene", "sample"))
        some = values.where(rng.random(values.shape) >= MISSING)
        for levels in (values, values.round(), some):
            KendallArrayMethods(levels).kendall(pvalue=True).compute()
    KendallArrayPairsMethods(values[:, :50]).kendall_pairs(0.2, 0.1).to_dataframe()
    for ds in cohorts:
        KendallGenotypeMethods(ds).kendall().compute()


_PATH, _TITLE = "explorer.explorer.KendallExplorer", "rank correlation"
_QUESTION = "Which {} rise and fall together, and what network do they make?"
ANALYSIS = Analysis(
    "kendall",
    of_datasets=(KendallGenotypeMethods, KendallGenotypePairsMethods),
    of_arrays=(KendallArrayMethods, KendallArrayPairsMethods),
    methods={
        "kendall": Method(OF_DOSAGES, "rank correlation"),
        "kendall_pairs": Method(OF_DOSAGES, "rank correlation"),
    },
    array_methods={
        "kendall": Method(MEASUREMENTS, "rank correlation"),
        "kendall_pairs": Method(MEASUREMENTS, "rank correlation"),
    },
    explorer=Explorer(
        _PATH,
        _TITLE,
        _QUESTION.format("variants"),
        lambda ds: why_not(ds, "kendall_pairs") or few(ds, "variants"),
        hidden=("dim",),
    ),
    array_explorer=Explorer(_PATH, _TITLE, _QUESTION.format("variables"), _why_not_array),
    warm=_warm,
    compiled=5,
)
