"""P-values of the variants in view, in the colours of their r² with the lead variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.ld.plots.hover import columns_of, track_hook
from genobit.ld.plots.result import axis_label, coordinates_of, variant_names
from genobit.visual.pixels import lay_out
from genobit.visual.style import LEAD_COLOUR, NO_VALUE_COLOUR
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    import xarray as xr

    from genobit.visual.pixels import Axis

#: -log10 of the p-value of genome-wide significance.
SIGNIFICANT = -np.log10(5e-8)
#: Colours of r² from 0 to 0.2 and so on, which are those of the triangle.
BINS = np.array([*LIGHT.r2_bins, NO_VALUE_COLOUR], object)


def association_track(
    row: xr.DataArray,
    strength: np.ndarray,
    top: float,
    *,
    axis: Axis = "rank",
    first_rank: int = 0,
    rank_step: int = 1,
) -> hv.Overlay:
    """Draw -log10 of p along the chromosome, with the lead variant as a diamond.

    row: r² of the variants with the lead variant, as for `ld_track`; strength: (variants,) -log10
    of p, NaN without a p-value; top: largest value of the axis.

    Returns hv.Points (variants) * hv.Points (lead) * hv.Segments (genome-wide significance).
    """
    position = row["variant_position_0"].values
    at = coordinates_of(position, axis, first_rank, rank_step)
    r2 = row.values[:, 0].astype("f8")
    bin_of = np.where(np.isnan(r2), 5, np.clip(np.nan_to_num(r2) * 5, 0, 4)).astype(int)
    names = variant_names(row, 0)
    is_lead = names == variant_names(row, 1)[0]
    is_lead &= position == row["variant_position_1"].values[0]
    # Strong pairs are drawn last, on top.
    order = np.argsort(np.nan_to_num(r2, nan=-1.0), kind="stable")
    order = order[np.isfinite(strength[order])]
    columns = {
        "at": at,
        "value": strength,
        "colour": BINS[bin_of],
        "r2": r2,
        "variant": names,
        "position": position.astype("f8"),
    }
    kdims = ["at", hv.Dimension("value", label="−log₁₀ p")]
    vdims = ["colour", "r2", "variant", "position"]

    def points(which: np.ndarray, group: str) -> hv.Points:
        chosen = {name: column[which] for name, column in columns.items()}
        return hv.Points(chosen, kdims, vdims, group=group)

    bins = lay_out(position, "rank", len(position), first_rank, rank_step)
    ends = [(at[0] - 1e9, SIGNIFICANT, at[-1] + 1e9, SIGNIFICANT)]
    line = hv.Segments(ends, ["x", "y", "x1", "y1"]).opts(
        color=LIGHT.quiet, line_width=1, line_dash="dashed"
    )
    tips = [("variant", "@variant"), ("position", "@position{0,0}")]
    tips += [("−log₁₀ p", "@value{0.00}"), ("r²", "@r2{0.000}")]
    variants = points(order[~is_lead[order]], "Variants").opts(
        color="colour",
        line_color=LIGHT.ink,
        line_width=0.5,
        size=6,
        tools=[HoverTool(tooltips=tips)],
        hooks=[track_hook(columns_of(row, 0, bins), axis), _colour_by_column],
    )
    lead = points(order[is_lead[order]], "Lead").opts(
        color=LEAD_COLOUR, line_color=LIGHT.paper, marker="diamond", size=15
    )
    return (line * variants * lead).opts(
        title=f"−log₁₀ p, coloured by r² with {variant_names(row, 1)[0]}",
        show_legend=False,
        default_tools=["save"],
        xlabel=axis_label(row, 0, axis),
        ylabel="−log₁₀ p",
        ylim=(-0.03 * top, 1.1 * max(top, SIGNIFICANT)),
    )


def _colour_by_column(plot: Any, _element: Any) -> None:
    """Colour points by the column that `genobit.visual.repaint` sends (a HoloViews hook).

    HoloViews makes a column of its own, or one colour if all points have the same.
    """
    plot.handles["glyph"].fill_color = "colour"
