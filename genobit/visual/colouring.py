"""Colour samples by a variable: few categories get a legend, numbers get a colour bar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from bokeh.models.annotations import Legend, LegendItem
from bokeh.palettes import Viridis256

from genobit.data import model
from genobit.data.aligning import aligned
from genobit.data.labels import decoded
from genobit.engine.spelling import did_you_mean
from genobit.visual.style import (
    NO_VALUE_COLOUR,
    POINT_COLOUR,
    UPRIGHT_BAR,
    WIDTH,
    Hook,
    plain_frame,
    shortened,
)
from genobit.visual.tokens import GROUPS, OTHER_GROUP

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Integers with more distinct values than this are measurements, not codes.
CODES = 8

MISSING = "missing"
#: Widths in pixels of a letter of a legend, and of a mark with the room around it.
_LETTER, _SQUARE = 6.6, 34
_MEANINGS = {"sample_sex": {0: "unknown", 1: "male", 2: "female"}}
#: Identifiers of samples and internal variables.
_NOT_COLOURS = {"sample_id", "sample_bit"}


@dataclass(frozen=True)
class Colouring:
    """One colour or number per sample.

    `values` are category names if there are `colours`, and floats otherwise. `colours` maps each
    category to its colour, in the order of the legend. It is empty for numbers, which use a colour
    bar between `limits`.
    """

    name: str
    values: np.ndarray
    colours: dict[str, str]
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def categorical(self) -> bool:
        """True for categories, False for numbers."""
        return bool(self.colours)

    def of(self, samples: np.ndarray) -> Colouring:
        """Return the colouring of some samples, by position, with unchanged colours."""
        return replace(self, values=self.values[samples])


def sample_variables(ds: xr.Dataset, matrix: xr.DataArray | None = None) -> dict[str, np.ndarray]:
    """Return the variables that can colour samples, by name: (samples,) each.

    Labels of a relationship matrix are used where the Dataset has none. Identifiers, constant
    codes and texts that differ in every sample are left out.

    Examples
    --------
    >>> import xarray as xr
    >>> sex = xr.Dataset({"sample_sex": ("samples", [1, 2]), "sample_id": ("samples", ["a", "b"])})
    >>> list(sample_variables(sex))
    ['sample_sex']
    """
    found = {
        str(name): decoded(variable.values, str(name))
        for name, variable in ds.variables.items()
        if variable.dims == ("samples",)
    }
    if matrix is not None:
        for name, coordinate in matrix.coords.items():
            if coordinate.dims == ("samples_0",) and str(name).endswith("_0"):
                values = decoded(coordinate.values, str(name))
                found.setdefault(str(name).removesuffix("_0"), values)
    return {name: v for name, v in found.items() if name not in _NOT_COLOURS and _says_much(v)}


def labels_along(ds: xr.Dataset, dim: str) -> dict[str, np.ndarray]:
    """Return the labels along `dim` that can colour its members, by name; identifiers are left out.

    Examples
    --------
    >>> import xarray as xr
    >>> genes = {"gene": ["MYC", "MAX"], "chromosome": ("gene", ["8", "14"])}
    >>> list(labels_along(xr.Dataset(coords=genes | {"strand": ("gene", [1, -1])}), "gene"))
    ['chromosome', 'strand']
    """
    found = {str(k): decoded(v.values, str(k)) for k, v in ds.variables.items() if v.dims == (dim,)}
    unwanted = {dim, f"{dim}_id", f"{dim.removesuffix('s')}_id", *_NOT_COLOURS}
    return {name: v for name, v in found.items() if name not in unwanted and _says_much(v)}


def _says_much(values: np.ndarray) -> bool:
    if values.dtype.kind not in "biufOUT":
        return False
    if values.dtype.kind == "f":
        return bool(np.isfinite(values).any())
    different = len(set(values.tolist()))
    if values.dtype.kind in "bi" or values.dtype.kind == "u":
        return different > 1
    return 1 < different < max(len(values), 3)


def colouring(name: str, values: np.ndarray) -> Colouring:
    """Choose colours for one variable of samples.

    Parameters
    ----------
    name
        Name of the variable; "" gives all samples one colour.
    values
        Value of each sample, (samples,).

    Returns
    -------
    `Colouring`: the values as text or numbers, with their colours.

    Examples
    --------
    >>> colouring("sample_sex", np.array([2, 1, 2])).values.tolist()
    ['female', 'male', 'female']
    """
    label = name.removeprefix("sample_").replace("_", " ")
    if not name:
        every = np.full(len(values), "samples", dtype=object)
        return Colouring("", every, {"samples": POINT_COLOUR})
    texts = categories(name, values)
    if texts is None:
        numbers = decoded(values, name).astype("f8")
        return Colouring(label, numbers, {}, limits_of(numbers))
    return Colouring(label, *_with_colours(texts))


def categories(name: str, values: np.ndarray) -> np.ndarray | None:
    """Return the category of each member by a label, or None for a label of numbers.

    Examples
    --------
    >>> categories("sample_sex", np.array([2, 1, 0])).tolist()
    ['female', 'male', 'unknown']
    """
    values = decoded(values, name)
    few = values.dtype.kind not in "iu" or len(np.unique(values)) <= CODES
    if values.dtype.kind == "f" or not few:
        return None
    meanings = _MEANINGS.get(name, {})
    return np.array([_text(value, meanings) for value in values.tolist()], dtype=object)


def colouring_of(
    data: xr.Dataset | xr.DataArray,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | pd.Series | pd.DataFrame | None,
    dim: str,
) -> Colouring:
    """Return the colouring of values along a dimension, in the order of the data.

    `colour_by` is the name of a variable of `data`, an array of values, a frame of one column, a
    `Colouring`, or None for one colour. A name may lack the prefix of the dimension: "population"
    finds "sample_population". Values with labels are aligned by them. Raises KeyError for an
    unknown name.
    """
    if isinstance(colour_by, Colouring):
        return colour_by
    if colour_by is None or (isinstance(colour_by, str) and not colour_by):
        return colouring("", np.zeros(data.sizes[dim]))
    if isinstance(colour_by, str):
        colour_by = _label_named(data, colour_by, dim)
    if isinstance(colour_by, pd.DataFrame):
        if colour_by.shape[1] != 1:
            raise ValueError(
                f"colour_by is a table of {colour_by.shape[1]} columns; choose one of "
                f"{', '.join(map(str, colour_by.columns))}, such as "
                f"table[{str(colour_by.columns[0])!r}]"
            )
        colour_by = colour_by.iloc[:, 0]
    name = colour_by if isinstance(colour_by, str) else getattr(colour_by, "name", None)
    return colouring(str(name or "colour"), aligned(data, colour_by, dim, "colour_by"))


def _label_named(data: xr.Dataset | xr.DataArray, name: str, dim: str) -> str:
    """Return the variable along ``dim`` that a user named, with or without its prefix."""
    variables = data.variables if isinstance(data, xr.Dataset) else data.coords
    known = [str(k) for k, v in variables.items() if v.dims == (dim,)]
    found = model.with_prefix(name, dim, known)
    if found is not None:
        return found
    others = [k for k in known if k not in _NOT_COLOURS]
    raise KeyError(
        f"there is no label {name!r} along {dim!r} to colour by{did_you_mean(name, others)} "
        f"Labels: {', '.join(others) or 'none'}. Add one with .assign_coords, or give an array, "
        "DataArray or Series of values"
    )


def labels_of_side(matrix: xr.DataArray, side: int = 0) -> xr.DataArray:
    """Return zeros with the labels along one side of a matrix, named without their suffix.

    Examples
    --------
    >>> import xarray as xr
    >>> population = {"sample_population_0": ("samples_0", ["A", "B"])}
    >>> grm = xr.DataArray(np.eye(2), population, ("samples_0", "samples_1"))
    >>> labels_of_side(grm).sample_population.values.tolist()
    ['A', 'B']
    """
    dim, suffix = str(matrix.dims[side]), f"_{side}"
    row = dim.removesuffix(suffix)
    found = {
        str(name).removesuffix(suffix): (row, label.values)
        for name, label in matrix.coords.items()
        if label.dims == (dim,) and str(name).endswith(suffix)
    }
    return xr.DataArray(np.zeros(matrix.sizes[dim]), found, row)


def _text(value: object, meanings: dict[int, str]) -> str:
    if value is None or str(value) in {"", ".", "nan"}:
        return MISSING
    return meanings.get(value, str(value)) if isinstance(value, int) else str(value)


def _with_colours(texts: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    names, counts = np.unique(texts[texts != MISSING].astype(str), return_counts=True)
    # Readers cannot tell more colours apart, so the rarest categories share one.
    if len(names) > len(GROUPS):
        kept = set(names[np.argsort(-counts, kind="stable")][: len(GROUPS)].tolist())
        rest = f"{len(names) - len(kept)} others"
        texts = np.array([t if t in kept or t == MISSING else rest for t in texts], dtype=object)
        names = np.array([*sorted(kept), rest])
    colours = dict(zip(names.tolist(), (*GROUPS, OTHER_GROUP), strict=False))
    if (texts == MISSING).any():
        colours[MISSING] = NO_VALUE_COLOUR
    return texts, colours


def limits_of(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of a colour bar, so that a few extreme samples do not take all of it.

    From 100 finite values on, the ends are the 1% and 99% quantiles. values: (samples,).

    Examples
    --------
    >>> limits_of(np.array([1.0, np.nan, 3.0]))
    (1.0, 3.0)
    """
    found = values[np.isfinite(values)]
    if not found.size:
        return 0.0, 1.0
    low, high = (float(v) for v in np.quantile(found, [0.01, 0.99]))
    if len(found) < 100:
        low, high = float(found.min()), float(found.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def one_colour_each(chosen: Colouring) -> np.ndarray:
    """Return the colour of each sample as text, for plots without a colour bar."""
    if chosen.categorical:
        return np.array([chosen.colours[text] for text in chosen.values], dtype=object)
    low, high = chosen.limits
    steps = np.clip((chosen.values - low) / (high - low), 0, 1) * (len(Viridis256) - 1)
    palette = np.array([*Viridis256, NO_VALUE_COLOUR], dtype=object)
    missing = np.isnan(steps)
    return palette[np.where(missing, len(Viridis256), np.nan_to_num(steps)).astype("i8")]


def key_hook(colour: Colouring) -> Hook:
    """Return a HoloViews hook that adds a legend of categories below a plot; numbers have two ends.

    Plots whose colours are no column of points, such as strips, have no other legend.
    """
    colours = dict(colour.colours)
    if not colour.categorical:
        ends = one_colour_each(replace(colour, values=np.array(colour.limits)))
        colours = {f"{end:.3g}": shade for end, shade in zip(colour.limits, ends, strict=True)}

    def hook(plot: Any, _element: Any) -> None:
        figure = plot.state
        if any(isinstance(part, Legend) for part in figure.below):
            return
        # Entries that are wider than the picture would lie outside of the page.
        room = figure.frame_width or figure.width or WIDTH
        named = {name: shortened(name, int((room - _SQUARE) / _LETTER)) for name in colours}
        longest = max(map(len, [colour.name, *named.values()]))
        columns = max(1, min(5, int(room / (_LETTER * longest + _SQUARE))))
        # A legend takes its marks from points; these are nowhere.
        look: dict[str, Any] = {"size": 9, "marker": "square", "line_color": None}
        marks = {k: figure.scatter([np.nan], [np.nan], color=c, **look) for k, c in colours.items()}
        items = [LegendItem(label=named[k], renderers=[mark]) for k, mark in marks.items()]
        legend = Legend(
            items=items,
            title=colour.name,
            orientation="horizontal",
            ncols=columns,
            border_line_alpha=0,
        )
        figure.add_layout(legend, "below")

    return hook


def _in_order(colour: Colouring) -> Hook:
    """Return a HoloViews hook that lists categories in their order, not in that of the points."""
    first = {name: k for k, name in reversed(list(enumerate(colour.values)))}

    def hook(plot: Any, _element: Any) -> None:
        for legend in plot.state.legend:
            marks = [mark for item in legend.items for mark in item.renderers][:1]
            legend.items = [
                LegendItem(label={"value": name}, renderers=marks, index=first[name])
                for name in colour.colours
                if name in first
            ]

    return hook


def colour_options(colour: Colouring) -> dict[str, Any]:
    """Return HoloViews options that colour points by the column "colour".

    They include a legend for categories, a colour bar for numbers, and hooks.
    """
    if colour.categorical:
        return {
            "color": "colour",
            "cmap": colour.colours,
            "show_legend": bool(colour.name),
            "legend_position": "right",
            "hooks": [plain_frame, _in_order(colour)],
            "legend_opts": {
                "title": colour.name,
                "background_fill_alpha": 0.0,
                "border_line_alpha": 0,
            },
        }
    return {
        "color": "colour",
        "cmap": "viridis",
        "clim": colour.limits,
        "clipping_colors": {"NaN": NO_VALUE_COLOUR},
        "colorbar": True,
        "hooks": [plain_frame],
        "clabel": colour.name,
        "colorbar_opts": UPRIGHT_BAR,
    }
