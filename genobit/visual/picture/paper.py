"""Paint a picture with matplotlib, in millimetres: key, axes, and notes below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.ticker import LogLocator, MaxNLocator

from genobit.visual.paper.labels import spread
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import (
    fitted,
    lines_of,
    readable,
    text_size,
    width_of,
    write_text,
)
from genobit.visual.picture.spec import (
    Axis,
    Band,
    Boxes,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Segments,
    Texts,
)
from genobit.visual.tokens import BASE_PT, HAIRLINE_PT, LIGHT, NOTE_PT

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

#: Marks above this number are pixels inside of a PDF.
MANY = 5_000
#: Points of the page for a pixel of the screen, on narrow and on wide pages.
_POINTS = (0.45, 0.75)
#: Height of a line of notes, of a row of the key, and of a name with the line below it, in mm.
_LINE, _ROW, _NAME = 2.8, 3.2, 6.4
#: From this width of the page on, names of lines stand at their ends; else in rows above.
_WIDE = 120.0
#: Room between the axes and names beside them, and between ticks and the label of an axis.
_GAP, _LABEL = 5.0, 3.4
#: Width of a panel beside the axes, and room before it.
_BESIDE, _APART = 22.0, 3.0
#: Room for ticks and label below the axes, and the least height of the axes.
_BELOW, _LEAST = 8.0, 24.0
#: The greatest height of the axes.
_MOST = 75.0
_DASHES: dict[str, Any] = {"solid": "solid", "dashed": (0, (4, 2)), "dotted": (0, (1, 1.5))}
_SHAPES = {"circle": "o", "diamond": "D", "x": "x"}
#: Symbols that journals print in italics.
_ITALIC = {"r²": "$r^2$", "D′": "$D\\prime$", "τ": "$\\tau$", "log₁₀ P": "log$_{10}$ $P$"}


def paper_of(picture: Picture) -> Paper:
    """Return the form of a picture for papers.

    Examples
    --------
    >>> from genobit.visual.picture.spec import Panel
    >>> dots = Points(np.arange(3.0), np.ones(3))
    >>> round(paper_of(Picture(Panel(Axis("x"), Axis("y"), (dots,)), "three dots")).height(90))
    48
    """
    page = _Page(picture)
    return Paper(page.draw, page.height, whole=True)


class _Page:
    """The places of the parts of a picture on pages of any width."""

    def __init__(self, picture: Picture) -> None:
        self.panel, self.picture = picture.panel, picture
        self.limits = self.panel.limits()
        self.texts = [f"{picture.title}.", *picture.notes]
        self.named = [mark for mark in self.panel.marks if mark.label]

    def ends(self, width: float) -> bool:
        """Return whether names stand at the ends of lines."""
        return width >= _WIDE and bool(self.named) and all(type(m) is Line for m in self.named)

    def left(self) -> float:
        """Return the room for the label and the ticks of the upright axis."""
        ticks = _ticks(self.panel.y, self.limits[1], 5)
        return max((width_of(text) for _, text in ticks), default=0.0) + 1.5 + _LABEL

    def right(self, width: float) -> float:
        """Return the room beside the axes."""
        if not self.ends(width):
            return 1.0 if self.picture.beside is None else _BESIDE + _APART
        texts = [text_size(mark.label, BASE_PT, bold=True)[0] for mark in self.named]
        texts += [width_of(mark.note) for mark in self.named]
        return min(1.05 * max(texts), 0.3 * width) + _GAP

    def above(self, width: float) -> float:
        """Return the height of the key above the axes."""
        return 0.0 if self.ends(width) or not self.named else _ROW * len(self.named) + 1.5

    def notes(self, width: float) -> list[str]:
        return lines_of([" ".join(self.texts)], width - 2 * MARGIN - self.left())

    def height(self, width: float) -> float:
        across = width - 2 * MARGIN - self.left() - self.right(width)
        axes = np.clip(across * self.panel.size[1] / self.panel.size[0], _LEAST, _MOST)
        if self.ends(width):
            axes = max(axes, len(self.named) * _NAME)
        notes = _LINE * len(self.notes(width)) + 1.0
        return float(2 * MARGIN + self.above(width) + axes + _BELOW + notes)

    def draw(self, axes: Axes) -> None:
        width, height = size_of(axes)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        notes = self.notes(width)
        below = _LINE * len(notes) + 1.0
        left, top = MARGIN + self.left(), MARGIN + self.above(width)
        across = max(width - MARGIN - left - self.right(width), 5.0)
        tall = max(height - MARGIN - top - _BELOW - below, 5.0)
        across = min(across, tall) if self.panel.square else across
        points = float(np.clip(0.9 * across * 72 / 25.4 / self.panel.size[0], *_POINTS))
        frame = panel(axes, left, top, across, tall)
        _fill(frame, self.panel, across, points)
        frame.yaxis.set_label_coords(-(self.left() - _LABEL / 2) / across, 0.5)
        if self.picture.beside is not None:
            beside = panel(axes, left + across + _APART, top, _BESIDE, tall)
            _fill(beside, self.picture.beside, _BESIDE, points)
            beside.set_yticks([])
        if self.ends(width):
            self._ends(axes, left + across, top, (tall, width - MARGIN - left - across - _GAP))
        else:
            self._rows(axes, left, width - MARGIN)
        for k, line in enumerate(notes):
            y = height - MARGIN - below + 1.0 + (k + 0.5) * _LINE
            write_text(axes, left, y, _formula(line), color=LIGHT.slate, parse_math=True)

    def _ends(self, axes: Axes, left: float, top: float, room: tuple[float, float]) -> None:
        """Write the names of lines at their ends, with hairlines to them."""
        tall, wide = room
        low, high = self.limits[1]
        last = [[*mark.y[-1:], low][0] for mark in self.named if isinstance(mark, Line)]
        level = (np.array(last) - low) / (high - low)
        y = tall * (1 - np.clip(np.nan_to_num(level), 0, 1))
        middles = spread(y, np.full(len(y), min(_NAME, tall / len(y))), 0, tall)
        for mark, at, middle in zip(self.named, y, middles, strict=True):
            axes.plot(
                [left + 0.4, left + 1.6, left + _GAP - 1.4, left + _GAP - 0.6],
                top + np.array([at, at, middle, middle]),
                color=mark.colour,
                linewidth=HAIRLINE_PT,
                clip_on=False,
            )
            x, y0 = left + _GAP, top + middle
            name = fitted(mark.label, wide / 1.08, BASE_PT)
            shade = readable(str(mark.colour))
            write_text(axes, x, y0 - 1.35, name, fontsize=BASE_PT, fontweight="bold", color=shade)
            write_text(axes, x, y0 + 1.45, fitted(mark.note, wide), color=LIGHT.slate)

    def _rows(self, axes: Axes, left: float, right: float) -> None:
        """Write the key in rows above the axes."""
        if not self.named:
            return
        room = right - left - 6.0
        names = [fitted(mark.label, 0.45 * room) for mark in self.named]
        second = left + 6.0 + 1.08 * max(text_size(name, bold=True)[0] for name in names) + 3.0
        for k, (mark, name) in enumerate(zip(self.named, names, strict=True)):
            y = MARGIN + (k + 0.5) * _ROW
            if isinstance(mark, Line):
                axes.plot([left, left + 4.5], [y, y], color=mark.colour, linewidth=1.6)
            else:
                shape = "o" if isinstance(mark, Points) else "s"
                axes.plot([left + 2.2], [y], shape, color=mark.colour, markersize=4.0, mew=0)
            write_text(
                axes, left + 6.0, y, name, fontweight="bold", color=readable(str(mark.colour))
            )
            write_text(axes, second, y, fitted(mark.note, right - second), color=LIGHT.slate)


def _fill(frame: Axes, part: Panel, across: float, points: float) -> None:
    """Set limits, ticks and labels of an axes, and draw the marks of a panel."""
    for name, axis, ends in zip("xy", (part.x, part.y), part.limits(), strict=True):
        if axis.log:
            getattr(frame, f"set_{name}scale")("log")
        getattr(frame, f"set_{name}lim")(*(ends[::-1] if axis.flipped else ends))
        most = (8 if across > 90 else 4) if name == "x" else 5
        ticks = _ticks(axis, ends, most)
        if name == "x":
            ticks = _apart(ticks, ends, across, log=axis.log)
        side = getattr(frame, f"{name}axis")
        side.set_ticks([at for at, _ in ticks], [text for _, text in ticks])
        side.set_ticks([], minor=True)
    frame.set_xlabel(_formula(part.x.label), parse_math=True)
    frame.set_ylabel(_formula(part.y.label), parse_math=True)
    for k, mark in enumerate(part.marks):
        for drawn in _PAINTED[type(mark)](frame, mark, points):
            drawn.set(zorder=2 + 0.01 * k)


def _formula(label: str) -> str:
    r"""Return a label with its symbols in italics.

    Examples
    --------
    >>> _formula("Mean r²"), _formula("$ of r")
    ('Mean $r^2$', '\\$ of r')
    """
    pattern = "|".join(map(re.escape, _ITALIC))
    return re.sub(pattern, lambda found: _ITALIC[found[0]], label.replace("$", r"\$"))


def _ticks(axis: Axis, ends: tuple[float, float], most: int) -> list[tuple[float, str]]:
    """Return the ticks of an axis inside of its ends, at most about ``most`` round numbers."""
    low, high = ends
    if axis.ticks is not None:
        return [tick for tick in axis.ticks if low <= tick[0] <= high]
    if axis.log:
        subs = (1, 2, 5) if high < 200 * low and most > 4 else (1,)
        found = LogLocator(subs=subs, numticks=9).tick_values(low, high)
    else:
        chosen = MaxNLocator(most, steps=[1, 2, 5, 10], integer=axis.whole)
        found = chosen.tick_values(low, high)
    slack, places = 1e-9 * (high - low), np.asarray(found, "f8")
    places = places[(places >= low - slack) & (places <= high + slack)]
    return [(float(at), text) for at, text in zip(places, _numbers(places, axis), strict=True)]


def _numbers(places: np.ndarray, axis: Axis) -> list[str]:
    """Return round numbers as texts with the same decimals, and with commas in thousands.

    Examples
    --------
    >>> _numbers(np.array([-0.5, 0.0, 0.5]), Axis())
    ['−0.5', '0.0', '0.5']
    """
    if axis.log or len(places) < 2:
        texts = [f"{at:,.6g}" for at in places]
    else:
        step = float(np.diff(places).min())
        decimals = next((k for k in range(12) if abs(step - round(step, k)) < 1e-6 * step), 12)
        texts = [f"{at + 0.0:,.{decimals}f}" for at in np.round(places, decimals)]
    return [text.replace("-", "\N{MINUS SIGN}") for text in texts]


def _apart(
    ticks: list[tuple[float, str]], ends: tuple[float, float], across: float, *, log: bool
) -> list[tuple[float, str]]:
    """Return ticks with the text of each that would touch the one before it left out."""
    low, high = np.log(ends) if log else ends
    last, kept = -np.inf, []
    for at, text in ticks:
        place = across * ((np.log(at) if log else at) - low) / (high - low)
        half = width_of(text) / 2
        free = place - half > last + 0.8
        kept.append((at, text if free else ""))
        last = place + half if free else last
    return kept


def _points(frame: Axes, mark: Points, points: float) -> list[Any]:
    crosses = mark.shape == "x"
    drawn = frame.scatter(
        mark.x,
        mark.y,
        s=(points * mark.size) ** 2,
        c=_colours(mark),
        marker=_SHAPES[mark.shape],
        edgecolors=None if crosses else mark.edge or "none",
        linewidths=0.5,
        alpha=mark.alpha,
    )
    drawn.set_rasterized(len(mark.x) > MANY)
    return [drawn]


def _colours(mark: Mark) -> Any:
    return mark.colour.tolist() if isinstance(mark.colour, np.ndarray) else mark.colour


def _line(frame: Axes, mark: Line, points: float) -> list[Any]:
    return frame.plot(
        mark.x,
        mark.y,
        color=_colours(mark),
        linewidth=points * mark.width,
        linestyle=_DASHES[mark.dash],
        drawstyle="steps-post" if mark.steps else "default",
        alpha=mark.alpha,
    )


def _band(frame: Axes, mark: Band, _points: float) -> list[Any]:
    area = frame.fill_between(
        mark.x, mark.low, mark.high, color=_colours(mark), alpha=mark.alpha, linewidth=0
    )
    return [area]


def _segments(frame: Axes, mark: Segments, points: float) -> list[Any]:
    ends = np.stack([mark.x0, mark.y0, mark.x1, mark.y1], axis=1).reshape(-1, 2, 2)
    drawn = LineCollection(
        list(ends),
        colors=_colours(mark),
        linewidths=points * mark.width,
        linestyles=_DASHES[mark.dash],
        alpha=mark.alpha,
    )
    drawn.set_rasterized(len(ends) > MANY)
    return [frame.add_collection(drawn, autolim=False)]


def _boxes(frame: Axes, mark: Boxes, points: float) -> list[Any]:
    x0, y0, x1, y1 = mark.x0, mark.y0, mark.x1, mark.y1
    corners = np.stack([x0, y0, x1, y0, x1, y1, x0, y1], axis=1).reshape(-1, 4, 2)
    drawn = PolyCollection(
        list(corners),
        facecolors=_colours(mark),
        edgecolors=mark.edge or "none",
        linewidths=points * mark.width if mark.edge else 0,
        alpha=mark.alpha,
    )
    drawn.set_rasterized(len(corners) > MANY)
    return [frame.add_collection(drawn, autolim=False)]


def _texts(frame: Axes, mark: Texts, _points: float) -> list[Any]:
    return [
        frame.text(
            x, y, text, color=_colours(mark), fontsize=NOTE_PT, fontweight="bold", va="center"
        )
        for x, y, text in zip(mark.x, mark.y, mark.texts, strict=True)
    ]


def _rule(frame: Axes, mark: Rule, points: float) -> list[Any]:
    draw = frame.axvline if mark.axis == "x" else frame.axhline
    look = {"linestyle": _DASHES[mark.dash], "alpha": mark.alpha}
    return [draw(mark.at, color=str(mark.colour), linewidth=points * mark.width, **look)]


_PAINTED: dict[type[Mark], Callable[[Axes, Any, float], list[Any]]] = {
    Points: _points,
    Line: _line,
    Band: _band,
    Segments: _segments,
    Boxes: _boxes,
    Texts: _texts,
    Rule: _rule,
}
