"""Homoplasy of the sites of an alignment on a tree: a track and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.parsimony.plots.pixel_layers import Lines
from genobit.visual.style import (
    LEAD_COLOUR,
    PALE_COLOUR,
    POINT_COLOUR,
    few_marks,
    number,
    plain_frame,
    whole_ticks,
)
from genobit.visual.tables import Column, draw_table, numbers

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

#: Most bars of the track; with more sites, each bar is several sites.
BARS = 450
#: Most sites in a table that is drawn.
LISTED = 500
_PALE = PALE_COLOUR


def homoplasy_track(result: xr.Dataset, site: int | None = None) -> hv.Overlay:
    """Draw the extra changes of each site: its changes minus the fewest possible.

    Parameters
    ----------
    result
        Result of `.genobit.parsimony()` of one tree.
    site
        Index of a site to mark.

    Returns
    -------
        hv.Overlay with one bar for each site. With more than 450 sites, each bar covers several
        sites: the pale part is their maximum and the dark part their mean. The title gives the
        number of sites in a bar. The axis has the indices of the sites, from 0.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> picture = homoplasy_track(aln.genobit.parsimony("((a,b),(c,d),e);"))
    >>> picture.opts.get().kwargs["title"]
    'changes beyond the fewest possible: 1 at 1 of 4 sites'
    """
    return draw_track(homoplasy_of(result), site)


def homoplasy_of(result: xr.Dataset) -> np.ndarray:
    """Return the changes of each site beyond the fewest on any tree, (sites,).

    result: of `.genobit.parsimony()` of one tree.
    """
    return np.asarray(result["changes"].values - result["min_changes"].values)


def draw_track(homoplasy: np.ndarray, site: int | None = None) -> hv.Overlay:
    """Draw a track of homoplasy (sites,), with the site of an index marked."""
    n_sites = len(homoplasy)
    width = sites_in_a_bar(n_sites)
    starts = np.arange(0, n_sites, width)
    ends = np.minimum(starts + width, n_sites)
    most = np.maximum.reduceat(homoplasy, starts)
    mean = np.add.reduceat(homoplasy, starts) / (ends - starts)
    words = [
        f"{a:,}" if b - a == 1 else f"{a:,} to {b - 1:,}" for a, b in zip(starts, ends, strict=True)
    ]
    bars = []
    kinds: list[tuple[str, np.ndarray, str, dict[str, np.ndarray]]]
    kinds = [("Sites", most, POINT_COLOUR, {})]
    if width > 1:
        kinds = [("Most", most, _PALE, {"mean": mean}), ("Mean", mean, POINT_COLOUR, {})]
    for label, height, colour, more in kinds:
        some = height > 0
        columns = {
            "x": starts - 0.5,
            "y": 0.0 * height,
            "x1": ends - 0.5,
            "y1": height.astype(float),
        }
        columns |= {"sites": np.array(words, dtype=object), **more}
        columns = {name: values[some] for name, values in columns.items()}
        bar = hv.Rectangles(columns, ["x", "y", "x1", "y1"], list(columns)[4:], label=label)
        tools = [_hover(width)] if label != "Mean" else []
        bars.append(bar.opts(color=colour, line_color=None, default_tools=[], tools=tools))
    mark = site_mark(homoplasy, site)
    bars[0].opts(
        default_tools=["save"],
        tools=[*bars[0].opts.get("plot").kwargs["tools"], "xpan", "xwheel_zoom", "reset"],
        active_tools=["xwheel_zoom"],
    )
    return hv.Overlay([*bars, mark.element()]).opts(
        title=_title(homoplasy, width),
        fontsize={"title": "9pt"},
        frame_width=900,
        frame_height=110,
        xlim=(-0.5, n_sites - 0.5),
        ylim=(0, _top(homoplasy)),
        xlabel="site",
        ylabel="extra changes",
        xformatter="%d",
        **({"xticks": list(range(n_sites))} if n_sites < 10 else {}),
        yticks=whole_ticks(0, _top(homoplasy)),
        toolbar="above",
        show_legend=False,
        hooks=[plain_frame, few_marks],
    )


def site_mark(homoplasy: np.ndarray, site: int | None) -> Lines:
    """Return the mark of a site of the track; no lines if ``site`` is None."""
    ends = np.empty((0, 4))
    if site is not None:
        ends = np.array([[site, 0, site, _top(homoplasy)]])
    return Lines("Site", ends, [LEAD_COLOUR] * len(ends), [2.0] * len(ends))


def _top(homoplasy: np.ndarray) -> float:
    return 1.12 * max(float(homoplasy.max(initial=0)), 1.0)


def _title(homoplasy: np.ndarray, width: int) -> str:
    some = int(np.count_nonzero(homoplasy))
    text = (
        f"changes beyond the fewest possible: {int(homoplasy.sum()):,} "
        f"at {some:,} of {number(len(homoplasy), 'site')}"
    )
    return f"{text}; {bars_in_words(width)}" if width > 1 else text


def sites_in_a_bar(n_sites: int) -> int:
    """Return the number of sites in a bar of the track."""
    return max(1, -(-n_sites // BARS))


def bars_in_words(width: int) -> str:
    """Say what a bar of several sites shows."""
    return f"a bar is {width} sites: the most (pale) and the mean (dark)"


def site_table(result: xr.Dataset, limit: int = LISTED, *, least: int = 0) -> pd.DataFrame:
    """List the sites, most homoplastic first.

    Parameters
    ----------
    result
        Result of `.genobit.parsimony()` of one tree.
    limit
        Largest number of sites to list.
    least
        List only sites with at least this many extra changes, beyond the fewest possible.

    Returns
    -------
        DataFrame with one row for each site: `site` (its index), `changes`, `min_changes`,
        `max_changes`, `extra`, `ci` and `ri`.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> table = site_table(aln.genobit.parsimony("((a,b),(c,d),e);"), limit=2)
    >>> table[["site", "changes", "extra"]].values.tolist()
    [[1, 2, 1], [0, 1, 0]]
    """
    import pandas as pd

    extra = homoplasy_of(result)
    found = np.argsort(-extra, kind="stable")
    found = found[extra[found] >= least][:limit]
    columns: dict[str, Any] = {"site": found}
    columns |= {
        name: result[name].values[found] for name in ("changes", "min_changes", "max_changes")
    }
    columns["extra"] = extra[found]
    columns |= {name: result[f"site_{name}"].values[found] for name in ("ci", "ri")}
    return pd.DataFrame(columns)


def draw_sites(table: pd.DataFrame, width: int = 395, height: int = 230) -> hv.Table:
    """Draw a table from `site_table`; a click on a column name sorts it."""
    shown = table.rename(columns={"min_changes": "least", "max_changes": "most"})
    columns = {
        str(name): Column(54, numbers("0.000" if name in {"ci", "ri"} else "0,0"))
        for name in shown.columns
    }
    return draw_table(shown, columns, width=width, height=height, fit=True)


def _hover(width: int) -> HoverTool:
    rows = [("site", "@sites"), ("extra changes", "@y1{0}")]
    if width > 1:
        rows = [("sites", "@sites"), ("most of one", "@y1{0}"), ("mean", "@mean{0.00}")]
    return HoverTool(tooltips=rows)
