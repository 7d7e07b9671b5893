"""Picture of the progress of a tree search: lengths of rounds, the shortest so far, its hits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.visual.picture.spec import Axis, Boxes, Line, Mark, Panel, Picture, Points, Texts
from genobit.visual.style import number, whole_ticks
from genobit.visual.tokens import LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    import xarray as xr

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


def search_trace(result: xr.Dataset) -> Picture:
    """Draw the lengths of the trees of a search against its iterations.

    Parameters
    ----------
    result
        Result of `.genobit.parsimony_search()`.

    Returns
    -------
        A dot for the length of each round, blue if it is the shortest of the search, and a line for
        the shortest so far. Beside it are the numbers of rounds by length. The notes say whether
        the shortest is proven. Starting trees that are much longer are counted in words.

    Raises
    ------
    ValueError
        If the result has no trace.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> picture = search_trace(aln.genobit.parsimony_search(seed=1))
    >>> picture.title, picture.notes[0]
    ('Parsimony ratchet: 5 changes', '2 trees of this length.')
    """
    if "trace" not in result or not result["trace"].size:
        raise ValueError("there is no trace in this result; it is not one of a search")
    trace = result["trace"].values.astype("f8")
    rounds = np.empty((0, trace.size))
    if "round_length" in result:
        rounds = result["round_length"].transpose("replicate", "iteration").values.astype("f8")
    return _Trace(result, trace, rounds).picture()


@dataclass(frozen=True)
class _Trace:
    """The shortest length so far, `trace` (iterations,), and `rounds` (replicates, iterations)."""

    result: xr.Dataset
    trace: np.ndarray
    rounds: np.ndarray

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
        if self.result.attrs.get("method") == "ratchet":
            notes.append("Iteration 0 is the start, and 1 follows its branch swapping")
        if attrs.get("partial"):
            notes.append("The search was stopped before its end")
        return notes

    def picture(self) -> Picture:
        low, high = self.limits
        room = max(0.05 * (high - low), 0.5)
        ends = (low - room, high + room)
        last = max(self.trace.size - 1, 1)
        # Room for the outer dots.
        x = Axis("Iteration", (-0.015 * last, 1.015 * last), whole=True)
        ticks = tuple((float(tick), f"{tick:,}") for tick in whole_ticks(*ends))
        y = Axis("Length (changes)", ends, ticks=ticks)
        line = Line(np.arange(self.trace.size), self.trace, 2.0, steps=True, colour=LIGHT.ink)
        marks = (self._dots(~self.hits), line, self._dots(self.hits))
        method = str(self.result.attrs.get("method", ""))
        return Picture(
            Panel(x, y, marks, size=(520, 240), zoom="x"),
            f"{_MODES.get(method, 'Tree search')}: {number(int(self.shortest), 'change')}",
            tuple(f"{note}." for note in self.notes),
            self._counts(y) if np.isfinite(self.ended).any() else None,
        )

    def _dots(self, chosen: np.ndarray) -> Points:
        """Return the lengths of rounds as dots, blue if they are the shortest."""
        replicate, iteration = np.nonzero(np.isfinite(self.rounds) & chosen)
        length = self.rounds[replicate, iteration]
        shortest = bool(length.size) and length[0] == self.shortest
        return Points(
            iteration,
            length,
            6.0 if shortest else 5.0,
            edge=LIGHT.paper,
            colour=LIGHT.accent if shortest else OTHER_GROUP,
            hover={"replicate": replicate, "iteration": iteration, "changes": length},
        )

    def _counts(self, y: Axis) -> Panel:
        """Return how many rounds ended with each length, with the number of the shortest."""
        low, high = self.limits
        known = self.ended[np.isfinite(self.ended)]
        known = known[known <= high]
        # Bars of many lengths would be thinner than a line.
        step = max(int(np.ceil((high - low) / 40)), 1)
        start = self.shortest - 0.5
        bins = start + step * np.arange(int((known.max(initial=low) - start) // step) + 2)
        counts, edges = np.histogram(known, bins)
        middle, thick = (edges[:-1] + edges[1:]) / 2, min(float(step), _THICK * (high - low))
        shades = np.full(counts.size, OTHER_GROUP, object)
        shades[0] = LIGHT.accent if step == 1 else OTHER_GROUP
        bars = Boxes(
            np.zeros(counts.size),
            middle - thick / 2,
            counts.astype("f8"),
            middle + thick / 2,
            0.5,
            edge=LIGHT.paper,
            colour=shades,
            hover={"changes": middle, "rounds": counts},
        )
        marks: list[Mark] = [bars]
        largest, hits = int(counts.max(initial=1)), int((known == self.shortest).sum())
        if step == 1 and hits:
            at = np.array([hits + 0.04 * largest])
            text = (f"{hits:,}",)
            marks.append(Texts(at, np.array([self.shortest]), text, colour=LIGHT.accent))
        x = Axis(
            "Rounds" if self.has_rounds else "Trees",
            (0.0, 1.35 * largest),
            ticks=((0.0, "0"), (float(largest), f"{largest:,}")),
        )
        return Panel(x, Axis("", y.limits, ticks=()), tuple(marks), size=(100, 240))
