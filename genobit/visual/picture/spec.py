"""The parts of a picture: marks, axes, panels, and notes. Sizes are pixels of the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from genobit.visual.tokens import LIGHT

#: Ends of an axis; None where the marks decide.
Limits = tuple[float | None, float | None]
#: Room beyond the marks, as a share of their range.
PAD = 0.04


@dataclass(frozen=True, eq=False, kw_only=True)
class Mark:
    """Something drawn: `colour` is one for all parts or one for each.

    `label` is its name in the key, and `note` stands after the name. `hover` has the rows of the
    hover text: a label, and a value for each part.
    """

    colour: str | np.ndarray = LIGHT.slate
    alpha: float = 1.0
    label: str = ""
    note: str = ""
    hover: Mapping[str, np.ndarray] = field(default_factory=dict)

    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the values along x and y that the limits of the axes hold."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Points(Mark):
    """Marks at places: `shape` is "circle", "diamond" or "x", and `edge` the colour of its rim."""

    x: np.ndarray
    y: np.ndarray
    size: float = 5.0
    shape: str = "circle"
    edge: str | None = None

    def reach(self) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return self.x, self.y


@dataclass(frozen=True, eq=False)
class Line(Mark):
    """A line through places: `dash` is "solid", "dashed" or "dotted".

    With `steps`, it stays at each value until the next place.
    """

    x: np.ndarray
    y: np.ndarray
    width: float = 1.6
    dash: str = "solid"
    steps: bool = False

    def reach(self) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return self.x, self.y


@dataclass(frozen=True, eq=False)
class Band(Mark):
    """The area between two lines over the same places."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def reach(self) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return np.tile(self.x, 2), np.concatenate([self.low, self.high])


@dataclass(frozen=True, eq=False)
class Segments(Mark):
    """Straight lines from (x0, y0) to (x1, y1)."""

    x0: np.ndarray
    y0: np.ndarray
    x1: np.ndarray
    y1: np.ndarray
    width: float = 1.0
    dash: str = "solid"

    def reach(self) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return np.concatenate([self.x0, self.x1]), np.concatenate([self.y0, self.y1])


@dataclass(frozen=True, eq=False)
class Boxes(Segments):
    """Rectangles with the corners (x0, y0) and (x1, y1); `edge` is the colour of their outline."""

    edge: str | None = None


@dataclass(frozen=True, eq=False)
class Texts(Mark):
    """Bold texts that begin at places."""

    x: np.ndarray
    y: np.ndarray
    texts: tuple[str, ...]

    def reach(self) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return self.x, self.y


@dataclass(frozen=True, eq=False)
class Rule(Mark):
    """A straight line across the panel, at a value of one axis: "x" or "y"."""

    axis: str
    at: float
    width: float = 1.0
    dash: str = "solid"

    def reach(self) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        none, here = np.empty(0), np.array([self.at])
        return (here, none) if self.axis == "x" else (none, here)


@dataclass(frozen=True)
class Axis:
    """An axis: `ticks` are places with texts; without them, the painter chooses round numbers.

    `whole` allows ticks at whole numbers alone. `flipped` puts the smallest value at the far end.
    """

    label: str = ""
    limits: Limits = (None, None)
    log: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None
    whole: bool = False
    flipped: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """Marks over two axes; `size` is width and height on the screen.

    `zoom` has the axes along which the screen pans and zooms: "x", "xy" or "". A `square` panel is
    as wide as high on pages of any width.
    """

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    size: tuple[float, float] = (640, 260)
    zoom: str = ""
    square: bool = False

    def marks_of(self, kind: type[Mark]) -> list[Mark]:
        """Return the marks of a kind, in the order in which they are drawn."""
        return [mark for mark in self.marks if type(mark) is kind]

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of both axes: those that are given, else those of the marks with room."""
        reaches = [mark.reach() for mark in self.marks]
        x, y = (
            np.concatenate([np.asarray(reach[k], "f8") for reach in reaches] or [np.empty(0)])
            for k in (0, 1)
        )
        return _ends(self.x, x), _ends(self.y, y)


@dataclass(frozen=True, eq=False)
class Picture:
    """A panel with a title and notes, which say what the marks are and what is left out.

    A narrow panel `beside` it has the same upright axis.
    """

    panel: Panel
    title: str
    notes: tuple[str, ...] = ()
    beside: Panel | None = None


def _ends(axis: Axis, values: np.ndarray) -> tuple[float, float]:
    """Return the ends of an axis.

    Examples
    --------
    >>> _ends(Axis(limits=(0, None)), np.array([1.0, 100.0]))
    (0.0, 104.0)
    """
    known = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    least, most = axis.limits
    start, stop = (low if least is None else least), (high if most is None else most)
    if axis.log:
        start = start / 1.1 if least is None else start
        return float(start), float(stop * 1.1 if most is None else max(stop, start * 1.01))
    room = PAD * abs(stop - start) or 0.5
    if least is None:
        start = min(start, stop) - room
    if most is None:
        stop = max(start, stop) + room
    return float(start), float(max(stop, start + 1e-12))
