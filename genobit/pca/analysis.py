"""Principal components among the analyses: methods and warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data.analysis import OF_SAMPLE_ALLELES, Analysis, Method
from genobit.pca.methods import PCAMethods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import xarray as xr


def _warm(cohorts: Callable[[], Iterator[xr.Dataset]]) -> None:
    for ds in cohorts():
        PCAMethods(ds).pca(2).compute()


ANALYSIS = Analysis(
    "pca",
    of_datasets=(PCAMethods,),
    methods={
        "pca": Method(OF_SAMPLE_ALLELES, "principal components"),
        "project": Method(OF_SAMPLE_ALLELES, "principal components", "project(pcs)"),
    },
    has_report=True,
    warm=_warm,
    compiled=6,
)
