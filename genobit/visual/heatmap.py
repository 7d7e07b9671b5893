"""Heatmap of any matrix of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import ColumnDataSource

from genobit.data.labels import text
from genobit.visual.clusters import cluster
from genobit.visual.pixels import lay_out, strongest
from genobit.visual.style import (
    DIVERGING,
    SEQUENTIAL,
    Scale,
    add_image_hover,
    bar_title,
    matrix_image,
    plain_frame,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from genobit.visual.pixels import Pixels

#: Most pixels on a side of a heatmap.
PIXELS = 500
#: Side of a heatmap in screen pixels.
SQUARE = 400

# image_index counts columns from the left and rows from the bottom.
_CELL = """
const {i, j} = special_vars.image_index
if (format == "first") return rows.data.text[j] ?? ""
if (format == "second") return columns.data.text[i] ?? ""
return isNaN(value) || value <= -9 ? "none" : value.toPrecision(4)
"""


def heatmap(
    matrix: xr.DataArray, scale: Scale | None = None, *, clustered: bool = True
) -> hv.Image:
    """Draw a matrix as a heatmap, in the order of a clustering tree if it is symmetric.

    A lazy matrix is computed. With more than 500 rows or columns, a pixel shows the value farthest
    from 0 of several cells; the title says so. Without ``scale``, the values set it, and those of a
    member with itself do not count. ``clustered=False`` keeps the order of the data.

    Examples
    --------
    >>> import xarray as xr
    >>> heatmap(xr.DataArray([[1.0, 0.5]], dims=("row_0", "row_1"))).bounds.lbrt()
    (-0.5, -0.5, 1.5, 0.5)
    """
    matrix = matrix.compute()
    values = matrix.values.astype("f4")
    sides = [side_names(matrix, side) for side in (0, 1)]
    notes = [" × ".join(f"{n:,}" for n in matrix.shape)]
    one_set = _one_set(values, sides)
    pairs = values[np.triu_indices(len(values), 1)] if one_set else values
    scale = scale or scale_of_values(pairs, str(matrix.attrs.get("long_name", matrix.name)))
    if one_set and clustered:
        order = cluster(values, pairs.astype("f8")).order
        values, sides = values[np.ix_(order, order)], [names[order] for names in sides]
        notes.append("clustered")
    rows, columns = (lay_out(np.arange(n), "rank", PIXELS) for n in values.shape)
    most = max(rows.per_pixel, columns.per_pixel)
    if most > 1:
        notes.append("pixel: value farthest from 0")
    texts = [_texts(names, bins) for names, bins in zip(sides, (rows, columns), strict=True)]
    pixels = strongest(values, rows, columns) if most > 1 else values
    bounds = (columns.start, rows.start, columns.stop, rows.stop)
    height = SQUARE * min(max(len(values) / max(values.shape[1], 1), 0.1), 1.5)
    return matrix_image(pixels, "value", bounds, scale).opts(
        title=f"{scale.key.label}\n{', '.join(notes)}",
        fontsize={"title": "10pt"},
        frame_width=SQUARE,
        frame_height=round(height),
        clabel=bar_title(scale, round(height)),
        xlabel=str(matrix.dims[1]),
        ylabel=str(matrix.dims[0]),
        xaxis="bare",
        yaxis="bare",
        tools=["pan", "wheel_zoom", "reset"],
        hooks=[plain_frame, _cell_hook(texts[0], texts[1], scale.label)],
    )


def scale_of_values(values: np.ndarray, name: str) -> Scale:
    """Return a scale over the range of the values, with white at 0.

    Examples
    --------
    >>> scale_of_values(np.array([0.5, 2.0]), "score").limits
    (0.0, 2.0)
    """
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if low < 0:
        reach = max(-low, high)
        return Scale(name, name, (-reach, reach), DIVERGING)
    return Scale(name, name, (0.0, high or 1.0), SEQUENTIAL)


def side_names(matrix: xr.DataArray, side: int) -> np.ndarray:
    """Return the names along one side of a matrix of pairs, or numbers if there are none."""
    dim = str(matrix.dims[side])
    stem = dim.removesuffix(f"_{side}")
    for name in (f"{stem.removesuffix('s')}_id_{side}", f"{stem}_id_{side}", dim):
        if name in matrix.coords and matrix[name].dims == (dim,):
            return text(matrix[name].values, name)
    single = stem.removesuffix("s")
    return np.array([f"{single} {k}" for k in range(matrix.shape[side])], dtype=object)


def _one_set(values: np.ndarray, sides: list[np.ndarray]) -> bool:
    """Return whether a matrix is of one set of at least two members with itself."""
    return (
        len(values) > 1
        and values.shape[0] == values.shape[1]
        and bool((sides[0] == sides[1]).all())
        and bool(np.allclose(values, values.T, equal_nan=True))
    )


def _texts(names: np.ndarray, bins: Pixels) -> list[str]:
    return [
        str(names[first]) if last - first == 1 else f"{names[first]} … {names[last - 1]}"
        for first, last in zip(bins.first, bins.last, strict=True)
    ]


def _cell_hook(rows: list[str], columns: list[str], label: str) -> Callable[[Any, Any], None]:
    def hook(plot: Any, _element: Any) -> None:
        if "genobit_names" in plot.handles:
            return
        plot.handles["genobit_names"] = sources = {
            "rows": ColumnDataSource({"text": rows}),
            "columns": ColumnDataSource({"text": columns}),
        }
        tips = [("row", "first"), ("column", "second"), (label, "value")]
        add_image_hover(plot, tips, _CELL, sources)

    return hook
