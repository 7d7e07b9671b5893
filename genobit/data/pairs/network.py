"""Tables of pairs as networks: edges in a pandas DataFrame, and in files."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import text
from genobit.data.pairs.network_graph import NetworkGraph
from genobit.data.plotting import NetworkPlotMethods
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.own_words import SuggestsNames
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

SHOWN = 8
"""Number of pairs in the notebook display of a table."""


class Network(NetworkPlotMethods, NetworkGraph, SuggestsNames):
    """Table of pairs of variables with a statistic, and the network of these pairs.

    The nodes are the variables that occur in a pair, named by their labels. If two variables have
    the same label, the second becomes "label (2)", so that all node names are unique.

    Parameters
    ----------
    edges
        One row per pair. Required columns are ``<dim>_0`` < ``<dim>_1`` (positions along the
        dimension) and the column that ``value`` names. Other columns may describe the pairs.
    names
        Label of each variable along the dimension.
    dim
        Name of the dimension of the variables.
    value
        Column whose absolute value is the strength of a pair.
    attrs
        Attributes of the whole table, such as ``pairs_tested``.

    Raises
    ------
    ValueError
        If a column is missing, or a position has no name.

    Examples
    --------
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
    >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
    >>> table
    <Network: 2 pairs of 3 of 4 genes, in 1 component>
    >>> table.degree().to_dict()
    {'MYC': 2, 'MAX': 1, 'MXD1': 1}
    """

    _called = "network"

    def __init__(
        self,
        edges: pd.DataFrame,
        names: Sequence[Any] | NDArray[Any],
        dim: str,
        value: str = "tau",
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self.dim, self.value = dim, value
        self.attrs = dict(attrs or {})
        self.names = unique_names(names)
        check_dimension(dim)
        ends = [f"{dim}_0", f"{dim}_1"]
        for column in (*ends, value):
            if column not in edges.columns:
                raise ValueError(
                    f"the table of pairs has no column {column!r}; it has {list(edges.columns)}"
                    f"{did_you_mean(column, edges.columns)}"
                )
        outside = np.flatnonzero(
            ((edges[ends] < 0) | (edges[ends] >= len(self.names))).any(axis=1).to_numpy(bool)
        )
        if outside.size:
            raise ValueError(
                f"row {outside[0]} of the table of pairs has a position outside the "
                f"{len(self.names)} names along {dim!r}: give a name for each variable"
            )
        others = [name for name in edges.columns if name not in {*ends, "name_0", "name_1"}]
        table = edges[ends].reset_index(drop=True)
        for side, end in enumerate(ends):
            table[f"name_{side}"] = self.names[edges[end].to_numpy(np.int64)]
        self._edges = table.join(edges[others].reset_index(drop=True))

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self._edges)

    def to_dataframe(self) -> pd.DataFrame:
        """Return the pairs as a new DataFrame.

        Returns
        -------
            Columns ``<dim>_0``, ``<dim>_1`` (positions), ``name_0``, ``name_1`` (unique labels),
            the value and all other columns of the table.

        Examples
        --------
        >>> import pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.to_dataframe()["name_1"].tolist()
        ['MAX', 'MXD1']
        """
        table = self._edges.copy()
        table.attrs.update(self.attrs)
        return table

    def select(self, threshold: float | None = None, fdr: float | None = None) -> Network:
        """Keep the pairs that pass limits on absolute value and q-value.

        Parameters
        ----------
        threshold
            Smallest absolute value of a pair; by default no limit.
        fdr
            Largest q-value of a pair; by default no limit.

        Returns
        -------
            Network of the remaining pairs. It keeps the names of all variables.

        Raises
        ------
        ValueError
            If ``fdr`` is given and the table has no q-values.

        Examples
        --------
        >>> import pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> len(Network(edges, ["MYC", "MAX", "MXD1"], "gene").select(threshold=0.8))
        1
        """
        keep = np.ones(len(self), bool)
        if threshold is not None:
            keep &= self._edges[self.value].abs().to_numpy() >= threshold
        if fdr is not None:
            if "qvalue" not in self._edges.columns:
                msg = "this table of pairs has no q-values: make it with fdr= to select by them"
                raise ValueError(msg)
            keep &= self._edges["qvalue"].to_numpy() <= fdr
        return rows_of(self, keep)

    def to_graphml(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the network as GraphML, for Gephi, Cytoscape, yEd or igraph.

        Parameters
        ----------
        path
            Path of the file.
        overwrite
            Whether to replace an existing file. Otherwise an existing file is an error.

        Raises
        ------
        FileExistsError
            If the file exists.

        Examples
        --------
        >>> import pathlib, tempfile, pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> table.to_graphml(folder / "pairs.graphml")
        >>> import networkx as nx
        >>> list(nx.read_graphml(folder / "pairs.graphml"))
        ['MYC', 'MAX', 'MXD1']
        """
        import networkx as nx

        with replacing(local_path(path, "to_graphml", WRITE), overwrite=overwrite) as (new,):
            nx.write_graphml(self.to_networkx(), new)

    def to_cytoscape(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the network as JSON for Cytoscape and Cytoscape.js.

        Parameters
        ----------
        path
            Path of the file.
        overwrite
            Whether to replace an existing file. Otherwise an existing file is an error.

        Raises
        ------
        FileExistsError
            If the file exists.
        ValueError
            If a value is infinite, because JSON has no infinity.

        Examples
        --------
        >>> import pathlib, tempfile, pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> table.to_cytoscape(folder / "pairs.json")
        >>> elements = json.loads((folder / "pairs.json").read_text())["elements"]
        >>> len(elements["nodes"]), len(elements["edges"])
        (3, 2)
        """
        import networkx as nx

        document = nx.cytoscape_data(self.to_networkx())
        text = json.dumps(document, allow_nan=False)
        with replacing(local_path(path, "to_cytoscape", WRITE), overwrite=overwrite) as (new,):
            new.write_text(text, encoding="utf-8")

    def _summary(self) -> str:
        count = int(self.components().max()) + 1 if len(self) else 0
        pairs = "pair" if len(self) == 1 else "pairs"
        kind = self.dim if self.dim.endswith("s") else f"{self.dim}s"
        parts = "component" if count == 1 else "components"
        whole = f"{len(self._nodes):,} of {len(self.names):,} {kind}"
        return f"{len(self):,} {pairs} of {whole}, in {count:,} {parts}"

    def __repr__(self) -> str:
        """Show the number of pairs, variables and components."""
        return f"<Network: {self._summary()}>"

    def _repr_html_(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.attrs.items())
        rows = self._edges.iloc[by_strength(self)[:SHOWN]].drop(
            columns=[f"{self.dim}_0", f"{self.dim}_1"]
        )
        table = rows.to_html(index=False, border=0, float_format="{:.3g}".format)
        caption = f"The strongest {len(rows)}:" if len(rows) < len(self) else ""
        return f"<p><b>{html.escape(self._summary())}</b><br>{html.escape(settings)}</p>" + (
            f"<p>{caption}</p>{table}" if len(self) else ""
        )


def rows_of(pairs: Network, rows: NDArray[Any]) -> Network:
    """Return some rows of a table of pairs, by a mask or by ordered positions."""
    edges = pairs.to_dataframe()
    chosen = edges[rows] if rows.dtype == bool else edges.iloc[rows]
    return Network(chosen, pairs.names, pairs.dim, pairs.value, pairs.attrs)


def by_strength(pairs: Network) -> NDArray[np.intp]:
    """Return the rows of a table of pairs in descending order of absolute value, NaN last."""
    strength = pairs.to_dataframe()[pairs.value].abs().to_numpy(np.float64)
    return np.argsort(-strength, kind="stable")


def check_dimension(dim: str) -> None:
    """Raise ValueError for the dimension "name", whose columns would clash with the labels."""
    if dim == "name":
        raise ValueError(
            "the table of pairs has the labels in its columns name_0 and name_1, so the dimension "
            "'name' has no columns for positions: rename it first, .rename(name='variable')"
        )


def unique_names(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return names as text; a repeated name gets a number, such as "MAX (2)".

    Examples
    --------
    >>> unique_names(["MAX", "MYC", "MAX"]).tolist()
    ['MAX', 'MYC', 'MAX (2)']
    """
    out: list[str] = []
    seen: dict[str, int] = {}
    given = text(names).tolist()
    taken = set(given)
    for name in given:
        unique, count = name, seen.get(name, 0)
        while count and unique in taken:
            count += 1
            unique = f"{name} ({count})"
        seen[name] = max(count, 1)
        taken.add(unique)
        out.append(unique)
    return np.array([*out, None], dtype=object)[:-1]
