"""Principal components among the analyses: methods and warm-up."""

from __future__ import annotations

from genobit.data.analysis import OF_SAMPLE_ALLELES, Analysis, Cohorts, Method
from genobit.pca.methods import PCAMethods


def _warm(cohorts: Cohorts) -> None:
    for ds in cohorts:
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
