"""Parsimony of trees: lengths, changes of sites and indices of homoplasy.

The length of a tree is a sum over sites: the weight times the fewest changes that explain the taxa
(Fitch 1971, Systematic Zoology 20: 406-416). Nodes of more than two children follow Hartigan (1973,
Biometrics 29: 53-65), and costs of changes follow Sankoff (1975, SIAM Journal on Applied
Mathematics 28: 35-42).

A site has s changes on the tree, at least m on any tree, and g on a star. The consistency index is
m / s (Kluge & Farris 1969, Systematic Zoology 18: 1-32). The retention index is (g - s) / (g - m)
(Farris 1989, Cladistics 5: 417-419). For several sites, s, m and g are weighted sums.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from genobit.data.columns import numbers_of, values
from genobit.data.topology import is_binary
from genobit.engine.schedule.computing import compute
from genobit.parsimony.kernels import fitch, hartigan, sankoff
from genobit.parsimony.kernels.patterns import Patterns, compressed
from genobit.parsimony.kernels.planes import state_planes, weight_planes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from genobit.data.characters import Characters
    from genobit.data.topology import Children

_BATCH_WORK = 10**8
"""States x patterns x nodes of one task, which takes a few hundredths of a second."""


class Columns(NamedTuple):
    """Unique columns of an alignment, ready for any number of trees."""

    patterns: Patterns
    weights: NDArray[np.int64]
    """Summed weight of the sites of each pattern, (patterns,)."""
    planes: NDArray[np.uint64]
    symbols: tuple[str, ...]


class Indices(NamedTuple):
    """Consistency, retention and rescaled consistency index; NaN where an index is 0 / 0."""

    ci: NDArray[np.float64]
    ri: NDArray[np.float64]
    rc: NDArray[np.float64]


def columns(
    characters: Characters, weights: NDArray[np.int64] | None = None, *, sites: bool = True
) -> Columns:
    """Compress an alignment to its unique columns, as bit planes.

    weights: (sites,), 1 by default. ``sites`` keeps sites of weight 0, for results by site.

    Examples
    --------
    >>> from genobit.data.characters import state_sets
    >>> found = columns(state_sets([["A", "C", "A"], ["A", "T", "A"]], "dna"))
    >>> found.weights.tolist(), found.patterns.of_site.tolist()
    ([2, 1], [0, 1, 0])
    """
    sets, symbols = characters
    if weights is None:
        weights = np.ones(sets.shape[1], np.int64)
    patterns = compressed(sets, np.ones_like(weights) if sites else weights)
    totals = np.zeros(patterns.weights.size, np.int64)
    used = patterns.of_site >= 0
    np.add.at(totals, patterns.of_site[used], weights[used])
    return Columns(patterns, totals, state_planes(patterns.sets, len(symbols)), symbols)


def whole_weights(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Check weights (sites,) and return them as int64.

    Raises ValueError unless all are integers from 0, below 2**31, and one of them is not 0.

    Examples
    --------
    >>> whole_weights(np.array([1, 2.0, 0])).tolist()
    [1, 2, 0]
    """
    bad = ~((values >= 0) & (values < 2**31) & (values == np.floor(values)))
    if bad.any():
        site = int(np.flatnonzero(bad)[0])
        if np.isnan(values[site]):
            raise ValueError(f"weights[{site}] is missing: give 0 to leave the site out")
        msg = (
            f"weights[{site}] is {values[site]:.17g}, expected whole numbers from 0, below 2**31: "
            "multiply fractions by a common denominator, and divide lengths by it"
        )
        raise ValueError(msg)
    if not values.any():
        raise ValueError("all weights= are 0: give a positive one to the sites that count")
    return values.astype(np.int64)


