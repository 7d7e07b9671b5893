"""Figure of the progress of a tree search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np

from genobit.visual.style import POINT_COLOUR, few_marks, number, plain_frame, whole_ticks

if TYPE_CHECKING:
    import xarray as xr

_REPLICATE = "#b8b8b8"
#: Most steps of a line; longer searches are drawn at this many iterations.
_STEPS = 2000


def search_trace(result: xr.Dataset) -> hv.Overlay:
    """Draw the length of the shortest tree so far against the iterations of a search.

    Parameters
    ----------
    result
        Result of `.genobit.parsimony_search()`.

    Returns
    -------
        hv.Overlay: a grey line for each replicate, and a blue line for the minimum over all
        replicates. The title gives the shortest length and whether it is proven.

    Raises
    ------
    ValueError
        If the result has no trace.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> found = aln.genobit.parsimony_search(seed=1)
    >>> search_trace(found).opts.get().kwargs["title"].splitlines()
    ['ratchet: 5 changes', '2 trees of this length found']
    """
    if "trace" not in result or not result["trace"].size:
        raise ValueError("there is no trace in this result; it is not one of a search")
    trace = result["trace"]
    lengths = trace.values.astype("f8")
    if lengths.ndim == 1:
        lengths = lengths[None]
    elif trace.dims[0] == "iteration":
        lengths = lengths.T
    best = np.fmin.reduce(lengths, axis=0)
    iteration = np.arange(lengths.shape[1])
    shown = np.unique(np.linspace(0, len(iteration) - 1, _STEPS).astype(int))
    lines = [
        hv.Curve((iteration[shown], row[shown]), "iteration", "length", label=f"replicate {k}")
        for k, row in enumerate(lengths)
    ]
    for line in lines:
        line.opts(interpolation="steps-post", color=_REPLICATE, line_width=1.5, default_tools=[])
    shortest = hv.Curve((iteration[shown], best[shown]), "iteration", "length", label="best")
    shortest.opts(
        interpolation="steps-post",
        color=POINT_COLOUR,
        line_width=2.5,
        default_tools=["save"],
        tools=["hover", "xpan", "xwheel_zoom", "reset"],
    )
    low, high = float(np.nanmin(best)), float(np.nanmax(lengths))
    room = max(0.06 * (high - low), 0.6)
    return hv.Overlay([*(lines if len(lines) > 1 else []), shortest]).opts(
        title=_title(result, int(low), len(lengths)),
        fontsize={"title": "9pt"},
        frame_width=640,
        frame_height=260,
        xlim=(0, max(len(iteration) - 1, 1)),
        ylim=(low - room, high + room),
        xlabel="iteration",
        ylabel="shortest tree so far (changes)",
        xformatter="%d",
        yticks=whole_ticks(low - room, high + room),
        toolbar="above",
        show_legend=False,
        hooks=[plain_frame, few_marks],
    )


def _title(result: xr.Dataset, shortest: int, replicates: int) -> str:
    n_trees = result.sizes.get("trees", 0)
    text = f"{result.attrs.get('method', 'search')}: {number(shortest, 'change')}"
    if result.attrs.get("proven"):
        text += ", proven to be the fewest"
    if replicates > 1:
        text += f"; {number(replicates, 'replicate')} in grey, the best in blue"
    return f"{text}\n{number(n_trees, 'tree')} of this length found"
