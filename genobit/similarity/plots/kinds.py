"""The plots of similarities of binary rows, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.visual.plain import heatmap, histogram
from genobit.visual.results import Result

if TYPE_CHECKING:
    import holoviews as hv


def _is_matrix(data: Any) -> bool:
    return isinstance(data, xr.DataArray) and data.name == "similarity" and data.ndim == 2


def _is_neighbours(data: Any) -> bool:
    return isinstance(data, xr.Dataset) and {"neighbours", "similarity"} <= set(data.data_vars)


def _values(similarity: xr.DataArray) -> hv.Histogram:
    """Draw a histogram of the similarities of all pairs."""
    values = similarity.values
    rows, columns = (str(dim)[:-2] for dim in similarity.dims)
    if rows == columns and values.shape[0] == values.shape[1]:
        values = values[np.triu_indices(len(values), 1)]
    return histogram(values, str(similarity.attrs.get("long_name", "similarity")), "pair")


def _nearest(neighbours: xr.Dataset) -> hv.Histogram:
    """Draw a histogram of the similarity of each row to its nearest row."""
    nearest = neighbours["similarity"].isel(rank=0)
    label = str(neighbours["similarity"].attrs.get("long_name", "similarity"))
    return histogram(nearest.values, f"{label} to the nearest row", "row")


RESULTS = (
    Result(".similarity()", _is_matrix, {"heatmap": heatmap, "histogram": _values}),
    Result(".similarity(top=)", _is_neighbours, {"histogram": _nearest}),
)
