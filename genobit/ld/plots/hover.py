"""Texts of the axes and the hover of an LD plot, kept in the browser.

Each picture sends one small column of texts per axis, not one text per pair. JavaScript joins the
texts of the pair under the pointer. HoloViews runs the hook on every frame of a DynamicMap: the
first run makes the tools, and later runs refresh the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, CustomJSTickFormatter

from genobit.visual.pixels import Axis, Pixels, labels
from genobit.visual.style import add_image_hover

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

#: Value of rotated pixels outside the triangle: below the range of every statistic.
OUTSIDE = -9.0

# image_index counts columns from the left and rows from the bottom (bokeh, glyphs/image_base).
_PAIR = """
const {i, j} = special_vars.image_index
const n = rows.data.id.length
let [first, second] = [j, i]
if (shape != "square") {
  const d = shape == "down" ? n - 1 - j : j
  first = (i - d) >> 1
  second = first + d
}
const [a, b] = [rows.data, columns.data]
if (first < 0 || first >= n || second < 0 || second >= b.id.length) return "no pair here"
switch (format) {
  case "first": return `${a.id[first]}  at ${a.at[first]}`
  case "second": return `${b.id[second]}  at ${b.at[second]}`
  case "distance": {
    const bp = Math.abs(b.position[second] - a.position[first])
    return bp < 1e4 ? `${bp} bp` : `${(bp / 1e3).toFixed(1)} kb`
  }
  default: return isNaN(value) ? "none (monomorphic)" : value.toFixed(4)
}
"""

# Show positions at ranks; the number of digits depends on the range in view.
_TICK = """
const {position, start, width} = columns.data
if (!Number.isInteger(tick)) return ""
const bin = (rank) => Math.floor((rank - start[0]) / width[0])
const inside = (k) => Math.min(Math.max(k, 0), position.length - 1)
const k = bin(tick)
if (k < 0 || k >= position.length) return ""
const span = Math.abs(position[inside(bin(range.end))] - position[inside(bin(range.start))]) / 1e6
const digits = Math.min(Math.max(Math.ceil(-Math.log10(Math.max(span, 1e-6))) + 2, 1), 6)
return (position[k] / 1e6).toFixed(digits)
"""

Shape = Literal["square", "up", "down"]


def columns_of(matrix: xr.DataArray, side: int, bins: Pixels) -> dict[str, Any]:
    """Return the texts and positions of one axis, one entry per bin.

    Rows are side 0, columns side 1. The LD result has the coordinates `variant_id_{side}` and
    `variant_position_{side}`.
    """
    position = matrix[f"variant_position_{side}"].values[bins.first].astype("f8")
    return {
        "id": labels(matrix, "variant_id", side, bins),
        "at": labels(matrix, "variant_position", side, bins),
        "position": position,
        "start": np.full(bins.n, bins.start),
        "width": np.full(bins.n, bins.width),
    }


def pair_hook(
    rows: dict[str, Any], columns: dict[str, Any], shape: Shape, axis: Axis, label: str
) -> Callable[[Any, Any], None]:
    """Make a HoloViews hook that shows the pair under the pointer and labels the ticks.

    Rows and columns are those of `columns_of`. The shape is "square", or the direction of the apex
    of a triangle.
    """

    def hook(plot: Any, _element: Any) -> None:
        sources = plot.handles.get("genobit_sources")
        if sources is not None:
            sources["rows"].data = rows
            sources["columns"].data = columns
            return
        sources = {"rows": ColumnDataSource(rows), "columns": ColumnDataSource(columns)}
        plot.handles["genobit_sources"] = sources
        figure = plot.state
        texts = [("variant", "first"), ("variant", "second")]
        texts += [("apart", "distance"), (label, "value")]
        add_image_hover(plot, texts, _PAIR, {**sources, "shape": shape})
        if shape != "square":
            # Distances have no sign, although the triangle hangs below 0. The formatter is made
            # once, because a new one in every frame makes bokeh lay out the figure again.
            figure.yaxis[0].formatter = CustomJSTickFormatter(
                code="return Math.abs(tick).toLocaleString()"
            )
        if axis == "rank":
            rank_ticks(figure.xaxis[0], figure.x_range, sources["columns"])
            if shape == "square":
                rank_ticks(figure.yaxis[0], figure.y_range, sources["rows"])

    return hook


def track_hook(columns: dict[str, Any], axis: Axis) -> Callable[[Any, Any], None]:
    """Make a HoloViews hook that labels the ticks of a track if its axis counts variants.

    The columns are those of `columns_of`.
    """

    def hook(plot: Any, _element: Any) -> None:
        source = plot.handles.get("genobit_columns")
        if source is not None:
            source.data = columns
            return
        source = plot.handles["genobit_columns"] = ColumnDataSource(columns)
        if axis == "rank":
            rank_ticks(plot.state.xaxis[0], plot.state.x_range, source)

    return hook


def rank_ticks(axis: Any, axis_range: Any, columns: Any) -> None:
    """Label the ticks of a bokeh axis that counts variants with positions in Mb.

    The ColumnDataSource `columns` is made from `columns_of`.
    """
    axis.ticker = BasicTicker(min_interval=1, desired_num_ticks=6)
    axis.formatter = CustomJSTickFormatter(
        args={"columns": columns, "range": axis_range}, code=_TICK
    )
