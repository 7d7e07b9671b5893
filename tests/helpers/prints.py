"""Rows of bits, such as fingerprints of molecules."""

from __future__ import annotations

import dask.array as da
import numpy as np
import xarray as xr

from tests.helpers.reference import agreement, tanimoto


def rows_of(seed: int, rows: int, bits: int, missing: float = 0.0) -> np.ndarray:
    """Rows of 0 and 1, some of them empty and some twice, NaN at random."""
    rng = np.random.default_rng(seed)
    values = (rng.uniform(size=(rows, bits)) < rng.uniform(0, 0.6, (rows, 1))).astype(float)
    values[rng.uniform(size=rows) < 0.1] = 0
    values[rng.uniform(size=rows) < 0.2] = values[0]
    values[rng.uniform(size=values.shape) < missing] = np.nan
    return values


def prints(values: np.ndarray, chunks: tuple[int, int] | None = None) -> xr.DataArray:
    names = [f"m{k}" for k in range(values.shape[0])]
    data = values if chunks is None else da.from_array(values, chunks=chunks)
    return xr.DataArray(data, {"molecule": names}, ("molecule", "bit"))


TWINS = {"tanimoto": tanimoto, "jaccard": tanimoto, "hamming": agreement}


def twin(measure: str, a: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    b = a if b is None else b
    return np.array([[TWINS[measure](x, y) for y in b.tolist()] for x in a.tolist()])
