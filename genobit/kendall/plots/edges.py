"""Plots of correlated pairs as lists: the degree histogram and the table of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.data.pairs.network import by_strength
from genobit.data.pairs.table import as_network
from genobit.visual.style import POINT_COLOUR, few_marks, number, plain_frame
from genobit.visual.tables import Column, draw_table, numbers, powers

if TYPE_CHECKING:
    import pandas as pd

    from genobit.data.pairs.network import Network
    from genobit.data.pairs.table import PairTable

#: Most bars of the histogram; with more degrees, several degrees share a bar.
BARS = 40
#: Most edges in a drawn table.
LISTED = 500
_COLUMNS = {
    "variable": Column(120),
    "with": Column(120),
    "τ": Column(60, numbers("0.0000")),
    "p": Column(75, powers()),
    "q": Column(75, powers()),
    "n": Column(50, numbers("0")),
}


def degree_histogram(degree: np.ndarray) -> hv.Rectangles:
    """Draw a histogram of the degrees of variables, with a log axis of counts.

    Parameters
    ----------
    degree
        Degree of each variable, shape (variables,), 0 for a variable without an edge.
        `Network.degree(isolated=True)` includes such variables.

    Returns
    -------
        hv.Rectangles with one bar per degree. If the largest degree is above 40, each bar covers a
        range of degrees. The title counts the variables without an edge.

    Examples
    --------
    >>> bars = degree_histogram(np.array([0, 1, 1, 2]))
    >>> bars["variables"].tolist(), bars.opts.get().kwargs["title"]
    ([2, 1], '3 variables have an edge, 1 has none')
    """
    degree = np.asarray(degree)
    most = int(degree.max(initial=0))
    width = max(1, -(-most // BARS))
    counts = np.bincount((degree[degree > 0] - 1) // width)
    filled = np.flatnonzero(counts)
    left = filled * width + 0.5
    columns = {
        "x": left,
        "y": np.full(len(filled), 0.5),
        "x1": left + width,
        "y1": counts[filled].astype("f8"),
        "degrees": [
            f"{int(k * width + 1)}" + (f" to {(k + 1) * width}" if width > 1 else "")
            for k in filled
        ],
        "variables": counts[filled],
    }
    with_edge = int(np.count_nonzero(degree))
    without = len(degree) - with_edge
    title = f"{number(with_edge, 'variable')} {'has' if with_edge == 1 else 'have'} an edge"
    if without:
        title += f", {without:,} {'has' if without == 1 else 'have'} none"
    bars = hv.Rectangles(columns, ["x", "y", "x1", "y1"], ["degrees", "variables"], label="Degrees")
    return bars.opts(
        color=POINT_COLOUR,
        line_color="white",
        line_width=0.5,
        title=title,
        fontsize={"title": "9pt"},
        frame_width=450,
        frame_height=150,
        logy=True,
        yticks=[(10**k, f"{10**k:,}") for k in range(8)],
        xlim=(0, max(most, 4) + width),
        ylim=(0.5, 2.0 * max(int(counts.max(initial=0)), 5)),
        framewise=True,
        xlabel="edges of a variable (degree)",
        ylabel="variables",
        toolbar="above",
        default_tools=["save"],
        tools=[HoverTool(tooltips=[("degree", "@degrees"), ("variables", "@variables")])],
        hooks=[plain_frame, few_marks],
    )


def strongest_edges(pairs: PairTable | Network, limit: int = LISTED) -> pd.DataFrame:
    """List the strongest edges in descending order of absolute value.

    Parameters
    ----------
    pairs
        Result of `.genobit.kendall_pairs()`, another table of pairs, or a `Network`.
    limit
        Largest number of edges.

    Returns
    -------
        The rows of `pairs.to_dataframe()`, strongest first.

    Examples
    --------
    >>> import pandas as pd
    >>> from genobit.data.pairs.network import Network
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.7, -0.9]})
    >>> strongest_edges(Network(edges, ["MYC", "MAX", "TP53"], "gene"))["name_1"].tolist()
    ['TP53', 'MAX']
    """
    network = as_network(pairs)
    return network.to_dataframe().iloc[by_strength(network)[:limit]].reset_index(drop=True)


def draw_edges(table: pd.DataFrame, value: str = "tau") -> hv.Table:
    """Draw a table of edges, sortable by a click on a column name.

    Parameters
    ----------
    table
        Result of `strongest_edges`.
    value
        Column of the statistic.

    Examples
    --------
    >>> import pandas as pd
    >>> from genobit.data.pairs.network import Network
    >>> edges = pd.DataFrame({"gene_0": [0], "gene_1": [1], "tau": [0.7]})
    >>> pairs = Network(edges, ["MYC", "MAX"], "gene")
    >>> draw_edges(strongest_edges(pairs)).data.to_numpy().tolist()
    [['MYC', 'MAX', 0.7]]
    """
    titles = {"name_0": "variable", "name_1": "with", value: "τ", "pvalue": "p", "qvalue": "q"}
    shown = table.rename(columns=titles)
    columns = {name: column for name, column in _COLUMNS.items() if name in shown}
    return draw_table(shown[list(columns)], columns, width=500, height=230, fit=True)
