"""Heatmap of Kendall's tau of all pairs of variables, and scatter plot of one pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import ColumnDataSource, HoverTool

from genobit.data.aligning import aligned, aligned_numbers
from genobit.data.labels import text
from genobit.visual.clusters import Dendrogram, cluster
from genobit.visual.colouring import Colouring, colour_options, colouring_of
from genobit.visual.differences import scale_with
from genobit.visual.style import (
    DIVERGING,
    SELECTED_COLOUR,
    Scale,
    add_image_hover,
    matrix_image,
    number,
    plain_frame,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

SCALE = Scale("τ", "Kendall's τ", (-1.0, 1.0), DIVERGING)
#: Size of the square in screen pixels.
SQUARE = 340
#: Most variables whose names are written along the axes.
NAMED = 36
#: Most distinct values of a variable whose points are jittered.
FEW_VALUES = 12

# image_index counts columns from the left and rows from the bottom.
_PAIR = """
const {i, j} = special_vars.image_index
const {name} = variables.data
const values = pairs.data
const k = j * name.length + i
const small = (p) => p == 0 ? "below 1e-300" : p.toExponential(2)
if (format == "first") return name[j] ?? ""
if (format == "second") return name[i] ?? ""
if (format == "tau") return isNaN(values.tau[k]) ? "none" : values.tau[k].toFixed(4)
if (format == "p") return isNaN(values.pvalue[k]) ? "none" : small(values.pvalue[k])
return values.n[k] < 0 ? "?" : `${values.n[k]}`
"""


@dataclass(frozen=True)
class OrderedTau:
    """Tau of all pairs of some variables, and the order in which they are drawn.

    `values` has `tau` and, if known, `pvalue` and `n`, each (variables, variables) in the order of
    the data, like `names`. If `out_of` exceeds the number of variables, they are the hubs of
    `out_of` variables.
    """

    values: xr.Dataset
    names: np.ndarray
    tree: Dendrogram
    out_of: int = 0

    @property
    def size(self) -> int:
        """Number of variables on each side."""
        return len(self.names)

    @property
    def named(self) -> bool:
        """Whether all names fit along the axes."""
        return self.size <= NAMED

    def pair_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the two variables at a point; None off the matrix or on its diagonal."""
        column, row = (int(np.floor(at + 0.5)) for at in (x, y))
        if column == row or not (0 <= column < self.size and 0 <= row < self.size):
            return None
        return int(self.tree.order[row]), int(self.tree.order[column])


def kendall_heatmap(tau: xr.DataArray | xr.Dataset) -> hv.Overlay:
    """Draw a clustered heatmap of tau for all pairs of variables.

    Parameters
    ----------
    tau
        Result of `.genobit.kendall()` without ``other``. With ``pvalue=True`` the hover also shows
        p and the number of observations. Lazy results are computed.

    Returns
    -------
        hv.Image * hv.Rectangles. Colours range from -1 to 1 with white at 0, or of a
        difference of two results as far as its values. Variables are ordered
        by average linkage of tau. Cells without tau are grey, and variables without any tau come
        last.

    Raises
    ------
    ValueError
        If the matrix is not square, or has no variable.

    Examples
    --------
    >>> tau = xr.DataArray([[np.nan, 0.5], [0.5, np.nan]], dims=("gene_0", "gene_1"), name="tau")
    >>> kendall_heatmap(tau).Image.I.bounds.lbrt()
    (-0.5, -0.5, 1.5, 1.5)
    """
    return draw_heatmap(order(tau))


def order(
    tau: xr.DataArray | xr.Dataset, names: np.ndarray | None = None, out_of: int = 0
) -> OrderedTau:
    """Compute tau and the clustered order of its variables.

    ``names`` are by default the labels. ``out_of`` is the number of all variables if these are the
    hubs among more. Raises ValueError if the matrix is not square or has no variable.
    """
    values = tau.to_dataset(name="tau") if isinstance(tau, xr.DataArray) else tau
    dims, shape = values["tau"].dims, values["tau"].shape
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ValueError(
            "a heatmap of tau needs a square of one variable or more, and the array has "
            f"{dict(zip(dims, shape, strict=True))}; give it the result of .genobit.kendall() "
            "without other="
        )
    values = values[[name for name in ("tau", "pvalue", "n") if name in values]].compute()
    matrix = values["tau"].values
    above = matrix[np.triu_indices(len(matrix), 1)].astype("f8")
    names = variable_names(values["tau"]) if names is None else names
    return OrderedTau(values, names, cluster(matrix, above), out_of)


