"""The forms of LD matrices for papers: the triangle and the square heatmap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.ld.plots.drawing import PictureOptions, check_apex, description
from genobit.ld.plots.paper_genes import Roof, roof_of
from genobit.ld.plots.paper_map import colour_bar, draw_square, draw_triangle
from genobit.ld.plots.paper_text import LINE, beside_apex
from genobit.ld.plots.result import axis_label, computed
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import hinted_width, wrapped
from genobit.visual.style import megabases
from genobit.visual.tokens import BASE_PT, LIGHT, NOTE_PT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.ld.plots.hover import Shape
    from genobit.visual.pixels import Aggregate, Axis

#: Room in millimetres for the ticks and the name of an axis: beside it, and above or below it.
_BESIDE, _ALONG = 11.0, 7.5
#: Room to the right: half of the label of the last tick, and the colour bar of a square.
_RIGHT, _BAR = 3.0, 9.0
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
    matrix, _ = computed(r2)
    notes = _notes(matrix, look)
    roof = None if genes is None else roof_of(matrix, look, genes)
    return Paper(
        lambda axes: _triangle(axes, matrix, look, apex, notes, roof),
        lambda width: _triangle_height(width, notes, roof),
        whole=True,
    )


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
    matrix, _ = computed(r2)
    notes = _notes(matrix, look)
    roof = None if genes is None else roof_of(matrix, look, genes)
    rows, columns = matrix.shape
    # A single variant against many is a band, neither thinner nor higher than this.
    ratio = float(np.clip(rows / columns, 0.15, 2.0))
    return Paper(
        lambda axes: _square(axes, matrix, look, ratio, notes, roof),
        lambda width: _square_height(width, ratio, notes, roof),
        whole=True,
    )


def _notes(matrix: xr.DataArray, look: PictureOptions) -> list[str]:
    _, scale = computed(matrix)
    bins = look.lay_out(matrix["variant_position_1"].values)
    what, marks = description(matrix, scale, bins, look).rsplit("\n", 1)
    shown = [mark for mark in marks.split("; ") if mark != "pixel: one pair"]
    if look.blocks is not None:
        shown.append("outlined: haplotype blocks")
    return [what, *(text[:1].upper() + text[1:] for text in shown)]


def _across(width: float) -> float:
    """Return the width of a triangle on a page."""
    return max(width - _BESIDE - _RIGHT - 2 * MARGIN, 1.0)


def _triangle_height(width: float, notes: list[str], roof: Roof | None) -> float:
    across = _across(width)
    return across / 2 + _above(across, roof) + 2 * MARGIN + _below(width, notes, roof)


def _above(across: float, roof: Roof | None) -> float:
    """Return the room in millimetres for the position axis, with the genes."""
    return _ALONG if roof is None else roof.height(across)


def _with_genes(notes: list[str], across: float, roof: Roof | None) -> list[str]:
    return notes if roof is None else [*notes, *roof.notes(across)]


def _below(width: float, notes: list[str], roof: Roof | None) -> float:
    """Return the room in millimetres for notes that do not fit beside the apex."""
    across = _across(width)
    notes = _with_genes(notes, across, roof)
    if beside_apex(notes, across / 2) is not None:
        return 0.0
    return LINE * len(wrapped("; ".join(notes), width - 2 * MARGIN)) + 1.0


def _triangle(
    axes: Axes,
    matrix: xr.DataArray,
    look: PictureOptions,
    apex: Shape,
    notes: list[str],
    roof: Roof | None,
) -> None:
    axes.axis("off")
    page_width, page_height = size_of(axes)
    across = _across(page_width)
    taken = _above(across, roof) + 2 * MARGIN + _below(page_width, notes, roof)
    across = max(min(across, 2 * (page_height - taken)), 1.0)
    half = across / 2
    top = MARGIN + (_above(across, roof) if apex == "down" else 0.0)
    shown = panel(axes, MARGIN + _BESIDE, top, across, half)
    draw_triangle(shown, matrix, look, apex)
    _name_axes(shown, matrix, look, apex)
    if roof is not None:
        shown.set(xticks=[], xlabel="")
        shown.spines["top"].set_visible(False)
        roof.draw(axes, MARGIN + _BESIDE, MARGIN, across)
    _, scale = computed(matrix)
    wide = float(np.clip(0.2 * across, 14.0, 30.0))
    from_top = half - 5.5 if apex == "down" else 4.5
    box = (3.0, from_top, wide, 2.2)
    colour_bar(shown, scale, str(matrix.name), look.threshold, box)
    notes = _with_genes(notes, across, roof)
    lines = beside_apex(notes, half)
    if lines is None:
        lines = wrapped("; ".join(notes), page_width - 2 * MARGIN)
        write_lines(axes, lines, MARGIN, page_height - MARGIN - LINE * len(lines), "left")
    elif apex == "down":
        write_lines(shown, lines, across, half - LINE * len(lines), "right")
    else:
        # The corner narrows downwards.
        write_lines(shown, lines[::-1], across, 0.0, "right")


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
    if look.axis == "rank":
        position = matrix[f"variant_position_{side}"].values
        # A label is about 9 mm wide.
        room = size_of(axes)[0] / 12 if side == 1 else size_of(axes)[1] / 8
        count = min(len(position), int(np.clip(room, 2, 6)))
        chosen = np.unique(np.linspace(0, len(position) - 1, count).round().astype(int))
        span = float(np.ptp(position))
        along.set_ticks(
            look.coordinates(position)[chosen], [megabases(x, span) for x in position[chosen]]
        )
    else:
        along.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]


def _square_height(width: float, ratio: float, notes: list[str], roof: Roof | None) -> float:
    across = width - _BESIDE - _BAR - 2 * MARGIN
    _, above = _over_square(width, across, notes, roof)
    return across * ratio + above + _ALONG + 2 * MARGIN


def _over_square(
    width: float, across: float, notes: list[str], roof: Roof | None
) -> tuple[list[str], float]:
    """Return the lines of notes, and the room in millimetres for them and the genes."""
    lines = wrapped("; ".join(_with_genes(notes, across, roof)), width - 2 * MARGIN)
    return lines, LINE * len(lines) + 1.5 + (0.0 if roof is None else roof.height(across))


def _square(
    axes: Axes,
    matrix: xr.DataArray,
    look: PictureOptions,
    ratio: float,
    notes: list[str],
    roof: Roof | None,
) -> None:
    axes.axis("off")
    page_width, page_height = size_of(axes)
    across = page_width - _BESIDE - _BAR - 2 * MARGIN
    lines, above = _over_square(page_width, across, notes, roof)
    across = max(min(across, (page_height - above - _ALONG - 2 * MARGIN) / ratio), 1.0)
    lines, above = _over_square(page_width, across, notes, roof)
    high = across * ratio
    shown = panel(axes, MARGIN + _BESIDE, MARGIN + above, across, high)
    draw_square(shown, matrix, look)
    _position_ticks(shown, matrix, look, 1)
    _position_ticks(shown, matrix, look, 0)
    write_lines(axes, lines, MARGIN, MARGIN, "left")
    if roof is not None:
        roof.draw(axes, MARGIN + _BESIDE, MARGIN + above - roof.height(across), across)
    _, scale = computed(matrix)
    bar = (MARGIN + _BESIDE + across + 2.5, MARGIN + above + 4, 2.2, min(high - 4, 30.0))
    colour_bar(axes, scale, str(matrix.name), look.threshold, bar)
