"""The plots of statistics of variants and samples, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import model
from genobit.data.checks import check_one_of
from genobit.quality.plots.spectrum import allele_frequency_spectrum
from genobit.quality.plots.stats import hwe_quantiles, sample_scatter
from genobit.visual.picture.plain import histogram
from genobit.visual.picture.spec import Picture
from genobit.visual.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable


def _is_frequency(data: Any) -> bool:
    return isinstance(data, xr.DataArray) and data.name == "allele_frequency"


def _are_statistics_along(dim: str) -> Callable[[Any], bool]:
    return lambda data: (
        isinstance(data, xr.Dataset)
        and data.sizes.keys() == {dim}
        and "call_rate" in data.data_vars
    )


def _spectrum(stats: xr.Dataset, *, bins: int = 25, folded: bool = True) -> Picture:
    return allele_frequency_spectrum(stats["allele_frequency"], bins=bins, folded=folded)


def _histogram(stats: xr.Dataset, *, statistic: str = "call_rate") -> Picture:
    """Draw a histogram of one statistic of the variants or samples."""
    known = [str(name) for name, x in stats.data_vars.items() if x.dtype.kind in "iuf"]
    check_one_of("statistic", statistic, known)
    dim = str(next(iter(stats.sizes)))
    label = str(stats[statistic].attrs.get("long_name", statistic))
    # Nearly all call rates fall into the last bar, and the few low ones matter.
    log = statistic == "call_rate"
    return histogram(stats[statistic].values, label, dim.removesuffix("s"), log=log)


RESULTS = (
    Result(".allele_frequency()", _is_frequency, {"spectrum": allele_frequency_spectrum}),
    Result(
        ".variant_stats()",
        _are_statistics_along(model.VARIANTS),
        {"spectrum": _spectrum, "histogram": _histogram, "hwe": hwe_quantiles},
    ),
    Result(
        ".sample_stats()",
        _are_statistics_along(model.SAMPLES),
        {"histogram": _histogram, "scatter": sample_scatter},
    ),
)
PUBLIC = (allele_frequency_spectrum,)
