"""Texts on figures for papers: their size, their colour, and free places for them."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from genobit.visual.paper.page import INCH, family, shows, style
from genobit.visual.style import contigs_in_words, number, printable
from genobit.visual.tokens import BASE_PT, LIGHT, NOTE_PT, luminance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

#: Mean width of a letter, as a multiple of the size of its type.
LETTER = 0.49
#: Height of a capital letter or a digit, as a share of the size of its type.
_CAPITAL = 0.73
#: Hinting at 300 dots an inch makes a line up to 3 % wider.
_HINTED = 1.03
#: Side of a cell that counts marks, in millimetres.
_CELL = 0.25
_CONTRAST = 4.5


def millimetres(points: float) -> float:
    """Return points of type in millimetres."""
    return points * INCH / 72


def capital(points: float) -> float:
    """Return the height of capitals and digits in millimetres."""
    return _CAPITAL * millimetres(points)


@lru_cache(maxsize=20_000)
def text_size(
    text: str,
    size: float = NOTE_PT,
    *,
    bold: bool = False,
    italic: bool = False,
    math: bool = False,
) -> tuple[float, float]:
    """Return width and height of a line of text in millimetres, without hinting.

    Examples
    --------
    >>> text_size("HLA-DRA")[0] > text_size("HLA")[0]
    True
    """
    measured = text_to_path.get_text_width_height_descent
    # The fonts of formulas are settings of matplotlib, which FontProperties keeps.
    with style() if math else nullcontext():
        font = FontProperties(
            family=family(),
            size=size,
            weight="bold" if bold else "normal",
            style="italic" if italic else "normal",
        )
        width, height, _ = measured(printable(text).replace("\n", " "), font, ismath=math)
        least = measured("lp", font, ismath=False)[1]
    return millimetres(float(width)), millimetres(float(max(height, least)))


def width_of(text: str, size: float = NOTE_PT, **look: bool) -> float:
    """Return the width of a line of text in millimetres; ``look`` is as for `text_size`."""
    return text_size(text, size, **look)[0]


def hinted_width(text: str, size: float = NOTE_PT, **look: bool) -> float:
    """Return the width of a line of text in millimetres, where its letters are hinted."""
    return _HINTED * width_of(text, size, **look)


def block_size(text: str, size: float = BASE_PT, *, bold: bool = False) -> tuple[float, float]:
    """Return the width and height of a text of one or several lines in millimetres."""
    lines = text.split("\n")
    width = max(width_of(line, size, bold=bold) for line in lines)
    return width, millimetres((1.2 * len(lines) - 0.2) * size)


def write_text(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write text in the font that `text_size` measures, also in a figure of the user."""
    usual: dict[str, Any] = {"fontsize": NOTE_PT, "va": "center"}
    axes.text(x, y, text, fontfamily=family(), **(usual | look))


def fitted(text: str, most: float, size: float = NOTE_PT, *, italic: bool = False) -> str:
    """Return a text of at most this width in millimetres, with an ellipsis if it is cut.

    Examples
    --------
    >>> fitted("Homo", 20), fitted("Australopithecus", 9.7)
    ('Homo', 'Austral…')
    """
    if width_of(text, size, italic=italic) <= most:
        return text
    keep = len(text) - 1
    while keep > 1 and width_of(f"{text[:keep].rstrip()}…", size, italic=italic) > most:
        keep -= 1
    return f"{text[:keep].rstrip()}…"


def wrapped(text: str, width: float, size: float = NOTE_PT, *, bold: bool = False) -> list[str]:
    """Break a text into lines of at most this width in millimetres; a longer word has its own line.

    Examples
    --------
    >>> wrapped("one two three", 9)
    ['one two', 'three']
    """
    lines: list[str] = []
    for word in _words(text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and hinted_width(longer, size, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _words(text: str) -> list[str]:
    """Split a text at blanks, but not between a sign of comparison and its number."""
    return re.findall(r"(?:[≥≤=<>] +(?=[\d−.]))?\S+", text)


def lines_of(notes: Sequence[str], width: float, size: float = NOTE_PT) -> list[str]:
    """Break each note into lines of at most this width in millimetres.

    There are none on a page without notes.

    Examples
    --------
    >>> lines_of(["8,723 variants of MAF ≥ 0.05"], width=25)
    ['8,723 variants of MAF', '≥ 0.05']
    """
    if not shows("notes"):
        return []
    return [line for note in notes for line in wrapped(note, width, size)]


def left_out(attrs: Mapping[str, Any]) -> list[str]:
    """Return in words how many variants of other contigs a result leaves out.

    Examples
    --------
    >>> left_out({"variants_left_out": 365, "contigs_left_out": "23"})
    ['365 variants of chromosome 23 left out']
    """
    count = int(attrs.get("variants_left_out", 0))
    if not count:
        return []
    names = str(attrs["contigs_left_out"]).split(", ")
    where = contigs_in_words(names) if len(names) < 5 else f"{len(names)} contigs"
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
        found = "#{:02x}{:02x}{:02x}".format(*mixed)
        if 1.05 / (luminance(found) + 0.05) >= _CONTRAST:
            break
    return found


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
