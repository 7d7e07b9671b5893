"""Tables of pairs as networks: edges in a pandas DataFrame, and in files.

May import: network_graph, io, pandas, networkx and numpy.
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import text
from genobit.engine.extras import require
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.options import require_fits
from genobit.io._parquet import read_parquet
from genobit.kendall.network_graph import PairNetwork

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

SHOWN = 8
"""Pairs that a notebook shows of a table."""
_NAME_BYTES = 100
"""Bytes of memory that the name of a variable takes."""


class PairTable(PairNetwork):
    """Pairs of variables that a statistic joins: a table, and the network it is.

    Nodes are variables that stand in a pair, named by their labels. Where two variables have the
    same label, the second is "label (2)", so that each name is one node.

    Parameters
    ----------
    edges
        A row per pair, with the columns ``<dim>_0`` < ``<dim>_1``, positions along the dimension,
        a column named as ``value``, and any others that describe a pair.
    names
        Label of each variable along the dimension.
    dim
        The dimension that variables stand along.
    value
        Column whose absolute value is the strength of a pair.
    attrs
        What is to be said of the whole table, ``pairs_tested`` among it.

    Raises
    ------
    ValueError
        If a column is missing, or a position lies outside the names.

    Examples
    --------
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
    >>> table = PairTable(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
    >>> table
    <PairTable: 2 pairs of 3 of 4 gene, in 1 component>
    >>> table.degree().to_dict()
    {'MYC': 2, 'MAX': 1, 'MXD1': 1}
    """

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
                msg = f"the table of pairs has no column {column!r}; it has {list(edges.columns)}"
                raise ValueError(msg)
        outside = np.flatnonzero(
            ((edges[ends] < 0) | (edges[ends] >= len(self.names))).any(axis=1).to_numpy(bool)
        )
        if outside.size:
            msg = (
                f"row {outside[0]} of the table of pairs has a position outside the "
                f"{len(self.names)} names along {dim!r}: give a name for each variable"
            )
            raise ValueError(msg)
        others = [name for name in edges.columns if name not in {*ends, "name_0", "name_1"}]
        table = edges[ends].reset_index(drop=True)
        for side, end in enumerate(ends):
            table[f"name_{side}"] = self.names[edges[end].to_numpy(np.int64)]
        self._edges = table.join(edges[others].reset_index(drop=True))

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str], value: str = "tau") -> PairTable:
        """Read what `to_parquet` or ``kendall_pairs(parquet=)`` wrote.

        Parameters
        ----------
        path
            Of a file, or of a folder of them.
        value
            Column whose absolute value is the strength of a pair.

        Returns
        -------
            The table. Variables that stand in no pair are not in the file: they have their
            positions as names, up to the last that does.

        Raises
        ------
        FileNotFoundError
            If there is no such path.
        ValueError
            If it is no table of pairs, is damaged or past ``eager_limit``, or has no column named
            as ``value``.

        Examples
        --------
        >>> import pathlib, tempfile, pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = PairTable(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> table.to_parquet(folder / "pairs.parquet")
        >>> PairTable.from_parquet(folder / "pairs.parquet")
        <PairTable: 2 pairs of 3 of 3 gene, in 1 component>
        """
        require("PairTable.from_parquet", "pyarrow")
        edges = read_parquet(local_path(path, "from_parquet"))
        dims = [str(c)[:-2] for c in edges.columns if str(c).endswith("_0") and c != "name_0"]
        needed = {f"{dims[0]}_1", "name_0", "name_1"} if dims else {"name_0"}
        if not needed.issubset(edges.columns):
            msg = f"{path} has the columns {list(edges.columns)}: it is no table of pairs"
            raise ValueError(msg)
        if value not in edges.columns or edges[value].dtype.kind not in "fiu":
            msg = f"{path} has no column {value!r} of numbers; it has {list(edges.columns)}"
            raise ValueError(msg)
        ends = _positions(edges, [f"{dims[0]}_0", f"{dims[0]}_1"], path)
        names = np.arange(ends.max(initial=-1) + 1).astype(str).astype(object)
        for side in (0, 1):
            names[ends[:, side]] = edges[f"name_{side}"].to_numpy(object)
        attrs = {str(name): what for name, what in edges.attrs.items()}
        return cls(edges, names, dims[0], value, attrs)

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self._edges)

    def to_pandas(self) -> pd.DataFrame:
        """Give the pairs as a DataFrame of its own.

        Returns
        -------
            ``<dim>_0``, ``<dim>_1`` (positions), ``name_0``, ``name_1`` (labels, made unique), the
            value and whatever else is known of a pair.

        Examples
        --------
        >>> import pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = PairTable(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.to_pandas()["name_1"].tolist()
        ['MAX', 'MXD1']
        """
        table = self._edges.copy()
        table.attrs.update(self.attrs)
        return table

    def select(self, min_abs: float | None = None, fdr: float | None = None) -> PairTable:
        """Keep pairs of at least an absolute value and of at most a q-value.

        Parameters
        ----------
        min_abs
            The least absolute value of a pair; by default any.
        fdr
            The highest q-value of a pair; by default any.

        Returns
        -------
            The pairs that are left, among the same variables.

        Raises
        ------
        ValueError
            For ``fdr`` where the table has no q-values.

        Examples
        --------
        >>> import pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> len(PairTable(edges, ["MYC", "MAX", "MXD1"], "gene").select(min_abs=0.8))
        1
        """
        keep = np.ones(len(self), bool)
        if min_abs is not None:
            keep &= self._edges[self.value].abs().to_numpy() >= min_abs
        if fdr is not None:
            if "qvalue" not in self._edges.columns:
                msg = "this table of pairs has no q-values: make it with fdr= to select by them"
                raise ValueError(msg)
            keep &= self._edges["qvalue"].to_numpy() <= fdr
        return PairTable(self._edges[keep], self.names, self.dim, self.value, self.attrs)

    def to_graphml(self, path: str | os.PathLike[str]) -> None:
        """Write the network as GraphML, which Gephi, Cytoscape, yEd and igraph read.

        Parameters
        ----------
        path
            The file; an existing one is replaced when the new one is complete.

        Examples
        --------
        >>> import pathlib, tempfile, pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = PairTable(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> table.to_graphml(folder / "pairs.graphml")
        >>> import networkx as nx
        >>> list(nx.read_graphml(folder / "pairs.graphml"))
        ['MYC', 'MAX', 'MXD1']
        """
        import networkx as nx

        with replacing(local_path(path, "to_graphml", WRITE)) as (new,):
            nx.write_graphml(self.to_networkx(), new)

    def to_cytoscape(self, path: str | os.PathLike[str]) -> None:
        """Write the network as the JSON of Cytoscape and Cytoscape.js.

        Parameters
        ----------
        path
            The file; an existing one is replaced when the new one is complete.

        Raises
        ------
        ValueError
            If a value is infinite, of which JSON knows nothing.

        Examples
        --------
        >>> import pathlib, tempfile, pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = PairTable(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> table.to_cytoscape(folder / "pairs.json")
        >>> elements = json.loads((folder / "pairs.json").read_text())["elements"]
        >>> len(elements["nodes"]), len(elements["edges"])
        (3, 2)
        """
        import networkx as nx

        document = nx.cytoscape_data(self.to_networkx())
        text = json.dumps(document, allow_nan=False)
        with replacing(local_path(path, "to_cytoscape", WRITE)) as (new,):
            new.write_text(text, encoding="utf-8")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table of pairs as a Parquet file, which `from_parquet` reads.

        Parameters
        ----------
        path
            The file; an existing one is replaced when the new one is complete.

        Examples
        --------
        >>> import pathlib, tempfile, pandas as pd
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = PairTable(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> table.to_parquet(folder / "pairs.parquet")
        >>> pd.read_parquet(folder / "pairs.parquet")["tau"].tolist()
        [0.9, -0.7]
        """
        require("PairTable.to_parquet", "pyarrow")
        with replacing(local_path(path, "to_parquet", WRITE)) as (new,):
            self.to_pandas().to_parquet(new, index=False)

    def _summary(self) -> str:
        count = int(self.components().max()) + 1 if len(self) else 0
        return (
            f"{len(self):,} {'pair' if len(self) == 1 else 'pairs'} of {len(self._nodes):,} of "
            f"{len(self.names):,} {self.dim}, in {count:,} component{'' if count == 1 else 's'}"
        )

    def __repr__(self) -> str:
        """Count pairs, variables and components."""
        return f"<PairTable: {self._summary()}>"

    def _repr_html_(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.attrs.items())
        strongest = np.argsort(-self._edges[self.value].abs().to_numpy(), kind="stable")[:SHOWN]
        rows = self._edges.iloc[strongest].drop(columns=[f"{self.dim}_0", f"{self.dim}_1"])
        table = rows.to_html(index=False, border=0, float_format="{:.3g}".format)
        caption = f"The strongest {len(rows)}:" if len(rows) < len(self) else ""
        return f"<p><b>{html.escape(self._summary())}</b><br>{html.escape(settings)}</p>" + (
            f"<p>{caption}</p>{table}" if len(self) else ""
        )


def _positions(edges: pd.DataFrame, ends: list[str], path: object) -> NDArray[np.int64]:
    """Positions of both ends of each pair, (pairs, 2)."""
    for end in ends:
        if edges[end].dtype.kind not in "iu":
            msg = f"{path}: {end} is of {edges[end].dtype}, expected whole numbers"
            raise ValueError(msg)
        wrong = np.flatnonzero(edges[end].to_numpy() < 0)
        if wrong.size:
            msg = f"{path}: {end} is {edges[end].iloc[wrong[0]]} in row {wrong[0]}, below 0"
            raise ValueError(msg)
        last = int(edges[end].max()) if len(edges) else 0
        require_fits(f"{path}: the names of {last + 1:,} variables", last + 1, _NAME_BYTES)
    return edges[ends].to_numpy(np.int64)


def check_dimension(dim: str) -> None:
    """Refuse a dimension whose columns of positions are those of the names.

    Raises
    ------
    ValueError
        Names the dimension and how to rename it.
    """
    if dim == "name":
        msg = (
            "the table of pairs has the labels in its columns name_0 and name_1, so the dimension "
            "'name' has no columns for positions: rename it first, .rename(name='variable')"
        )
        raise ValueError(msg)


def unique_names(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Give names as text, where an earlier variable has the same with a number behind.

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
