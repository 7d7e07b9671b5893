"""The association panel of a regional figure: p-values coloured by r2 with the lead variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from genobit.ld.plots.region_layout import LEAD, MARK, NO_VALUE, ROW, TITLE, Layout, short_name
from genobit.ld.plots.region_tracks import name_positions
from genobit.visual.paper.page import MARGIN, panel
from genobit.visual.paper.texts import hinted_width
from genobit.visual.tokens import (
    AXIS_PT,
    HAIRLINE_PT,
    LIGHT,
    NOTE_PT,
    OUTLINE_PT,
    TITLE_PT,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.ld.methods.region import RegionView

#: Areas of marks in square points.
_SMALL, _LARGE, _LEAD = 5.5, 8.0, 30.0
_EDGE = 0.25
_EDGES = (0.2, 0.4, 0.6, 0.8)
#: Height in millimetres above the highest point, where the name of the lead always fits.
_STRIP = 5.0
_NAME_HIGH = 2.6
Box = tuple[float, float, float, float]


def draw_association(
    axes: Axes, view: RegionView, layout: Layout, significance: float | None
) -> Axes:
    """Draw p-values coloured by r2 with the lead variant; return the panel."""
    box = (layout.left, layout.association_top, layout.across, layout.association)
    if view.rates is not None:
        _draw_rates(panel(axes, *box), view.rates, layout)
    shown = panel(axes, *box)
    shown.patch.set_visible(False)
    shown.set_xlim(layout.low / 1e6, layout.high / 1e6)
    shown.set_ylim(0, layout.association / _scale(view, layout, significance))
    _points(shown, view)
    if significance is not None:
        line = -np.log10(significance)
        shown.axhline(line, color=LIGHT.quiet, linewidth=AXIS_PT, dashes=(4, 3), zorder=1.5)
    texts = place_texts(view, layout, significance)
    _name_lead(shown, view, layout, texts, significance)
    if texts.line is not None and significance is not None:
        shown.text(
            texts.line[0] / layout.across,
            (texts.line[1] + 0.5) / layout.association,
            f"$P$ = {_power(significance)}",
            transform=shown.transAxes,
            fontsize=NOTE_PT,
            color=LIGHT.quiet,
            va="baseline",
            parse_math=True,
        )
    shown.set_ylabel("$-\\log_{10}\\,P$", parse_math=True)
    shown.yaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    name_positions(shown, view.contig, view.start, view.end)
    _draw_legend(axes, layout)
    return shown


@dataclass(frozen=True)
class Texts:
    """Boxes of texts in millimetres from the lower left corner of the panel; None without room."""

    lead: Box | None
    leader: bool
    """Whether a line leads from the name to its mark."""
    line: Box | None


def place_texts(view: RegionView, layout: Layout, significance: float | None) -> Texts:
    """Place the name of the lead and the label of the line of significance off all marks."""
    scale = _scale(view, layout, significance)
    known = ~np.isnan(view.strength)
    marks = np.column_stack([layout.places(view.position[known]), view.strength[known] * scale])
    line = None if significance is None else float(-np.log10(significance) * scale)
    lead, leader = None, False
    if known[view.lead]:
        lead, leader = _lead_box(view, layout, marks, line, float(view.strength[view.lead] * scale))
    if line is None or significance is None:
        return Texts(lead, leader, None)
    wide = hinted_width(f"$P$ = {_power(significance)}", math=True)
    return Texts(lead, leader, _line_box(layout, marks, lead, line, wide))


def _scale(view: RegionView, layout: Layout, significance: float | None) -> float:
    """Return millimetres for each unit of -log10 p."""
    top = max(float(np.nanmax(np.append(view.strength, 1.0))), -np.log10(significance or 1.0))
    return float((layout.association - _STRIP) / top)


def bins_of(r2: np.ndarray) -> np.ndarray:
    """Return the bin of each r2, 0 to 4; `NO_VALUE` for NaN."""
    return np.where(np.isnan(r2), NO_VALUE, np.searchsorted(_EDGES, r2, side="right"))


def _points(axes: Axes, view: RegionView) -> None:
    known = ~np.isnan(view.strength)
    known[view.lead] = False
    bins = bins_of(view.lead_r2)
    # The strongest r2 lies on top.
    order = np.argsort(np.nan_to_num(view.lead_r2, nan=-1.0), kind="stable")
    order = order[known[order]]
    colours = np.array([*LIGHT.r2_bins, LIGHT.accent, LIGHT.no_value], object)
    axes.scatter(
        view.position[order] / 1e6,
        view.strength[order],
        s=np.where(bins[order] == 0, _SMALL, _LARGE),
        c=colours[bins[order]].tolist(),
        edgecolors=LIGHT.ink,
        linewidths=_EDGE,
        zorder=3,
        clip_on=False,
    )
    if not np.isnan(view.strength[view.lead]):
        axes.scatter(
            [view.position[view.lead] / 1e6],
            [view.strength[view.lead]],
            s=_LEAD,
            c=LIGHT.accent,
            marker="D",
            edgecolors=LIGHT.paper,
            linewidths=0.4,
            zorder=4,
            clip_on=False,
        )


def _covered(box: Box, marks: np.ndarray, reach: float = 0.7) -> int:
    """Return the number of marks that a box (left, bottom, right, top) touches."""
    x, y = marks.T
    left, bottom, right, top = box
    beside = (x > left - reach) & (x < right + reach)
    return int((beside & (y > bottom - reach) & (y < top + reach)).sum())


def _lead_box(
    view: RegionView, layout: Layout, marks: np.ndarray, line: float | None, y: float
) -> tuple[Box, bool]:
    """Return a box for the name beside the mark at height `y`, or above all marks."""
    x, high = float(layout.places(view.position[view.lead])), _NAME_HIGH
    wide = hinted_width(short_name(view), TITLE_PT, bold=True)
    for up in (0.0, 1.6, 2.8, -1.6):
        for left in (x - 2.2 - wide, x + 2.2):
            box = (left, y + up - high / 2, left + wide, y + up + high / 2)
            crosses = line is not None and box[1] - 0.5 < line < box[3] + 0.5
            inside = left >= 0 and box[2] <= layout.across and box[3] < layout.association
            if inside and box[1] > 0 and not crosses and not _covered(box, marks):
                return box, False
    start = float(np.clip(x - wide / 2, 0, max(layout.across - wide, 0)))
    top = layout.association - 0.6
    return (start, top - high, start + wide, top), top - high - y > 2.5


def _name_lead(
    axes: Axes, view: RegionView, layout: Layout, texts: Texts, significance: float | None
) -> None:
    if texts.lead is None:
        return
    left, bottom, _, top = texts.lead
    if texts.leader:
        x = float(layout.places(view.position[view.lead])) / layout.across
        y = float(view.strength[view.lead]) * _scale(view, layout, significance) + 1.2
        heights = [y / layout.association, bottom / layout.association]
        axes.plot(
            [x, x], heights, color=LIGHT.accent, linewidth=HAIRLINE_PT, transform=axes.transAxes
        )
    axes.text(
        left / layout.across,
        (bottom + top) / 2 / layout.association,
        short_name(view),
        transform=axes.transAxes,
        color=LIGHT.accent,
        fontsize=TITLE_PT,
        fontweight="bold",
        va="center_baseline",
        zorder=5,
    )


def _line_box(
    layout: Layout, marks: np.ndarray, taken: Box | None, line: float, wide: float
) -> Box | None:
    """Return a box for the label of a line at this height where no mark is, the rightmost."""
    high = 2.4
    for left in np.arange(layout.across - wide, 0, -3.0).tolist():
        for bottom in (line + 0.5, line - high - 0.5):
            box = (left, bottom, left + wide, bottom + high)
            apart = taken is None or (
                box[2] < taken[0] or taken[2] < box[0] or box[3] < taken[1] or taken[3] < box[1]
            )
            if apart and bottom > 0 and not _covered(box, marks):
                return box
    return None


def _power(p: float) -> str:
    """Return a p-value as mathematical text.

    Examples
    --------
    >>> _power(5e-8), _power(0.05)
    ('5 × 10$^{-8}$', '0.05')
    """
    if p >= 1e-3:
        return f"{p:.3g}"
    factor, exponent = f"{p:.2e}".split("e")
    return f"{float(factor):g} × 10$^{{{int(exponent)}}}$"


def significance_note(significance: float) -> str:
    """Return a note about the line of significance."""
    return f"Dashed line: P = {significance:.3g}".replace("e-0", "e-")


def _draw_rates(axes: Axes, found: tuple[np.ndarray, np.ndarray], layout: Layout) -> None:
    """Draw recombination rates on a right-hand axis, below the marks."""
    edges, rates = found
    axes.set_xlim(layout.low / 1e6, layout.high / 1e6)
    axes.stairs(rates, edges / 1e6, color=LIGHT.quiet, linewidth=OUTLINE_PT * 0.7, baseline=None)
    axes.set_ylim(0, max(1.15 * float(rates.max()), 1.0))
    for name, side in axes.spines.items():
        side.set_visible(name == "right")
    axes.spines["right"].set_color(LIGHT.quiet)
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(axis="y", colors=LIGHT.quiet)
    axes.set_ylabel("Recombination (cM/Mb)", color=LIGHT.quiet)
    axes.set_xticks([])


def _draw_legend(axes: Axes, layout: Layout) -> None:
    rows = len(layout.legend)
    legend = panel(axes, layout.left, MARGIN, layout.across, ROW * rows)
    legend.axis("off")
    legend.set(xlim=(0, layout.across), ylim=(ROW * rows, 0))
    colours = [*LIGHT.r2_bins, LIGHT.accent, LIGHT.no_value]
    for k, row in enumerate(layout.legend):
        y = ROW * (k + 0.45)
        for x, text, bin_ in row:
            if bin_ == TITLE:
                # A name may hold dollars, and beside a formula they need a backslash.
                title = "$r^2$ with " + text.replace("$", "\\$")
                look: dict[str, Any] = {"va": "center_baseline", "fontsize": NOTE_PT}
                legend.text(x, y, title, parse_math=True, **look)
                continue
            legend.scatter(
                [x + 1.0],
                [y],
                s=_LEAD * 0.6 if bin_ == LEAD else _LARGE,
                c=colours[bin_],
                marker="D" if bin_ == LEAD else "o",
                edgecolors=LIGHT.paper if bin_ == LEAD else LIGHT.ink,
                linewidths=_EDGE,
                clip_on=False,
            )
            legend.text(x + MARK - 0.8, y, text, va="center_baseline", fontsize=NOTE_PT)
