"""Table of the variables of a network, with their degrees and strongest partners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genobit.visual.tables import Column, draw_table, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import holoviews as hv

    from genobit.kendall.plots.links import Links

#: Most labels of variables in the table.
LABELS = 3
_COLUMNS = {
    "variable": Column(130),
    "edges": Column(60, numbers("0,0")),
    "community": Column(130),
    "component": Column(80, numbers("0,0")),
    "strongest with": Column(130),
    "τ": Column(70, numbers("0.0000")),
}
_LABEL = Column(110)


def nodes_table(links: Links, labels: Mapping[str, np.ndarray] | None = None) -> pd.DataFrame:
    """List the variables of a network in descending order of degree.

    ``labels`` have one value for each variable of the data. The index of the table is the position
    of the variable in the data.

    Examples
    --------
    >>> from genobit.data.pairs.network import Network
    >>> from genobit.kendall.plots.links import links_of
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.7, -0.9]})
    >>> table = nodes_table(links_of(Network(edges, ["MYC", "MAX", "TP53"], "gene")))
    >>> table[["variable", "edges", "strongest with"]].values.tolist()
    [['MYC', 2, 'TP53'], ['MAX', 1, 'MYC'], ['TP53', 1, 'MYC']]
    """
    partner, tau = strongest_partners(links)
    component = np.empty(links.size, dtype="i8")
    for k, group in enumerate(links.components, start=1):
        component[group] = k
    columns = {
        "variable": links.names,
        "edges": links.degree,
        "community": links.community_names,
        "component": component,
        "strongest with": links.names[partner],
        "τ": tau,
    }
    for name, values in list((labels or {}).items())[:LABELS]:
        columns.setdefault(name.replace("_", " "), np.asarray(values)[links.variables])
    return pd.DataFrame(columns, index=links.variables).iloc[links.hubs()]


def strongest_partners(links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Return the partner of each variable in its strongest edge, and tau of that edge."""
    ends = np.concatenate([links.first, links.second])
    others = np.concatenate([links.second, links.first])
    tau = np.concatenate([links.tau, links.tau])
    order = np.argsort(-np.abs(tau), kind="stable")
    _, first = np.unique(ends[order], return_index=True)
    return others[order][first], tau[order][first]


def draw_nodes_table(table: pd.DataFrame, *, height: int) -> hv.Table:
    """Draw a table of `nodes_table`, sortable by a click on a column name."""
    columns = {name: _COLUMNS.get(name, _LABEL) for name in table}
    width = sum(column.width for column in columns.values()) + 30
    return draw_table(table, columns, width=width, height=height, fit=False)
