"""Measurements of correlated variables."""

from __future__ import annotations

import numpy as np
import xarray as xr


def expression(
    variables: int, n: int, seed: int = 0, *, levels: int = 0, missing: float = 0.0
) -> xr.DataArray:
    """Noise and modules of 5 variables that follow one another; a constant variable."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(variables, n))
    values[: 5 * (variables // 10)] += 1.5 * np.repeat(
        rng.normal(size=(variables // 10, n)), 5, axis=0
    )
    if levels:
        values = np.round(values * levels / 4)
    values[rng.random(values.shape) < missing] = np.nan
    values[-1] = 2.0
    names = [f"g{k}" for k in range(variables)]
    return xr.DataArray(values, dims=("gene", "sample"), coords={"gene": names})
