"""The plots of principal components, by kind."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
import xarray as xr

from genobit.pca.plots.paper_scatter import paper_scatter
from genobit.pca.plots.scatter import check_components, pca_scatter
from genobit.visual.genome import places
from genobit.visual.picture.plain import track
from genobit.visual.picture.spec import Axis, Line, Panel, Picture, Points
from genobit.visual.results import Result
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.visual.paper.page import Paper


def _is_pca(data: Any) -> bool:
    return isinstance(data, xr.Dataset) and {"scores", "loadings"} <= set(data.data_vars)


def _is_scores(data: Any) -> bool:
    return (
        isinstance(data, xr.DataArray)
        and data.name == "scores"
        and set(data.dims) == {"samples", "components"}
    )


@wraps(pca_scatter)
def _scatter(pcs: xr.Dataset, **options: Any) -> hv.Points:
    # An explorer has less room.
    return pca_scatter(pcs, **options).opts(frame_width=480, frame_height=380)


def _scores(scores: xr.DataArray, **options: Any) -> hv.Points:
    """Draw projected samples along two components."""
    return _scatter(scores.compute().to_dataset(), **options)


def _paper_of_scores(scores: xr.DataArray, **options: Any) -> Paper:
    """Return projected samples along two components, for papers."""
    return paper_scatter(scores.compute().to_dataset(), **options)


def _scree(pcs: xr.Dataset) -> Picture:
    """Draw the share of the variance of each component."""
    share = 100 * pcs["explained_variance_ratio"].values
    at = np.arange(1, len(share) + 1)
    marks = (Line(at, share), Points(at, share, 7.0, hover={"component": at, "share (%)": share}))
    ticks = tuple((float(k), str(k)) for k in at) if len(share) <= 20 else None
    panel = Panel(
        Axis("Component", (0.5, len(share) + 0.5), ticks=ticks, whole=True),
        Axis("Share of the variance (%)", (0.0, 1.08 * float(share.max()))),
        marks,
        size=(400, 260),
    )
    return Picture(panel, f"{len(share)} components have {share.sum() / 100:.1%} of the variance")


def _loadings(pcs: xr.Dataset, *, component: int = 1) -> Picture:
    """Draw the loadings of the variants on a component, counted from 1."""
    check_components(pcs, component)
    loadings = pcs["loadings"].transpose("variants", "components").values
    # Variants that the analysis left out, and monomorphic ones, have loadings of 0.
    used = loadings.any(axis=1)
    values = np.where(used, loadings[:, component - 1], np.nan)
    title = f"Loadings of {number(int(used.sum()), 'variant')} on PC{component}"
    return track(places(pcs), values, f"loading on PC{component}", title)


RESULTS = (
    Result(
        ".pca()",
        _is_pca,
        {"scatter": _scatter, "scree": _scree, "loadings": _loadings},
        {"scatter": paper_scatter},
    ),
    Result(".project()", _is_scores, {"scatter": _scores}, {"scatter": _paper_of_scores}),
)
PUBLIC = (pca_scatter,)
