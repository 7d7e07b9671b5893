"""The key of penetrance grids on paper: a bar of colours, and an explanation of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.colors import ListedColormap

from genobit.epistasis.plots.penetrance import SCALE
from genobit.visual.paper.page import panel
from genobit.visual.paper.texts import lines_of, text_size, write_text
from genobit.visual.style import palette
from genobit.visual.tokens import HAIRLINE_PT, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 2.7
#: Width and height of the bar, height of the whole key, and gap beside it, in millimetres.
_BAR, _THICK, _TALL, _GAP = 34.0, 2.0, 9.0, 8.0
#: Below this width of the page the notes are under the bar, in millimetres.
_WIDE = 110.0


class Key(NamedTuple):
    """Name of the colours, and their lowest, middle and highest value as texts and on the scale."""

    name: str
    texts: list[str]
    at: np.ndarray


def legend_height(notes: list[str], width: float) -> float:
    """Return the height of the key in millimetres.

    Examples
    --------
    >>> legend_height(["In each cell: share of cases."], 174) < legend_height(["Grey."], 80)
    True
    """
    if width >= _WIDE:
        return max(_TALL, _LINE * len(_lines(notes, width - _BAR - _GAP)))
    return _TALL + 1.5 + _LINE * len(_lines(notes, width))


def draw_legend(
    axes: Axes,
    scale: Key,
    notes: list[str],
    place: tuple[float, float, float],
    *,
    stacked: bool = False,
) -> None:
    """Draw the key at a place: left, top and width in millimetres; notes beside or under it."""
    left, top, width = place
    _bar(axes, scale, left, top)
    if width >= _WIDE and not stacked:
        lines = _lines(notes, width - _BAR - _GAP)
        left += _BAR + _GAP
    else:
        lines = _lines(notes, width)
        top += _TALL + 1.5
    for k, line in enumerate(lines):
        write_text(axes, left, top + (k + 0.5) * _LINE, line, color=LIGHT.slate)


def _lines(notes: list[str], width: float) -> list[str]:
    return lines_of([" ".join(notes)], width)


def _bar(axes: Axes, scale: Key, left: float, top: float) -> None:
    write_text(axes, left, top + 0.5 * _LINE, scale.name[:1].upper() + scale.name[1:])
    low, high = scale.at[0], scale.at[2]
    bar = panel(axes, left, top + _LINE + 0.4, _BAR, _THICK)
    bar.imshow(
        np.linspace(low, high, 256)[None],
        cmap=ListedColormap(palette(SCALE)),
        vmin=SCALE.limits[0],
        vmax=SCALE.limits[1],
        extent=(low, high, 0, 1),
        aspect="auto",
        interpolation="none",
    )
    bar.set(xticks=[], yticks=[])
    for side in bar.spines.values():
        side.set(visible=True, linewidth=HAIRLINE_PT, color=LIGHT.edge)
    y = top + _LINE + _THICK + 2.2
    texts = [scale.texts[0], f"{scale.texts[1]} (all)", scale.texts[2]]
    wide = [text_size(text)[0] for text in texts]
    # The value of all samples stands under its colour, as far as the others leave room.
    middle = _BAR * (scale.at[1] - low) / (high - low)
    ends = wide[0] + 1.2 + wide[1] / 2, _BAR - wide[2] - 1.2 - wide[1] / 2
    write_text(axes, left, y, texts[0])
    write_text(axes, left + min(max(middle, ends[0]), ends[1]), y, texts[1], ha="center")
    write_text(axes, left + _BAR, y, texts[2], ha="right")
    axes.plot(
        [left + middle] * 2,
        [top + _LINE + 0.4 + _THICK, y - 1.15],
        color=LIGHT.slate,
        lw=HAIRLINE_PT,
    )
