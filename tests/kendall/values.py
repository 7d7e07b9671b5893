"""Values to correlate, and comparisons of matrices."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, kendalltau


def measured(values: NDArray, chunks: tuple | None = None) -> xr.DataArray:
    """Genes x samples with names."""
    genes, samples = values.shape
    coords = {"gene": [f"g{k}" for k in range(genes)], "sample": [f"s{k}" for k in range(samples)]}
    data = values if chunks is None else da.from_array(values, chunks=chunks)
    return xr.DataArray(data, coords, ("gene", "sample"))


def random_values(
    seed: int, variables: int, n: int, *, tied: bool = False, missing: float = 0.0
) -> NDArray[np.float64]:
    """Correlated rows, one constant and two that are each other's reverse."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(variables, n)) + 0.8 * rng.normal(size=n)
    values[-1] = -values[0]
    if tied:
        values = np.round(values)
        values[variables // 2] = 1.0
    values[rng.random(values.shape) < missing] = np.nan
    return values


def close(found: object, expected: object) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14, equal_nan=True)


def all_pairs(expr: xr.DataArray) -> pd.DataFrame:
    """Of all pairs tau-b, p and n by scipy, one after another."""
    values = expr.values
    rows = []
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            both = ~(np.isnan(values[i]) | np.isnan(values[j]))
            few = both.sum() < 2
            tau, p = (np.nan,) * 2 if few else kendalltau(values[i][both], values[j][both])
            rows.append((i, j, tau, p, both.sum()))
    frame = pd.DataFrame(rows, columns=["gene_0", "gene_1", "tau", "pvalue", "n"])
    known = frame["pvalue"].notna()
    frame.loc[known, "qvalue"] = false_discovery_control(frame.loc[known, "pvalue"])
    return frame
