"""Linkage disequilibrium of all pairs: the square heatmap and the rotated triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np

from .hover import OUTSIDE, Shape, columns_of, pair_hook
from .outlines import legs, outlines, traces
from .pixels import AGGREGATES, Aggregate, Axis, Pixels, aggregated, lay_out, rotate
from .result import axis_label, computed, contig_name, coordinates_of
from .style import (
    LEAD_COLOUR,
    NO_VALUE_COLOUR,
    SELECTED_COLOUR,
    WIDTH,
    Scale,
    margins,
    number,
    palette,
    window_in_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr


def ld_heatmap(
    r2: xr.DataArray,
    *,
    axis: Axis = "rank",
    hidden_below: float = 0.0,
    max_pixels: int = 500,
    aggregate: Aggregate = "max",
    lead: int | None = None,
    selected: Sequence[int] = (),
    blocks: xr.Dataset | None = None,
    first_rank: int = 0,
    rank_step: int = 1,
    note: str = "",
) -> hv.Overlay:
    """Draw LD between two sets of variants, or of one with itself, as a heatmap.

    Parameters
    ----------
    r2
        Result of `.genobit.ld()`, dims (variants_0, variants_1); computed if it is lazy. NaN
        (a monomorphic variant) is drawn grey.
    axis
        "rank" gives each variant the same width, "position" is true to scale.
    hidden_below
        Pairs nearer to 0 are left white.
    max_pixels
        Larger sides are drawn in this many pixels.
    aggregate
        What a pixel of several pairs shows: the one farthest from 0 ("max"), their "mean", or the
        first ("sample", a thinned picture). The title says which.
    lead
        Index along variants_1 of a variant to mark.
    selected
        Of further ones.
    blocks
        Result of `.genobit.ld_blocks()`, to outline.
    first_rank, rank_step
        Where a rank axis begins and how many ranks lie between neighbours.
    note
        Added to the subtitle.

    Returns
    -------
    hv.Image * hv.Segments (blocks) * hv.Segments (selected) * hv.Segments (lead).

    Raises
    ------
    ValueError
        If dims or coordinates are not those of an LD result, or there is no variant.

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
    matrix, scale = computed(r2)
    ranks = (first_rank, rank_step)
    rows = lay_out(matrix["variant_position_0"].values, axis, max_pixels, *ranks)
    columns = lay_out(matrix["variant_position_1"].values, axis, max_pixels, *ranks)
    shown = _clipped(aggregated(matrix.values, rows, columns, aggregate), scale)
    bounds = (columns.start, rows.start, columns.stop, rows.stop)
    image = _image(shown[::-1], bounds, matrix, scale, hidden_below, rows, columns, "square", axis)
    image.opts(frame_width=WIDTH, frame_height=WIDTH, ylabel=axis_label(matrix, 0, axis))
    at = coordinates_of(matrix["variant_position_1"].values, axis, first_rank, rank_step)
    outlined = outlines(matrix, at, columns, blocks, "square")
    chosen = [line for k in selected for line in legs(at[k], columns, "square", rows)]
    marks = [] if lead is None else legs(at[lead], columns, "square", rows)
    title = _title(matrix, scale, columns, hidden_below, aggregate, note)
    return _overlaid(image, outlined, chosen, marks).opts(title=title, hooks=[margins])


