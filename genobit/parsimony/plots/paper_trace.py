"""The trace of a tree search for papers: lengths of rounds, the shortest so far, and its hits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.parsimony.plots.search_trace import check_trace
from genobit.visual.paper.marks import MANY
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import lines_of, text_size, write_text
from genobit.visual.style import number, whole_ticks
from genobit.visual.tokens import (
    HAIRLINE_PT,
    LIGHT,
    OTHER_GROUP,
    OUTLINE_PT,
    TITLE_PT,
)

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

#: Room below the axes, width of the bars beside them, and height of a line, in millimetres.
_BELOW, _BARS, _LINE = 9.0, 22.0, 2.8
_TITLE, _GAP = 5.0, 3.0
#: Height of the axes: a share of the width and millimetres.
_SHARE, _LEAST = 0.2, 18.0
#: Largest height of a bar as a share of the axis.
_THICK = 0.08
#: Starting trees this many times farther from the shortest than all rounds are left out.
_FAR = 1.5
_MODES = {
    "ratchet": "Parsimony ratchet",
    "branch_and_bound": "Branch and bound",
    "stepwise": "Stepwise addition",
    "tbr": "TBR branch swapping",
    "spr": "SPR branch swapping",
    "nni": "NNI branch swapping",
}


def paper_trace(result: xr.Dataset) -> Paper:
    """Return the trace of a tree search for a page.

    Parameters
    ----------
    result
        Result of `.genobit.parsimony_search()`.

    Returns
    -------
        The page: a dot for the length of each round, blue if it is the shortest of the search, and
        a line for the shortest so far. Beside it are the numbers of rounds by length. Starting
        trees that are much longer are counted in words.

    Raises
    ------
    ValueError
        If the result has no trace.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> round(paper_trace(aln.genobit.parsimony_search(seed=1)).height(90))
    60
    """
    check_trace(result)
    trace = result["trace"].values.astype("f8")
    rounds = np.empty((0, trace.size))
    if "round_length" in result:
        rounds = result["round_length"].transpose("replicate", "iteration").values.astype("f8")
    page = _Page(result, trace, rounds)
    return Paper(page.draw, page.height, whole=True)


@dataclass(frozen=True)
class _Page:
    """The shortest length so far, `trace` (iterations,), and `rounds` (replicates, iterations)."""

    result: xr.Dataset
    trace: np.ndarray
    rounds: np.ndarray

    def height(self, width: float) -> float:
        return 2 * MARGIN + self.above(width) + _SHARE * width + _LEAST + _BELOW

    def above(self, width: float) -> float:
        """Return the height of the title and the notes."""
        return _TITLE + _LINE * len(self._lines(width)) + 1.5

    def _lines(self, width: float) -> list[str]:
        return lines_of([". ".join(self.notes) + "."], width - 2 * MARGIN)

    @property
    def shortest(self) -> float:
        return float(self.trace[-1])

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest length of the axis."""
        values = np.concatenate([self.trace, self.rounds.ravel()])
        later = np.concatenate([self.trace[1:], self.rounds[:, 1:].ravel()])
        high, rest = (float(np.nanmax(x, initial=self.shortest)) for x in (values, later))
        if rest > self.shortest and high - self.shortest > _FAR * (rest - self.shortest):
            high = rest
        return self.shortest, max(high, self.shortest + 1)

    @property
    def title(self) -> str:
        method = str(self.result.attrs.get("method", ""))
        return f"{_MODES.get(method, 'Tree search')}: {number(int(self.shortest), 'change')}"

    @cached_property
    def hits(self) -> np.ndarray:
        """Whether a round ended with a shortest tree, (replicates, iterations)."""
        return np.asarray(self.rounds == self.shortest)

    @cached_property
    def ended(self) -> np.ndarray:
        """Lengths of the rounds, or of the last tree of each replicate of a search without any."""
        if self.has_rounds:
            return self.rounds[:, 2:]
        # The last swapping of all trees has an iteration, but no tree of a replicate.
        last = np.isfinite(self.rounds).cumsum(axis=1).argmax(axis=1)
        return np.take_along_axis(self.rounds, last[:, None], axis=1)

    @cached_property
    def has_rounds(self) -> bool:
        """Whether the ratchet made a round; columns 0 and 1 are the start and its swapping."""
        ratchet = self.result.attrs.get("method") == "ratchet"
        return ratchet and bool(np.isfinite(self.rounds[:, 2:]).any())

    @property
    def notes(self) -> list[str]:
        attrs = self.result.attrs
        trees = self.result.sizes.get("trees", 0)
        notes = [f"{number(trees, 'tree')} of this length"]
        if attrs.get("proven"):
            notes[0] += ", proven to be the shortest"
        if self.has_rounds:
            replicates, hits = len(self.rounds), self.hits[:, 2:]
            count = int(np.isfinite(self.ended).sum())
            text = f"{int(hits.sum()):,} of {number(count, 'round')} end with it"
            if replicates > 1:
                with_it = int(hits.any(axis=1).sum())
                text += f", in {with_it:,} of {number(replicates, 'replicate')}"
            notes.append(text)
        starts = self.rounds[:, 0] if len(self.rounds) else self.trace[:1]
        low, high = float(np.nanmin(starts)), float(np.nanmax(starts))
        if high > self.limits[1]:
            span = f"{low:,.0f} to {high:,.0f}" if high > low else f"{high:,.0f}"
            notes.append(f"Starting trees: {span} changes, partly not shown")
        if attrs.get("partial"):
            notes.append("The search was stopped before its end")
        return notes

    def draw(self, axes: Axes) -> None:
        width, height = size_of(axes)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        write_text(axes, MARGIN, MARGIN + 1.4, self.title, fontsize=TITLE_PT, fontweight="bold")
        for k, line in enumerate(self._lines(width)):
            y = MARGIN + _TITLE + (k + 0.4) * _LINE
            write_text(axes, MARGIN, y, line, color=LIGHT.slate)
        low, high = self.limits
        room = max(0.05 * (high - low), 0.5)
        ticks = whole_ticks(low - room, high + room)
        left = MARGIN + 5.6 + max(text_size(f"{tick:,}")[0] for tick in ticks)
        top = MARGIN + self.above(width)
        tall = max(height - MARGIN - top - _BELOW, 5.0)
        bars = _BARS + _GAP if self.rounds.size else 0.0
        across = max(width - MARGIN - left - bars, 5.0)
        frame = panel(axes, left, top, across, tall)
        frame.set(xlim=_limits(self.trace.size), ylim=(low - room, high + room))
        frame.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        self._lengths(frame)
        last = max(self.trace.size - 1, 1)
        most = 8 if across > 90 else 4
        along = whole_ticks(0, last, most)
        frame.set_xticks(along, [f"{tick:,}" for tick in along])
        frame.set_xlabel(self._axis_label(across))
        frame.set_ylabel("Length (changes)")
        frame.yaxis.set_label_coords(-(left - MARGIN - 1.4) / across, 0.5)
        if bars and np.isfinite(self.ended).any():
            beside = panel(axes, left + across + _GAP, top, _BARS, tall)
            self._counts(beside, frame.get_ylim())

    def _axis_label(self, across: float) -> str:
        if self.result.attrs.get("method") != "ratchet":
            return "Iteration"
        text = "Iteration (0: start, 1: after branch swapping, then rounds)"
        return text if text_size(text)[0] * 7 / 6 <= across else "Iteration"

    def _lengths(self, frame: Axes) -> None:
        """Draw the lengths of rounds as dots, and the shortest so far as a line."""
        where = np.broadcast_to(np.arange(self.rounds.shape[1]), self.rounds.shape)
        for chosen, colour, size, layer in (
            (np.isfinite(self.rounds) & ~self.hits, OTHER_GROUP, 5.0, 2.0),
            (self.hits, LIGHT.accent, 8.0, 4.0),
        ):
            dots = frame.scatter(
                where[chosen], self.rounds[chosen], s=size, color=colour, linewidths=0.25,
                edgecolors=LIGHT.paper, zorder=layer,
                label="_hits" if colour == LIGHT.accent else "_rounds",
            )  # fmt: skip
            dots.set_rasterized(int(chosen.sum()) > MANY)
        frame.step(
            np.arange(self.trace.size), self.trace, where="post", color=LIGHT.ink,
            linewidth=OUTLINE_PT, zorder=3,
        )  # fmt: skip

    def _counts(self, beside: Axes, limits: tuple[float, float]) -> None:
        """Draw how many rounds ended with each length, with the number of the shortest."""
        known = self.ended[np.isfinite(self.ended)]
        known = known[known <= limits[1]]
        # Bars of many lengths would be thinner than a line.
        step = max(int(np.ceil((limits[1] - limits[0]) / 40)), 1)
        start = self.shortest - 0.5
        bins = start + step * np.arange(int((known.max() - start) // step) + 2)
        counts, edges = np.histogram(known, bins)
        colours = [
            LIGHT.accent if k == 0 and step == 1 else OTHER_GROUP for k in range(len(counts))
        ]
        beside.barh(
            (edges[:-1] + edges[1:]) / 2, counts, color=colours,
            height=min(float(step), _THICK * (limits[1] - limits[0])),
            edgecolor=LIGHT.paper, linewidth=HAIRLINE_PT,
        )  # fmt: skip
        largest = int(counts.max())
        beside.set(ylim=limits, xlim=(0, 1.35 * largest), yticks=[])
        beside.spines["left"].set_linewidth(HAIRLINE_PT)
        beside.spines["bottom"].set_bounds(0, largest)
        beside.set_xticks([0, largest], ["0", f"{largest:,}"])
        beside.set_xlabel("Rounds" if self.has_rounds else "Trees")
        hits = int((known == self.shortest).sum())
        if step == 1 and hits:
            at = hits + 0.04 * largest
            write_text(
                beside, at, self.shortest, f"{hits:,}", color=LIGHT.accent, fontweight="bold"
            )


def _limits(iterations: int) -> tuple[float, float]:
    """Return limits that leave room for the outer dots."""
    last = max(iterations - 1, 1)
    return -0.015 * last, 1.015 * last
