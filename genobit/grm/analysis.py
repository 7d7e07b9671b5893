"""Relationships among the analyses: methods, explorer, warm-up."""

from __future__ import annotations

from genobit.data.analysis import OF_SAMPLE_ALLELES, OF_SAMPLES, Analysis, Cohorts, Explorer, Method
from genobit.data.availability import few, why_not
from genobit.grm.methods.matrix import GRMMethods
from genobit.grm.methods.pairs import RelativesMethods


def _warm(cohorts: Cohorts) -> None:
    for ds in cohorts:
        for method in ("vanraden1", "gcta", "king"):
            GRMMethods(ds).grm(method).compute()
        RelativesMethods(ds).grm_pairs("king", threshold=0.05).to_dataframe()


ANALYSIS = Analysis(
    "grm",
    of_datasets=(GRMMethods, RelativesMethods),
    methods={
        "grm": Method(OF_SAMPLE_ALLELES, "relationships"),
        "grm_pairs": Method(OF_SAMPLES, "relationships"),
        "unrelated": Method(OF_SAMPLES, "relationships"),
        "crossproduct": Method(OF_SAMPLES),
    },
    explorer=Explorer(
        "explorer.explorer.GRMExplorer",
        "relationships",
        "Who is related to whom, and which samples stand out?",
        lambda ds: why_not(ds, "grm") or few(ds, "samples"),
    ),
    has_report=True,
    warm=_warm,
    compiled=4,
)
