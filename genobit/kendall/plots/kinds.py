"""The plots of rank correlations, by kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.labels import first_difference
from genobit.data.pairs.network import Network
from genobit.data.pairs.table import PairTable
from genobit.kendall.plots.edges import degree_histogram, draw_edges, strongest_edges
from genobit.kendall.plots.heatmap import SCALE, kendall_heatmap, pair_scatter
from genobit.kendall.plots.network import kendall_network
from genobit.kendall.plots.paper_network import paper_network
from genobit.visual.differences import scale_with
from genobit.visual.heatmap import heatmap
from genobit.visual.picture.plain import histogram
from genobit.visual.picture.spec import Picture
from genobit.visual.results import Result

if TYPE_CHECKING:
    import holoviews as hv


def _is_tau(data: Any) -> bool:
    if isinstance(data, xr.Dataset):
        return "tau" in data.data_vars and data["tau"].ndim == 2
    return isinstance(data, xr.DataArray) and data.name == "tau" and data.ndim == 2


def _matrix(tau: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return the matrix of a result, which is a Dataset if it has p-values."""
    return tau["tau"] if isinstance(tau, xr.Dataset) else tau


def _is_one_set(data: Any) -> bool:
    if not _is_tau(data):
        return False
    tau = _matrix(data)
    if tau.shape[0] != tau.shape[1]:
        return False
    somers = str(tau.attrs.get("statistic", "")).startswith("somers")
    known = tau.chunks is None and not somers
    if known and not np.array_equal(tau.values, tau.values.T, equal_nan=True):
        return False
    names = [str(dim)[:-2] for dim in tau.dims]
    shared = [name for name in map(str, tau.coords) if f"{name[:-2]}_1" in tau.coords]
    return names[0] == names[1] and all(
        first_difference(tau[name].values, tau[f"{name[:-2]}_1"].values, name) is None
        for name in shared
        if name.endswith("_0") and tau[name].ndim == 1
    )


def _rectangle(tau: xr.DataArray | xr.Dataset) -> hv.Image:
    """Draw tau of two sets of variables."""
    matrix = _matrix(tau).compute()
    return heatmap(matrix, scale_with(matrix.values, SCALE))


def _values(tau: xr.DataArray | xr.Dataset) -> Picture:
    """Draw a histogram of tau of all pairs."""
    matrix = _matrix(tau)
    values, one_set = matrix.values, _is_one_set(tau)
    named = replace(SCALE, name=str(matrix.attrs.get("long_name", SCALE.name)))
    name = scale_with(values, named, one_set=one_set).name
    if one_set:
        values = values[np.triu_indices(len(values), 1)]
    return histogram(values, name, "pair")


def _is_table(data: Any) -> bool:
    return isinstance(data, (Network, PairTable))


RESULTS = (
    Result("a table of pairs", _is_table, {"network": kendall_network}, {"network": paper_network}),
    Result(".kendall()", _is_one_set, {"heatmap": kendall_heatmap, "histogram": _values}),
    Result(".kendall()", _is_tau, {"heatmap": _rectangle, "histogram": _values}),
)
PUBLIC = (
    degree_histogram,
    draw_edges,
    kendall_heatmap,
    kendall_network,
    pair_scatter,
    strongest_edges,
)
