"""Scores of trees by parsimony, for an alignment in memory or chunk by chunk.

Lengths and the sums of the fewest and most changes are added over chunks as integers or exact
fractions. Results by site are concatenated. Results therefore do not depend on the chunks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.characters import Characters, sets_in
from genobit.data.coded_text import coded
from genobit.engine.schedule.passes import by_sites
from genobit.parsimony import lengths as parsimony
from genobit.parsimony.kernels import change_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding
    from genobit.data.topology import Children


class Trees(NamedTuple):
    """Trees to score, and options of scoring."""

    trees: Sequence[Children]
    costs: NDArray[np.float64] | None
    sites: bool
    """Whether to return results by site."""


class Scores(NamedTuple):
    """Scores of trees on an alignment or on some of its sites."""

    lengths: NDArray[Any]
    """Length of each tree, (trees,); exact numbers with costs."""
    changes: NDArray[Any] | None
    """Changes of each site, not weighted, (trees, sites)."""
    total: NDArray[np.int64]
    """Weighted sums of the fewest and the most changes on any tree, (2,); 0 with costs."""
    bounds: NDArray[np.int64] | None
    """Fewest and most changes of each site, not weighted, (2, sites); None with costs."""


def scores(
    values: NDArray[Any] | da.Array,
    coding: Coding,
    taxa: Sequence[str],
    trees: Trees,
    weights: NDArray[np.int64] | None = None,
) -> Scores:
    """Score trees on an alignment, a few chunks at a time if it is lazy.

    values: (taxa, sites); weights: (sites,), 1 by default. Raises ValueError for an entry that is
    no symbol, and for costs that need a root that a tree does not have.

    Examples
    --------
    >>> from genobit.data.characters import Coding
    >>> from genobit.data.topology import children
    >>> dna = Coding("dna", tuple("ACGT"), "missing")
    >>> trees = Trees([children(np.array([3, 3, 4, 4, -1]))], None, sites=True)
    >>> found = scores(np.array([list("AC"), list("AT"), list("GC")]), dna, "abc", trees)
    >>> found.lengths.tolist(), found.changes.tolist(), found.total.tolist()
    ([2], [[1, 1]], [2, 2])
    """
    if trees.costs is not None:
        parsimony.check_root(trees.trees, trees.costs, coding.symbols)
    values, coding = coded(values, coding)
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
    """Return scores of no sites, to which parts are added."""
    number, costs = len(trees.trees), trees.costs is not None
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
    """Score trees on the sites of one part, which starts at site ``first``."""
    sets = sets_in(values, coding, taxa, first)
    if not trees.sites and weights is not None and not weights.any():
        return _empty(trees, 0)
    found = parsimony.columns(Characters(sets, coding.symbols), weights, sites=trees.sites)
    of_site = found.patterns.of_site
    how: dict[str, Any] = {"costs": trees.costs, "shared": shared}
    changes = None
    if trees.sites:
        by_pattern = parsimony.tree_changes(found, trees.trees, **how)
        lengths = parsimony.weighted(by_pattern, found.weights)
        changes = by_pattern[:, of_site]
    else:
        lengths = parsimony.tree_lengths(found, trees.trees, **how)
    if trees.costs is not None:
        return Scores(lengths, changes, np.zeros(2, np.int64), None)
    bounds = np.stack(change_bounds.bounds(found.patterns.sets, len(found.symbols)))
    by_site = bounds[:, of_site] if trees.sites else None
    return Scores(lengths, changes, bounds @ found.weights, by_site)
