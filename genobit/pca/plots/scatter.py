"""Scatter plot of samples along two principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.data.aligning import aligned
from genobit.data.checks import is_whole
from genobit.data.labels import text
from genobit.visual.colouring import Colouring, colour_options, colouring_of
from genobit.visual.style import number

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import ArrayLike


def pca_scatter(
    pcs: xr.Dataset,
    *,
    x: int = 1,
    y: int = 2,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    names: str | ArrayLike | xr.DataArray | None = None,
) -> hv.Points:
    """Draw samples along two principal components, coloured by a variable of the samples.

    Parameters
    ----------
    pcs
        Result of `.genobit.pca()`: `scores` (samples, components) and, if known,
        `explained_variance_ratio` (components).
    x, y
        Components, counted from 1.
    colour_by
        Name of a label of the samples ("population" also finds `sample_population`), values
        (samples,), or a colouring made by `genobit.visual.colouring.colouring`. Text and booleans
        get a legend. Integers get a legend if they have at most eight distinct values, and a colour
        bar otherwise. Floats get a colour bar. A DataArray or Series is aligned by its labels.
    names
        Names of the samples, for the hover text. The default is `sample_id` of `pcs`. Names are
        aligned as for `colour_by`.

    Returns
    -------
        hv.Points, one point for each sample, in the order of the samples. Samples without scores
        are invisible.

    Raises
    ------
    ValueError
        If a component does not exist, or values belong to other samples.

    Examples
    --------
    >>> import xarray as xr
    >>> scores = ("samples", "components"), np.eye(3)[:, :2]
    >>> ratio = "components", [0.5, 0.25]
    >>> pcs = xr.Dataset({"scores": scores, "explained_variance_ratio": ratio})
    >>> [dimension.label for dimension in pca_scatter(pcs).kdims]
    ['PC1 (50.0% of the variance)', 'PC2 (25.0% of the variance)']
    """
    check_components(pcs, x, y)
    scores = pcs["scores"].transpose("samples", "components").values
    colour = colouring_of(pcs, colour_by, "samples")
    columns = {
        "x": scores[:, x - 1],
        "y": scores[:, y - 1],
        "sample": _names(pcs) if names is None else aligned(pcs, names, "samples", "names"),
        "colour": colour.values,
    }
    kdims = [hv.Dimension(k, label=axis_label(pcs, c)) for k, c in (("x", x), ("y", y))]
    vdims = ["sample", hv.Dimension("colour", label=colour.name or "colour")]
    unseen = int(np.isnan(scores[:, [x - 1, y - 1]]).any(axis=1).sum())
    title = number(len(scores), "sample")
    if unseen:
        title += f", {unseen:,} without scores"
    return hv.Points(columns, kdims, vdims).opts(
        **colour_options(colour),
        title=title,
        fontsize={"title": "10pt", "legend": "9pt", "legend_title": "9pt"},
        size=5 if len(scores) <= 3_000 else 3,
        line_color=None,
        fill_alpha=0.75,
        nonselection_alpha=0.12,
        selection_alpha=1.0,
        frame_width=285,
        frame_height=370,
        toolbar="above",
        padding=0.05,
        default_tools=["save"],
        tools=["pan", "wheel_zoom", "lasso_select", "box_select", "reset", _hover(colour)],
        active_tools=["lasso_select", "wheel_zoom"],
    )


def check_components(pcs: xr.Dataset, *components: Any) -> None:
    """Raise ValueError for an axis that is not the number of a component, counted from 1."""
    n_components = pcs.sizes["components"]
    for component in components:
        if not is_whole(component) or component > n_components:
            raise ValueError(
                f"there is no component {component!r}; the result has 1 to {n_components}"
            )


def axis_label(pcs: xr.Dataset, component: int) -> str:
    """Return the name of a component with its share of the variance."""
    if "explained_variance_ratio" not in pcs.variables:
        return f"PC{component}"
    share = float(pcs["explained_variance_ratio"].values[component - 1])
    return f"PC{component} ({share:.1%} of the variance)"


def _names(pcs: xr.Dataset) -> np.ndarray:
    if "sample_id" in pcs.variables:
        return text(pcs["sample_id"].values)
    return np.array([f"sample {k}" for k in range(pcs.sizes["samples"])], dtype=object)


def _hover(colour: Colouring) -> HoverTool:
    rows = [("sample", "@sample")]
    if colour.name:
        rows.append((colour.name, "@colour"))
    return HoverTool(tooltips=rows)
