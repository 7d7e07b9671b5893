"""Texts of the axes and the hover of an LD plot, kept in the browser.

Each picture sends one small column of texts per axis, not one text per pair. JavaScript joins the
texts of the pair under the pointer. A triangle also sends the values of its pairs, two bytes each,
because its image has colours alone. HoloViews runs the hook on every frame of a DynamicMap: the
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

    from genobit.visual.style import Scale

# image_index counts columns from the left and rows from the bottom (bokeh, glyphs/image_base).
_PAIR = """
const {i, j} = special_vars.image_index
const n = rows.data.id.length
let [first, second] = [j, i]
let known = value
if (shape != "square") {
  // As `genobit.visual.pixels.pair_of_pixel`.
  const width = rows.data.raster[0]
  const row = shape == "down" ? width / 2 - 1 - j : j
  first = Math.floor((i - row) * n / width)
  second = Math.ceil((i + row + 1) * n / width) - 1
  const code = pairs.data.code[first * n - first * (first - 1) / 2 + second - first]
  known = code == 65535 ? NaN : low + code * (high - low) / 65534
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
  default: return isNaN(known) ? "none (monomorphic)" : known.toFixed(3)
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
    rows: dict[str, Any], columns: dict[str, Any], axis: Axis, label: str
) -> Callable[[Any, Any], None]:
    """Make a HoloViews hook that shows the pair under the pointer of a square.

    It also labels the ticks. Rows and columns are those of `columns_of`.
    """

    def hook(plot: Any, _element: Any) -> None:
        data = {"rows": rows, "columns": columns}
        sources = _refreshed(plot, data)
        if sources is None:
            return
        _add_hover(plot, label, {**sources, "shape": "square"})
        if axis == "rank":
            figure = plot.state
            rank_ticks(figure.xaxis[0], figure.x_range, sources["columns"])
            rank_ticks(figure.yaxis[0], figure.y_range, sources["rows"])

    return hook


def triangle_hook(
    columns: dict[str, Any], codes: np.ndarray, apex: Shape, axis: Axis, scale: Scale
) -> Callable[[Any, Any], None]:
    """Make a HoloViews hook that shows the pair under the pointer of a triangle.

    It also labels the ticks. The columns are those of `columns_of`, with the width of the raster as
    "raster". `codes` are the values of the pairs, from `genobit.ld.plots.shades`.
    """

    def hook(plot: Any, _element: Any) -> None:
        sources = _refreshed(plot, {"rows": columns, "pairs": {"code": codes}})
        if sources is None:
            return
        low, high = scale.limits
        arguments = {"columns": sources["rows"], "shape": apex, "low": low, "high": high}
        _add_hover(plot, scale.label, {**sources, **arguments})
        figure = plot.state
        # Distances have no sign, although the triangle hangs below 0. The formatter is made
        # once, because a new one in every frame makes bokeh lay out the figure again.
        figure.yaxis[0].formatter = CustomJSTickFormatter(
            code="return Math.abs(tick).toLocaleString()"
        )
        if axis == "rank":
            rank_ticks(figure.xaxis[0], figure.x_range, sources["rows"])

    return hook


def _refreshed(plot: Any, data: dict[str, Any]) -> dict[str, ColumnDataSource] | None:
    """Replace the data of the hover; on the first frame, make and return its sources."""
    sources = plot.handles.get("genobit_sources")
    if sources is None:
        sources = {name: ColumnDataSource(columns) for name, columns in data.items()}
        plot.handles["genobit_sources"] = sources
        return dict(sources)
    for name, columns in data.items():
        sources[name].data = columns
    return None


def _add_hover(plot: Any, label: str, arguments: dict[str, Any]) -> None:
    texts = [("variant", "first"), ("variant", "second"), ("apart", "distance"), (label, "value")]
    add_image_hover(plot, texts, _PAIR, arguments)


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
