"""Figure of LD with a lead variant, along the chromosome."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import HoverTool

from genobit.ld.plots.drawing import PictureOptions
from genobit.ld.plots.genes import under_genes
from genobit.ld.plots.hover import columns_of, track_hook
from genobit.ld.plots.result import axis_label, computed, coordinates_of, variant_names
from genobit.visual.pixels import Axis, lay_out
from genobit.visual.style import LEAD_COLOUR, NO_VALUE_COLOUR, POINT_COLOUR, WIDTH, margins, number


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