def ld_triangle(
    r2: xr.DataArray,
    *,
    axis: Axis = "rank",
    apex: Shape = "down",
    hidden_below: float = 0.0,
    max_pixels: int = 500,
    aggregate: Aggregate = "max",
    lead: int | None = None,
    selected: Sequence[int] = (),
    blocks: xr.Dataset | None = None,
    first_rank: int = 0,
    rank_step: int = 1,
    note: str = "",
) -> hv.Overlay:
    """Draw the pairs of one set as a triangle under (or over) the chromosome.

    A pair stands at the middle of its variants, as far from the base as they are apart.

    Parameters
    ----------
    r2
        Result of `.genobit.ld()` of a set with itself, dims (variants_0, variants_1).
    axis, hidden_below, max_pixels, aggregate, lead, selected, blocks, first_rank, rank_step, note
        As for `ld_heatmap`.
    apex
        "down" hangs the triangle under its base, "up" stands it on it.

    Returns
    -------
    hv.Image * hv.Segments (blocks) * hv.Segments (selected) * hv.Segments (lead).

    Raises
    ------
    ValueError
        If the two sets of variants differ, or for the reasons of `ld_heatmap`.

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
    if apex not in {"up", "down"}:
        raise ValueError(f'apex is {apex!r}; use "up" or "down"')
    matrix, scale = computed(r2)
    position = matrix["variant_position_0"].values
    if not np.array_equal(position, matrix["variant_position_1"].values):
        raise ValueError(
            "a triangle shows one set of variants against itself, and the positions along "
            "variants_0 and variants_1 differ; use ld_heatmap for two sets"
        )
    bins = lay_out(position, axis, max_pixels, first_rank, rank_step)
    rotated = rotate(_clipped(aggregated(matrix.values, bins, bins, aggregate), scale), OUTSIDE)
    height = bins.n * bins.width
    down = apex == "down"
    bounds = (bins.start, -height if down else 0.0, bins.stop, 0.0 if down else height)
    # Image rows run from the top, and the base is the first row of `rotated`.
    image = _image(
        rotated if down else rotated[::-1],
        bounds, matrix, scale, hidden_below, bins, bins, apex, axis,
    )  # fmt: skip
    apart = "variants apart" if axis == "rank" else "Mb apart"
    image.opts(
        frame_width=WIDTH,
        frame_height=WIDTH // 2,
        ylabel=apart,
    )
    title = _title(matrix, scale, bins, hidden_below, aggregate, note)
    at = coordinates_of(position, axis, first_rank, rank_step)
    outlined = outlines(matrix, at, bins, blocks, apex)
    chosen = [line for k in selected for line in legs(at[k], bins, apex)]
    marks = [] if lead is None else legs(at[lead], bins, apex)
    return _overlaid(image, outlined, chosen, marks).opts(title=title, hooks=[margins])


def _image(
    pixels: np.ndarray,
    bounds: tuple[float, float, float, float],
    matrix: xr.DataArray,
    scale: Scale,
    hidden_below: float,
    rows: Pixels,
    columns: Pixels,
    shape: Shape,
    axis: Axis,
) -> hv.Image:
    hook = pair_hook(
        columns_of(matrix, 0, rows), columns_of(matrix, 1, columns), shape, axis, scale.label
    )
    # A bin of the position axis is rarely a round number: Image's own check of even spacing
    # would warn about the last digit.
    image = hv.Image(
        pixels, ["x", "y"], hv.Dimension(str(matrix.name), label=scale.label), bounds=bounds, rtol=1
    )
    return image.opts(
        cmap=palette(scale, hidden_below),
        clim=scale.limits,
        clipping_colors={"NaN": NO_VALUE_COLOUR, "min": "transparent"},
        colorbar=True,
        clabel=scale.name,
        colorbar_opts={"width": 12},
        xlabel=axis_label(matrix, 1, axis),
        hooks=[hook],
        default_tools=["save"],
        tools=["xpan", "xwheel_zoom", "xbox_zoom", "reset"],
        active_tools=["xpan", "xwheel_zoom"],
    )


def _overlaid(
    image: hv.Image,
    outlined: hv.Segments,
    chosen: list[tuple[float, ...]],
    lead: list[tuple[float, ...]],
) -> hv.Overlay:
    # All layers always: a DynamicMap keeps to those of its first frame.
    return image * outlined * traces(chosen, SELECTED_COLOUR, 1.0) * traces(lead, LEAD_COLOUR, 1.5)


def _clipped(values: np.ndarray, scale: Scale) -> np.ndarray:
    # Rounding may leave 1.0000001, which is no reason for another colour.
    return np.clip(values, *scale.limits).astype("f4")


def _title(
    matrix: xr.DataArray,
    scale: Scale,
    bins: Pixels,
    hidden_below: float,
    aggregate: Aggregate,
    note: str,
) -> str:
    n_rows, n_columns = matrix.shape
    square = n_rows == n_columns
    what = number(n_rows, "variant") if square else f"{n_rows:,} × {n_columns:,} variants"
    where = window_in_words(contig_name(matrix, 1), matrix["variant_position_1"].values)
    notes = [note] if note else []
    if bins.per_pixel > 1:
        pairs = f"up to {bins.per_pixel} × {bins.per_pixel} variants"
        notes.append(f"pixel: {AGGREGATES[aggregate]} {pairs}")
    else:
        notes.append("pixel: one pair")
    if bins.empty:
        notes.append("gaps: nearest variant")
    if hidden_below > 0:
        notes.append(f"white: |{scale.label}| < {hidden_below:g}")
    missing = int(np.isnan(matrix.values).all(axis=0).sum())
    if missing:
        notes.append(f"grey: no {scale.label}, {number(missing, 'monomorphic variant')}")
    elif np.isnan(matrix.values).any():
        notes.append(f"grey: no {scale.label}")
    return f"{scale.label} of {what}, {where}\n{'; '.join(notes)}"
