"""The forms of LD matrices for papers: the triangle and the square heatmap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from genobit.ld.plots.drawing import PictureOptions, check_apex, description
from genobit.ld.plots.paper_genes import Roof, roof_of
from genobit.ld.plots.paper_map import colour_bar, draw_square, draw_triangle
from genobit.ld.plots.paper_text import LINE, beside_apex
from genobit.ld.plots.result import axis_label, computed
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import hinted_width, lines_of
from genobit.visual.style import megabases
from genobit.visual.tokens import BASE_PT, LIGHT, NOTE_PT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.ld.plots.hover import Shape
    from genobit.visual.pixels import Aggregate, Axis
    from genobit.visual.style import Scale

#: Room in millimetres for the ticks and the name of an axis: beside it, and above or below it.
_BESIDE, _ALONG = 11.0, 7.5
#: Room to the right: half of the label of the last tick, and the colour bar of a square.
_RIGHT, _BAR = 3.0, 9.0
#: Room in millimetres for the name of an upright axis and the lines of its ticks.
_NAME = 5.2
#: Largest number of cells on a side; a cell of a page 180 mm wide is then 0.17 mm.
_MAX_PIXELS = 1_000


def paper_triangle(
    r2: xr.DataArray,
    *,
    axis: Axis = "rank",
    apex: Shape = "down",
    threshold: float = 0.0,
    max_pixels: int = _MAX_PIXELS,
    aggregate: Aggregate = "max",
    lead: int | str | None = None,
    selected: Sequence[int] | Sequence[str] = (),
    blocks: xr.Dataset | None = None,
    genes: Any = None,
) -> Paper:
    """Return the triangle of one set of variants, for a page; options as `ld_triangle`."""
    check_apex(apex, genes)
    look = PictureOptions(axis, threshold, max_pixels, aggregate, lead, selected, blocks)
    return triangle_of(r2, look, apex, genes)


def triangle_of(
    r2: xr.DataArray, look: PictureOptions, apex: Shape = "down", genes: Any = None
) -> Paper:
    """Return the triangle of one set of variants, or of a part of it, for a page."""
    return _map_of(r2, look, apex, genes).paper()


def paper_heatmap(
    r2: xr.DataArray,
    *,
    axis: Axis = "rank",
    threshold: float = 0.0,
    max_pixels: int = _MAX_PIXELS,
    aggregate: Aggregate = "max",
    lead: int | str | None = None,
    selected: Sequence[int] | Sequence[str] = (),
    blocks: xr.Dataset | None = None,
    genes: Any = None,
) -> Paper:
    """Return the heatmap of two sets of variants, for a page; options as `ld_heatmap`."""
    look = PictureOptions(axis, threshold, max_pixels, aggregate, lead, selected, blocks)
    return heatmap_of(r2, look, genes)


def heatmap_of(r2: xr.DataArray, look: PictureOptions, genes: Any = None) -> Paper:
    """Return the heatmap of two sets of variants, or of parts of them, for a page."""
    return _map_of(r2, look, "square", genes).paper()


class _Layout(NamedTuple):
    """Places in millimetres from the upper left corner of a page."""

    left: float
    across: float
    high: float
    """Width and height of the map."""
    roof_top: float
    map_top: float
    lines: list[str]
    lines_top: float
    beside: bool
    """Whether the lines stand beside the apex."""
    height: float


@dataclass(frozen=True)
class _Map:
    """What a page shows; ``ratio`` is the height of the map as a share of its width."""

    matrix: xr.DataArray
    scale: Scale
    look: PictureOptions
    shape: Shape
    ratio: float
    notes: list[str]
    roof: Roof | None

    def paper(self) -> Paper:
        return Paper(self.draw, lambda width: self.layout(width).height, whole=True)

    def layout(self, width: float, height: float = np.inf) -> _Layout:
        """Return the places on a page of this width, with a narrower map on a low page."""
        square = self.shape == "square"
        left = MARGIN + (_beside_square(self.matrix) if square else _BESIDE)
        across = width - left - (_BAR if square else _RIGHT) - MARGIN
        for _ in range(4):  # the rows of genes and lines of notes depend on the width
            found = self._placed(width, left, max(across, 1.0))
            if found.height <= height + 0.01:
                break
            across = (height - found.height + found.high) / self.ratio
        return found

    def _placed(self, width: float, left: float, across: float) -> _Layout:
        square, half = self.shape == "square", across * self.ratio
        texts = self.notes if self.roof is None else [*self.notes, *self.roof.notes(across)]
        lines = None if square else beside_apex(texts, half)
        beside = lines is not None
        if lines is None:
            lines = lines_of([". ".join(texts)], width - 2 * MARGIN)
        room = 0.0 if beside else LINE * len(lines) + (1.5 if square else 1.0)
        # The axis of a square is below it, and genes have an axis of their own.
        over = 0.0 if self.roof is None else self.roof.height(across)
        axis = _ALONG if square or self.roof is None else 0.0
        roof_top = MARGIN + (room if square else 0.0)
        map_top = roof_top + over + (axis if self.shape == "down" else 0.0)
        height = half + room + over + axis + 2 * MARGIN
        lines_top = MARGIN if square else height - MARGIN - LINE * len(lines)
        return _Layout(left, across, half, roof_top, map_top, lines, lines_top, beside, height)

    def draw(self, axes: Axes) -> None:
        axes.axis("off")
        placed = self.layout(*size_of(axes))
        shown = panel(axes, placed.left, placed.map_top, placed.across, placed.high)
        if self.shape == "square":
            self._draw_square(axes, shown, placed)
        else:
            self._draw_triangle(axes, shown, placed)
        if self.roof is not None:
            self.roof.draw(axes, placed.left, placed.roof_top, placed.across)

    def _draw_square(self, axes: Axes, shown: Axes, placed: _Layout) -> None:
        draw_square(shown, self.matrix, self.scale, self.look)
        _position_ticks(shown, self.matrix, self.look, 1)
        _position_ticks(shown, self.matrix, self.look, 0)
        write_lines(axes, placed.lines, MARGIN, placed.lines_top, "left")
        bar = placed.left + placed.across + 2.5, placed.map_top + 4, 2.2
        self._draw_bar(axes, (*bar, min(placed.high - 4, 30.0)))

    def _draw_triangle(self, axes: Axes, shown: Axes, placed: _Layout) -> None:
        draw_triangle(shown, self.matrix, self.scale, self.look, self.shape)
        _name_axes(shown, self.matrix, self.look, self.shape)
        if self.roof is not None:
            shown.set(xticks=[], xlabel="")
            shown.spines["top"].set_visible(False)
        down, half, lines = self.shape == "down", placed.high, placed.lines
        wide = float(np.clip(0.2 * placed.across, 14.0, 30.0))
        self._draw_bar(shown, (3.0, half - 5.5 if down else 4.5, wide, 2.2))
        if not placed.beside:
            write_lines(axes, lines, MARGIN, placed.lines_top, "left")
        elif down:
            write_lines(shown, lines, placed.across, half - LINE * len(lines), "right")
        else:
            # The corner narrows downwards.
            write_lines(shown, lines[::-1], placed.across, 0.0, "right")

    def _draw_bar(self, axes: Axes, box: tuple[float, float, float, float]) -> None:
        colour_bar(axes, self.scale, str(self.matrix.name), self.look.threshold, box)


def _map_of(r2: xr.DataArray, look: PictureOptions, shape: Shape, genes: Any) -> _Map:
    matrix, scale = computed(r2)
    rows, columns = matrix.shape
    # A single variant against many is a band, neither thinner nor higher than this.
    ratio = float(np.clip(rows / columns, 0.15, 2.0)) if shape == "square" else 0.5
    roof = None if genes is None else roof_of(matrix, look, genes)
    return _Map(matrix, scale, look, shape, ratio, _notes(matrix, scale, look), roof)


def _notes(matrix: xr.DataArray, scale: Scale, look: PictureOptions) -> list[str]:
    bins = look.lay_out(matrix["variant_position_1"].values)
    what, marks = description(matrix, scale, bins, look).rsplit("\n", 1)
    shown = [mark for mark in marks.split("; ") if mark != "pixel: one pair"]
    if look.blocks is not None:
        shown.append("outlined: haplotype blocks")
    return [what, *(text[:1].upper() + text[1:] for text in shown)]


def _beside_square(matrix: xr.DataArray) -> float:
    """Return the room in millimetres beside a square: short spans have ticks of many digits."""
    position = matrix["variant_position_0"].values
    span = float(np.ptp(position))
    longest = max(hinted_width(megabases(end, span)) for end in (position[0], position[-1]))
    return max(_BESIDE, longest + _NAME)


def write_lines(axes: Axes, lines: list[str], x: float, top: float, side: str) -> None:
    """Write lines of notes, in millimetres from the upper left corner of an axes."""
    width, height = size_of(axes)
    for k, line in enumerate(lines):
        axes.text(
            x / width,
            1 - (top + (k + 0.75) * LINE) / height,
            line,
            transform=axes.transAxes,
            ha=side,
            va="baseline",
            fontsize=NOTE_PT,
            color=LIGHT.slate,
        )


def _name_axes(axes: Axes, matrix: xr.DataArray, look: PictureOptions, apex: Shape) -> None:
    base = "top" if apex == "down" else "bottom"
    axes.xaxis.set_ticks_position(base)  # type: ignore[arg-type]
    axes.xaxis.set_label_position(base)  # type: ignore[arg-type]
    axes.spines["top"].set_visible(base == "top")
    axes.spines["bottom"].set_visible(base == "bottom")
    _position_ticks(axes, matrix, look, 1)
    axes.yaxis.set_major_formatter(lambda tick, _: f"{abs(tick):,.6g}")
    axes.set_ylabel("Variants apart" if look.axis == "rank" else "Mb apart")


def _position_ticks(axes: Axes, matrix: xr.DataArray, look: PictureOptions, side: int) -> None:
    """Name an axis, and label the ticks of evenly spaced variants by their positions."""
    along = axes.xaxis if side == 1 else axes.yaxis
    label = axis_label(matrix, side, look.axis)
    label = label[:1].upper() + label[1:]
    if hinted_width(label, BASE_PT) > size_of(axes)[1 - side]:
        label = label.split(", ")[0]
    along.set_label_text(label)
    position = matrix[f"variant_position_{side}"].values
    span = float(np.ptp(position))
    wide = max(9.0, hinted_width(megabases(position[-1], span)))
    room = size_of(axes)[0] / (wide + 3) if side == 1 else size_of(axes)[1] / 8
    count = int(np.clip(room, 2, 6))
    if look.axis == "rank":
        count = min(len(position), count)
        chosen = np.unique(np.linspace(0, len(position) - 1, count).round().astype(int))
        along.set_ticks(
            look.coordinates(position)[chosen], [megabases(x, span) for x in position[chosen]]
        )
    else:
        along.set_major_locator(MaxNLocator(count, steps=[1, 2, 5, 10]))
        along.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]
