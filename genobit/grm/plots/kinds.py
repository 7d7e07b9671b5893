"""The plots of relationship results, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.grm.plots.heatmap import grm_heatmap
from genobit.grm.plots.kinship import closest_pairs, draw_pairs, kinship_histogram
from genobit.grm.plots.paper_matrix import paper_heatmap
from genobit.grm.plots.result import DIMS, MEASURES
from genobit.visual.heatmap import heatmap
from genobit.visual.picture.plain import bars
from genobit.visual.picture.spec import Picture
from genobit.visual.results import Result

if TYPE_CHECKING:
    import holoviews as hv

    from genobit.visual.paper.page import Paper


def _is_grm(data: Any) -> bool:
    return (
        isinstance(data, xr.DataArray)
        and data.dims == DIMS
        and data.shape[0] == data.shape[1]
        and str(data.attrs.get("method", data.name)) in MEASURES
    )


def _is_loco(data: Any) -> bool:
    return isinstance(data, xr.DataArray) and data.dims == ("contigs", *DIMS)


def _pairs(grm: xr.DataArray, **options: Any) -> hv.Table:
    """Draw the closest pairs as a table."""
    return draw_pairs(closest_pairs(grm, **options))


def _one_contig(grm: xr.DataArray, *, contig: int = 0, **options: Any) -> Any:
    """Draw the matrix without one contig, by its index."""
    return grm_heatmap(grm.isel(contigs=contig), **options)


def _paper_of_one(grm: xr.DataArray, *, contig: int = 0, **options: Any) -> Paper:
    """Return the matrix without one contig, by its index, for papers."""
    return paper_heatmap(grm.isel(contigs=contig), **options)


def _unrelated(kept: xr.DataArray) -> Picture:
    """Draw how many samples are in the unrelated set."""
    inside = int(kept.values.sum())
    counts = {"unrelated": inside, "left out": kept.size - inside}
    return bars(counts, "samples", f"{inside:,} of {kept.size:,} samples are unrelated")


RESULTS = (
    Result(
        ".grm()",
        _is_grm,
        {"heatmap": grm_heatmap, "histogram": kinship_histogram, "pairs": _pairs},
        {"heatmap": paper_heatmap},
    ),
    Result(".grm(loco=True)", _is_loco, {"heatmap": _one_contig}, {"heatmap": _paper_of_one}),
    Result(
        ".crossproduct()",
        lambda data: isinstance(data, xr.DataArray) and data.dims == DIMS,
        {"heatmap": heatmap},
        is_general=True,
    ),
    Result(
        ".unrelated()",
        lambda data: isinstance(data, xr.DataArray) and data.name == "unrelated",
        {"bars": _unrelated},
    ),
)
PUBLIC = (closest_pairs, grm_heatmap, kinship_histogram)
