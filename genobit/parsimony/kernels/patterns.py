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

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.state_planes import MOST_STATES, different

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Drawn(NamedTuple):
    """Sites of positive weight, which resamples draw from."""

    of_site: NDArray[np.unsignedinteger]
    """The column of each, in as few bytes as hold it, (sites,) or from a file (1, sites, 1)."""
    weights: NDArray[np.unsignedinteger] | None
    """Of each site; None where all are 1."""

    def weights_again(self, generator: np.random.Generator, columns: int) -> NDArray[np.int64]:
        """Weights of all columns when as many sites are drawn with replacement, each with its own.

        They are drawn some at a time, and are those that would be drawn all at once.
        """
        totals, of_site = np.zeros(columns, np.int64), self.of_site.reshape(-1)
        sites = of_site.size
        for start in range(0, sites, DRAWN):
            drawn = generator.integers(sites, size=min(DRAWN, sites - start))
            if self.weights is None:
                totals += np.bincount(of_site[drawn], minlength=columns)
            else:
                np.add.at(totals, of_site[drawn], self.weights[drawn].astype(np.int64))
        return totals


DRAWN = 2**17
"""Sites that are drawn at a time."""


class Informative(NamedTuple):
    """Patterns whose length depends on the tree."""

    sets: NDArray[np.unsignedinteger]
    """State sets, states numbered in each pattern from 0, (taxa, patterns)."""
    weights: NDArray[np.int64]
    """(patterns,)."""
    of_column: NDArray[np.int64]
    """The pattern of each column of the alignment, -1 where it is the same on every tree."""
    singles: NDArray[np.int64]
    """Changes of each column that every tree has besides those of its pattern, (columns,)."""
    constant: int
    """Weighted sum of ``singles``."""

    def reweighted(self, weights: NDArray[np.integer]) -> Informative:
        """The same columns with other weights; patterns of weight 0 stay."""
        heavy = self.of_column >= 0
        totals = np.zeros_like(self.weights)
        np.add.at(totals, self.of_column[heavy], weights[heavy])
        constant = int(self.singles @ weights.astype(np.int64))
        return self._replace(weights=totals, constant=constant)


def informative(sets: NDArray[np.unsignedinteger], weights: NDArray[np.integer]) -> Informative:
    """Patterns for a search from different columns (taxa, columns) and a whole weight for each."""
    small = sets.copy()
    constants, counts = np.zeros(sets.shape[1], np.int64), np.zeros(sets.shape[1])
    _reduce(small, constants, counts)
    kept = np.flatnonzero(counts > 1)
    of_column = np.full(sets.shape[1], -1, np.int64)
    found = small[:, :0]
    if kept.size:
        # Different columns may be the same when their states are numbered anew.
        again = different(np.ascontiguousarray(small[:, kept]), np.ones(kept.size, np.int64))
        of_column[kept], found = again.of_site, again.sets
    empty = Informative(found, np.empty(found.shape[1], np.int64), of_column, constants, 0)
    return empty.reweighted(weights)


@njit
def _reduce(
    sets: NDArray[np.unsignedinteger],
    constants: NDArray[np.int64],
    counts: NDArray[np.float64],
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
        counts[pattern] = _renumber(column)
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
def _renumber(column: NDArray[np.uint64]) -> int:
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
