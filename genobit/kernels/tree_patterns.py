"""Site patterns made small for a search: what is the same on every tree is left out.

Three rules keep the differences of lengths between trees (unordered states, Fitch's lengths):

- a state whose taxa all may have another state, too, can be that other state everywhere, so it is
  dropped: with it go the states that only ambiguity codes have;
- a state of one taxon alone, but for missing ones, is one change on every tree, and its taxon then
  says nothing more: the change goes to the constant, the taxon becomes missing;
- a pattern that is left with one state is the same on every tree.

States are then numbered anew in each pattern. Three quarters of the informative patterns of
nucleotides are left with two states and take two planes instead of four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit._jit import njit
from genobit.kernels.state_planes import MOST_STATES, compressed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.kernels.state_planes import Patterns


class Informative(NamedTuple):
    """Patterns whose length depends on the tree."""

    sets: NDArray[np.uint64]
    """State sets, states numbered in each pattern from 0, (taxa, patterns)."""
    weights: NDArray[np.int64]
    """(patterns,)."""
    of_site: NDArray[np.int64]
    """The pattern of each site, -1 for sites that are the same on every tree, (sites,)."""
    singles: NDArray[np.int64]
    """Changes of each site that every tree has besides those of its pattern, (sites,)."""
    constant: int
    """Weighted sum of ``singles``."""

    def reweighted(self, weights: NDArray[np.integer]) -> Informative:
        """The same sites with other weights; those of weight 0 stay."""
        heavy = self.of_site >= 0
        totals = np.bincount(self.of_site[heavy], weights[heavy], self.weights.size)
        constant = int(self.singles @ weights.astype(np.int64))
        return self._replace(weights=totals.astype(np.int64), constant=constant)


def informative(sets: NDArray[np.uint64], weights: NDArray[np.integer]) -> Informative:
    """Patterns for a search from state sets (taxa, sites) and a whole weight for each site."""
    return informative_of(compressed(sets, np.ones(sets.shape[1], np.int64)), weights)


def informative_of(whole: Patterns, weights: NDArray[np.integer]) -> Informative:
    """Patterns for a search from the different columns of all sites, and weights of the sites."""
    small = whole.sets.copy()
    constants, counts = np.zeros(whole.weights.size, np.int64), np.zeros(whole.weights.size)
    _reduce(small, constants, counts)
    kept = np.flatnonzero(counts > 1)
    sites = np.asarray(weights, np.int64)
    singles = constants[whole.of_site]
    of_site = np.full(sites.size, -1, np.int64)
    found = np.empty((small.shape[0], 0), np.uint64)
    if kept.size:
        # Different patterns may be the same when their states are numbered anew.
        again = compressed(np.ascontiguousarray(small[:, kept]), np.ones(kept.size, np.int64))
        place = np.full(whole.weights.size, -1, np.int64)
        place[kept] = again.of_site
        of_site, found = place[whole.of_site], again.sets
    empty = Informative(found, np.empty(found.shape[1], np.int64), of_site, singles, 0)
    return empty.reweighted(sites)


@njit
def _reduce(
    sets: NDArray[np.uint64], constants: NDArray[np.int64], counts: NDArray[np.float64]
) -> None:
    """Apply the rules to each pattern; ``counts`` receives the states that are left."""
    taxa, patterns = sets.shape
    column = np.empty(taxa, np.uint64)
    for pattern in range(patterns):
        column[:] = sets[:, pattern]
        every = np.uint64(0)
        for taxon in range(taxa):
            every |= column[taxon]
        changed = True
        while changed:
            every, changed = _without_dominated(column, every)
            every, single = _without_single(column, every)
            if single:
                constants[pattern] += 1
                changed = True
        counts[pattern] = _renumber(column, every)
        sets[:, pattern] = column


@njit
def _without_dominated(column: NDArray[np.uint64], every: np.uint64) -> tuple[np.uint64, bool]:
    """Drop states that can be another one wherever they are."""
    one, changed = np.uint64(1), False
    for s in range(MOST_STATES):
        bit = one << np.uint64(s)
        if not every & bit:
            continue
        # States that all taxa with s may have.
        others = every & ~bit
        for value in column:
            if value & bit:
                others &= value
        if others:
            every &= ~bit
            column &= every
            changed = True
    return every, changed


@njit
def _without_single(column: NDArray[np.uint64], every: np.uint64) -> tuple[np.uint64, bool]:
    """Drop a state of one taxon, which becomes missing; the last state stays."""
    one = np.uint64(1)
    if not every & (every - one):
        return every, False
    for s in range(MOST_STATES):
        bit = one << np.uint64(s)
        if not every & bit:
            continue
        number, where = 0, 0
        for taxon in range(column.size):
            # A missing taxon follows its neighbours.
            if column[taxon] & bit and column[taxon] != every:
                number += 1
                where = taxon
        if number == 1:
            every &= ~bit
            column &= every
            column[where] = every
            return every, True
    return every, False


@njit
def _renumber(column: NDArray[np.uint64], every: np.uint64) -> int:
    """Number states in the order in which taxa have them, those of one taxon as they were."""
    one = np.uint64(1)
    codes = np.full(MOST_STATES, -1, np.int64)
    count = 0
    for narrow in (True, False):
        # Taxa with one state first: what missing taxa may be says nothing of the order.
        for value in column:
            if narrow and value & (value - one):
                continue
            for s in range(MOST_STATES):
                if value & (one << np.uint64(s)) and codes[s] < 0:
                    codes[s] = count
                    count += 1
    for taxon in range(column.size):
        new = np.uint64(0)
        for s in range(MOST_STATES):
            if column[taxon] >> np.uint64(s) & one:
                new |= one << np.uint64(codes[s])
        column[taxon] = new
    return count
