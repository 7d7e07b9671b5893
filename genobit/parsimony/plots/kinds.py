"""The plots of parsimony results, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.parsimony.plots.homoplasy import draw_sites, homoplasy_track, site_table
from genobit.parsimony.plots.paper_tree import paper_tree
from genobit.parsimony.plots.search_trace import search_trace
from genobit.parsimony.plots.tanglegram import tanglegram
from genobit.parsimony.plots.tree import parsimony_tree
from genobit.visual.picture.plain import histogram
from genobit.visual.picture.spec import Picture
from genobit.visual.results import Result

if TYPE_CHECKING:
    import holoviews as hv


def _has(data: Any, *names: str) -> bool:
    return isinstance(data, xr.Dataset) and set(names) <= set(data.data_vars)


def _is_one_tree(data: Any) -> bool:
    return _has(data, "length", "changes", "min_changes") and "trees" not in data["length"].dims


def _sites(result: xr.Dataset, **options: Any) -> hv.Table:
    """Draw the sites as a table, most homoplastic first."""
    return draw_sites(site_table(result, **options))


def _lengths(result: xr.Dataset) -> Picture:
    """Draw a histogram of the lengths of the trees."""
    return histogram(result["length"].values, "length (changes)", "tree")


_TREE = "aln.genobit.ancestral_states({}).genobit.plot()"
RESULTS = (
    Result(
        ".ancestral_states()",
        lambda data: _has(data, "states", "node_parent", "branch_changes"),
        {"tree": parsimony_tree},
        papers={"tree": paper_tree},
    ),
    Result(
        ".parsimony_search()",
        lambda data: _has(data, "tree", "length", "trace"),
        {"trace": search_trace},
        elsewhere={"tree": _TREE.format("search.isel(trees=0)")},
    ),
    Result(
        ".parsimony()",
        _is_one_tree,
        {"homoplasy": homoplasy_track, "sites": _sites},
        elsewhere={"tree": _TREE.format("tree")},
    ),
    Result(".parsimony()", lambda data: _has(data, "length"), {"lengths": _lengths}),
)
PUBLIC = (homoplasy_track, parsimony_tree, search_trace, site_table, tanglegram)
