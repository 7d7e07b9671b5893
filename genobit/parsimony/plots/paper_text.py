"""Widths of texts in millimetres, and texts that fit a width."""

from __future__ import annotations

from functools import lru_cache

from genobit.engine.extras import needed_by
from genobit.visual.paper.page import INCH, family

with needed_by("A figure for a paper"):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

#: Height of a capital letter or a digit, as a share of the font size.
CAPITAL = 0.73
#: Hinting at 300 dots an inch makes a line up to 3 % wider.
_HINTED = 1.03
MM = INCH / 72
"""Millimetres of a point."""


@lru_cache(maxsize=20_000)
def width_of(text: str, points: float, *, bold: bool = False) -> float:
    """Return the width of a text in millimetres.

    Examples
    --------
    >>> width_of("mm", 6) > width_of("ll", 6) > width_of("", 6)
    True
    """
    if not text:
        return 0.0
    font = FontProperties(family=family(), size=points, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) * MM


def capital(points: float) -> float:
    """Return the height of capitals and digits in millimetres."""
    return CAPITAL * points * MM


def wrapped(text: str, points: float, width: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines of at most this width in millimetres; a longer word has its own line.

    Examples
    --------
    >>> wrapped("one two three", 6, 9)
    ['one two', 'three']
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _HINTED * width_of(longer, points, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def cut(text: str, points: float, width: float) -> str:
    """Return a text of at most this width in millimetres, with an ellipsis if it is cut.

    Examples
    --------
    >>> cut("Homo", 6, 20), cut("Australopithecus", 6, 10)
    ('Homo', 'Australo…')
    """
    if width_of(text, points) <= width:
        return text
    keep = len(text)
    while keep > 1 and width_of(text[:keep].rstrip() + "…", points) > width:
        keep -= 1
    return text[:keep].rstrip() + "…"
