"""Quality control among the analyses: methods and warm-up."""

from __future__ import annotations

from genobit.data.analysis import OF_ALLELES, OF_VARIANTS, Analysis, Cohorts, Method, Needs
from genobit.quality.methods.filter import FilterMethods
from genobit.quality.methods.mask import MaskMethods
from genobit.quality.methods.statistics import QualityMethods


def _warm(cohorts: Cohorts) -> None:
    for ds in cohorts:
        QualityMethods(ds).variant_stats().compute()
        QualityMethods(ds).sample_stats().compute()


ANALYSIS = Analysis(
    "quality",
    of_datasets=(QualityMethods, FilterMethods, MaskMethods),
    methods={
        "variant_stats": Method(OF_ALLELES, "quality control"),
        "sample_stats": Method(OF_ALLELES, "quality control"),
        "filter": Method(OF_ALLELES, "quality control", "filter(min_maf=)"),
        "mask_calls": Method(Needs(ploidies=(), calls=True)),
        "allele_frequency": Method(OF_VARIANTS._replace(ploidies=(1, 2))),
    },
    has_report=True,
    warm=_warm,
    compiled=7,
)
