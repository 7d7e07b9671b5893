"""Linkage disequilibrium of all pairs: the square heatmap and the rotated triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv

from genobit.ld.plots.drawing import Drawing, PictureOptions, check_apex, square, triangle
from genobit.ld.plots.genes import under_genes
from genobit.ld.plots.outlines import BLOCK_COLOUR
from genobit.visual.style import (
    LEAD_COLOUR,
    NO_VALUE_COLOUR,
    SELECTED_COLOUR,
    WIDTH,
    bar_title,
    margins,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from genobit.ld.plots.hover import Shape
    from genobit.ld.plots.outlines import Lines
    from genobit.visual.pixels import Aggregate, Axis

#: Columns of hv.Segments.
ENDS = ["x", "y", "x1", "y1"]


def ld_heatmap(
    r2: xr.DataArray,
    *,
    axis: Axis = "rank",
    threshold: float = 0.0,
    max_pixels: int = 500,
    aggregate: Aggregate = "max",
    lead: int | str | None = None,
    selected: Sequence[int] | Sequence[str] = (),
    blocks: xr.Dataset | None = None,
    genes: Any = None,
) -> hv.Overlay | hv.Layout:
    """Draw LD of two sets of variants, or of one set with itself, as a heatmap.

    Parameters
    ----------
    r2
        Result of `.genobit.ld()`, dims (variants_0, variants_1); computed if it is lazy. NaN
        (a monomorphic variant) is drawn grey. A difference of two results has diverging colours.
    axis
        "rank" spaces the variants evenly. "position" draws distances to scale.
    threshold
        Pairs with an absolute value below this stay white.
    max_pixels
        Largest number of pixels on a side. With more variants, each pixel shows several pairs.
    aggregate
        Value of a pixel that shows several pairs: the value farthest from 0 ("max"), the mean
        ("mean"), or the first pair ("sample"). The title names the rule.
    lead
        Variant to mark, along variants_1: its id or its index.
    selected
        More variants to mark: their ids or indices.
    blocks
        Result of `.genobit.ld_blocks()`, whose blocks are outlined.
    genes
        Genes to draw above the picture: the path of a GFF3 file, or a table with the columns
        contig, start and end, and optionally name and strand. Positions count from 1.

    Returns
    -------
    hv.Image * hv.Segments (blocks) * hv.Segments (selected) * hv.Segments (lead). With `genes`,
    an hv.Layout of the genes and this picture.

    Raises
    ------
    ValueError
        If `r2` is not an LD result, or has no variant. With `genes`, for variants of several
        contigs.

    Examples
    --------
    >>> import xarray as xr
    >>> r2 = xr.DataArray(
    ...     [[1.0, 0.2], [0.2, 1.0]],
    ...     dims=("variants_0", "variants_1"),
    ...     coords={
    ...         "variant_position_0": ("variants_0", [100, 900]),
    ...         "variant_position_1": ("variants_1", [100, 900]),
    ...     },
    ...     name="r2",
    ... )
    >>> ld_heatmap(r2).Image.I.bounds.lbrt()
    (-0.5, -0.5, 1.5, 1.5)
    """
    look = PictureOptions(axis, threshold, max_pixels, aggregate, lead, selected, blocks)
    return under_genes(r2, look, genes, overlay(square(r2, look), WIDTH))


def ld_triangle(
    r2: xr.DataArray,
    *,
    axis: Axis = "rank",
    apex: Shape = "down",
    threshold: float = 0.0,
    max_pixels: int = 500,
    aggregate: Aggregate = "max",
    lead: int | str | None = None,
    selected: Sequence[int] | Sequence[str] = (),
    blocks: xr.Dataset | None = None,
    genes: Any = None,
) -> hv.Overlay | hv.Layout:
    """Draw the pairs of one set of variants as a triangle under (or over) the chromosome.

    Each cell is a pair of variants, placed midway between them. Its distance from the base is the
    distance between the two variants.

    Parameters
    ----------
    r2
        Result of `.genobit.ld()` without `other`, dims (variants_0, variants_1).
    axis, threshold, max_pixels, aggregate, lead, selected, blocks, genes
        As for `ld_heatmap`.
    apex
        "down" draws the triangle under its base, "up" over it.

    Returns
    -------
    hv.Image * hv.Segments (blocks) * hv.Segments (selected) * hv.Segments (lead). A pixel of
    the image is the index of its colour, not a value. With `genes`, an hv.Layout of the genes and
    this picture.

    Raises
    ------
    ValueError
        If the two sets of variants differ, for `genes` with the apex "up", or as for `ld_heatmap`.

    Examples
    --------
    >>> import xarray as xr
    >>> r2 = xr.DataArray(
    ...     [[1.0, 0.2], [0.2, 1.0]],
    ...     dims=("variants_0", "variants_1"),
    ...     coords={
    ...         "variant_position_0": ("variants_0", [100, 900]),
    ...         "variant_position_1": ("variants_1", [100, 900]),
    ...     },
    ...     name="r2",
    ... )
    >>> ld_triangle(r2).Image.I.bounds.lbrt()
    (-0.5, -2.0, 1.5, 0.0)
    """
    check_apex(apex, genes)
    look = PictureOptions(axis, threshold, max_pixels, aggregate, lead, selected, blocks)
    return under_genes(r2, look, genes, overlay(triangle(r2, look, apex), WIDTH // 2))


def overlay(drawing: Drawing, height: int, **key: Any) -> hv.Overlay:
    """Make HoloViews objects from a drawing, with a frame `height` in screen pixels.

    `key` are options of the colour bar.

    Returns hv.Image * hv.Segments (blocks) * hv.Segments (selected) * hv.Segments (lead).
    """
    # Always return all layers: a DynamicMap keeps the layers of its first frame.
    blocks = hv.Segments(drawing.blocks, ENDS, group="Blocks")
    return (
        _image(drawing, height, key)
        * blocks.opts(color=BLOCK_COLOUR, line_width=2)
        * _traces(drawing.selected, SELECTED_COLOUR, 1.0)
        * _traces(drawing.lead, LEAD_COLOUR, 1.5)
    ).opts(title=drawing.title, hooks=[margins])


def _traces(lines: Lines, colour: str, width: float) -> hv.Segments:
    return hv.Segments(lines, ENDS).opts(color=colour, line_width=width, alpha=0.8)


def _image(drawing: Drawing, height: int, key: dict[str, Any]) -> hv.Image:
    scale = drawing.scale
    triangle = drawing.pixels.dtype.kind == "u"
    value = hv.Dimension("shade" if triangle else drawing.statistic, label=scale.label)
    # Bins of the position axis are rarely round numbers: with its default tolerance, Image would
    # warn that they are not evenly spaced.
    image = hv.Image(drawing.pixels, ["x", "y"], value, bounds=drawing.bounds, rtol=1)
    return image.opts(
        cmap=drawing.colours,
        clim=drawing.limits,
        clipping_colors={"NaN": NO_VALUE_COLOUR, "min": "transparent"},
        colorbar=True,
        clabel=bar_title(scale, height),
        **key | {"colorbar_opts": scale.bar | key.get("colorbar_opts", {})},
        xlabel=drawing.xlabel,
        ylabel=drawing.ylabel,
        frame_width=WIDTH,
        frame_height=height,
        hooks=[drawing.hook],
        default_tools=["save"],
        tools=["xpan", "xwheel_zoom", "xbox_zoom", "reset"],
        active_tools=["xpan", "xwheel_zoom"],
    )


#: The colour bar in the empty corner of the triangle.
KEY: dict[str, Any] = {
    "colorbar_position": "bottom_left",
    "colorbar_opts": {
        "width": 128,
        "height": 9,
        "location": (0, 44),
        "background_fill_alpha": 0.0,
        "major_tick_line_color": None,
        "title_text_font_style": "normal",
    },
}
#: The colour bar over a corner of the square, which the opposite corner repeats.
SQUARE_KEY: dict[str, Any] = KEY | {
    "colorbar_opts": KEY["colorbar_opts"]
    | {"location": "top_left", "background_fill_alpha": 0.85, "margin": 6},
}
