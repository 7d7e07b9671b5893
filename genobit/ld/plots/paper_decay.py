"""Decay of LD with distance for papers: means, curves with bands, and half-decay distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from genobit.ld.decay import half_parameter, hill_weir
from genobit.ld.plots.decay import (
    COLOURS,
    NO_HALF,
    POPULATIONS,
    SHOWN,
    STEPS,
    checked_decay,
    expectation,
    nearest_bin,
)
from genobit.ld.plots.paper_map import SYMBOLS
from genobit.visual.paper.labels import spread
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import (
    fitted,
    lines_of,
    readable,
    text_size,
    three_digits,
    write_text,
)
from genobit.visual.style import number
from genobit.visual.tokens import BASE_PT, HAIRLINE_PT, LIGHT, OUTLINE_PT

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

#: Room for the axis beside the curves and below them, and height of a line, in millimetres.
_BESIDE, _BELOW, _LINE = 11.0, 9.0, 2.8
#: From this width of the page on, names stand at the ends of the curves; else in rows above.
_WIDE = 120.0
#: Height of the axes: a share of the width and millimetres. Room between the axes and the names.
_SHARE, _LEAST, _GAP = 0.24, 24.0, 5.0
#: Height of a name with the line below it.
_NAME = 6.4


def paper_decay(
    decay: xr.Dataset,
    *,
    bins: int = 40,  # noqa: ARG001  an option of the screen form
    max_distance: float | None = None,
    log: bool = False,
) -> Paper:
    """Return the decay of LD in populations, for a page.

    Parameters
    ----------
    decay
        Result of `.genobit.ld_decay()`.
    bins
        Without effect: a fitted decay keeps its own bins.
    max_distance, log
        As for `ld_decay`.

    Returns
    -------
        The page: the means of bins as dots, the fitted curves, and the half-decay distances as
        diamonds. The band of a curve holds the curves whose half-decay distances are in the
        confidence interval. Wide pages have the names at the ends of the curves, and narrow ones
        above the axes.

    Raises
    ------
    ValueError
        For another Dataset, or if no pair has a value within ``max_distance``.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> calls = np.random.default_rng(1).integers(0, 2, (40, 20, 2)).astype("int8")
    >>> ds = xr.Dataset(
    ...     {
    ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
    ...         "variant_position": ("variants", 1000 * np.arange(40)),
    ...     }
    ... )
    >>> paper_decay(ds.genobit.ld_decay("10kb", bins=5)).height(90) < 80
    True
    """
    statistic, several, whole, stop, kept = checked_decay(decay, max_distance)
    start = nearest_bin(whole, kept, stop) if log else 0.0
    inside = kept.transpose(POPULATIONS, ...).values
    page = _Page(whole, statistic, several, (start, stop), inside)
    return Paper(page.draw, page.height, whole=True)


@dataclass(frozen=True)
class _Page:
    """The decay by population; `kept`, (populations, bins), are the bins to draw."""

    whole: xr.Dataset
    statistic: str
    several: bool
    reach: tuple[float, float]
    kept: np.ndarray

    @property
    def log(self) -> bool:
        return self.reach[0] > 0

    @cached_property
    def scale(self) -> tuple[float, str]:
        """Base pairs or cM for a unit of the axis, and its name."""
        return SHOWN[str(self.whole.attrs["unit"])]

    @cached_property
    def parts(self) -> list[xr.Dataset]:
        return [self.whole.isel({POPULATIONS: k}) for k in range(self.whole.sizes[POPULATIONS])]

    @cached_property
    def names(self) -> list[str]:
        return [str(one[POPULATIONS].item()) for one in self.parts] if self.several else [""]

    @cached_property
    def colours(self) -> list[str]:
        if not self.several:
            return [LIGHT.accent]
        return [COLOURS[k % len(COLOURS)] for k in range(len(self.parts))]

    @cached_property
    def halves(self) -> list[str]:
        """The half-decay distance of each population with its interval, in words."""
        return [self._half(one) for one in self.parts]

    def _half(self, one: xr.Dataset) -> str:
        half = float(one["half_decay"])
        if np.isnan(half):
            return NO_HALF[str(one["fit"].item())]
        factor, unit = self.scale
        low, high = one["half_decay_interval"].values / factor
        interval = "" if np.isnan(low) else f" ({three_digits(low)}–{three_digits(high)})"
        return f"half at {three_digits(half / factor)} {unit}{interval}"

    @cached_property
    def intervals(self) -> np.ndarray:
        """Return which populations have points and a confidence interval."""
        bounds = self.whole["half_decay_interval"].transpose(POPULATIONS, ...).values
        return np.asarray(self.kept.any(axis=1) & np.isfinite(bounds).all(axis=1))

    @cached_property
    def diamonds(self) -> np.ndarray:
        """Which populations have their half-decay distance on the axis."""
        half = self.whole["half_decay"].values
        inside = (half >= self.reach[0]) & (half <= self.reach[1])
        return np.asarray(self.kept.any(axis=1) & inside)

    @cached_property
    def bands(self) -> np.ndarray:
        """Which populations have a band: a curve has no half-decay distance of 0."""
        bounds = self.whole["half_decay_interval"].transpose(POPULATIONS, ...).values
        return np.asarray(self.intervals & (bounds[:, 0] > 0))

    @cached_property
    def notes(self) -> list[str]:
        pairs = int(self.whole["pairs"].values[self.kept].sum())
        share = float(self.whole.attrs["confidence"])
        text = f"{number(pairs, 'pair')}. Dots: means of bins"
        about = f"the {share:.0%} interval of the half-decay distance"
        if self.diamonds.any():
            text += ". Diamonds: half-decay distance"
            if self.intervals[self.diamonds].any():
                text += f", with its {share:.0%} interval"
                about = "this interval"
        if self.bands.any():
            text += f". Bands: curves of {about}"
        if not self.several:
            half = self.halves[0]
            text = f"{half[:1].upper()}{half[1:]}. {text}"
        return [text + "."]

    def wide(self, width: float) -> bool:
        return self.several and width >= _WIDE

    def beside(self, width: float) -> float:
        """Return the room for names at the ends of the curves."""
        if not self.wide(width):
            return 0.0
        texts = [text_size(name, BASE_PT, bold=True)[0] for name in self.names]
        texts += [text_size(text)[0] for text in self.halves]
        return min(1.05 * max(texts), 0.3 * width) + _GAP

    def above(self, width: float) -> float:
        """Return the height of the rows above the axes."""
        rows = len(self.names) if self.several and not self.wide(width) else 0
        return (rows * (_LINE + 0.4) + 1.5) if rows else 0.0

    def below(self, width: float) -> float:
        return _LINE * len(lines_of(self.notes, width - 2 * MARGIN - _BESIDE)) + 1.0

    def height(self, width: float) -> float:
        axes = _SHARE * width + _LEAST
        if self.wide(width):
            axes = max(axes, len(self.names) * _NAME)
        return 2 * MARGIN + self.above(width) + axes + _BELOW + self.below(width)

    def draw(self, axes: Axes) -> None:
        width, height = size_of(axes)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        left, top = MARGIN + _BESIDE, MARGIN + self.above(width)
        across = max(width - MARGIN - left - self.beside(width), 5.0)
        tall = max(height - MARGIN - top - _BELOW - self.below(width), 5.0)
        frame = panel(axes, left, top, across, tall)
        factor, unit = self.scale
        start, stop = (end / factor for end in self.reach)
        if self.log:
            frame.set_xscale("log")
        frame.set_xlim(start, stop)
        at = (np.geomspace if self.log else np.linspace)(start, stop, STEPS)
        for k, one in enumerate(self.parts):
            self._population(frame, one, k, at)
        frame.set_ylim(0, 1.06 * frame.dataLim.y1)
        self._name_axes(frame, unit)
        if self.wide(width):
            self._names(axes, frame, left + across, top, width)
        elif self.several:
            self._rows(axes, left, width)
        for k, line in enumerate(lines_of(self.notes, width - 2 * MARGIN - _BESIDE)):
            y = height - MARGIN - self.below(width) + 1.0 + (k + 0.5) * _LINE
            write_text(axes, left, y, line, color=LIGHT.slate)

    def _population(self, frame: Axes, one: xr.Dataset, k: int, at: np.ndarray) -> None:
        """Draw means, curve, band and half-decay distance of one population."""
        factor, colour = self.scale[0], self.colours[k]
        inside = self.kept[k]
        if not inside.any():
            return
        frame.scatter(
            one["distance"].values[inside] / factor, one[self.statistic].values[inside], s=5.0,
            color=colour, alpha=0.55, linewidths=0, zorder=2, label="_means",
        )  # fmt: skip
        low, high = one["half_decay_interval"].values
        n = int(one["observations"])
        if self.bands[k]:
            # The half-decay distance is a constant over rho, so its interval is one of curves.
            lower, upper = (
                hill_weir(half_parameter(n) / half * at * factor, n) for half in (low, high)
            )
            frame.fill_between(
                at, lower, upper, color=colour, alpha=0.18, linewidth=0, zorder=1, label="_band"
            )
        misfits = str(one["fit"].item()) == "does not fit"
        frame.plot(
            at, expectation(one, at * factor), color=colour, linewidth=OUTLINE_PT, zorder=3,
            linestyle=(0, (1, 1.5)) if misfits else "solid", label="_curve",
        )  # fmt: skip
        half = float(one["half_decay"]) / factor
        if self.diamonds[k]:
            level = float(expectation(one, half * factor))
            if self.intervals[k]:
                ends = np.clip(np.array([low, high]) / factor, at[0], at[-1])
                frame.plot(ends, [level] * 2, color=colour, linewidth=2 * OUTLINE_PT, zorder=3.5)
            frame.scatter(
                [half], [level], s=16, marker="D", color=colour, edgecolors=LIGHT.paper,
                linewidths=0.5, zorder=4, label="_half",
            )  # fmt: skip

    def _name_axes(self, frame: Axes, unit: str) -> None:
        across = size_of(frame)[0]
        if self.log:
            low, high = frame.get_xlim()
            subs = (1, 2, 5) if high < 200 * low and across > 50 else (1,)
            frame.xaxis.set_major_locator(LogLocator(subs=subs, numticks=9))
            frame.xaxis.set_minor_locator(NullLocator())
            frame.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        else:
            frame.xaxis.set_major_locator(MaxNLocator(8 if across > 90 else 4))
            frame.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        frame.yaxis.set_major_locator(MaxNLocator(5))
        frame.set_xlabel(f"Distance between the variants ({unit})")
        frame.set_ylabel(f"Mean {SYMBOLS[self.statistic]}", parse_math=True)
        frame.yaxis.set_label_coords(-8.2 / across, 0.5)

    def _names(self, axes: Axes, frame: Axes, left: float, top: float, width: float) -> None:
        """Write names and half-decay distances at the ends of the curves."""
        tall = size_of(frame)[1]
        ends = [float(expectation(one, self.reach[1])) for one in self.parts]
        level = np.array(ends) / frame.get_ylim()[1]
        y = tall * (1 - np.clip(np.nan_to_num(level), 0, 1))
        middles = spread(y, np.full(len(y), min(_NAME, tall / len(y))), 0, tall)
        room = width - MARGIN - left - _GAP
        for k, (at, middle) in enumerate(zip(y, middles, strict=True)):
            axes.plot(
                [left + 0.4, left + 1.6, left + _GAP - 1.4, left + _GAP - 0.6],
                top + np.array([at, at, middle, middle]),
                color=self.colours[k], linewidth=HAIRLINE_PT, clip_on=False,
            )  # fmt: skip
            x, y0 = left + _GAP, top + middle
            name = fitted(self.names[k], room / 1.08, BASE_PT)
            shade = readable(self.colours[k])
            write_text(axes, x, y0 - 1.35, name, fontsize=BASE_PT, fontweight="bold", color=shade)
            write_text(axes, x, y0 + 1.45, fitted(self.halves[k], room), color=LIGHT.slate)

    def _rows(self, axes: Axes, left: float, width: float) -> None:
        """Write names and half-decay distances in rows above the axes."""
        room = width - MARGIN - left - 6.0
        names = [fitted(name, 0.45 * room) for name in self.names]
        second = left + 6.0 + 1.08 * max(text_size(name, bold=True)[0] for name in names) + 3.0
        for k, name in enumerate(names):
            y = MARGIN + (k + 0.5) * (_LINE + 0.4)
            axes.plot([left, left + 4.5], [y, y], color=self.colours[k], linewidth=1.6)
            shade = readable(self.colours[k])
            write_text(axes, left + 6.0, y, name, fontweight="bold", color=shade)
            text = fitted(self.halves[k], width - MARGIN - second)
            write_text(axes, second, y, text, color=LIGHT.slate)
