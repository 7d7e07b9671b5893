"""What the pictures of a network read off a table of correlated pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from genobit.kendall.network import PairTable


@dataclass(frozen=True)
class Links:
    """Edges between the variables that have one.

    `variables` are their places in the data, ascending, `names` theirs; `first` and `second` are
    indices into them, one of each an edge, `tau` the edges' values.
    """

    pairs: PairTable
    seed: int
    variables: np.ndarray
    names: np.ndarray
    first: np.ndarray
    second: np.ndarray
    tau: np.ndarray

    @property
    def size(self) -> int:
        """Variables that have an edge."""
        return len(self.variables)

    @cached_property
    def degree(self) -> np.ndarray:
        """Edges of each variable."""
        return np.bincount(np.concatenate([self.first, self.second]), minlength=self.size)

    @cached_property
    def components(self) -> list[np.ndarray]:
        """The variables of each connected component, the largest first."""
        return _groups(self.pairs.components().to_numpy())

    @cached_property
    def community(self) -> np.ndarray:
        """The community of each variable, numbered from 0, the largest first."""
        return self.pairs.communities(self.seed).to_numpy()

    @cached_property
    def communities(self) -> list[np.ndarray]:
        """The variables of each community, the largest first."""
        return _groups(self.community)

    @cached_property
    def community_names(self) -> np.ndarray:
        """The community of each variable in words: its number and its hub."""
        digits = len(str(len(self.communities)))
        names = [
            f"{k + 1:0{digits}d} {self.names[self.hubs(group)[0]]}"
            for k, group in enumerate(self.communities)
        ]
        return np.array(names, dtype=object)[self.community]

    def layout(self) -> np.ndarray:
        """Coordinates of the variables, shape (variables, 2), in no unit."""
        return self.pairs.layout(self.seed).to_numpy(copy=True)

    def within(self, variables: np.ndarray) -> Links:
        """Keep the edges between some variables.

        Parameters
        ----------
        variables
            Their places in the data.
        """
        inside = np.isin(self.variables, variables)
        keep = inside[self.first] & inside[self.second]
        return links_of(rows_of(self.pairs, keep), self.seed)

    def of_variable(self, variable: int) -> Links:
        """Keep the edges of one variable.

        Parameters
        ----------
        variable
            Its place in the data.
        """
        here = np.flatnonzero(self.variables == variable)
        keep = np.isin(self.first, here) | np.isin(self.second, here)
        return links_of(rows_of(self.pairs, keep), self.seed)

    def backbone(self, limit: int) -> np.ndarray:
        """Choose the edges to draw: those that hold each component together, then the strongest.

        Parameters
        ----------
        limit
            At most this many, unless more are needed to hold components together.

        Returns
        -------
            Indices of edges, the weakest first, so that the strongest are drawn on top.
        """
        strength = np.abs(self.tau)
        if len(strength) <= limit:
            return np.argsort(strength, kind="stable")
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        # 0 would be no edge, so the strongest one is a little above it. scipy 1.13 wants int32.
        ends = (self.first.astype("i4"), self.second.astype("i4"))
        numbered = coo_array((2.0 - strength, ends), shape=(self.size, self.size))
        tree = minimum_spanning_tree(numbered.tocsr()).tocoo()
        edges = self.first * self.size + self.second
        held = np.isin(edges, tree.row.astype("i8") * self.size + tree.col)
        rest = np.flatnonzero(~held)
        strongest = rest[np.argsort(-strength[rest], kind="stable")]
        chosen = np.concatenate([np.flatnonzero(held), strongest[: max(0, limit - held.sum())]])
        return chosen[np.argsort(strength[chosen], kind="stable")]

    def hubs(self, members: np.ndarray | None = None) -> np.ndarray:
        """Sort variables by their degree, the largest first.

        Parameters
        ----------
        members
            Which; all by default.
        """
        members = np.arange(self.size) if members is None else members
        return members[np.argsort(-self.degree[members], kind="stable")]

    def rank_within_component(self) -> tuple[np.ndarray, np.ndarray]:
        """Rank each variable by degree in its component, from 0; and give the size of that."""
        rank, size = np.empty(self.size, dtype="i8"), np.empty(self.size, dtype="i8")
        for group in self.components:
            rank[self.hubs(group)] = np.arange(len(group))
            size[group] = len(group)
        return rank, size


def links_of(pairs: PairTable, seed: int = 0) -> Links:
    """Read the network off a table of pairs.

    Parameters
    ----------
    pairs
        Result of `.genobit.kendall_pairs()`.
    seed
        Of the communities and of the layout.

    Examples
    --------
    >>> import pandas as pd
    >>> from genobit.kendall.network import PairTable
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [2, 3], "tau": [0.9, -0.7]})
    >>> links = links_of(PairTable(edges, ["MYC", "TP53", "MAX", "MXD1"], "gene"))
    >>> links.names.tolist(), links.degree.tolist(), links.first.tolist(), links.second.tolist()
    (['MYC', 'MAX', 'MXD1'], [2, 1, 1], [0, 0], [1, 2])
    """
    table = pairs.to_pandas()
    ends = table[[f"{pairs.dim}_0", f"{pairs.dim}_1"]].to_numpy("i8")
    variables, inverse = np.unique(ends, return_inverse=True)
    first, second = inverse.reshape(-1, 2).T
    tau = table[pairs.value].to_numpy("f8")
    return Links(pairs, seed, variables, pairs.names[variables], first, second, tau)


def rows_of(pairs: PairTable, rows: np.ndarray) -> PairTable:
    """Take some rows of a table of pairs, in the order asked for.

    Parameters
    ----------
    pairs
        The table.
    rows
        A mask, or places.
    """
    from genobit.kendall.network import PairTable

    edges = pairs.to_pandas()
    chosen = edges[rows] if rows.dtype == bool else edges.iloc[rows]
    return PairTable(chosen, pairs.names, pairs.dim, pairs.value, pairs.attrs)


def _groups(labels: np.ndarray) -> list[np.ndarray]:
    """The indices that share a label, the largest group first, then the one that begins first."""
    _, label = np.unique(labels, return_inverse=True)
    groups = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1])
    return sorted(groups, key=lambda group: (-len(group), group[0]))
