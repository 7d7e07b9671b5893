"""KING kinship of pairs against their share of opposite homozygotes, for explorers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.grm.kinship import DEGREES
from genobit.grm.plots.paper_kinship import FLOOR, MANY_RELATIVES, TOP
from genobit.visual.placing import backed
from genobit.visual.style import SELECTED_COLOUR, number
from genobit.visual.tokens import BANDS, LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.grm.plots.paper_kinship import KinshipPairs

NAMES = {
    "duplicate or twin": "duplicate or twin",
    "first degree": "1st degree",
    "second degree": "2nd degree",
    "third degree": "3rd degree",
}
#: Cells along x and y: pairs of one colour in a cell are one dot.
CELLS = np.array([460, 210])
#: Up to this many pairs of selected samples have rings; more are dots.
RINGS = 300
#: Pixels within which a click finds a pair.
_NEAR = 8.0


@dataclass(frozen=True)
class KinshipPlot:
    """Pairs with the group of each sample, and the colour of each group.

    groups: (samples,) int. Pairs of two groups are grey.
    """

    pairs: KinshipPairs
    groups: np.ndarray
    colours: list[str]
    names: np.ndarray

    @cached_property
    def related(self) -> np.ndarray:
        """Return which pairs are relatives: (pairs,) bool."""
        found: np.ndarray = self.pairs.king > DEGREES["third degree"]
        return found

    @cached_property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of both axes."""
        floor = min(-0.06, max(FLOOR, float(self.pairs.king.min(initial=0.0)) - 0.015))
        right = float(self.pairs.ibs0.max(initial=0.0)) or 0.1
        return (-0.035 * right, 1.05 * right), (floor, TOP)

    @cached_property
    def each(self) -> np.ndarray:
        """Return the colour of each pair: (pairs,) text."""
        a, b = self.groups[self.pairs.first], self.groups[self.pairs.second]
        palette = np.array([*self.colours, OTHER_GROUP], dtype=object)
        found: np.ndarray = palette[np.where(a == b, a, len(self.colours))]
        return found

    @property
    def many(self) -> bool:
        """True if relatives are dots, too."""
        return int(np.count_nonzero(self.related)) > MANY_RELATIVES

    def dots(self, which: np.ndarray) -> np.ndarray:
        """Return the pairs to draw of those in ``which``: one of each colour in a cell."""
        at = self._cells(self.pairs.ibs0[which], self.pairs.king[which]).astype("i8")
        colour = np.unique(self.each[which].astype(str), return_inverse=True)[1]
        kept = np.unique((colour * 10_000 + at[0]) * 10_000 + at[1], return_index=True)[1]
        # In any other order, one group would lie over all others.
        return np.random.default_rng(0).permutation(which[kept])

    def _cells(self, x: np.ndarray | float, y: np.ndarray | float) -> np.ndarray:
        (left, right), (low, high) = self.limits
        shares = np.array([(x - left) / (right - left), (y - low) / (high - low)])
        return (shares.T * CELLS).T

    def of_selected(self, samples: np.ndarray) -> np.ndarray:
        """Return the pairs of two selected samples; samples: positions."""
        chosen = np.zeros(len(self.groups), dtype=bool)
        chosen[samples] = True
        found = np.flatnonzero(chosen[self.pairs.first] & chosen[self.pairs.second])
        return found if len(found) <= RINGS else self.dots(found)

    def inside(self, x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
        """Return the samples of the pairs in a box, also of those that share a dot."""
        x, y = self.pairs.ibs0, self.pairs.king
        found = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
        return self._samples(np.flatnonzero(found))

    def nearest(self, x: float, y: float) -> np.ndarray:
        """Return the two samples of the pair at a place, none if no pair is near."""
        if not len(self.pairs.king):
            return np.empty(0, "i8")
        away = self._cells(self.pairs.ibs0, self.pairs.king).T - self._cells(x, y)
        distance = np.hypot(*away.T)
        best = int(np.argmin(distance))
        return self._samples(np.array([best] if distance[best] <= _NEAR else [], "i8"))

    def _samples(self, pairs: np.ndarray) -> np.ndarray:
        return np.union1d(self.pairs.first[pairs], self.pairs.second[pairs])


def draw_relatives(shown: KinshipPlot, selected: Sequence[int] = ()) -> hv.Overlay:
    """Draw pairs over the bands of degrees, with the number of pairs of each degree.

    ``selected`` holds positions of samples; rings mark the pairs of two of them.

    Returns
    -------
        hv.Rectangles (bands) * hv.Points (others) * hv.Points (relatives) * hv.Labels (degrees) *
        hv.Labels (what is left out) * hv.Points (rings).
    """
    xlim, ylim = shown.limits
    every = np.arange(len(shown.pairs.king))
    cloud = shown.dots(every if shown.many else every[~shown.related])
    relatives = np.empty(0, "i8") if shown.many else every[shown.related]
    bands = _bands(ylim if not shown.pairs.doubt else (np.inf, np.inf))
    overlay = bands * _points(shown, cloud, "Others").opts(size=2.5, line_color=None)
    overlay *= _points(shown, relatives, "Relatives").opts(
        size=7, line_color=LIGHT.ink, line_width=0.8, tools=[_hover()]
    )
    overlay *= _degrees(shown) * _left_out(shown, len(cloud) + len(relatives))
    return (overlay * _rings(shown, np.asarray(selected, "i8"))).opts(
        title="",
        xlim=xlim,
        ylim=ylim,
        xlabel="share of variants with IBS = 0",
        ylabel="KING kinship",
        show_legend=False,
        toolbar="right",
        show_grid=False,
    )


def _rings(shown: KinshipPlot, samples: np.ndarray) -> hv.Points:
    """Draw rings around the pairs of selected samples; samples: positions."""
    pairs = shown.of_selected(samples)
    size = np.full(len(pairs), 11.0 if len(pairs) <= RINGS else 3.0)
    columns = {"x": shown.pairs.ibs0[pairs], "y": shown.pairs.king[pairs], "size": size}
    return hv.Points(columns, ["x", "y"], "size", label="Selected").opts(
        fill_alpha=0, line_color=SELECTED_COLOUR, line_width=1.6, size="size", default_tools=[]
    )


def _bands(ylim: tuple[float, float]) -> hv.Rectangles:
    bounds = [TOP + 1, *list(DEGREES.values())[:-1]]
    boxes = [
        (-1.0, low, 2.0, high, colour)
        for colour, high, low in zip(BANDS, bounds, bounds[1:], strict=False)
        if low >= ylim[0]
    ]
    return hv.Rectangles(boxes, ["x", "y", "x1", "y1"], "colour", label="Degrees").opts(
        color="colour", line_width=0, default_tools=[]
    )


def _points(shown: KinshipPlot, pairs: np.ndarray, label: str) -> hv.Points:
    found = shown.pairs
    columns = {
        "x": found.ibs0[pairs].astype("f8"),
        "y": found.king[pairs],
        "colour": shown.each[pairs],
    }
    if label == "Relatives":
        columns["first"] = shown.names[found.first[pairs]]
        columns["second"] = shown.names[found.second[pairs]]
    return hv.Points(columns, ["x", "y"], list(columns)[2:], label=label).opts(
        color="colour",
        tools=["pan", "wheel_zoom", "box_select", "reset"],
        active_tools=["box_select", "wheel_zoom"],
        default_tools=["save"],
    )


def _hover() -> HoverTool:
    rows = [("sample", "@first"), ("sample", "@second"), ("KING", "@y{0.0000}")]
    return HoverTool(tooltips=[*rows, ("IBS = 0", "@x{0.0000}")])


def _degrees(shown: KinshipPlot) -> hv.Labels:
    counts = shown.pairs.degrees()
    if not counts:
        return _labels([], "right", "middle", LIGHT.ink)
    bounds = [TOP, *list(DEGREES.values())[:-1]]
    right = shown.limits[0][1]
    written = [
        (right, (high + low) / 2, f"{text} {counts[degree]:,} ")
        for (degree, text), high, low in zip(NAMES.items(), bounds, bounds[1:], strict=False)
    ]
    return _labels(written, "right", "middle", LIGHT.ink)


def _left_out(shown: KinshipPlot, n_dots: int) -> hv.Labels:
    """Write what the picture leaves out."""
    notes, below = [shown.pairs.doubt] if shown.pairs.doubt else [], int(shown.pairs.below.sum())
    if below:
        notes.append(f"{number(below, 'pair')} below {FLOOR:g}".replace("-", "−"))
    if shown.pairs.without:
        notes.append(f"{number(shown.pairs.without, 'pair')} without a value")
    n_pairs = len(shown.pairs.king)
    if n_dots < n_pairs:
        notes.append(f"{n_dots:,} dots for {number(n_pairs, 'pair')}")
    (left, _), (low, high) = shown.limits
    # A little above the axis.
    low += 0.02 * (high - low)
    text = "\n".join(f" {note}" for note in notes)
    return _labels([(left, low, text)], "left", "bottom", LIGHT.quiet).opts(hooks=[backed])


def _labels(written: list[Any], align: str, baseline: str, colour: str) -> hv.Labels:
    return hv.Labels(written, ["x", "y"], "text").opts(
        text_font_size="11px",
        text_color=colour,
        text_align=align,
        text_baseline=baseline,
        default_tools=[],
    )
