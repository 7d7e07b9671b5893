"""The LD map of a figure for papers: one image, lines with a casing, and a colour bar.

PDF and SVG hold the matrix of a triangle once, with a transform that turns it by 45 degrees. So
its cells are exact diamonds at any zoom, and 1,000 variants take 0.1 s and 0.5 MB as PDF.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.transforms import Affine2D

from genobit.ld.plots.outlines import Lines, outlines
from genobit.visual.paper.page import panel
from genobit.visual.pixels import Pixels
from genobit.visual.style import Scale, palette, scale_of
from genobit.visual.tokens import CASING_PT, HAIRLINE_PT, LIGHT, NOTE_PT, OUTLINE_PT

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.ld.plots.drawing import PictureOptions
    from genobit.ld.plots.hover import Shape

#: Colours of a map. A PDF indexes at most 256, and two are for no value and for the page.
_COLOURS = 250
_SELECTED_PT = 0.6
#: Names of the statistics as mathematical text.
SYMBOLS = {
    "r2": "$r^2$",
    "r": "$r$",
    "D": "$D$",
    "dprime": "$D\\prime$",
    "r2_em": "EM $r^2$",
    "dprime_em": "EM $D\\prime$",
}


def draw_triangle(
    axes: Axes, matrix: xr.DataArray, scale: Scale, look: PictureOptions, apex: Shape
) -> None:
    """Draw the pairs of one set of variants into an axes twice as wide as high.

    x is the middle of a pair, y its distance: below 0 if the apex is "down". Raises ValueError if
    rows and columns are different variants.
    """
    position = matrix["variant_position_0"].values
    if not np.array_equal(position, matrix["variant_position_1"].values):
        raise ValueError(
            "a triangle shows one set of variants against itself, and the positions along "
            "variants_0 and variants_1 differ; draw the heatmap of two sets"
        )
    bins = look.lay_out(position)
    shown = look.pixels(matrix.values, scale, bins)
    colours = _coloured(shown, scale, look.threshold)
    # The other half is outside of the axes; one colour takes no room in the file.
    colours[np.tril_indices(bins.n, -1)] = _rgb(LIGHT.paper)
    n, width = bins.n, bins.width
    image = axes.imshow(
        colours,
        interpolation="none",
        origin="lower",
        extent=(-0.5, n - 0.5, -0.5, n - 0.5),
        aspect="auto",
    )
    sign = -1.0 if apex == "down" else 1.0
    half = width / 2
    turn = Affine2D(
        [[half, half, bins.start + half], [sign * width, -sign * width, 0.0], [0.0, 0.0, 1.0]]
    )
    image.set_transform(turn + axes.transData)
    axes.set_xlim(bins.start, bins.stop)
    axes.set_ylim(*sorted((0.0, sign * n * width)))
    _draw_lines(axes, matrix, look, (bins, bins), apex)


def draw_square(axes: Axes, matrix: xr.DataArray, scale: Scale, look: PictureOptions) -> None:
    """Draw two sets of variants against each other into an axes."""
    rows, columns = (look.lay_out(matrix[f"variant_position_{side}"].values) for side in (0, 1))
    shown = look.pixels(matrix.values, scale, rows, columns)
    axes.imshow(
        _coloured(shown, scale, look.threshold),
        interpolation="none",
        origin="lower",
        extent=(columns.start, columns.stop, rows.start, rows.stop),
        aspect="auto",
    )
    _draw_lines(axes, matrix, look, (rows, columns), "square")


def _draw_lines(
    axes: Axes,
    matrix: xr.DataArray,
    look: PictureOptions,
    bins: tuple[Pixels, Pixels],
    shape: Shape,
) -> None:
    rows, columns = bins
    at = look.coordinates(matrix["variant_position_1"].values)
    other = rows if shape == "square" else None
    cased(axes, outlines(matrix, at, columns, look.blocks, shape), LIGHT.ink, OUTLINE_PT)
    cased(axes, look.legs(look.selected, "selected", matrix, columns, shape, other), LIGHT.ink)
    lead = look.legs(look.lead, "lead", matrix, columns, shape, other)
    cased(axes, lead, LIGHT.accent, OUTLINE_PT)


def cased(axes: Axes, lines: Lines, colour: str, width: float = _SELECTED_PT) -> None:
    """Draw lines (x, y, x1, y1) over a white casing, so that they stand out from a map."""
    segments = [[(x, y), (x1, y1)] for x, y, x1, y1 in lines]
    for shade, points, layer in ((LIGHT.paper, CASING_PT, 2.0), (colour, width, 2.1)):
        collection = LineCollection(
            segments, colors=shade, linewidths=points, capstyle="round", zorder=layer, clip_on=False
        )
        axes.add_collection(collection, autolim=False)


def colour_bar(
    axes: Axes, scale: Scale, statistic: str, threshold: float, box: tuple[float, ...]
) -> Axes:
    """Draw a colour bar with its title above, and ticks below it or to its right.

    The box is left, top, width and height of the bar alone, in millimetres from the upper left
    corner of the axes. A box higher than wide is an upright bar.
    """
    bar = panel(axes, *box)
    upright = box[3] > box[2]
    key = scale.key
    low, high = key.limits
    colours = np.array([[_rgb(colour) for colour in palette(key, threshold, _COLOURS)]], "u1")
    bar.imshow(
        colours.transpose(1, 0, 2) if upright else colours,
        interpolation="none",
        origin="lower",
        extent=(0, 1, low, high) if upright else (low, high, 0, 1),
        aspect="auto",
    )
    for side in bar.spines.values():
        side.set(visible=True, linewidth=HAIRLINE_PT, color=LIGHT.edge)
    wide = max(box[2:]) >= 20
    ticks = np.linspace(low, high, (6 if low == 0 else 5) if wide else 3)
    along, across = (bar.yaxis, bar.xaxis) if upright else (bar.xaxis, bar.yaxis)
    along.set_ticks(ticks, [f"{tick:.3g}".replace("-", "−") for tick in ticks])
    across.set_ticks([])
    along.set_tick_params(length=1.4, pad=1.2, labelsize=NOTE_PT)
    if upright:
        bar.yaxis.tick_right()
    short = upright or box[2] < 26
    symbol = SYMBOLS[statistic]
    if key != scale:
        symbol = symbol.replace("$D\\prime$", "$|D\\prime|$")
    name = symbol if short else f"Linkage disequilibrium, {symbol}"
    if scale != scale_of(statistic):
        name = f"$\\Delta$ {symbol}" if short else f"Difference of {symbol}"
    above: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    bar.annotate(name, (0, 1), (0, 2), parse_math=True, **above)
    return bar


def _coloured(values: np.ndarray, scale: Scale, threshold: float) -> np.ndarray:
    """Return the colours (rows, columns, 3) of values (rows, columns)."""
    known = [_rgb(colour) for colour in palette(scale, threshold, _COLOURS)]
    table = np.array([*known, _rgb(LIGHT.no_value)], "u1")
    low, high = scale.limits
    with np.errstate(invalid="ignore"):
        level = np.floor((values - low) * (_COLOURS / (high - low)))
    level = np.where(np.isnan(level), _COLOURS, np.clip(level, 0, _COLOURS - 1))
    return table[level.astype("u1")]


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(round(255 * part) for part in to_rgb(colour))
