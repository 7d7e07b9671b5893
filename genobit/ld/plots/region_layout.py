"""Sizes and places of the panels of a regional association, in millimetres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genobit.ld.plots.genes import LANES, label_lanes
from genobit.ld.plots.paper_text import LINE, beside_apex
from genobit.visual.paper.page import MARGIN
from genobit.visual.paper.texts import hinted_width, lines_of
from genobit.visual.style import WIDTH, number, shortened
from genobit.visual.tokens import BASE_PT

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from genobit.ld.methods.region import RegionView

#: Room for the ticks and names of the y axes, and to the right without such an axis.
_LEFT, _RIGHT, _RATES = 10.0, 2.0, 10.0
#: Heights: a row of the legend, the ticks and name of the position axis, and the connectors.
ROW, _TICKS, _CONNECTORS = 4.2, 8.5, 9.0
#: Height of a row of genes, and the height of their bars.
LANE, BAR = 6.4, 2.9
#: Least distance between two genes or names.
_BETWEEN = 0.9
#: Width of the mark of a legend entry with its gaps.
MARK = 3.4
_LONGEST_NAME = 24
BINS = ("0–0.2", "0.2–0.4", "0.4–0.6", "0.6–0.8", "0.8–1")


@dataclass(frozen=True)
class GeneLanes:
    """Genes as bars with names: ends, row and start of the name of each, in millimetres."""

    left: np.ndarray
    right: np.ndarray
    lane: np.ndarray
    """Row of each gene from the top; genes without a name share the last row."""
    named: np.ndarray
    names: list[str]
    name_left: np.ndarray
    rows: int


@dataclass(frozen=True, kw_only=True)
class Tracks:
    """Genes and connectors over a map of LD, in millimetres from the upper left of the page."""

    left: float
    across: float
    """Width of all panels."""
    genes_top: float
    genes: GeneLanes | None
    connectors_top: float
    connectors: float
    map_top: float
    low: float
    """Position in base pairs at the left end of the panels."""
    high: float

    def places(self, position: np.ndarray | float) -> np.ndarray:
        """Return the distance of positions in base pairs from the left of the panels."""
        return (np.asarray(position, "f8") - self.low) * (self.across / (self.high - self.low))

    @property
    def notes(self) -> list[str]:
        """What the genes do not show."""
        unnamed = 0 if self.genes is None else int((~self.genes.named).sum())
        return [f"{number(unnamed, 'gene')} without a name, in the last row"] if unnamed else []


@dataclass(frozen=True, kw_only=True)
class Layout(Tracks):
    """Places of the panels of a regional association."""

    legend: list[list[tuple[float, str, int]]]
    """Rows of entries: place from the left of the panels, text, and bin.

    Bin -1 is the title, `LEAD` the lead variant, and `NO_VALUE` a variant without r2.
    """
    association_top: float
    association: float
    beside: list[str]
    """Notes beside the apex."""
    below: list[str]
    """Notes below the triangle, if they do not fit beside the apex."""
    height: float

    @property
    def half(self) -> float:
        """Height of the triangle."""
        return self.across / 2


TITLE, LEAD, NO_VALUE = -1, 5, 6


def lay_out(view: RegionView, notes: list[str], width: float) -> Layout:
    """Return the layout of a page of this width."""
    right = _RIGHT if view.rates is None else _RATES
    left = MARGIN + _LEFT
    across = max(width - left - right - MARGIN, 10.0)
    legend = _legend(view, across)
    top = MARGIN + ROW * len(legend) + 1.0
    association = float(np.clip(0.255 * across, 26.0, 42.0))
    tracks = lay_out_tracks(
        view.genes, padded(view.start, view.end), left, top + association + _TICKS, across
    )
    notes = [*notes, *tracks.notes]
    beside = beside_apex(notes, across / 2)
    below = lines_of([". ".join(notes)], width - 2 * MARGIN) if beside is None else []
    bottom = tracks.map_top + across / 2 + (1.0 + LINE * len(below) if below else 0.0)
    return Layout(
        **vars(tracks),
        legend=legend,
        association_top=top,
        association=association,
        beside=beside or [],
        below=below,
        height=bottom + MARGIN,
    )


def padded(start: float, end: float) -> tuple[float, float]:
    """Return the ends of panels that show all variants from start to end, in base pairs."""
    pad = max(0.008 * (end - start), 5.0)
    return start - pad, end + pad


def lay_out_tracks(
    genes: pd.DataFrame | None,
    ends: tuple[float, float],
    left: float,
    top: float,
    across: float,
    *,
    lines: bool = True,
) -> Tracks:
    """Return the places of genes and, with ``lines``, of connectors between ends in base pairs."""
    low, high = ends
    lanes = lanes_of(genes, low, high, across)
    connectors_top = top + (0.0 if lanes is None else lanes.rows * LANE + 2.0)
    connectors = min(_CONNECTORS, 0.1 * across) if lines else 0.0
    return Tracks(
        left=left,
        across=across,
        genes_top=top,
        genes=lanes,
        connectors_top=connectors_top,
        connectors=connectors,
        map_top=connectors_top + connectors,
        low=low,
        high=high,
    )


def fitting(layout: Callable[[float], Layout], width: float, height: float) -> Layout:
    """Return the widest layout that fits into an axes of this size."""
    found = layout(width)
    if found.height <= height + 0.1:
        return found
    low, high = 20.0, width
    for _ in range(12):
        middle = (low + high) / 2
        if layout(middle).height <= height:
            low = middle
        else:
            high = middle
    return layout(low)


def title_width(view: RegionView) -> float:
    """Return the width of the title of the legend."""
    return hinted_width(f"r2 with {short_name(view)}")


def short_name(view: RegionView) -> str:
    """Return the name of the lead variant, cut if it is long."""
    return shortened(str(view.names[view.lead]), _LONGEST_NAME)


def _legend(view: RegionView, across: float) -> list[list[tuple[float, str, int]]]:
    texts = [*BINS, "lead"]
    bins = [*range(len(BINS)), LEAD]
    if np.isnan(view.lead_r2[~np.isnan(view.strength)]).any():
        texts, bins = [*texts, "no r²"], [*bins, NO_VALUE]
    widths = [MARK + hinted_width(text) for text in texts]
    first = title_width(view)
    gap = (across - first - sum(widths)) / len(texts)
    rows: list[list[tuple[float, str, int]]] = [[(0.0, short_name(view), TITLE)]]
    at = first + gap
    if gap < 1.5:
        rows.append([])
        at, gap = 0.0, (across - sum(widths)) / len(texts)
    gap = min(gap, 4.0)
    at = min(at, first + gap)
    for text, wide, bin_ in zip(texts, widths, bins, strict=True):
        rows[-1].append((at, text, bin_))
        at += wide + gap
    return rows


def lanes_of(
    table: pd.DataFrame | None, low: float, high: float, across: float
) -> GeneLanes | None:
    """Return the rows and ends of genes over a stretch in base pairs; None without a gene."""
    if table is None or not len(table):
        return None
    scale = across / (high - low)
    ends = (table["start"].to_numpy("f8") - 0.5, table["end"].to_numpy("f8") + 0.5)
    left, right = (np.clip((end - low) * scale, 0.0, across) for end in ends)
    names = [shortened(str(name), _LONGEST_NAME) for name in table["name"]]
    widths = np.array([hinted_width(name, BASE_PT, italic=True) for name in names])
    # The widest letter of all names counts, so that no name reaches into the next.
    letter = max((w / len(x) for w, x in zip(widths, names, strict=True) if x), default=1.0)
    pixel = WIDTH / across
    lane, start = label_lanes(
        left, right, names, (0.0, across), letter=letter * pixel, gap=_BETWEEN * pixel
    )
    named = lane < LANES
    rows = int(lane[named].max(initial=-1)) + 1
    lane = np.where(named, lane, rows)
    wide = right - left > widths
    middle = (left + right - widths) / 2
    name_left = np.where(wide, middle, np.minimum(start, across - widths))
    return GeneLanes(left, right, lane, named, names, name_left, rows + int((~named).any()))
