"""Drawing of an LD picture as numbers and texts, shared by HoloViews plots and live figures.

`genobit.ld.plots.heatmap` makes HoloViews objects from a drawing. An explorer that already has a
figure sends the drawing to it directly, because making those objects takes longer than all work
done here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import model
from genobit.data.checks import check_number
from genobit.data.selection_by_label import members
from genobit.ld.plots.hover import Shape, columns_of, pair_hook, triangle_hook
from genobit.ld.plots.outlines import Lines, legs, outlines
from genobit.ld.plots.result import axis_label, computed, contig_name, coordinates_of
from genobit.ld.plots.shades import OUTSIDE, SHADES, codes, colours_of_shades, key_hook, shades
from genobit.visual.pixels import (
    ACROSS,
    AGGREGATES,
    Aggregate,
    Axis,
    Pixels,
    aggregated,
    diamonds,
    lay_out,
    raster_width,
)
from genobit.visual.style import Scale, number, palette, window_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import xarray as xr


@dataclass(frozen=True)
class PictureOptions:
    """Options of an LD picture; see `genobit.plots.ld_heatmap`.

    The other options describe a part of a set. A rank axis begins at `first_rank`, with `rank_step`
    ranks between neighbours; `note` is added to the subtitle. A triangle is drawn `across` pixels
    wide.
    """

    axis: Axis = "rank"
    threshold: float = 0.0
    max_pixels: int = 500
    aggregate: Aggregate = "max"
    lead: int | str | None = None
    selected: Sequence[int] | Sequence[str] = ()
    blocks: xr.Dataset | None = None
    first_rank: int = 0
    rank_step: int = 1
    note: str = ""
    across: int = ACROSS

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError for a threshold that is not a number."""
        check_number("threshold", self.threshold, "give the smallest value that is coloured")

    def lay_out(self, position: np.ndarray) -> Pixels:
        """Return the bins of one axis."""
        return lay_out(position, self.axis, self.max_pixels, self.first_rank, self.rank_step)

    def coordinates(self, position: np.ndarray) -> np.ndarray:
        """Return the coordinates of variants on an axis."""
        return coordinates_of(position, self.axis, self.first_rank, self.rank_step)

    def pixels(
        self, values: np.ndarray, scale: Scale, rows: Pixels, columns: Pixels | None = None
    ) -> np.ndarray:
        """Return the value that each pixel shows, NaN without one; values: (variants, variants)."""
        columns = rows if columns is None else columns
        several = max(rows.per_pixel, columns.per_pixel) > 1
        if several and scale.key != scale:  # signs must not cancel in a mean
            values = np.abs(values)
        return aggregated(values, rows, columns, self.aggregate)

    def legs(
        self,
        variants: Any,
        name: str,
        matrix: xr.DataArray,
        columns: Pixels,
        shape: Shape,
        rows: Pixels | None = None,
    ) -> Lines:
        """Return the lines that mark variants along variants_1; ``name`` is the argument."""
        at = self.coordinates(matrix["variant_position_1"].values)
        chosen = [] if variants is None else members(matrix, variants, model.VARIANTS, name)
        return [line for k in chosen for line in legs(at[k], columns, shape, rows)]


@dataclass(frozen=True)
class Drawing:
    """An LD picture: pixels in a frame, lines over them, and texts."""

    statistic: str
    scale: Scale
    pixels: np.ndarray
    """Shape (rows, columns), top row first: float32 values of a square, shades of a triangle."""
    bounds: tuple[float, float, float, float]
    """Left, bottom, right, top."""
    colours: list[str]
    limits: tuple[float, float]
    """Numbers of the first colour and after the last one."""
    hook: Callable[[Any, Any], None]
    """HoloViews hook that sets the hover, the ticks and the colour bar."""
    blocks: Lines
    selected: Lines
    lead: Lines
    cells: list[str]
    """Description of a cell that shows several pairs."""
    title: str
    xlabel: str
    ylabel: str


def check_apex(apex: str, genes: Any) -> None:
    """Raise ValueError for an unknown apex, and for genes on top of the apex."""
    if apex not in {"up", "down"}:
        raise ValueError(f'apex is {apex!r}; use "up" or "down"')
    if apex == "up" and genes is not None:
        raise ValueError('genes= are drawn over the base of a triangle: leave apex="up" out')


def square(r2: xr.DataArray, look: PictureOptions) -> Drawing:
    """Draw two sets of variants against each other, from an LD result (rows, columns)."""
    matrix, scale = computed(r2)
    rows = look.lay_out(matrix["variant_position_0"].values)
    columns = look.lay_out(matrix["variant_position_1"].values)
    shown = _clipped(look.pixels(matrix.values, scale, rows, columns), scale)
    at = look.coordinates(matrix["variant_position_1"].values)
    return Drawing(
        str(matrix.name),
        scale,
        shown[::-1],
        (columns.start, rows.start, columns.stop, rows.stop),
        palette(scale, look.threshold),
        scale.limits,
        _hover(matrix, scale, rows, columns, look.axis),
        outlines(matrix, at, columns, look.blocks, "square"),
        look.legs(look.selected, "selected", matrix, columns, "square", rows),
        look.legs(look.lead, "lead", matrix, columns, "square", rows),
        cells_in_words(columns, look),
        description(matrix, scale, columns, look),
        axis_label(matrix, 1, look.axis),
        axis_label(matrix, 0, look.axis),
    )


