"""The plots of LD results, by kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
import xarray as xr

from genobit.ld.plots.band import ld_band
from genobit.ld.plots.decay import ld_decay
from genobit.ld.plots.heatmap import ld_heatmap, ld_triangle
from genobit.ld.plots.lead_track import ld_track
from genobit.ld.plots.paper_ld import paper_heatmap, paper_triangle
from genobit.ld.plots.paper_track import paper_track
from genobit.ld.plots.result import DIMS, is_one_set
from genobit.ld.plots.tracks import block_track, clump_plot
from genobit.visual.differences import scale_with
from genobit.visual.genome import places
from genobit.visual.heatmap import heatmap
from genobit.visual.picture.plain import histogram, mask_track, track
from genobit.visual.picture.spec import Picture
from genobit.visual.results import Result
from genobit.visual.style import SCALES

if TYPE_CHECKING:
    from collections.abc import Callable


def _is_ld(data: Any) -> bool:
    """Return whether data are LD of two sets of variants, with their positions."""
    return (
        isinstance(data, xr.DataArray)
        and data.dims == DIMS
        and str(data.attrs.get("statistic", data.name)) in SCALES
        and {"variant_position_0", "variant_position_1"} <= set(data.coords)
    )


def _is_one_set(data: Any) -> bool:
    return _is_ld(data) and is_one_set(data)


def _is_lead(data: Any) -> bool:
    return _is_ld(data) and data.shape[1] == 1 and data.shape[0] > 1


def _is_unplaced(data: Any) -> bool:
    statistics = {*SCALES, "T"}
    return (
        isinstance(data, xr.DataArray)
        and data.ndim == 2
        and str(data.attrs.get("statistic", data.name)) in statistics
        and all(str(dim).endswith(f"_{side}") for side, dim in enumerate(data.dims))
    )


def _named(name: str) -> Callable[[Any], bool]:
    """Return a test for a DataArray of variants with this name."""
    return lambda data: (
        isinstance(data, xr.DataArray) and data.name == name and data.dims == ("variants",)
    )


def _has(*names: str) -> Callable[[Any], bool]:
    """Return a test for a Dataset with these variables."""
    return lambda data: isinstance(data, xr.Dataset) and set(names) <= set(data.data_vars)


def _matrix(ld: xr.DataArray) -> hv.Image:
    """Draw LD of variants or sites that have no positions."""
    ld = ld.compute()
    scale = SCALES.get(str(ld.attrs.get("statistic", ld.name)))
    scale = None if scale is None else scale_with(ld.values, scale)
    return heatmap(ld, scale, clustered=False)


def _values(ld: xr.DataArray) -> Picture:
    """Draw a histogram of the values of all pairs."""
    values, one_set = ld.values, _is_one_set(ld)
    statistic = str(ld.attrs.get("statistic", ld.name))
    name = str(ld.attrs.get("long_name", ld.name))
    if statistic in SCALES:
        name = scale_with(values, replace(SCALES[statistic], name=name), one_set=one_set).name
    if one_set:
        values = values[np.triu_indices(len(values), 1)]
    return histogram(values, name, "pair")


def _scores(scores: xr.Dataset) -> Picture:
    """Draw LD scores along the genome."""
    values = scores["ld_score"].values
    label = str(scores["ld_score"].attrs.get("long_name", "LD score"))
    return track(places(scores), values, label, f"LD score of {len(values):,} variants")


def _score_histogram(scores: xr.Dataset) -> Picture:
    """Draw a histogram of LD scores."""
    label = str(scores["ld_score"].attrs.get("long_name", "LD score"))
    return histogram(scores["ld_score"].values, label, "variant")


def _pruned(kept: xr.DataArray) -> Picture:
    """Draw how many variants pruning keeps along the genome."""
    return mask_track(places(kept), kept.values, ("kept", "removed"))


RESULTS = (
    Result(
        ".ld()",
        _is_one_set,
        {"triangle": ld_triangle, "heatmap": ld_heatmap, "decay": ld_decay, "histogram": _values},
        {"triangle": paper_triangle, "heatmap": paper_heatmap},
    ),
    Result(
        ".ld()",
        _is_lead,
        {"track": ld_track, "heatmap": ld_heatmap, "histogram": _values},
        {"track": paper_track, "heatmap": paper_heatmap},
    ),
    Result(
        ".ld()",
        _is_ld,
        {"heatmap": ld_heatmap, "histogram": _values},
        {"heatmap": paper_heatmap},
    ),
    Result(".ld()", _is_unplaced, {"heatmap": _matrix, "histogram": _values}),
    Result(
        ".ld(window=)",
        lambda data: isinstance(data, xr.DataArray) and data.dims == ("variants", "offsets"),
        {"triangle": ld_band, "histogram": _values},
    ),
    Result(".ld_prune()", _named("ld_prune"), {"track": _pruned}),
    Result(".ld_clump()", _has("index_variant", "p", "member"), {"manhattan": clump_plot}),
    Result(".ld_score()", _has("ld_score"), {"track": _scores, "histogram": _score_histogram}),
    Result(
        ".ld_decay()",
        _has("half_decay", "pairs", "distance"),
        {"curve": ld_decay},
    ),
    Result(".ld_blocks()", _has("first_position", "last_position", "n"), {"track": block_track}),
)
PUBLIC = (ld_decay, ld_heatmap, ld_track, ld_triangle)
