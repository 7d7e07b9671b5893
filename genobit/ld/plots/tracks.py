"""LD clumps and haplotype blocks along the genome."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import HoverTool

from genobit.visual.genome import places
from genobit.visual.style import (
    LEAD_COLOUR,
    NO_VALUE_COLOUR,
    PALE_COLOUR,
    POINT_COLOUR,
    WIDTH,
    few_marks,
    margins,
    number,
)

#: Smallest p-value drawn: below, p is 0 in float64.
_LEAST = 1e-320


def clump_plot(clumps: xr.Dataset) -> hv.Overlay:
    """Draw the p-values of clumped variants along the genome, with index variants on top.

    Examples
    --------
    >>> import xarray as xr
    >>> clumps = xr.Dataset(
    ...     {
    ...         "index_variant": ("clumps", [3]),
    ...         "p": ("clumps", [1e-8]),
    ...         "member": ("members", [4, 5]),
    ...         "clump": ("members", [0, 0]),
    ...         "member_p": ("members", [1e-4, 1e-3]),
    ...     }
    ... )
    >>> clump_plot(clumps).opts.get().kwargs["title"]
    '1 clump, 2 other variants in clumps'
    """
    index, member = clumps["index_variant"].values, clumps["member"].values
    found = _places(clumps, ("clumps", "clump_", index), ("members", "member_", member))
    leads = {
        "y": _strength(clumps["p"]),
        "members": np.bincount(clumps["clump"].values, minlength=len(index)),
    }
    n_leads = len(index)
    leads |= {"x": found.x[:n_leads], "variant": found.names[:n_leads]}
    others = {
        "x": found.x[n_leads:],
        "y": _strength(clumps["member_p"]),
        "variant": found.names[n_leads:],
    }
    tips = [("variant", "@variant"), ("−log10 p", "@y{0.00}")]
    members = hv.Points(others, ["x", "y"], ["variant"], label="Members").opts(
        color=NO_VALUE_COLOUR, size=4, default_tools=[], tools=[HoverTool(tooltips=tips)]
    )
    tips = [*tips, ("other variants in its clump", "@members")]
    tops = hv.Points(leads, ["x", "y"], ["variant", "members"], label="Index variants").opts(
        color=LEAD_COLOUR,
        size=6,
        default_tools=["save"],
        tools=["xpan", "xwheel_zoom", "reset", HoverTool(tooltips=tips)],
    )
    title = f"{number(n_leads, 'clump')}, {number(len(member), 'other variant')} in clumps"
    return (members * tops).opts(
        title=title,
        ylabel="−log10 p",
        **found.axis,
        ylim=(0, None),
        frame_width=WIDTH,
        frame_height=260,
        padding=0.03,
        legend_position="right",
        hooks=[margins],
    )


def _strength(p: xr.DataArray) -> np.ndarray:
    """Return -log10 of the p-values, which `ld_clump(log10=True)` returns as they are."""
    values = p.values.astype("f8")
    if str(p.attrs.get("long_name")).startswith("-log10"):
        return values
    return -np.log10(np.maximum(values, _LEAST))


def _places(clumps: xr.Dataset, *sides: tuple[str, str, np.ndarray]) -> Any:
    """Return the places of index variants and then members on one axis."""
    wanted = ("variant_position", "variant_contig", "variant_id")
    labels = {}
    for name in wanted:
        both = [f"{prefix}{name}" for _, prefix, _ in sides]
        if all(label in clumps.variables for label in both):
            labels[name] = ("variants", np.concatenate([clumps[label].values for label in both]))
    index = np.concatenate([number for _, _, number in sides])
    order = xr.Dataset({"index": ("variants", index)}, labels, clumps.attrs)
    return places(order, number=index)


def block_track(blocks: xr.Dataset) -> hv.Overlay:
    """Draw haplotype blocks along the genome; the height is the number of variants.

    Examples
    --------
    >>> import xarray as xr
    >>> blocks = xr.Dataset({"first_position": ("blocks", [10]), "n": ("blocks", [2])})
    >>> block_track(blocks.assign(last_position=("blocks", [30]))).opts.get().kwargs["title"]
    '1 block of 2 variants'
    """
    count = blocks.sizes["blocks"]
    ends = np.concatenate([blocks["first_position"].values, blocks["last_position"].values])
    labels: dict[str, Any] = {"variant_position": ("variants", ends)}
    if "contig" in blocks.variables:
        labels["variant_contig"] = ("variants", np.tile(blocks["contig"].values, 2))
    found = places(xr.Dataset({"end": ("variants", np.arange(2 * count))}, labels))
    n = blocks["n"].values
    columns = {
        "x": found.x[:count],
        "y": np.zeros(count),
        "x1": found.x[count:],
        "y1": n.astype("f8"),
        "first": found.names[:count],
        "last": found.names[count:],
        "variants": n,
        "colour": np.where(np.arange(count) % 2, PALE_COLOUR, POINT_COLOUR),
    }
    tips = [("from", "@first"), ("to", "@last"), ("variants", "@variants")]
    boxes = hv.Rectangles(columns, ["x", "y", "x1", "y1"], list(columns)[4:], label="Blocks")
    title = f"{number(count, 'block')} of {number(int(n.sum()), 'variant')}"
    return hv.Overlay(
        [
            boxes.opts(
                color="colour",
                line_color="colour",
                default_tools=["save"],
                tools=["xpan", "xwheel_zoom", "reset", HoverTool(tooltips=tips)],
            )
        ]
    ).opts(
        title=title,
        ylabel="variants in the block",
        **found.axis,
        ylim=(0, 1.1 * max(int(n.max(initial=1)), 1)),
        frame_width=WIDTH,
        frame_height=180,
        show_legend=False,
        hooks=[margins, few_marks],
    )
