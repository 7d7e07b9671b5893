"""The plots of similarities of binary rows, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.visual.differences import is_difference, name_of_difference
from genobit.visual.heatmap import heatmap
from genobit.visual.picture.plain import histogram
from genobit.visual.picture.spec import Picture
from genobit.visual.results import Result

if TYPE_CHECKING:
    import holoviews as hv


def _is_matrix(data: Any) -> bool:
    return isinstance(data, xr.DataArray) and data.name == "similarity" and data.ndim == 2


def _is_neighbours(data: Any) -> bool:
    return isinstance(data, xr.Dataset) and {"neighbours", "similarity"} <= set(data.data_vars)


def _name(similarity: xr.DataArray) -> str:
    name = str(similarity.attrs.get("long_name", "similarity"))
    difference = is_difference(similarity.values, least=0.0, most=1.0)
    return name_of_difference(name) if difference else name


def _matrix(similarity: xr.DataArray) -> hv.Image:
    """Draw the similarities of all pairs, or their difference, as a heatmap."""
    similarity = similarity.compute()
    return heatmap(similarity.assign_attrs(long_name=_name(similarity)))


def _values(similarity: xr.DataArray) -> Picture:
    """Draw a histogram of the similarities of all pairs."""
    similarity = similarity.compute()
    values = similarity.values
    rows, columns = (str(dim)[:-2] for dim in similarity.dims)
    if rows == columns and values.shape[0] == values.shape[1]:
        values = values[np.triu_indices(len(values), 1)]
    return histogram(values, _name(similarity), "pair")


def _nearest(neighbours: xr.Dataset) -> Picture:
    """Draw a histogram of the similarity of each row to its nearest row."""
    nearest = neighbours["similarity"].isel(rank=0)
    label = str(neighbours["similarity"].attrs.get("long_name", "similarity"))
    return histogram(nearest.values, f"{label} to the nearest row", "row")


RESULTS = (
    Result(".similarity()", _is_matrix, {"heatmap": _matrix, "histogram": _values}),
    Result(".similarity(top=)", _is_neighbours, {"histogram": _nearest}),
)
