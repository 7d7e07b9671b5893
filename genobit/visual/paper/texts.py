"""Texts on figures for papers: their size, their colour, and free places for them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.extras import needed_by
from genobit.visual.paper.page import INCH
from genobit.visual.style import number
from genobit.visual.tokens import BASE_PT, LIGHT, NOTE_PT

with needed_by("A figure for a paper"):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Mean width of a letter, as a multiple of the size of its type.
LETTER = 0.49
#: Side of a cell that counts marks, in millimetres.
_CELL = 0.25
_CONTRAST = 4.5


def millimetres(points: float) -> float:
    """Return points of type in millimetres."""
    return points * INCH / 72


def size_of_text(text: str, size: float = BASE_PT, weight: str = "normal") -> tuple[float, float]:
    """Return the width and height of a text in millimetres.

    Letters on a screen are whole pixels wide, so a text at 100 pixels an inch is 12 % narrower than
    in print. Outlines have the widths of print.
    """
    font = FontProperties(size=size, weight=weight)
    lines = text.replace("$", "S").split("\n")
    outlines = [TextPath((0, 0), line, prop=font) for line in lines if line.strip()]
    width = max((outline.get_extents().x1 for outline in outlines), default=0.0)
    return millimetres(float(width)), millimetres((1.2 * len(lines) - 0.2) * size)


def lines_of(texts: Sequence[str], width: float, size: float = NOTE_PT) -> list[str]:
    """Break texts into lines of about a width in millimetres.

    Examples
    --------
    >>> lines_of(["8,723 variants of autosomes"], width=20)
    ['8,723 variants of', 'autosomes']
    """
    letters = max(int(width / (LETTER * millimetres(size))), 8)
    return [line for text in texts for line in textwrap.wrap(text, letters)]


def left_out(attrs: Mapping[str, Any]) -> list[str]:
    """Return in words how many variants of other contigs a result leaves out.

    Examples
    --------
    >>> left_out({"variants_left_out": 365, "contigs_left_out": "23"})
    ['365 variants of contig 23 left out']
    """
    count = int(attrs.get("variants_left_out", 0))
    if not count:
        return []
    names = str(attrs["contigs_left_out"]).split(", ")
    where = f"contigs {', '.join(names)}" if len(names) < 5 else f"{len(names)} contigs"
    where = f"contig {names[0]}" if len(names) == 1 else where
    return [f"{number(count, 'variant')} of {where} left out"]


def readable(colour: str) -> str:
    """Return a colour dark enough for text on the page, mixed with ink as far as needed.

    Examples
    --------
    >>> readable("#0072b2"), readable("#e69f00")
    ('#0072b2', '#946b0d')
    """
    own, ink = (
        np.array([int(c[k : k + 2], 16) for k in (1, 3, 5)], "f8") for c in (colour, LIGHT.ink)
    )
    for share in np.linspace(0, 1, 21):
        mixed = np.rint((1 - share) * own + share * ink).astype(int)
        if 1.05 / (_luminance(mixed) + 0.05) >= _CONTRAST:
            break
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _luminance(colour: np.ndarray) -> float:
    level = colour / 255
    linear = np.where(level <= 0.03928, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


class Room:
    """A panel in millimetres from its lower left corner: which places have no mark and no text."""

    def __init__(self, width: float, height: float, points: np.ndarray, radius: float = 0.4):
        self.width, self.height, self.radius = width, height, radius
        self.boxes: list[np.ndarray] = []
        shape = int(np.ceil(width / _CELL)), int(np.ceil(height / _CELL))
        cells = np.floor(points[np.isfinite(points).all(axis=1)] / _CELL).astype("i8")
        cells = cells[((cells >= 0) & (cells < shape)).all(axis=1)]
        counts = np.zeros(shape, "i8")
        counts[cells[:, 0], cells[:, 1]] = 1
        self._sums = np.zeros((shape[0] + 1, shape[1] + 1), "i8")
        self._sums[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1)

    def covered(self, boxes: np.ndarray) -> np.ndarray:
        """Return how many cells with marks each box covers; boxes: (boxes, 4) left to top."""
        reach = np.array([-1, -1, 1, 1]) * self.radius
        cells = (boxes + reach) / _CELL
        low, high = np.floor(cells[:, :2]).astype("i8"), np.ceil(cells[:, 2:]).astype("i8")
        most = np.array(self._sums.shape) - 1
        (a, b), (c, d) = np.clip(low, 0, most).T, np.clip(high, 0, most).T
        sums = self._sums
        found: np.ndarray = sums[c, d] - sums[a, d] - sums[c, b] + sums[a, b]
        return found

    def allowed(self, boxes: np.ndarray, gap: float = 0.4) -> np.ndarray:
        """Return whether each box is inside of the panel and apart from other texts."""
        inside = (boxes[:, :2] >= 0).all(axis=1)
        inside &= (boxes[:, 2] <= self.width) & (boxes[:, 3] <= self.height)
        for other in self.boxes:
            beside = (boxes[:, 0] > other[2] + gap) | (boxes[:, 2] < other[0] - gap)
            inside &= beside | (boxes[:, 1] > other[3] + gap) | (boxes[:, 3] < other[1] - gap)
        return inside

    def take(self, box: np.ndarray) -> None:
        """Keep the place of a text."""
        self.boxes.append(box)
