"""Scores of trees by parsimony, of an alignment in memory or chunk by chunk.

Lengths, and the sums of the fewest and the most changes, are added up over chunks in whole numbers
or exact fractions; results by site stand side by side. So nothing depends on the chunks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.characters import Characters, sets_in
from genobit.engine.schedule.sites import by_sites
from genobit.parsimony import lengths as parsimony

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding


class Trees(NamedTuple):
    """Trees to score, and how."""

    parents: Sequence[NDArray[np.int64]]
    costs: NDArray[np.float64] | None
    kernel: str
    sites: bool
    """Results by site, too."""


class Scores(NamedTuple):
    """Scores of trees, of an alignment or of some of its sites."""

    lengths: NDArray[Any]
    """(trees,), of costs exact numbers."""
    changes: NDArray[Any] | None
    """(trees, sites), not weighted."""
    total: NDArray[np.int64]
    """The fewest and the most changes of all sites on any tree, weighted, (2,); not of costs."""
    bounds: NDArray[np.int64] | None
    """Those of each site, not weighted, (2, sites); not of costs."""


def scores(
    values: NDArray[Any] | da.Array,
    coding: Coding,
    taxa: Sequence[str],
    trees: Trees,
    weights: NDArray[np.int64] | None = None,
) -> Scores:
    """Score trees.

    Parameters
    ----------
    values
        The alignment (taxa, sites); of a lazy one few chunks are held at a time.
    coding, taxa
        What its entries stand for, and the names of its taxa.
    trees
        The trees, and how they are scored.
    weights
        Of each site, 1 by default.

    Raises
    ------
    ValueError
        For an entry that is no symbol, and for a kernel or costs that do not go with the trees.

    Examples
    --------
    >>> from genobit.data.characters import Coding
    >>> dna = Coding("dna", tuple("ACGT"), "missing")
    >>> trees = Trees([np.array([3, 3, 4, 4, -1])], None, "planes", sites=True)
    >>> found = scores(np.array([list("AC"), list("AT"), list("GC")]), dna, "abc", trees)
    >>> found.lengths.tolist(), found.changes.tolist(), found.total.tolist()
    ([2], [[1, 1]], [2, 2])
    """
    parsimony.check(coding.symbols, trees.parents, trees.costs, trees.kernel)
    score = partial(_of_part, coding=coding, taxa=taxa, trees=trees)
    if not isinstance(values, da.Array):
        return score(values, 0, weights, shared=True)
    number = values.shape[1]
    whole = _empty(trees, number)
    for first, part in by_sites(score, values, weights):
        stop = first + (0 if part.changes is None else part.changes.shape[1])
        if whole.changes is not None:
            whole.changes[:, first:stop] = part.changes
        if whole.bounds is not None:
            whole.bounds[:, first:stop] = part.bounds
        whole = whole._replace(lengths=whole.lengths + part.lengths, total=whole.total + part.total)
    return whole


def _empty(trees: Trees, sites: int) -> Scores:
    """Nothing counted yet."""
    number, costs = len(trees.parents), trees.costs is not None
    lengths = np.zeros(number, object if costs else np.int64)
    changes = np.empty((number, sites), float if costs else np.int64) if trees.sites else None
    bounds = np.empty((2, sites), np.int64) if trees.sites and not costs else None
    return Scores(lengths, changes, np.zeros(2, np.int64), bounds)


def _of_part(
    values: NDArray[Any],
    first: int,
    weights: NDArray[np.int64] | None = None,
    *,
    coding: Coding,
    taxa: Sequence[str],
    trees: Trees,
    shared: bool = False,
) -> Scores:
    """Scores of some sites, from ``first`` on."""
    sets = sets_in(values, coding, taxa, first)
    if not trees.sites and weights is not None and not weights.any():
        return _empty(trees, 0)
    found = parsimony.columns(Characters(sets, coding.symbols), weights, sites=trees.sites)
    of_site = found.patterns.of_site
    how: dict[str, Any] = {"costs": trees.costs, "kernel": trees.kernel, "shared": shared}
    changes = None
    if trees.sites:
        by_pattern = parsimony.tree_changes(found, trees.parents, **how)
        lengths = parsimony.weighted(by_pattern, found.weights)
        changes = by_pattern[:, of_site]
    else:
        lengths = parsimony.tree_lengths(found, trees.parents, **how)
    if trees.costs is not None:
        return Scores(lengths, changes, np.zeros(2, np.int64), None)
    bounds = np.stack(parsimony.bounds(found))
    by_site = bounds[:, of_site] if trees.sites else None
    return Scores(lengths, changes, bounds @ found.weights, by_site)
