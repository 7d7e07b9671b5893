"""Site patterns: unique columns of an alignment, and their reduction for a search.

A search removes states and patterns that have the same length on every tree. Three rules
preserve the differences of length between trees (unordered states, Fitch's lengths):

- A state is dropped if all of its taxa may also have one other state, which can replace it
  everywhere. This removes states that occur only in ambiguity codes.
- A state of a single taxon, not counting missing taxa, costs one change on every tree. The change
  is added to the constant, and the taxon becomes missing.
- A pattern with a single state left has the same length on every tree and is dropped.

States are then renumbered in each pattern. Three quarters of the informative patterns of
nucleotides are left with two states, and take two planes instead of four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STATES = 64
"""Most states of a set in 64 bits."""


class Patterns(NamedTuple):
    """Unique columns of an alignment."""

    sets: NDArray[Any]
    """State sets, (rows, patterns)."""
    weights: NDArray[np.int64]
    """Number of sites with each pattern, or the sum of their weights, descending, (patterns,)."""
    of_site: NDArray[np.int64]
    """Pattern of each site, -1 for sites of weight 0, (sites,)."""


class Drawn(NamedTuple):
    """Sites of positive weight, from which resamples are drawn."""

    of_site: NDArray[np.unsignedinteger]
    """Column of each site in the smallest integer type, (sites,), or mapped (1, sites, 1)."""
    weights: NDArray[np.unsignedinteger] | None
    """Weight of each site; None if all are 1."""

    def weights_again(self, generator: np.random.Generator, columns: int) -> NDArray[np.int64]:
        """Draw as many sites as there are, with replacement; return the weights of all columns.

        A drawn site adds its own weight. Sites are drawn in pieces of `DRAWN`; the result equals a
        single draw of all sites.
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
"""Sites drawn at a time."""


class Informative(NamedTuple):
    """Patterns whose length depends on the tree."""

    sets: NDArray[np.unsignedinteger]
    """State sets, with states renumbered from 0 in each pattern, (taxa, patterns)."""
    weights: NDArray[np.int64]
    """Weight of each pattern, (patterns,)."""
    of_column: NDArray[np.int64]
    """Pattern of each column of the alignment, -1 for the same length on every tree."""
    singles: NDArray[np.int64]
    """Changes of each column on every tree, besides the changes of its pattern, (columns,)."""
    constant: int
    """Weighted sum of ``singles``."""

    def reweighted(self, weights: NDArray[np.integer]) -> Informative:
        """Return the same columns with other weights (columns,); patterns of weight 0 stay."""
        heavy = self.of_column >= 0
        totals = np.zeros_like(self.weights)
        np.add.at(totals, self.of_column[heavy], weights[heavy])
        constant = int(self.singles @ weights.astype(np.int64))
        return self._replace(weights=totals, constant=constant)


def compressed(sets: NDArray[np.unsignedinteger], weights: NDArray[np.integer]) -> Patterns:
    """Return the unique columns of state sets (rows, sites) as uint64, with summed weights."""
    found = different(sets, weights)
    return found._replace(sets=found.sets.astype(np.uint64))


def different(sets: NDArray[np.unsignedinteger], weights: NDArray[np.integer]) -> Patterns:
    """Return the unique columns of state sets (rows, sites), with summed weights (sites,)."""
    heavy = np.flatnonzero(weights > 0)
    used = sets if heavy.size == weights.size else sets[:, heavy]
    columns = np.ascontiguousarray(used.T)
    # Sorting each column as one value of bytes is 30 times faster than np.unique(axis=1).
    keys = columns.view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    totals = np.bincount(inverse, weights[heavy], first.size).astype(np.int64)
    # Patterns of equal weight keep the order of their first sites.
    order = np.lexsort((first, -totals))
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    of_site = np.full(weights.size, -1, np.int64)
    of_site[heavy] = rank[inverse]
    return Patterns(np.ascontiguousarray(columns[first[order]].T), totals[order], of_site)


def informative(sets: NDArray[np.unsignedinteger], weights: NDArray[np.integer]) -> Informative:
    """Reduce unique columns (taxa, columns) with integer weights (columns,) for a search."""
    small = sets.copy()
    constants, counts = np.zeros(sets.shape[1], np.int64), np.zeros(sets.shape[1])
    _reduce(small, constants, counts)
    kept = np.flatnonzero(counts > 1)
    of_column = np.full(sets.shape[1], -1, np.int64)
    found = small[:, :0]
    if kept.size:
        # Different columns may become equal once their states are renumbered.
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
    """Apply the rules to each pattern in place; ``counts`` receives the number of states left."""
    taxa, patterns = sets.shape
    column = np.empty(taxa, np.uint64)
    for pattern in range(patterns):
        every = np.uint64(0)
        for taxon in range(taxa):
            column[taxon] = sets[taxon, pattern]
            every |= column[taxon]
        changed = True
        while changed:
            every, changed = _without_dominated(column, every)
            every, single = _without_single(column, every)
            if single:
                constants[pattern] += 1
                changed = True
        counts[pattern] = _renumber(column)
        for taxon in range(taxa):
            sets[taxon, pattern] = column[taxon]


@njit
def _without_dominated(column: NDArray[np.uint64], every: np.uint64) -> tuple[np.uint64, bool]:
    """Drop each state that another state can replace wherever it occurs."""
    one, changed = np.uint64(1), False
    for s in range(MOST_STATES):
        bit = one << np.uint64(s)
        if not every & bit:
            continue
        # States that every taxon with state s may also have.
        others = every & ~bit
        for value in column:
            if value & bit:
                others &= value
        if others:
            every &= ~bit
            _drop(column, bit)
            changed = True
    return every, changed


@njit
def _drop(column: NDArray[np.uint64], bit: np.uint64) -> None:
    for taxon in range(column.size):
        column[taxon] &= ~bit


@njit
def _without_single(column: NDArray[np.uint64], every: np.uint64) -> tuple[np.uint64, bool]:
    """Drop a state of a single taxon, which becomes missing; the last state is kept."""
    one = np.uint64(1)
    if not every & (every - one):
        return every, False
    for s in range(MOST_STATES):
        bit = one << np.uint64(s)
        if not every & bit:
            continue
        number, where = 0, 0
        for taxon in range(column.size):
            # A missing taxon can take any state, so it is not counted.
            if column[taxon] & bit and column[taxon] != every:
                number += 1
                where = taxon
        if number == 1:
            every &= ~bit
            _drop(column, bit)
            column[where] = every
            return every, True
    return every, False


@njit
def _renumber(column: NDArray[np.uint64]) -> int:
    """Renumber the states by first appearance; return their number.

    States of unambiguous taxa come first. States of an ambiguous taxon keep their order.
    """
    one = np.uint64(1)
    codes = np.empty(MOST_STATES, np.int64)
    for s in range(MOST_STATES):
        codes[s] = -1
    count = 0
    for narrow in (True, False):
        # Unambiguous taxa first: the possible states of missing taxa must not decide the order.
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