def triangle(r2: xr.DataArray, look: PictureOptions, apex: Shape) -> Drawing:
    """Draw the pairs of one set of variants; the apex is "down" or "up".

    Raises ValueError if rows and columns are different variants.
    """
    matrix, scale = computed(r2)
    position = matrix["variant_position_0"].values
    if not np.array_equal(position, matrix["variant_position_1"].values):
        raise ValueError(
            "a triangle shows one set of variants against itself, and the positions along "
            "variants_0 and variants_1 differ; use ld_heatmap for two sets"
        )
    bins = look.lay_out(position)
    shown = _clipped(look.pixels(matrix.values, scale, bins), scale)
    width = raster_width(bins.n, look.across)
    drawn = diamonds(shades(shown, scale, look.threshold), width, OUTSIDE)
    height = bins.n * bins.width
    down = apex == "down"
    at = look.coordinates(position)
    return Drawing(
        str(matrix.name),
        scale,
        # The top row is the base if the apex points down.
        drawn if down else drawn[::-1],
        (bins.start, -height if down else 0.0, bins.stop, 0.0 if down else height),
        colours_of_shades(scale),
        (0.0, float(SHADES)),
        _triangle_hook(matrix, scale, shown, bins, width, look, apex),
        outlines(matrix, at, bins, look.blocks, apex),
        look.legs(look.selected, "selected", matrix, bins, apex),
        look.legs(look.lead, "lead", matrix, bins, apex),
        cells_in_words(bins, look),
        description(matrix, scale, bins, look),
        axis_label(matrix, 1, look.axis),
        "variants apart" if look.axis == "rank" else "Mb apart",
    )


def _hover(
    matrix: xr.DataArray, scale: Scale, rows: Pixels, columns: Pixels, axis: Axis
) -> Callable[[Any, Any], None]:
    first, second = columns_of(matrix, 0, rows), columns_of(matrix, 1, columns)
    return pair_hook(first, second, axis, scale.label)


def _triangle_hook(
    matrix: xr.DataArray,
    scale: Scale,
    shown: np.ndarray,
    bins: Pixels,
    width: int,
    look: PictureOptions,
    apex: Shape,
) -> Callable[[Any, Any], None]:
    columns = {**columns_of(matrix, 0, bins), "raster": np.full(bins.n, width)}
    hover = triangle_hook(columns, codes(shown, scale), apex, look.axis, scale)
    key = key_hook(scale, look.threshold)

    def hook(plot: Any, element: Any) -> None:
        hover(plot, element)
        key(plot, element)

    return hook


def _clipped(values: np.ndarray, scale: Scale) -> np.ndarray:
    # Rounding may leave 1.0000001: clip it, so that it has the colour of 1.
    return np.clip(values, *scale.limits).astype("f4")


def cells_in_words(bins: Pixels, look: PictureOptions) -> list[str]:
    """Return what a cell shows that is not one pair of variants."""
    words = []
    if bins.per_pixel > 1:
        pairs = f"up to {bins.per_pixel} × {bins.per_pixel} variants"
        words.append(f"pixel: {AGGREGATES[look.aggregate]} {pairs}")
    if bins.empty:
        words.append("gaps: nearest variant")
    return words


def description(matrix: xr.DataArray, scale: Scale, bins: Pixels, look: PictureOptions) -> str:
    """Return what a picture shows, and in a second line what a pixel and its colours mean."""
    n_rows, n_columns = matrix.shape
    square = n_rows == n_columns
    what = number(n_rows, "variant") if square else f"{n_rows:,} × {n_columns:,} variants"
    where = window_in_words(contig_name(matrix, 1), matrix["variant_position_1"].values)
    notes = [look.note] if look.note else []
    if bins.per_pixel == 1:
        notes.append("pixel: one pair")
    notes += cells_in_words(bins, look)
    if look.threshold > 0:
        notes.append(f"white: |{scale.label}| < {look.threshold:g}")
    # The minimum is NaN if any value is: a cheap test that most windows end with.
    if np.isnan(matrix.values.min()):
        monomorphic = int(np.isnan(matrix.values).all(axis=0).sum())
        which = f", {number(monomorphic, 'monomorphic variant')}" if monomorphic else ""
        notes.append(f"grey: no {scale.label}{which}")
    return f"{scale.key.label} of {what}, {where}\n{'; '.join(notes)}"
