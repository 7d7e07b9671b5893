"""Network structure of a table of correlated pairs, for its plots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.data.pairs.network import rows_of

if TYPE_CHECKING:
    from genobit.data.pairs.network import Network


@dataclass(frozen=True)
class Links:
    """Edges between the variables that have an edge.

    `variables` are their positions in the data, ascending, and `names` their names. `first` and
    `second` index into both, one entry per edge; `tau` holds the values of the edges.
    """

    pairs: Network
    seed: int
    variables: np.ndarray
    names: np.ndarray
    first: np.ndarray
    second: np.ndarray
    tau: np.ndarray

    @property
    def size(self) -> int:
        """Number of variables with an edge."""
        return len(self.variables)

    @cached_property
    def degree(self) -> np.ndarray:
        """Degree of each variable."""
        return self.pairs.degree().to_numpy()

    @cached_property
    def components(self) -> list[np.ndarray]:
        """Variables of each connected component, largest component first."""
        return _groups(self.pairs.components().to_numpy())

    @cached_property
    def community(self) -> np.ndarray:
        """Community of each variable, numbered from 0, largest first."""
        return self.pairs.communities(self.seed).to_numpy()

    @cached_property
    def communities(self) -> list[np.ndarray]:
        """Variables of each community, largest community first."""
        return _groups(self.community)

    @cached_property
    def community_names(self) -> np.ndarray:
        """Name of the community of each variable: its number and its hub."""
        digits = len(str(len(self.communities)))
        names = [
            f"{k + 1:0{digits}d} {self.names[self.hubs(group)[0]]}"
            for k, group in enumerate(self.communities)
        ]
        return np.array(names, dtype=object)[self.community]

    def layout(self) -> np.ndarray:
        """Return the coordinates of the variables, (variables, 2), in arbitrary units."""
        return self.pairs.layout(self.seed).to_numpy(copy=True)

    def within(self, variables: np.ndarray) -> Links:
        """Return the edges between the variables at some positions in the data."""
        inside = np.isin(self.variables, variables)
        keep = inside[self.first] & inside[self.second]
        return links_of(rows_of(self.pairs, keep), self.seed)

    def of_variable(self, variable: int) -> Links:
        """Return the edges of the variable at a position in the data."""
        here = np.flatnonzero(self.variables == variable)
        keep = np.isin(self.first, here) | np.isin(self.second, here)
        return links_of(rows_of(self.pairs, keep), self.seed)

    def backbone(self, limit: int) -> np.ndarray:
        """Select the edges to draw: a maximum spanning forest, then the strongest.

        Returns indices of edges, weakest first, so that the strongest are drawn on top. There are
        at most ``limit``, unless the forest needs more.
        """
        strength = np.abs(self.tau)
        if len(strength) <= limit:
            return np.argsort(strength, kind="stable")
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        # A sparse 0 is no edge, so weights start at 1 for the strongest. scipy 1.13 needs int32.
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
        """Sort variables by degree, highest first; ``members`` limits them to some variables."""
        members = np.arange(self.size) if members is None else members
        return members[np.argsort(-self.degree[members], kind="stable")]

    def rank_within_component(self) -> tuple[np.ndarray, np.ndarray]:
        """Return each variable's rank by degree in its component, from 0, and that size."""
        rank, size = np.empty(self.size, dtype="i8"), np.empty(self.size, dtype="i8")
        for group in self.components:
            rank[self.hubs(group)] = np.arange(len(group))
            size[group] = len(group)
        return rank, size


def links_of(pairs: Network, seed: int = 0) -> Links:
    """Build the network of a table of pairs; ``seed`` sets its communities and layout.

    Examples
    --------
    >>> import pandas as pd
    >>> from genobit.data.pairs.network import Network
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [2, 3], "tau": [0.9, -0.7]})
    >>> links = links_of(Network(edges, ["MYC", "TP53", "MAX", "MXD1"], "gene"))
    >>> links.names.tolist(), links.degree.tolist(), links.first.tolist(), links.second.tolist()
    (['MYC', 'MAX', 'MXD1'], [2, 1, 1], [0, 0], [1, 2])
    """
    table = pairs.to_dataframe()
    ends = table[[f"{pairs.dim}_0", f"{pairs.dim}_1"]].to_numpy("i8")
    variables, inverse = np.unique(ends, return_inverse=True)
    first, second = inverse.reshape(-1, 2).T
    tau = table[pairs.value].to_numpy("f8")
    return Links(pairs, seed, variables, pairs.names[variables], first, second, tau)


def _groups(labels: np.ndarray) -> list[np.ndarray]:
    """Return the indices with each label, from label 0 on."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
