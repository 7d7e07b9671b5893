"""Figures along an axis: LD with a lead variant, and LD decay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import HoverTool

from genobit.data.pairs.table import PairTable, each_once
from genobit.ld.plots.decay import fitted_decay
from genobit.ld.plots.drawing import PictureOptions
from genobit.ld.plots.genes import under_genes
from genobit.ld.plots.hover import columns_of, track_hook
from genobit.ld.plots.result import axis_label, computed, coordinates_of, variant_names
from genobit.visual.pixels import Axis, lay_out
from genobit.visual.style import LEAD_COLOUR, NO_VALUE_COLOUR, POINT_COLOUR, WIDTH, margins, number

if TYPE_CHECKING:
    import pandas as pd


def ld_track(
    r2_row: xr.DataArray,
    *,
    axis: Axis = "position",
    first_rank: int = 0,
    rank_step: int = 1,
    genes: Any = None,
) -> hv.Overlay | hv.Layout:
    """Draw LD between a lead variant and every variant of a region, along the chromosome.

    Parameters
    ----------
    r2_row
        Result of `.genobit.ld(other=lead)`, where `lead` is a Dataset of one variant: dims
        (variants_0, variants_1) of sizes (n, 1). NaN is drawn as a grey cross at 0.
    axis
        "position" draws distances to scale. "rank" spaces the variants evenly.
    first_rank, rank_step
        With ``axis="rank"``: rank of the first variant, and difference in rank between consecutive
        variants of `r2_row` (above 1 if variants were thinned).
    genes
        Genes to draw above, as for `ld_heatmap`.

    Returns
    -------
    hv.Points (values) * hv.Points (variants without a value) * hv.Segments (lead position). With
    `genes`, an hv.Layout of the genes and this picture.

    Raises
    ------
    ValueError
        If variants_1 does not have size 1.

    Examples
    --------
    >>> import xarray as xr
    >>> row = xr.DataArray(
    ...     [[1.0], [0.2]],
    ...     dims=("variants_0", "variants_1"),
    ...     coords={
    ...         "variant_position_0": ("variants_0", [100, 900]),
    ...         "variant_position_1": ("variants_1", [100]),
    ...     },
    ...     name="r2",
    ... )
    >>> len(ld_track(row).Values.I)
    2
    """
    row, scale = computed(r2_row)
    if row.shape[1] != 1:
        raise ValueError(
            f"a track needs one lead variant along variants_1, which has size {row.shape[1]}; "
            "call ld(other=bits.isel(variants=[lead]))"
        )
    position = row["variant_position_0"].values
    lead_position = row["variant_position_1"].values
    n_variants = len(position)
    at = coordinates_of(position, axis, first_rank, rank_step)
    kept, none = _track_points(row, at)
    kdims = ["at", hv.Dimension("value", label=scale.label)]
    vdims = ["variant", "position", "apart"]
    title = f"{scale.label} with lead {variant_names(row, 1)[0]}"
    if none["at"].size:
        title += f" (grey crosses: no {scale.label}, {number(none['at'].size, 'variant')})"
    low, high = scale.limits
    where = float(np.interp(lead_position[0], position, at))
    inside = position[0] <= lead_position[0] <= position[-1]
    bins = lay_out(position, "rank", n_variants, first_rank, rank_step)
    picture = (
        hv.Points(kept, kdims, vdims, group="Values").opts(
            color=POINT_COLOUR,
            size=5,
            alpha=0.7,
            tools=[_track_hover(scale.label)],
            hooks=[track_hook(columns_of(row, 0, bins), axis)],
        )
        * hv.Points(none, kdims, vdims, group="Missing").opts(
            color=NO_VALUE_COLOUR, marker="x", size=6
        )
        * hv.Segments([(where, low, where, high)] if inside else [], ["x", "y", "x1", "y1"]).opts(
            color=LEAD_COLOUR, line_width=1.5
        )
    ).opts(
        title=title,
        frame_width=WIDTH,
        frame_height=140,
        show_legend=False,
        default_tools=["save"],
        hooks=[margins],
        xlabel=axis_label(row, 0, axis),
        ylabel=scale.label,
        ylim=(low - 0.05 * (high - low), high + 0.05 * (high - low)),
    )
    look = PictureOptions(axis, first_rank=first_rank, rank_step=rank_step)
    return under_genes(row, look, genes, picture, side=0, x="at")


def _track_points(
    row: xr.DataArray, at: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Split the columns into variants with a value and variants without one, drawn at 0."""
    position = row["variant_position_0"].values
    columns = {
        "at": at,
        "value": row.values[:, 0].astype("f8"),
        "variant": variant_names(row, 0),
        "position": position.astype("f8"),
        "apart": (position - row["variant_position_1"].values[0]) / 1e3,
    }
    missing = np.isnan(columns["value"])
    kept = {name: column[~missing] for name, column in columns.items()}
    none = {name: column[missing] for name, column in columns.items()}
    return kept, none | {"value": np.zeros(int(missing.sum()))}


def _track_hover(label: str) -> HoverTool:
    return HoverTool(
        tooltips=[
            ("variant", "@variant"),
            ("position", "@position{0,0}"),
            ("from the lead", "@apart{+0,0.0} kb"),
            (label, "@value{0.0000}"),
        ]
    )


