"""Widths of texts in millimetres, and texts that fit beside the apex of a triangle."""

from __future__ import annotations

from functools import cache
from typing import Literal

from genobit.engine.extras import needed_by
from genobit.visual.paper.page import INCH, style
from genobit.visual.tokens import NOTE_PT

with needed_by("A figure for a paper"):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

#: Height of a line of notes in millimetres.
LINE = 2.7
#: Hinting at 300 dots an inch makes a line up to 3 % wider.
_HINTED = 1.03
#: Least distance in millimetres between a text and the triangle.
_GAP = 3.0


@cache
def width_of(
    text: str,
    size: float = NOTE_PT,
    *,
    weight: str = "normal",
    slant: Literal["normal", "italic"] = "normal",
    math: bool = False,
) -> float:
    """Return the width of a line of text in millimetres.

    Examples
    --------
    >>> 5 < width_of("rs4988235") < 15
    True
    """
    with style():
        font = FontProperties(size=size, weight=weight, style=slant)
        # A layout at 72 dpi has points as pixels.
        wide, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=math)
    return _HINTED * float(wide) / 72 * INCH


def wrapped(texts: list[str], width: float, size: float = NOTE_PT) -> list[str]:
    """Return texts as lines of at most this width in millimetres; a long word has its own line."""
    lines = []
    for text in texts:
        line = ""
        for word in text.split():
            longer = f"{line} {word}".strip()
            if line and width_of(longer, size) > width:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


def beside_apex(texts: list[str], half: float) -> list[str] | None:
    """Return texts as lines that fit the corner beside an apex, or None if they do not.

    The corner is a right triangle, `half` millimetres wide and high, with its right angle at the
    end of the last line.
    """
    if not texts:
        return []
    for share in range(90, 30, -5):
        lines = wrapped(texts, half * share / 100)
        heights = [(k + 1) * LINE for k in range(len(lines))]
        rooms = [half - height - _GAP for height in reversed(heights)]
        if all(width_of(line) <= room for line, room in zip(lines, rooms, strict=True)):
            return lines
    return None
