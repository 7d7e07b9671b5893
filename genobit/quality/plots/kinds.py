"""The plots of statistics of variants and samples, by kind."""

from __future__ import annotations

from typing import Any

import xarray as xr

from genobit.quality.plots.spectrum import allele_frequency_spectrum
from genobit.visual.results import Result


def _is_frequency(data: Any) -> bool:
    return isinstance(data, xr.DataArray) and data.name == "allele_frequency"


RESULTS = (Result(".allele_frequency()", _is_frequency, {"spectrum": allele_frequency_spectrum}),)
