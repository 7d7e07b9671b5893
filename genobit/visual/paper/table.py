"""A table as a figure for a paper: its first rows, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.visual.paper.page import INCH, MARGIN, Paper, size_of
from genobit.visual.style import shortened
from genobit.visual.tokens import LIGHT, NOTE_PT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows of a page, and the height of a row in millimetres.
ROWS, _ROW = 40, 3.6
_LETTERS = 24


def draw_table(table: Any) -> Paper:
    """Return the form of a HoloViews table: up to 40 rows, numbers on the right."""
    names = [dimension.pprint_label for dimension in table.dimensions()]
    columns = [np.asarray(table.dimension_values(k)) for k in range(len(names))]
    shown = min(len(table), ROWS)
    title = str(table.opts.get("plot").kwargs.get("title", ""))
    lines = [title] if title else []
    if shown < len(table):
        lines.append(f"The first {shown} of {len(table):,} rows.")
    texts = [[_text(column[k]) for k in range(shown)] for column in columns]
    right = [column.dtype.kind in "iuf" for column in columns]
    height = 2 * MARGIN + _ROW * (shown + 1.2 + len(lines))
    return Paper(
        lambda axes: _draw(axes, names, texts, right, lines), lambda _width: height, whole=True
    )


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, (int, np.integer)) else shortened(str(value), _LETTERS)


def _draw(
    axes: Axes, names: list[str], texts: list[list[str]], right: list[bool], lines: list[str]
) -> None:
    width, height = size_of(axes)
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    letters = np.array(
        [max(len(name), *map(len, rows), 2) + 2 for name, rows in zip(names, texts, strict=True)]
    )
    stops = MARGIN + np.cumsum(letters / letters.sum()) * (width - 2 * MARGIN)
    starts = np.concatenate([[MARGIN], stops[:-1]])
    y = MARGIN + _ROW / 2
    for k, line in enumerate(lines):
        axes.text(MARGIN, y + k * _ROW, line, va="center", fontweight="normal" if k else "bold")
    y += _ROW * len(lines)
    size = min(
        NOTE_PT, (width - 2 * MARGIN) / INCH * 72 / (letters.sum() + 2 * len(letters)) / 0.55
    )
    for name, rows, numeric, start, stop in zip(names, texts, right, starts, stops, strict=True):
        at, align = (stop - 1.5, "right") if numeric else (start, "left")
        axes.text(at, y, name, ha=align, va="center", fontsize=size, fontweight="bold")
        for k, text in enumerate(rows):
            axes.text(at, y + (k + 1.2) * _ROW, text, ha=align, va="center", fontsize=size)
    axes.plot([MARGIN, width - MARGIN], [y + 0.6 * _ROW] * 2, color=LIGHT.edge, linewidth=0.5)