def variable_names(tau: xr.DataArray) -> np.ndarray:
    """Return the names of the variables along the first side, or numbers if there are none.

    Examples
    --------
    >>> variable_names(xr.DataArray([[1.0]], dims=("gene_0", "gene_1"))).tolist()
    ['gene 0']
    """
    side = str(tau.dims[0])
    variable = side.removesuffix("_0")
    for name in (side, f"{variable}_id_0", f"{variable.removesuffix('s')}_id_0"):
        if name in tau.coords:
            return text(tau[name].values, name)
    return np.array([f"{variable} {k}" for k in range(len(tau))], dtype=object)


def draw_heatmap(ordered: OrderedTau, marked: tuple[int, int] | None = None) -> hv.Overlay:
    """Draw the heatmap with frames around the cells of two ``marked`` variables.

    ``marked`` holds indices into `ordered.names`. Returns hv.Image * hv.Rectangles (marked cells).
    """
    size, tree = ordered.size, ordered.tree
    tau = ordered.values["tau"].values[np.ix_(tree.order, tree.order)].astype("f4")
    scale = scale_with(tau, SCALE, one_set=True)
    named = ordered.named
    ticks = (
        [(k, shortened(ordered.names[v], 14)) for k, v in enumerate(tree.order)] if named else None
    )
    bounds = (-0.5, -0.5, size - 0.5, size - 0.5)
    image = matrix_image(tau, "tau", bounds, scale).opts(
        tools=["pan", "wheel_zoom", "reset"],
        active_tools=["wheel_zoom"],
        title=_title(ordered, scale.label),
        fontsize={"title": "9pt", "xticks": "7pt", "yticks": "7pt"},
        frame_width=SQUARE,
        frame_height=SQUARE,
        xlabel="",
        ylabel="",
        xaxis="bottom" if named else None,
        yaxis="left" if named else None,
        xticks=ticks or 0,
        yticks=ticks or 0,
        xrotation=90,
        toolbar="above",
        hooks=[plain_frame, _pair_hook(ordered, scale.label)],
    )
    at = tree.rank[list(marked or ())]
    cells = [(a - 0.5, b - 0.5, a + 0.5, b + 0.5) for a, b in (at, at[::-1])] if marked else []
    frames = hv.Rectangles(cells, ["x0", "y0", "x1", "y1"], label="Marked").opts(
        fill_alpha=0, line_color=SELECTED_COLOUR, line_width=2, default_tools=[]
    )
    return (image * frames).opts(show_legend=False, framewise=True)


def _title(ordered: OrderedTau, label: str) -> str:
    text = f"{label} of {number(ordered.size, 'variable')}, clustered"
    if ordered.out_of > ordered.size:
        text += f"\nof {ordered.out_of:,}, those with the most edges"
    return text


def _pair_hook(ordered: OrderedTau, label: str) -> Callable[[Any, Any], None]:
    places = np.ix_(ordered.tree.order, ordered.tree.order)
    shape = (ordered.size, ordered.size)

    def column(name: str, absent: float) -> np.ndarray:
        if name not in ordered.values:
            return np.full(shape, absent).ravel()
        return ordered.values[name].values[places].ravel()

    variables: dict[str, Any] = {"name": ordered.names[ordered.tree.order].tolist()}
    pairs: dict[str, Any] = {
        "tau": column("tau", np.nan),
        "pvalue": column("pvalue", np.nan),
        "n": column("n", -1).astype("i4"),
    }

    def hook(plot: Any, _element: Any) -> None:
        sources = plot.handles.get("genobit_sources")
        if sources is not None:
            sources["variables"].data, sources["pairs"].data = variables, pairs
            # HoloViews would keep the ranges of the first frame.
            for side in (plot.state.x_range, plot.state.y_range):
                end = ordered.size - 0.5
                side.update(start=-0.5, end=end, reset_start=-0.5, reset_end=end)
            return
        sources = {"variables": ColumnDataSource(variables), "pairs": ColumnDataSource(pairs)}
        plot.handles["genobit_sources"] = sources
        rows = [
            ("variable", "first"),
            ("variable", "second"),
            (label, "tau"),
            ("p", "p"),
            ("n", "n"),
        ]
        if "pvalue" not in ordered.values:
            rows = rows[:3]
        add_image_hover(plot, rows, _PAIR, sources)

    return hook


