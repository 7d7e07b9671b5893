"""Figure of the progress of a tree search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np

from genobit.visual.style import POINT_COLOUR, few_marks, number, plain_frame, whole_ticks

if TYPE_CHECKING:
    import xarray as xr

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
        hv.Overlay: one line, the minimum over all replicates. The title gives the shortest length
        and whether it is proven.

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
    check_trace(result)
    length = result["trace"].values
    iteration = np.arange(length.size)
    shown = np.unique(np.linspace(0, length.size - 1, _STEPS).astype(int))
    shortest = hv.Curve((iteration[shown], length[shown]), "iteration", "length")
    shortest.opts(
        interpolation="steps-post",
        color=POINT_COLOUR,
        line_width=2.5,
        default_tools=["save"],
        tools=["hover", "xpan", "xwheel_zoom", "reset"],
    )
    low, high = float(length.min()), float(length.max())
    room = max(0.06 * (high - low), 0.6)
    return hv.Overlay([shortest]).opts(
        title=_title(result, int(low)),
        fontsize={"title": "9pt"},
        frame_width=640,
        frame_height=260,
        xlim=(0, max(length.size - 1, 1)),
        ylim=(low - room, high + room),
        xlabel="iteration",
        ylabel="shortest tree so far (changes)",
        xformatter="%d",
        yticks=whole_ticks(low - room, high + room),
        toolbar="above",
        show_legend=False,
        hooks=[plain_frame, few_marks],
    )


def check_trace(result: xr.Dataset) -> None:
    """Raise ValueError for a result without a trace."""
    if "trace" not in result or not result["trace"].size:
        raise ValueError("there is no trace in this result; it is not one of a search")


def _title(result: xr.Dataset, shortest: int) -> str:
    n_trees = result.sizes.get("trees", 0)
    text = f"{result.attrs.get('method', 'search')}: {number(shortest, 'change')}"
    if result.attrs.get("proven"):
        text += ", proven to be the fewest"
    return f"{text}\n{number(n_trees, 'tree')} of this length found"