def cost_matrix(costs: ArrayLike, symbols: tuple[str, ...]) -> NDArray[np.float64]:
    """Check costs of changes (states, states), from the row's state to the column's.

    Raises ValueError for another shape, for negative costs or NaN, and for a diagonal that is not
    0: lengths would then count branches.

    Examples
    --------
    >>> cost_matrix([[0, 1], [2, 0]], ("0", "1")).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    found = numbers_of(values(costs, "costs"), "costs", "give numbers")
    states = len(symbols)
    if found.shape != (states, states):
        msg = (
            f"costs= has shape {found.shape}, expected ({states}, {states}): from and to each of "
            f"the states {', '.join(symbols)}"
        )
        raise ValueError(msg)
    bad = ~(found >= 0)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        msg = f"costs[{symbols[i]}, {symbols[j]}] is {found[i, j]}, expected 0 or more"
        raise ValueError(msg)
    if (diagonal := found.diagonal()).any():
        i = np.flatnonzero(diagonal)[0]
        msg = (
            f"costs[{symbols[i]}, {symbols[i]}] is {found[i, i]}, expected 0: keeping a "
            "state is not a change; set the diagonal to 0"
        )
        raise ValueError(msg)
    return found


def tree_changes(
    found: Columns,
    trees: Sequence[Children],
    *,
    costs: NDArray[np.float64] | None = None,
    shared: bool = True,
) -> NDArray[Any]:
    """Return the changes of each pattern on each tree, or their costs.

    Returns (trees, patterns), int64, or float64 with costs. trees: children of the nodes of each
    tree. ``shared`` distributes trees over dask tasks; pass False inside a task.

    Examples
    --------
    >>> from genobit.data.characters import state_sets
    >>> from genobit.data.topology import children
    >>> found = columns(state_sets([["A", "C"], ["A", "T"], ["G", "C"]], "dna"))
    >>> tree_changes(found, [children(np.array([3, 3, 4, 4, -1]))]).tolist()
    [[1, 1]]
    """

    def batch_changes(batch: Sequence[Children]) -> NDArray[Any]:
        return np.stack([_changes(found, tree, costs) for tree in batch])

    return _in_batches(batch_changes, found, trees, shared=shared)


def _changes(found: Columns, tree: Children, costs: NDArray[np.float64] | None) -> NDArray[Any]:
    if costs is not None:
        return sankoff.tree_costs(found.patterns.sets, tree.starts, tree.members, costs)
    return hartigan.changes(found.planes, tree, found.weights.size)


def tree_lengths(
    found: Columns,
    trees: Sequence[Children],
    *,
    costs: NDArray[np.float64] | None = None,
    shared: bool = True,
) -> NDArray[Any]:
    """Return lengths of trees without the changes of each site, which is faster for binary trees.

    Returns (trees,), int64, or exact numbers with costs (`weighted`). Arguments: as for
    `tree_changes`.

    Examples
    --------
    >>> from genobit.data.characters import state_sets
    >>> from genobit.data.topology import children
    >>> found = columns(state_sets([["A", "C"], ["A", "T"], ["G", "C"]], "dna"))
    >>> trees = [children(np.array(parents)) for parents in ([3, 3, 4, 4, -1], [3, 3, 3, -1])]
    >>> tree_lengths(found, trees).tolist()
    [2, 2]
    """
    by_site = costs is not None or not all(is_binary(t) for t in trees)

    def batch_lengths(batch: Sequence[Children]) -> NDArray[Any]:
        if by_site:
            changes = (_changes(found, tree, costs) for tree in batch)
            return np.concatenate([weighted(each[None], found.weights) for each in changes])
        # Each task needs its own copy, because trees are scored in place.
        space = fitch.workspace(found.planes, weight_planes(found.weights))
        return np.array([space.length(tree) for tree in batch], np.int64)

    return _in_batches(batch_lengths, found, trees, shared=shared)


def weighted(changes: NDArray[Any], weights: NDArray[np.int64]) -> NDArray[Any]:
    """Sum changes (trees, patterns) by weight (patterns,), without patterns of weight 0.

    Sums of float64 costs are exact: an object array with a `Fraction` or infinity for each tree.
    They do not depend on how an alignment is chunked.

    Examples
    --------
    >>> weighted(np.array([[1, 2], [0, 3]]), np.array([2, 1])).tolist()
    [4, 3]
    >>> weighted(np.array([[0.5, 2.0], [0.0, np.inf]]), np.array([3, 1])).tolist()
    [Fraction(7, 2), inf]
    """
    # An infinite cost at a site of weight 0 must not count.
    heavy = weights > 0
    if changes.dtype.kind != "f":
        return changes[..., heavy] @ weights[heavy]
    sums = np.empty(len(changes), object)
    for tree, costs in enumerate(changes[:, heavy]):
        sums[tree] = _exact_sum(costs, weights[heavy])
    return sums


def _exact_sum(costs: NDArray[np.float64], weights: NDArray[np.int64]) -> Fraction | float:
    if np.isinf(costs).any():
        return float("inf")
    different, which = np.unique(costs, return_inverse=True)
    totals = np.zeros(different.size, np.int64)
    np.add.at(totals, which, weights)
    each = zip(different.tolist(), totals.tolist(), strict=True)
    return sum((Fraction(cost) * total for cost, total in each), Fraction(0))


def indices(s: NDArray[Any], m: NDArray[Any], g: NDArray[Any]) -> Indices:
    """Return the indices of homoplasy from changes s, fewest changes m and most changes g.

    Examples
    --------
    >>> [float(index) for index in indices(np.array(4), np.array(2), np.array(6))]
    [0.5, 0.5, 0.25]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ci, ri = m / s, (g - s) / (g - m)
    # A site without a change gives 0 / 0: no warning, and NaN as its index.
    return Indices(ci, ri, ci * ri)


def check_root(
    trees: Sequence[Children], costs: NDArray[np.float64], symbols: tuple[str, ...]
) -> None:
    """Raise ValueError for costs that differ by direction, unless all trees have a root.

    A sampled taxon, which is repeated among the children, is a root.
    """
    differ = np.argwhere(costs != costs.T)
    if not differ.size:
        return
    i, j = differ[0]
    for number, tree in enumerate(trees):
        top = tree.members[tree.starts[-2] :]
        below = top.size
        if below > 2 and np.unique(top).size == below:
            msg = (
                f"costs= differ by direction, {symbols[i]} to {symbols[j]} is {costs[i, j]} and "
                f"back is {costs[j, i]}, so the tree needs a root, but the root of tree {number} "
                f"has {below} branches, as in an unrooted tree: root it on an outgroup"
            )
            raise ValueError(msg)


def _in_batches(
    batch_of: Callable[[Sequence[Children]], NDArray[Any]],
    found: Columns,
    trees: Sequence[Children],
    *,
    shared: bool,
) -> NDArray[Any]:
    """Compute values of trees, with one task for each batch that is worth one."""
    size = max(
        1, _BATCH_WORK // max(1, found.weights.size * len(found.symbols) * trees[0].starts.size)
    )
    if len(trees) <= size or not shared:
        return batch_of(trees)
    batches = [trees[first : first + size] for first in range(0, len(trees), size)]
    return np.concatenate(compute(*[delayed(batch_of)(batch) for batch in batches]))
