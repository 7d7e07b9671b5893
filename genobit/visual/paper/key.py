"""Key of colours on a page: a square and a name for each group, in rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.patches import Rectangle

from genobit.visual.colouring import Colouring, one_colour_each
from genobit.visual.paper.page import size_of
from genobit.visual.paper.texts import hinted_width
from genobit.visual.tokens import NOTE_PT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of a row, room before a name, and room after it, in millimetres.
ROW, _BEFORE, _AFTER = 3.0, 2.6, 3.0
_SQUARE = 1.8


class Entry(NamedTuple):
    """A name with its colour, and its place in millimetres from the left of the key."""

    left: float
    row: int
    name: str
    colour: str


def entries_of(chosen: Colouring | None, room: float) -> list[Entry]:
    """Return the entries of a colouring in rows of at most ``room`` millimetres.

    A colouring of numbers has its two ends.
    """
    if chosen is None or not chosen.name:
        return []
    colours = dict(chosen.colours)
    if not chosen.categorical:
        low, high = chosen.limits
        ends = one_colour_each(Colouring(chosen.name, np.array([low, high]), {}, chosen.limits))
        colours = {f"{chosen.name} {low:.3g}": ends[0], f"{high:.3g}": ends[1]}
    out, left, row = [], 0.0, 0
    for name, colour in colours.items():
        wide = _BEFORE + hinted_width(name) + _AFTER
        if left and left + wide - _AFTER > room:
            left, row = 0.0, row + 1
        out.append(Entry(left, row, name, colour))
        left += wide
    return out


def key_height(chosen: Colouring | None, room: float) -> float:
    """Return the height of the rows of a key in millimetres; 0 without a key."""
    found = entries_of(chosen, room)
    return ROW * (found[-1].row + 1) if found else 0.0


def draw_key(axes: Axes, chosen: Colouring | None, left: float, top: float, room: float) -> None:
    """Draw a key at a place in millimetres from the upper left corner of an axes."""
    width, height = size_of(axes)
    for entry in entries_of(chosen, room):
        x, y = left + entry.left, height - top - ROW * (entry.row + 0.5)
        square = Rectangle(
            (x / width, (y - _SQUARE / 2) / height),
            _SQUARE / width,
            _SQUARE / height,
            facecolor=entry.colour,
            linewidth=0,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.add_artist(square)
        axes.text(
            (x + _BEFORE) / width,
            y / height,
            entry.name,
            fontsize=NOTE_PT,
            va="center",
            transform=axes.transAxes,
        )
