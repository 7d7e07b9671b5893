"""Genes and connectors of a regional figure, between the association and the triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.ticker import FuncFormatter, MaxNLocator

from genobit.ld.plots.paper_map import cased
from genobit.ld.plots.region_layout import BAR, LANE, GeneLanes, Tracks
from genobit.visual.paper.page import panel, size_of
from genobit.visual.paper.texts import hinted_width
from genobit.visual.style import contigs_in_words
from genobit.visual.tokens import (
    AXIS_PT,
    BASE_PT,
    HAIRLINE_PT,
    LIGHT,
    OTHER_GROUP,
    OUTLINE_PT,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from genobit.ld.plots.outlines import Lines

#: Length of the tip of a gene, and distance and half height of the signs of its strand.
_TIP, _STEP, _SIGN = 1.5, 3.2, 0.65
#: Distance from the top of a row to its bar.
_NAME = 3.2


def draw_genes(
    axes: Axes, table: pd.DataFrame | None, layout: Tracks, lead: float | None
) -> Axes | None:
    """Draw genes with italic names; a gene that the window cuts has no tip there.

    A line marks the position of the lead variant.
    """
    lanes = layout.genes
    if lanes is None or table is None:
        return None
    height = lanes.rows * LANE + 2.0
    shown = panel(axes, layout.left, layout.genes_top, layout.across, height)
    shown.axis("off")
    shown.set(xlim=(0, layout.across), ylim=(height, 0))
    bars, signs = [], []
    cut_left = table["start"].to_numpy() < layout.low
    cut_right = table["end"].to_numpy() > layout.high
    for k, strand in enumerate(table["strand"]):
        top = lanes.lane[k] * LANE + _NAME
        cut = cut_right[k] if strand == "+" else cut_left[k]
        ends = (float(lanes.left[k]), float(lanes.right[k]))
        bars.append(_bar(*ends, top, "." if cut else str(strand)))
        signs += _signs(*ends, top, str(strand), cut=bool(cut))
        if lanes.named[k]:
            shown.text(
                lanes.name_left[k],
                top - 0.7,
                lanes.names[k],
                fontsize=BASE_PT,
                style="italic",
                va="baseline",
            )
    shown.add_collection(PolyCollection(bars, facecolors=LIGHT.slate, edgecolors="none"))
    shown.add_collection(
        LineCollection(signs, colors=LIGHT.paper, linewidths=AXIS_PT * 1.2, capstyle="round")
    )
    if lead is not None:
        _mark_lead(shown, float(layout.places(lead)), lanes, height)
    return shown


def _bar(left: float, right: float, top: float, strand: str) -> list[tuple[float, float]]:
    """Return the outline of a gene, with a tip in the direction of its strand."""
    # A gene of no width on the page keeps a visible one.
    right = max(right, left + 0.25)
    tip = min(_TIP, right - left)
    middle, bottom = top + BAR / 2, top + BAR
    if strand == "+":
        back = right - tip
        return [(left, top), (back, top), (right, middle), (back, bottom), (left, bottom)]
    if strand == "-":
        back = left + tip
        return [(right, top), (back, top), (left, middle), (back, bottom), (right, bottom)]
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _signs(
    left: float, right: float, top: float, strand: str, *, cut: bool
) -> list[list[tuple[float, float]]]:
    """Return the signs of the strand inside of a bar."""
    if strand not in {"+", "-"}:
        return []
    tip = 0.0 if cut else _TIP
    first = left + 1.6 + (tip if strand == "-" else 0.0)
    last = right - 1.6 - (tip if strand == "+" else 0.0)
    if last < first:
        return []
    count = int((last - first) / _STEP) + 1
    rest = (last - first - (count - 1) * _STEP) / 2
    middle, ahead = top + BAR / 2, _SIGN / 2 if strand == "+" else -_SIGN / 2
    return [
        [(x - ahead, middle - _SIGN), (x + ahead, middle), (x - ahead, middle + _SIGN)]
        for x in (first + rest + _STEP * np.arange(count)).tolist()
    ]


def _mark_lead(axes: Axes, x: float, lanes: GeneLanes, height: float) -> None:
    """Draw a line at the lead variant, interrupted by names of genes."""
    rows = []
    for k in np.flatnonzero(lanes.named).tolist():
        left = float(lanes.name_left[k])
        wide = hinted_width(lanes.names[k], BASE_PT, italic=True)
        if left - 0.8 < x < left + wide + 0.8:
            rows.append(int(lanes.lane[k]))
    lines: Lines = []
    start = 1.0
    for row in sorted(rows):
        stop = row * LANE + 0.2
        if stop > start:
            lines.append((x, start, x, stop))
        start = row * LANE + _NAME
    lines.append((x, start, x, height))
    segments = [[(a, b), (c, d)] for a, b, c, d in lines]
    axes.add_collection(
        LineCollection(segments, colors=LIGHT.accent, linewidths=OUTLINE_PT, capstyle="butt")
    )


def draw_connectors(
    axes: Axes, position: np.ndarray, below: np.ndarray, layout: Tracks, lead: int | None
) -> Axes:
    """Draw lines from the positions of variants to their places ``below``, in millimetres."""
    shown = panel(axes, layout.left, layout.connectors_top, layout.across, layout.connectors)
    shown.axis("off")
    shown.set(xlim=(0, layout.across), ylim=(layout.connectors, 0))
    above = layout.places(position)
    bend, foot = 0.12 * layout.connectors, 0.97 * layout.connectors
    lines = [
        [(a, 0.0), (a, bend), (b, foot)]
        for a, b in zip(above.tolist(), below.tolist(), strict=True)
    ]
    # More lines are thinner, so that they do not become a grey area.
    width = HAIRLINE_PT * min(1.0, (2.5 * layout.across / len(position)) ** 0.75)
    shown.add_collection(LineCollection(lines, colors=OTHER_GROUP, linewidths=width))
    if layout.genes is not None:
        shown.plot([0, layout.across], [0, 0], color=LIGHT.ink, linewidth=AXIS_PT, clip_on=False)
    if lead is not None:
        (a, _), (_, b), (c, d) = lines[lead]
        cased(shown, [(a, 0.0, a, b), (a, b, c, d)], LIGHT.accent, OUTLINE_PT)
    return shown


def name_positions(axes: Axes, contig: str, start: float, end: float) -> None:
    """Draw ticks in Mb and the name of an axis along a contig."""
    span = max(end - start, 1.0) / 1e6
    digits = int(np.clip(np.ceil(-np.log10(span / 8)), 0, 6))
    room = size_of(axes)[0] / (hinted_width(f"{end / 1e6:.{digits}f}") + 2.0)
    axes.xaxis.set_major_locator(MaxNLocator(int(np.clip(room, 1, 7)), steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.{digits}f}"))
    where = f" on {contigs_in_words([contig])}" if contig else ""
    axes.set_xlabel(f"Position{where} (Mb)")
