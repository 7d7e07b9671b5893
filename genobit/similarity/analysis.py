"""Similarity of binary rows among the analyses: methods and warm-up."""

from __future__ import annotations

import numpy as np
import xarray as xr

from genobit.data.analysis import BINARY, Analysis, Cohorts, Method
from genobit.similarity.methods import SimilarityMethods


def _warm(_cohorts: Cohorts) -> None:
    rows = xr.DataArray(np.random.default_rng(1).random((320, 200)) < 0.3, dims=("row", "bit"))
    SimilarityMethods(rows).similarity().compute()
    SimilarityMethods(rows).similarity(top=3).compute()


ANALYSIS = Analysis(
    "similarity",
    of_arrays=(SimilarityMethods,),
    array_methods={
        "similarity": Method(BINARY, "similarity of binary rows", "similarity('tanimoto')")
    },
    warm=_warm,
    compiled=8,
)
