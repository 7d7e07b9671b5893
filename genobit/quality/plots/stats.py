"""Figures of statistics of variants and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.data.selection import names_along
from genobit.visual.colouring import Colouring, colour_options, colouring_of
from genobit.visual.picture.spec import Axis, Line, Panel, Picture, Points
from genobit.visual.style import (
    few_marks,
    number,
    with_hooks,
)
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import ArrayLike

#: Points of a quantile plot: all of the smallest p-values, and as many spread over the rest.
POINTS = 1000
#: Smallest p-value drawn; smaller ones are drawn there.
SMALLEST_P = 1e-300


def hwe_quantiles(stats: xr.Dataset) -> Picture:
    """Draw the p-values of the Hardy-Weinberg test against those expected by chance."""
    p = np.sort(stats["hwe_p"].values[~np.isnan(stats["hwe_p"].values)])
    if not p.size:
        raise ValueError("no variant has a p-value of the Hardy-Weinberg test")
    rank = np.arange(p.size)
    if p.size > 2 * POINTS:
        rest = np.geomspace(POINTS, p.size - 1, POINTS).astype(np.intp)
        rank = np.unique(np.concatenate([rank[:POINTS], rest]))
    expected = -np.log10((rank + 0.5) / p.size)
    observed = -np.log10(np.maximum(p[rank], SMALLEST_P))
    top = float(expected.max())
    end = np.array([0.0, top])
    hover = {"expected": expected, "observed": observed}
    marks = (
        Line(end, end, 1.0, colour=LIGHT.accent),
        Points(expected, observed, 4.0, hover=hover),
    )
    panel = Panel(
        Axis("Expected −log₁₀ P", (0.0, 1.03 * top)),
        Axis("Observed −log₁₀ P", (0.0, 1.05 * max(top, float(observed.max())))),
        marks,
        size=(320, 320),
        zoom="xy",
        square=True,
    )
    title = f"Hardy-Weinberg test of {number(p.size, 'variant')}"
    return Picture(panel, title, ("Line: expected by chance.",))


def sample_scatter(
    stats: xr.Dataset, *, colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None
) -> hv.Points:
    """Draw the heterozygosity of each sample against its call rate."""
    colour = colouring_of(stats, colour_by, "samples")
    columns = {
        "call_rate": stats["call_rate"].values,
        "het": stats["het"].values,
        "sample": names_along(stats, "samples").to_numpy(object),
        "colour": colour.values,
    }
    tips = [("sample", "@sample"), ("call rate", "@call_rate"), ("heterozygosity", "@het")]
    if colour.name:
        tips.append((colour.name, "@colour"))
    vdims = ["sample", hv.Dimension("colour", label=colour.name or "colour")]
    points = hv.Points(columns, ["call_rate", "het"], vdims).opts(
        **colour_options(colour),
        title=f"Call rate and heterozygosity of {number(len(columns['het']), 'sample')}",
        xlabel="call rate",
        ylabel="share of heterozygous calls",
        size=5,
        line_color=None,
        fill_alpha=0.75,
        frame_width=480,
        frame_height=320,
        padding=0.05,
        toolbar="above",
        default_tools=["save"],
        tools=["pan", "wheel_zoom", "reset", HoverTool(tooltips=tips)],
    )
    return with_hooks(points, few_marks)
