"""Graph analysis of a table of pairs: degrees, components, communities and layout."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.pairs import network_layout

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class NetworkGraph:
    """Graph methods of `genobit.data.pairs.network.Network`."""

    dim: str
    value: str
    names: NDArray[Any]
    _edges: pd.DataFrame

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return self._edges[[f"{self.dim}_0", f"{self.dim}_1"]].to_numpy(np.int64)

    @cached_property
    def _nodes(self) -> NDArray[np.int64]:
        return np.unique(self._ends)

    def to_networkx(self, *, isolated: bool = False) -> Any:
        """Return the network as a networkx Graph.

        Parameters
        ----------
        isolated
            Whether to add the variables without a pair as nodes.

        Returns
        -------
            Graph whose nodes are names. Each node has an attribute named after the dimension: the
            integer position of the variable. Each edge has the attribute ``weight``: the absolute
            value of the pair. The columns of the table are attributes too, except names and
            positions. NaN attributes are left out.

        Examples
        --------
        >>> import pandas as pd
        >>> from genobit.data.pairs.network import Network
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.to_networkx()["MYC"]["MXD1"]
        {'tau': -0.7, 'weight': 0.7}
        """
        import networkx as nx

        graph = nx.Graph()
        nodes = np.arange(len(self.names)) if isolated else self._nodes
        names = self.names[nodes].tolist()
        graph.add_nodes_from(
            (name, {self.dim: position})
            for name, position in zip(names, nodes.tolist(), strict=True)
        )
        columns = {
            str(name): column.tolist()
            for name, column in self._edges.items()
            if name not in {f"{self.dim}_0", f"{self.dim}_1", "name_0", "name_1"}
        }
        columns["weight"] = self._edges[self.value].abs().tolist()
        ends = zip(self._edges["name_0"], self._edges["name_1"], strict=True)
        for pair, values in zip(ends, zip(*columns.values(), strict=True), strict=True):
            # NaN is not equal to itself.
            known = {k: v for k, v in zip(columns, values, strict=True) if v == v}  # noqa: PLR0124
            graph.add_edge(*pair, **known)
        return graph

    def degree(self, *, isolated: bool = False) -> pd.Series[int]:
        """Count the pairs of each variable.

        Parameters
        ----------
        isolated
            Whether to list the variables without a pair.

        Returns
        -------
            int64 degrees, indexed by name, in the order of the variables.

        Examples
        --------
        >>> import pandas as pd
        >>> from genobit.data.pairs.network import Network
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.degree(isolated=True).to_dict()
        {'MYC': 2, 'MAX': 1, 'MXD1': 1, 'TP53': 0}
        """
        counts = np.bincount(self._ends.ravel(), minlength=len(self.names)).astype(np.int64)
        nodes = np.arange(len(self.names)) if isolated else self._nodes
        return self._series(counts[nodes], nodes, "degree")

    def hubs(self, k: int = 10) -> pd.Series[int]:
        """Return the variables with the highest degrees.

        Parameters
        ----------
        k
            Largest number of variables to return.

        Returns
        -------
            int64 degrees, indexed by name, highest first. Ties keep the order of the variables.

        Examples
        --------
        >>> import pandas as pd
        >>> from genobit.data.pairs.network import Network
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.hubs(2).to_dict()
        {'MYC': 2, 'MAX': 1}
        """
        return self.degree().sort_values(ascending=False, kind="stable").head(k)

    def components(self) -> pd.Series[int]:
        """Return the component number of each variable; the largest component is 0.

        Returns
        -------
            int64 component numbers, indexed by name, in the order of the variables. Variables
            without a pair are left out.

        Examples
        --------
        >>> import pandas as pd
        >>> from genobit.data.pairs.network import Network
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.components().to_dict()
        {'MYC': 0, 'MAX': 0, 'MXD1': 0}
        """
        first = _first_reached(self._ends, len(self.names))[self._nodes]
        return self._series(_by_size(first), self._nodes, "component")

    def communities(self, seed: int = 0) -> pd.Series[int]:
        """Return the Louvain community number of each variable; the largest community is 0.

        The weight of an edge is the absolute value of its pair.

        Parameters
        ----------
        seed
            Seed for the order in which nodes are visited. Equal seeds give equal communities.

        Returns
        -------
            int64 community numbers, indexed by name, in the order of the variables. Variables
            without a pair are left out.

        Examples
        --------
        >>> import pandas as pd
        >>> from genobit.data.pairs.network import Network
        >>> edges = pd.DataFrame({"gene_0": [0, 2], "gene_1": [1, 3], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.communities().to_dict()
        {'MYC': 0, 'MAX': 0, 'MXD1': 1, 'TP53': 1}
        """
        import networkx as nx

        graph = self.to_networkx()
        found = nx.community.louvain_communities(graph, weight="weight", seed=seed) if graph else ()
        of = {name: k for k, part in enumerate(found) for name in part}
        number = np.array([of[name] for name in self.names[self._nodes]], np.int64)
        return self._series(_by_size(number), self._nodes, "community")

    def layout(self, seed: int = 0) -> pd.DataFrame:
        """Compute node positions for a drawing in which connected components do not overlap.

        Parameters
        ----------
        seed
            Seed for the start of the spring layout. Equal seeds give equal drawings.

        Returns
        -------
            Columns ``x`` and ``y``, indexed by name, in the order of the variables. See
            `genobit.data.pairs.network_layout`.

        Examples
        --------
        >>> import pandas as pd
        >>> from genobit.data.pairs.network import Network
        >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
        >>> table = Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")
        >>> table.layout().shape
        (3, 2)
        """
        import pandas as pd

        places = network_layout.layout(self.to_networkx(), seed)
        names = self.names[self._nodes]
        values = np.array([places[name] for name in names]).reshape(-1, 2)
        return pd.DataFrame(values, pd.Index(names, dtype=object, name=self.dim), ["x", "y"])

    def _series(self, values: Any, nodes: NDArray[np.int64], name: str) -> pd.Series[int]:
        import pandas as pd

        index = pd.Index(self.names[nodes], dtype=object, name=self.dim)
        return pd.Series(values, index, np.int64, name)


def _first_reached(ends: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Label each node with the first node of its component; ends: (pairs, 2), returns (n,)."""
    first = np.arange(n)
    while True:
        least = first[ends].min(axis=1)
        np.minimum.at(first, first[ends[:, 0]], least)
        np.minimum.at(first, first[ends[:, 1]], least)
        # Pointer jumping keeps the number of rounds small on long chains.
        while ((shorter := first[first]) != first).any():
            first = shorter
        if (first[ends[:, 0]] == first[ends[:, 1]]).all():
            return first


def _by_size(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber groups by size, the largest 0; of equal groups the one that begins first leads."""
    _, begins, of, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(begins), np.int64)
    rank[np.lexsort((begins, -sizes))] = np.arange(len(begins))
    return rank[of]
