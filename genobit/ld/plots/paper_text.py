"""Texts that fit beside the apex of a triangle."""

from __future__ import annotations

from genobit.visual.paper.texts import hinted_width, lines_of

#: Height of a line of notes in millimetres.
LINE = 2.7
#: Least distance in millimetres between a text and the triangle.
_GAP = 3.0


def beside_apex(texts: list[str], half: float) -> list[str] | None:
    """Return texts as lines that fit the corner beside an apex, or None if they do not.

    The corner is a right triangle, `half` millimetres wide and high, with its right angle at the
    end of the last line.
    """
    if not texts:
        return []
    for share in range(90, 30, -5):
        lines = lines_of(texts, half * share / 100)
        heights = [(k + 1) * LINE for k in range(len(lines))]
        rooms = [half - height - _GAP for height in reversed(heights)]
        if all(hinted_width(line) <= room for line, room in zip(lines, rooms, strict=True)):
            return lines
    return None
