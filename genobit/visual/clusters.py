"""Order samples for a heatmap, with the tree behind the order.

The tree is average linkage (UPGMA) of the relationships. A node's height is the mean relationship
of the pairs it joins, so the tree has the units of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: Above this many samples, scipy's optimal leaf ordering is skipped: its time grows with the cube
#: (0.2 s for 500 samples, seconds for 2,000).
TURNED_SAMPLES = 600
#: Above this many samples, the pairs take gigabytes and samples keep the order of the data.
CLUSTERED_SAMPLES = 12_000
#: Up to this many samples, each sample has a line at the end of the tree.
STUBS = 60
#: At most this many merges are drawn: more merges than pixels only slow the page down.
DRAWN_MERGES = 500


@dataclass(frozen=True)
class Dendrogram:
    """An order of samples and its tree: `order[rank]` is the sample at that rank.

    `branches` has rows (x0, y0, x1, y1): x is the relationship at which clusters join, y is the
    rank. The first `joins` rows are the lines at the joins. `without` counts the samples at the end
    of the order that have no value with any other sample. `merges` is the linkage matrix of scipy
    for all other samples, in the order of the data. Its heights are `top` minus the relationship.
    """

    order: np.ndarray
    branches: np.ndarray
    joins: int
    without: int
    merges: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))
    top: float = 0.0

    @property
    def rank(self) -> np.ndarray:
        """Return the rank of each sample."""
        ranks = np.empty_like(self.order)
        ranks[self.order] = np.arange(len(self.order))
        return ranks


def cluster(values: np.ndarray, pairs: np.ndarray) -> Dendrogram:
    """Return the order and tree in which related samples are neighbours.

    values: (samples, samples) relationships, NaN where missing; pairs: (pairs,), the same values in
    scipy's condensed order. Samples without any value come last. A single missing pair counts as
    the mean.

    Examples
    --------
    >>> near, far = 0.5, 0.0
    >>> values = np.array([[1, far, near], [far, 1, far], [near, far, 1]])
    >>> tree = cluster(values, pairs=np.array([far, near, far]))
    >>> sorted(tree.order[np.isin(tree.order, [0, 2])].tolist()), tree.branches.shape
    ([0, 2], (6, 4))
    """
    n_samples = len(values)
    present = np.flatnonzero(_has_values(values))
    absent = np.setdiff1d(np.arange(n_samples), present)
    if n_samples == 1:  # it has no pair, but it may have calls
        present, absent = absent, present
    if len(present) < 2 or n_samples > CLUSTERED_SAMPLES:
        few = len(present) < 2
        order = np.concatenate([present, absent]) if few else np.arange(n_samples)
        return Dendrogram(order, np.empty((0, 4)), 0, len(absent))
    merges, top = _linkage(values, pairs, present)
    from scipy.cluster.hierarchy import leaves_list

    leaves = leaves_list(merges)
    order = np.concatenate([present[leaves], absent]).astype("i8")
    joins = min(DRAWN_MERGES, len(merges))
    branches = _branches(merges, leaves, top)
    return Dendrogram(order, branches, joins, len(absent), merges, top)


def _has_values(values: np.ndarray) -> np.ndarray:
    off_diagonal = (~np.isnan(values)).sum(axis=1) - ~np.isnan(np.diagonal(values))
    return off_diagonal > 0


def _linkage(
    values: np.ndarray, pairs: np.ndarray, present: np.ndarray
) -> tuple[np.ndarray, float]:
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(present) < len(values):
        pairs = squareform(values[np.ix_(present, present)].astype("f8"), checks=False)
    top = float(np.nanmax(pairs))
    distance = top - pairs
    missing = np.isnan(distance)
    if missing.any():
        distance[missing] = np.nanmean(distance)
    merges = linkage(distance, "average")
    if len(present) <= TURNED_SAMPLES:
        merges = optimal_leaf_ordering(merges, distance)
    return merges, top


def _branches(merges: np.ndarray, leaves: np.ndarray, top: float) -> np.ndarray:
    """Return the lines that join the children of each merge, then the lines down to the children.

    merges: (leaves - 1, 4) as scipy gives them; leaves: (leaves,); returns (lines, 4).
    """
    n_leaves = len(leaves)
    place = np.empty(2 * n_leaves - 1)
    place[leaves] = np.arange(n_leaves)
    height = np.concatenate([np.zeros(n_leaves), merges[:, 2]])
    children = merges[:, :2].astype("i8")
    for node, (left, right) in enumerate(children, start=n_leaves):
        place[node] = (place[left] + place[right]) / 2
    drawn = np.arange(max(0, n_leaves - 1 - DRAWN_MERGES), n_leaves - 1)
    at = top - merges[drawn, 2]
    below = top - height[children[drawn]]
    y = place[children[drawn]]
    # Lines from samples to their first join tell nothing, and many look like a grey block.
    stubs = n_leaves <= STUBS
    sides = [
        np.column_stack([at, y[:, k], below[:, k], y[:, k]])[
            (children[drawn, k] >= n_leaves) | stubs
        ]
        for k in (0, 1)
    ]
    return np.concatenate([np.column_stack([at, y[:, 0], at, y[:, 1]]), *sides])
