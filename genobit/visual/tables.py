"""Tables in figures: widths and number formats of the columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import holoviews as hv
from bokeh.models import InlineStyleSheet
from bokeh.models.widgets import NumberFormatter, ScientificFormatter

from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

#: Tables have the colours of their explorer; elsewhere those of the light theme.
_LOOKS = f"""
:host {{ background: var(--gb-paper, {LIGHT.paper}); color: var(--gb-ink, {LIGHT.ink}); }}
.slick-header-column, .slick-row, .slick-cell, .grid-canvas {{
  background: var(--gb-paper, {LIGHT.paper}) !important; color: var(--gb-ink, {LIGHT.ink});
  border-color: var(--gb-rule, {LIGHT.rule}) !important;
}}
.slick-cell.selected {{ background-color: var(--gb-tint, {LIGHT.tint}) !important; }}
"""


class Column(NamedTuple):
    """Width of a column in screen pixels, and a function that makes its number format."""

    width: int
    formatter: Callable[[], Any] | None = None


def numbers(pattern: str, **options: Any) -> Callable[[], Any]:
    """Return a format of numbers by a pattern of bokeh, such as "0.000"."""
    return partial(NumberFormatter, format=pattern, text_align="right", **options)


def powers(**options: Any) -> Callable[[], Any]:
    """Return a format of numbers as powers of ten, for p-values."""
    return partial(ScientificFormatter, precision=2, text_align="right", **options)


def draw_table(
    table: pd.DataFrame | Mapping[str, Any],
    columns: Mapping[str, Column],
    *,
    width: int,
    height: int,
    fit: bool,
) -> hv.Table:
    """Draw a table that a click on a column name sorts; `fit` stretches columns to the width."""

    def set_columns(plot: Any, _element: Any) -> None:
        drawn = plot.handles["table"]
        drawn.stylesheets = [InlineStyleSheet(css=_LOOKS)]
        for shown in drawn.columns:
            # Use the title: the field is the name without characters that JavaScript forbids.
            column = columns[shown.title]
            shown.width = column.width
            if column.formatter is not None:
                shown.formatter = column.formatter()

    return hv.Table(table, [], list(columns)).opts(
        width=width, height=height, index_position=None, fit_columns=fit, hooks=[set_columns]
    )
