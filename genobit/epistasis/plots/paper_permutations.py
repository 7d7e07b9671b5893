"""Null distribution for papers: best scores of permutations, and the scores of the ranking."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from genobit.epistasis.plots.ranking import ALPHA, BARS, threshold_of, without_permutations
from genobit.epistasis.result import Ranked, ranked
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import fitted, lines_of, text_size, write_text
from genobit.visual.style import number
from genobit.visual.tokens import AXIS_PT, HAIRLINE_PT, LIGHT, OTHER_GROUP, OUTLINE_PT

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

#: Combinations with a diamond and their names.
NAMED = 3
#: Ratio of the largest to the smallest score from which on the axis is logarithmic.
_WIDE = 12.0
#: Room beside and below the axes, and height of a line of text, in millimetres.
_BESIDE, _BELOW, _LINE = 11.0, 9.0, 2.8
#: Distance of a name from its stem, and from the stems of others, in millimetres.
_BESIDE_MARK, _NEAR = 1.8, 0.8
#: Height of the axes: a share of the width and millimetres; share of it for ticks of the ranking.
_SHARE, _LEAST, _RUG = 0.2, 18.0, 0.1


def paper_permutations(result: xr.Dataset, rank: int = 0, *, ds: xr.Dataset | None = None) -> Paper:
    """Return the best scores of permutations with the scores of the ranking, for a page.

    Parameters
    ----------
    result, rank, ds
        As for `permutation_histogram`.

    Returns
    -------
        The page: a histogram, a tick for the score of each combination, and diamonds with names and
        p-values at combination ``rank``, in blue, and at the best others. A dashed line is at the
        score of a family-wise p-value of 0.05. Scores of very unequal size have a logarithmic axis.

    Raises
    ------
    ValueError
        If the result has no permutations, or none of them has a score.

    Examples
    --------
    >>> import xarray as xr
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14]]),
    ...         "mi": ("rank", [0.25]),
    ...         "permutation_maximum": ("permutation", [0.1, 0.15, 0.12]),
    ...     }
    ... )
    >>> paper_permutations(result).height(90) < 60
    True
    """
    found = ranked(result, ds)
    if without_permutations(found):
        raise ValueError(without_permutations(found))
    return null_of(found, rank)


def null_of(found: Ranked, marked: int | None = 0) -> Paper:
    """Return the histogram of permutations for a page, with combination ``marked`` in blue.

    Raises ValueError if no permutation has a score.
    """
    if not maxima_of(found).size:
        raise ValueError(
            "no permutation has a score, as none ranked a combination, so there is no "
            "distribution to draw; a lower min_n or min_count of epistasis() keeps more"
        )
    lead = None if marked is None or not found.size else range(found.size)[marked]
    page = _Page(found, lead)
    return Paper(page.draw, page.height, whole=True)


def maxima_of(found: Ranked) -> np.ndarray:
    """Return the largest score of each permutation that has one."""
    if without_permutations(found):
        return np.empty(0)
    maxima = found.result["permutation_maximum"].values.astype("f8")
    return maxima[np.isfinite(maxima)]


@dataclass(frozen=True)
class _Page:
    """The histogram, and the combination in blue."""

    found: Ranked
    lead: int | None

    def height(self, width: float) -> float:
        return 2 * MARGIN + _SHARE * width + _LEAST + _BELOW + self.below(width)

    def below(self, width: float) -> float:
        return _LINE * len(lines_of(self.notes, width - 2 * MARGIN - _BESIDE)) + 1.0

    @cached_property
    def named(self) -> list[int]:
        """The combinations with diamonds, by descending score: the lead and the best."""
        best = [int(k) for k in np.argsort(-self.found.scores, kind="stable")[:NAMED]]
        kept = best if self.lead is None or self.lead in best else [*best[:-1], self.lead]
        return sorted(kept, key=lambda k: -self.found.scores[k])

    @cached_property
    def values(self) -> np.ndarray:
        """All values on the axis of scores."""
        return np.concatenate([maxima_of(self.found), self.found.scores])

    @property
    def logarithmic(self) -> bool:
        low, high = float(self.values.min()), float(self.values.max())
        return low > 0 and high > _WIDE * low

    @property
    def notes(self) -> list[str]:
        found, maxima = self.found, maxima_of(self.found)
        text = f"{number(len(maxima), 'permutation')} of the phenotype."
        text += f" Ticks: {number(found.size, 'ranked combination')}"
        if "p_familywise" in found.result:
            few = int((found.result["p_familywise"].values <= ALPHA).sum())
            text += f", {few or 'none'} with family-wise P ≤ {ALPHA}"
        return [text + "."]

    def draw(self, axes: Axes) -> None:
        width, height = size_of(axes)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        across = max(width - 2 * MARGIN - _BESIDE, 5.0)
        high = max(height - 2 * MARGIN - _BELOW - self.below(width), 5.0)
        frame = panel(axes, MARGIN + _BESIDE, MARGIN, across, high)
        self._bars(frame, high)
        self._threshold(frame)
        self._marks(frame, across)
        for k, line in enumerate(lines_of(self.notes, across)):
            y = MARGIN + high + _BELOW + 1.0 + (k + 0.5) * _LINE
            write_text(axes, MARGIN + _BESIDE, y, line, color=LIGHT.slate)

    def _bars(self, frame: Axes, high: float) -> None:
        """Draw the histogram and the ticks, and set the axes."""
        maxima = maxima_of(self.found)
        low, most = float(self.values.min()), float(self.values.max())
        count = min(BARS, 2 + len(maxima) // 5)
        inner = float(maxima.min(initial=most)), float(maxima.max(initial=low))
        if self.logarithmic:
            frame.set_xscale("log")
            edges = np.geomspace(*inner, count + 1) if inner[1] > inner[0] else np.array(inner)
            reach = (most / low) ** 0.04
            alone = inner[0] / reach**0.125, inner[1] * reach**0.125
            frame.set_xlim(low / reach, most * reach)
        else:
            edges = np.linspace(*inner, count + 1)
            reach = 0.04 * (most - low) or 0.01
            alone = inner[0] - reach / 8, inner[1] + reach / 8
            frame.set_xlim(low - reach, most + reach)
        if edges[-1] <= edges[0]:
            edges = np.array(alone)
        counts, edges = np.histogram(maxima, edges)
        largest = max(int(counts.max(initial=0)), 1)
        head = (len(self.named) + 1) * (_LINE + 0.4) + 1.5
        top = largest / max(1 - _RUG - head / high, 0.3)
        frame.bar(
            edges[:-1], counts, np.diff(edges), align="edge", color=OTHER_GROUP,
            edgecolor=LIGHT.paper, linewidth=HAIRLINE_PT,
        )  # fmt: skip
        frame.set_ylim(-_RUG * top, top)
        frame.vlines(
            self.found.scores, -0.85 * _RUG * top, -0.15 * _RUG * top, color=LIGHT.slate,
            linewidth=AXIS_PT,
        )  # fmt: skip
        frame.axhline(0, color=LIGHT.ink, linewidth=HAIRLINE_PT)
        frame.spines["left"].set_bounds(0, largest)
        ticks = MaxNLocator(4, integer=True).tick_values(0, largest)
        frame.set_yticks([tick for tick in ticks if 0 <= tick <= largest])
        self._name_axes(frame, largest / 2)

    def _name_axes(self, frame: Axes, middle: float) -> None:
        if self.logarithmic:
            low, high = frame.get_xlim()
            subs = (1, 2, 5) if high < 200 * low else (1,)
            frame.xaxis.set_major_locator(LogLocator(subs=subs, numticks=9))
            frame.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            frame.xaxis.set_minor_locator(NullLocator())
        else:
            frame.xaxis.set_major_locator(MaxNLocator(6 if size_of(frame)[0] > 90 else 4))
        frame.set_xlabel(f"Best {self.found.label} of a permutation")
        low, high = frame.get_ylim()
        frame.set_ylabel("Permutations")
        frame.yaxis.set_label_coords(-7.5 / size_of(frame)[0], (middle - low) / (high - low))

    def _place(self, frame: Axes, x: float, row: float) -> tuple[float, float]:
        """Return a score and a row of text from the top, in millimetres of the panel."""
        pixels = frame.transData.transform((x, 0.0))
        across = float(frame.transAxes.inverted().transform(pixels)[0]) * size_of(frame)[0]
        return across, size_of(frame)[1] - (row + 0.5) * (_LINE + 0.4)

    def _threshold(self, frame: Axes) -> None:
        score = threshold_of(self.found)
        if score is None or not frame.get_xlim()[0] < score < frame.get_xlim()[1]:
            return
        frame.axvline(score, color=LIGHT.slate, linewidth=AXIS_PT, dashes=(4, 2.5), zorder=2.5)
        text, (x, y) = f"family-wise P = {ALPHA}", self._place(frame, score, 0)
        right = x + 1.0 + text_size(text)[0] <= size_of(frame)[0]
        self._write(frame, x + (1.0 if right else -1.0), y, text, right=right, color=LIGHT.slate)

    def _write(
        self, frame: Axes, x: float, y: float, text: str, *, right: bool, **look: str
    ) -> None:
        width, height = size_of(frame)
        write_text(
            frame, x / width, y / height, text, transform=frame.transAxes,
            ha="left" if right else "right", zorder=4,
            bbox={"facecolor": LIGHT.paper, "edgecolor": "none", "pad": 0.4}, **look,
        )  # fmt: skip

    def _marks(self, frame: Axes, across: float) -> None:
        """Draw diamonds, and their names in rows that no other stem crosses."""
        scores = self.found.scores[self.named]
        texts = [self._words(rank) for rank in self.named]
        wide = [
            _BESIDE_MARK + 1.03 * text_size(text, bold=rank == self.lead)[0]
            for rank, text in zip(self.named, texts, strict=True)
        ]
        at = [self._place(frame, score, 0)[0] for score in scores]
        rows, rights = arranged(np.array(at), np.array(wide), across)
        low, high = frame.get_ylim()
        for k, rank in enumerate(self.named):
            x, y = self._place(frame, scores[k], rows[k] + 1)
            colour = LIGHT.accent if rank == self.lead else LIGHT.ink
            top = low + y / size_of(frame)[1] * (high - low)
            frame.plot([scores[k]] * 2, [0, top], color=colour, linewidth=OUTLINE_PT, zorder=3)
            frame.scatter(
                [scores[k]], [top], s=14, marker="D", color=colour, edgecolors=LIGHT.paper,
                linewidths=0.4, zorder=5,
            )  # fmt: skip
            room = across - x if rights[k] else x
            text = fitted(texts[k], max((room - _BESIDE_MARK) / 1.03, 4.0))
            weight = "bold" if rank == self.lead else "normal"
            x += _BESIDE_MARK if rights[k] else -_BESIDE_MARK
            self._write(frame, x, y, text, right=rights[k], color=colour, fontweight=weight)

    def _words(self, rank: int) -> str:
        found = self.found
        text = f"{found.ranks[rank]}  {found.title(rank)}"
        if "p_familywise" in found.result:
            text += f", P = {found.result['p_familywise'].values[rank]:#.2g}"
        return text


def arranged(
    at: np.ndarray, wide: np.ndarray, across: float
) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return the row from the top and the side, True for right, of the name of each stem.

    at, wide: (stems,) places of the stems, and widths of the names from there, in millimetres. The
    chosen arrangement cuts the fewest letters. Of several such, it crosses the fewest stems.
    """
    count = len(at)

    def cost(rows: tuple[int, ...], rights: tuple[bool, ...]) -> tuple[float, int, int]:
        start = np.where(rights, at, at - wide)
        stop = start + wide
        # A stem just beside a name counts, but not one beyond the stem of the name itself.
        low, high = start - np.where(rights, 0.0, _NEAR), stop + np.where(rights, _NEAR, 0.0)
        cut = np.maximum(-start, 0).sum() + np.maximum(stop - across, 0).sum()
        crossed = sum(
            low[k] < at[other] < high[k] and rows[other] < rows[k]
            for k in range(count)
            for other in range(count)
        )
        return round(float(cut), 3), crossed, sum(rights)

    ways = itertools.product(
        itertools.permutations(range(count)), itertools.product((False, True), repeat=count)
    )
    return min(ways, key=lambda way: cost(*way))
