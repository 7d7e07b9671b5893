"""Ranking for papers: a table of the best combinations, with the names of all members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genobit.epistasis.plots.ranking import summary
from genobit.epistasis.result import Ranked, ranked
from genobit.visual.paper.page import MARGIN, Paper, size_of
from genobit.visual.paper.texts import hinted_width, lines_of, wrapped, write_text
from genobit.visual.style import number
from genobit.visual.tokens import AXIS_PT, LIGHT

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

#: Rows of a page.
ROWS = 40
#: Height of a line and space of a row, in millimetres, and the gap between two columns.
_LINE, _SPACE, _GAP = 2.7, 0.9, 3.5
#: Columns that a narrow page leaves out, the first ones first, and those of a very narrow one.
_SPARE, _LAST = ("places", "df", "n", "G"), ("p", "family-wise p")
#: Greatest width of the names and places of members that is kept before columns are left out.
_NAMES = 45.0
#: Most decimals of a score.
_DIGITS = 6
_SPARSE = "* cells with too few samples for p"


@dataclass(frozen=True)
class _Column:
    name: str
    texts: list[str]

    @property
    def left(self) -> bool:
        """True for names, which begin at the left and wrap; numbers end at the right."""
        return self.name in {"variants", "places"}

    @property
    def width(self) -> float:
        """Width in millimetres without wrapping."""
        heading = hinted_width(self.name, bold=True)
        return max([heading, *map(hinted_width, self.texts)])

    @property
    def word(self) -> float:
        """Width in millimetres of the longest word."""
        return max((hinted_width(word) for text in self.texts for word in text.split()), default=0)


def paper_ranking(result: xr.Dataset, text: str = "", *, ds: xr.Dataset | None = None) -> Paper:
    """Return the best combinations as a table for a page.

    Parameters
    ----------
    result, text, ds
        As for `ranking_table`.

    Returns
    -------
        The page: up to 40 combinations with all members, scores and p-values. A narrow page leaves
        out positions, degrees of freedom, n and G, and a very narrow one p-values, too.

    Examples
    --------
    >>> import xarray as xr
    >>> result = xr.Dataset({"variants": (("rank", "order"), [[3, 14]]), "mi": ("rank", [0.25])})
    >>> paper_ranking(result).height(90) < 25
    True
    """
    found = ranked(result, ds)
    return table_of(found, found.matching(text))


def table_of(found: Ranked, ranks: np.ndarray) -> Paper:
    """Return the combinations ``ranks``, counted from 0, as a table for a page."""
    shown = ranks[:ROWS]
    columns = _columns(found, shown)
    notes = [summary(found)]
    if len(shown) < len(ranks):
        notes.append(f"the first {len(shown)} of {number(len(ranks), 'row')}")
    if any(text.endswith("*") for column in columns for text in column.texts):
        notes.append(_SPARSE)

    def tall(width: float) -> float:
        rows = _lines(_fitting(columns, width), width)
        notes_high = len(_notes(notes, width)) * _LINE
        return 2 * MARGIN + 2 * _LINE + sum(map(_high, rows)) + 1.5 * _SPACE + notes_high

    return Paper(lambda axes: _draw(axes, columns, notes), tall, whole=True)


def _columns(found: Ranked, ranks: np.ndarray) -> list[_Column]:
    result = found.result
    columns = [_Column("", [str(found.ranks[k]) for k in ranks])]
    names = [found.title(k) for k in ranks]
    columns.append(_Column("variants", names))
    places = [found.places(k) for k in ranks]
    if any(p.replace(",", "") != name for p, name in zip(places, names, strict=True)):
        columns.append(_Column("places", places))
    labels = {found.column: found.label, "effect": "effect", "standard_error": "SE"}
    labels |= {"mi": "MI (nats)", "g": "G", "df": "df", "p": "p"}
    labels |= {"p_familywise": "family-wise p", "n": "n"}
    for name, label in labels.items():
        if name in result:
            values = result[name].values[ranks].astype("f8")
            columns.append(_Column(label, _written(name, values)))
    if "sparse" in result:
        sparse = result["sparse"].values[ranks]
        for column in columns:
            if column.name == "p":
                marked = zip(column.texts, sparse, strict=True)
                column.texts[:] = [f"{text}*" if bad else text for text, bad in marked]
    return columns


def _written(name: str, values: np.ndarray) -> list[str]:
    """Write values: p with two digits, counts whole, scores with as many decimals as the least."""
    if name in {"p", "p_familywise"}:
        form = _p_value
    elif name in {"df", "n"}:
        form = "{:,.0f}".format
    else:
        least = np.abs(values[np.isfinite(values) & (values != 0)]).min(initial=np.inf)
        digits = int(max(2 - np.floor(np.log10(least)), 1)) if np.isfinite(least) else 1
        form = (f"{{:,.{digits}f}}" if digits <= _DIGITS else "{:.2e}").format
    return ["" if np.isnan(value) else form(value) for value in values]


def _p_value(p: float) -> str:
    if p == 0:
        return "<1e-300"
    return f"{p:.2g}" if p >= 1e-3 else f"{p:.1e}"


def _fitting(columns: list[_Column], width: float) -> list[_Column]:
    """Return the columns that a page of this width has."""
    kept = list(columns)
    for name in (*_SPARE, *_LAST):
        most = _NAMES if name in _SPARE else 0.0
        needed = sum(max(c.word, min(c.width, most)) if c.left else c.width for c in kept)
        if needed + _GAP * (len(kept) - 1) <= width - 2 * MARGIN:
            break
        kept = [column for column in kept if column.name != name]
    return kept


def _widths(columns: list[_Column], width: float) -> list[float]:
    """Return the widths of columns: names share the width beside the numbers."""
    names = [column.width for column in columns if column.left]
    numbers = sum(column.width for column in columns if not column.left)
    room = width - 2 * MARGIN - numbers - _GAP * (len(columns) - 1)
    share = min(room / sum(names), 1.0) if names else 1.0
    return [column.width * (share if column.left else 1.0) for column in columns]


def _lines(columns: list[_Column], width: float) -> list[list[list[str]]]:
    """Return the lines of text of each cell, by row."""
    widths = _widths(columns, width)
    cells = [
        [wrapped(text, wide + 0.01) if column.left else [text] for text in column.texts]
        for column, wide in zip(columns, widths, strict=True)
    ]
    return [list(row) for row in zip(*cells, strict=True)]


def _high(row: list[list[str]]) -> float:
    return max(map(len, row)) * _LINE + _SPACE


def _notes(notes: list[str], width: float) -> list[str]:
    return lines_of(["; ".join(notes)], width - 2 * MARGIN)


def _draw(axes: Axes, columns: list[_Column], notes: list[str]) -> None:
    width, height = size_of(axes)
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    kept = _fitting(columns, width)
    widths = np.array(_widths(kept, width))
    starts = MARGIN + np.cumsum([0.0, *(widths[:-1] + _GAP)])
    at = [
        (start, "left") if column.left else (start + wide, "right")
        for column, start, wide in zip(kept, starts, widths, strict=True)
    ]
    y = MARGIN + _LINE / 2
    for (x, align), column in zip(at, kept, strict=True):
        style = "italic" if column.name in {"p", "n", "G"} else "normal"
        write_text(axes, x, y, column.name, ha=align, fontweight="bold", fontstyle=style)
    y += _LINE
    right = float(starts[-1] + widths[-1])
    axes.plot([MARGIN, right], [y - 0.3 * _LINE] * 2, color=LIGHT.ink, linewidth=AXIS_PT)
    y += 0.5 * _LINE
    for row in _lines(kept, width):
        for (x, align), lines in zip(at, row, strict=True):
            for k, line in enumerate(lines):
                write_text(axes, x, y + k * _LINE, line, ha=align)
        y += _high(row)
    y += 0.5 * _SPACE
    for k, line in enumerate(_notes(notes, width)):
        write_text(axes, MARGIN, y + k * _LINE, line, color=LIGHT.quiet)