def ld_decay(
    decay: xr.Dataset | xr.DataArray | PairTable | pd.DataFrame,
    *,
    bins: int = 40,
    max_distance: float | None = None,
    log: bool = False,
) -> hv.Overlay:
    """Draw mean LD by distance, and the curve and half-decay distance if they were computed.

    Parameters
    ----------
    decay
        Result of `.genobit.ld_decay()`. A result of `.genobit.ld()` without `other`, or a table of
        `.genobit.ld_pairs()`, is averaged in bins. Make the table with `threshold=0`, because the
        mean of strong pairs alone does not decay.
    bins
        Number of bins of equal width. A result of `.genobit.ld_decay()` keeps its own bins.
    max_distance
        Largest distance in base pairs. For a result of `.genobit.ld_decay()` with a window in cM,
        it is in cM. By default, all distances are drawn.
    log
        Whether the axis of distances is logarithmic. The axis then begins near the bin with the
        smallest distance.

    Returns
    -------
    hv.Curve * hv.Points of mean LD against distance in kb. The hover text of a point gives its
    number of pairs. For a result of `.genobit.ld_decay()`, hv.Points (means) * hv.Curve (fitted) *
    hv.Segments (half-decay distance) for each population, in its own colour.

    Raises
    ------
    ValueError
        If no pair has a value, or rows and columns are different variants.
    KeyError
        If a table lacks a column.

    Notes
    -----
    NaN pairs (monomorphic variants) and pairs on different contigs are left out. For a result of
    `.genobit.ld_decay()`, the title gives the half-decay distance with its confidence interval.
    With several populations, the legend gives both for each population.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = {"variant_position_0": [1, 1], "variant_position_1": [101, 901], "r2": [0.8, 0.2]}
    >>> table = pd.DataFrame(columns)
    >>> len(ld_decay(table, bins=2).Points.I)
    2
    """
    if isinstance(decay, xr.Dataset):
        return fitted_decay(decay, max_distance, log=log)
    distance, value, statistic = (
        _pairs_of_matrix(decay) if isinstance(decay, xr.DataArray) else _pairs_of_table(decay)
    )
    known = ~np.isnan(value)
    if max_distance is not None:
        known &= distance <= max_distance
    distance, value = distance[known], value[known]
    if not len(value):
        raise ValueError("no pair within max_distance has a value, so there is no decay to draw")
    stop = max(max_distance or float(distance.max()), 1.0)
    edges = np.linspace(0.0, stop, bins + 1)
    bin_of = np.clip(np.digitize(distance, edges) - 1, 0, bins - 1)
    count = np.bincount(bin_of, minlength=bins)
    filled = count > 0
    total = np.bincount(bin_of, weights=value, minlength=bins)
    columns = {
        "distance": ((edges[:-1] + edges[1:]) / 2e3)[filled],
        "mean": total[filled] / count[filled],
        "pairs": count[filled],
    }
    curve = hv.Curve(columns, "distance", "mean").opts(color=POINT_COLOUR)
    points = hv.Points(columns, ["distance", "mean"], "pairs").opts(
        color=POINT_COLOUR, size=6, tools=["hover"]
    )
    return (curve * points).opts(
        title=f"Decay of {statistic}: mean of {number(len(value), 'pair')} in {bins} bins",
        xlabel="distance between the variants (kb)",
        ylabel=f"mean {statistic}",
        # Means of a signed statistic, or of a difference, may be negative.
        ylim=(min(0.0, float(np.nanmin(columns["mean"], initial=0))), None),
        logx=log,
        frame_width=WIDTH,
        frame_height=260,
        hooks=[margins],
    )


def _pairs_of_matrix(matrix: xr.DataArray) -> tuple[np.ndarray, np.ndarray, str]:
    matrix, scale = computed(matrix)
    position = matrix["variant_position_0"].values
    if not np.array_equal(position, matrix["variant_position_1"].values):
        raise ValueError(
            "decay needs one set of variants against itself, and the positions along variants_0 "
            "and variants_1 differ"
        )
    first, second = np.triu_indices(len(position), k=1)
    values = matrix.values[first, second].astype("f8")
    if "variant_contig_0" in matrix.coords:
        contig = matrix["variant_contig_0"].values
        values[contig[first] != contig[second]] = np.nan
    return np.abs(position[second] - position[first]), values, scale.label


def _pairs_of_table(table: Any) -> tuple[np.ndarray, np.ndarray, str]:
    columns = table.to_dataframe() if isinstance(table, PairTable) else table
    statistic = "r2_em" if "r2_em" in columns else "r2"
    needed = ["variant_position_0", "variant_position_1", statistic]
    lacking = [name for name in needed if name not in columns]
    if lacking:
        raise KeyError(
            f"decay needs the columns {', '.join(needed)}, and the table lacks "
            f"{', '.join(lacking)}: give a table of ds.genobit.ld_pairs()"
        )
    if {"variant_0", "variant_1"} <= {*columns} and (columns.variant_0 > columns.variant_1).any():
        columns = each_once(columns, "variant")
    first, second, values = (columns[name].to_numpy() for name in needed)
    return np.abs(second - first), values.astype("f8"), "r²"