def pair_scatter(
    x: xr.DataArray,
    y: xr.DataArray,
    *,
    tau: float = np.nan,
    pvalue: float = np.nan,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    names: str | ArrayLike | xr.DataArray | None = None,
) -> hv.Points:
    """Draw a scatter plot of two variables, with one point per observation.

    Parameters
    ----------
    x, y
        Values of the two variables, each of shape (observations,). The name of each array is the
        name of its variable. NaN is a missing value. `y` is aligned to `x` by its labels.
    tau, pvalue
        Statistics of the pair, for the title; NaN leaves them out.
    colour_by
        Name of a coordinate of `x`, values of the observations, or a
        `genobit.visual.colouring.Colouring`. A DataArray or Series is aligned by its labels.
    names
        Names of the observations for the hover; by default the labels along their dimension.

    Returns
    -------
        hv.Points of the observations present in both variables. If a variable has few distinct
        values, such as genotypes, points are jittered and the axis label says so.

    Raises
    ------
    ValueError
        If `x` and `y` have different observations.

    Examples
    --------
    >>> x = xr.DataArray([1.0, 2.0, np.nan], dims="sample", name="MYC")
    >>> picture = pair_scatter(x, x.rename("MAX"), tau=1.0)
    >>> len(picture), picture.opts.get().kwargs["title"].splitlines()
    (2, ['MYC and MAX', 'τ = 1.000, n = 2'])
    """
    if x.ndim != 1:
        raise ValueError(f"{x.name!r} has shape {x.shape}; a scatter needs one row of values")
    dim = str(x.dims[0])
    both = (x.values, aligned_numbers(x, y, dim, str(y.name)))
    values = [np.asarray(side, dtype="f8") for side in both]
    present = np.flatnonzero(~np.isnan(values[0]) & ~np.isnan(values[1]))
    colour = colouring_of(x, colour_by, dim).of(present)
    names = _observations(x) if names is None else aligned(x, names, dim, "names")
    columns: dict[str, Any] = {}
    kdims = []
    for k, (side, value, axis) in enumerate(zip((x, y), values, "xy", strict=True)):
        shown, label = _apart(value[present], str(side.name), k)
        columns[axis], columns[f"{axis}_value"] = shown, value[present]
        kdims.append(hv.Dimension(axis, label=label))
    columns |= {"observation": names[present], "colour": colour.values}
    vdims = ["x_value", "y_value", "observation"]
    vdims.append(hv.Dimension("colour", label=colour.name or "colour"))
    return hv.Points(columns, kdims, vdims).opts(
        **colour_options(colour),
        title=_pair_title(x, y, tau, pvalue, len(present)),
        fontsize={"title": "9pt", "legend": "9pt", "legend_title": "9pt"},
        size=6 if len(present) <= 1_000 else 3,
        line_color=None,
        fill_alpha=0.75,
        frame_width=340,
        frame_height=340,
        padding=0.06,
        framewise=True,
        toolbar="above",
        default_tools=["save"],
        tools=[
            *("pan", "wheel_zoom", "lasso_select", "box_select", "reset"),
            _observation_hover(x, y, colour),
        ],
        nonselection_alpha=0.15,
        active_tools=["wheel_zoom"],
    )


def _observations(x: xr.DataArray) -> np.ndarray:
    dim = str(x.dims[0])
    for name in (dim, f"{dim}_id", f"{dim.removesuffix('s')}_id"):
        if name in x.coords:
            return text(x[name].values, name)
    return np.array([f"{dim} {k}" for k in range(len(x))], dtype=object)


def _apart(values: np.ndarray, name: str, seed: int) -> tuple[np.ndarray, str]:
    levels = np.unique(values)
    if not 1 < len(levels) <= FEW_VALUES or len(values) <= len(levels):
        return values, name
    reach = 0.25 * float(np.diff(levels).min())
    moved = values + np.random.default_rng(seed).uniform(-reach, reach, len(values))
    return moved, f"{name} (points moved apart)"


def _pair_title(x: xr.DataArray, y: xr.DataArray, tau: float, pvalue: float, n: int) -> str:
    parts = [f"τ = {tau:.3f}"] if np.isfinite(tau) else []
    if np.isfinite(pvalue):
        parts.append(f"p = {pvalue:.2g}" if pvalue > 0 else "p below 1e-300")
    return f"{x.name} and {y.name}\n{', '.join([*parts, f'n = {n:,}'])}"


def _observation_hover(x: xr.DataArray, y: xr.DataArray, colour: Colouring) -> HoverTool:
    rows = [(str(x.dims[0]), "@observation"), (str(x.name), "@x_value"), (str(y.name), "@y_value")]
    if colour.name:
        rows.append((colour.name, "@colour"))
    return HoverTool(tooltips=rows)
