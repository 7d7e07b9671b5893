"""Dense ranks of the observations of each variable, and their ties.

All rank statistics follow from the ranks. The ties are in the denominators and variances of
Kendall's tau. With t the number of observations at each distinct value, a variable has

    pairs      sum of t (t - 1) / 2
    triples    sum of t (t - 1) (t - 2)
    levels     number of distinct values

scipy's sum of t (t - 1) (2 t + 5) equals 2 triples + 18 pairs. If observations are missing, all
three count the observations present in both variables of a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDE = 65_535
"""Observations from which ranks take 32 bits: 16 bits hold 65,535 levels and the missing mark."""
MOST_EXACT = 2**21
"""Most observations whose ordered triples fit 63 bits."""


def missing(ranks: NDArray[Any]) -> int:
    """Return the rank that marks a missing observation: the largest number of the dtype.

    Examples
    --------
    >>> import numpy as np
    >>> missing(np.zeros((1, 1), np.uint16))
    65535
    """
    return int(np.iinfo(ranks.dtype).max)


def missing_any(ranks: NDArray[Any]) -> bool:
    """Return whether any observation is missing."""
    return bool((ranks == missing(ranks)).any())


def ranked(values: NDArray[Any]) -> NDArray[Any]:
    """Return the dense ranks of the values of each variable.

    values: (variables, n) booleans, integers or floats; returns (variables, n) uint16, or uint32
    from 65,535 observations on.

    Values are compared as they are, without conversion. The smallest value of a row has rank 0,
    equal values have equal ranks, and ranks have no gaps.
    NaN gets the rank `missing`, infinities are values, and -0.0 equals 0.0.

    Examples
    --------
    >>> import numpy as np
    >>> ranked(np.array([[2.5, 1.0, np.nan, 2.5]])).tolist()
    [[1, 0, 65535, 1]]
    """
    variables, n = values.shape
    dtype = np.uint16 if n < WIDE else np.uint32
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    steps = np.zeros((variables, n), dtype)
    if n:
        steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    # A dense rank is at most n - 1, so the running sum cannot overflow.
    np.cumsum(steps, axis=1, dtype=dtype, out=steps)
    if values.dtype.kind == "f":
        steps[np.isnan(ordered)] = np.iinfo(dtype).max
    ranks = np.empty((variables, n), dtype)
    np.put_along_axis(ranks, order, steps, axis=1)
    return ranks


class Ties(NamedTuple):
    """Ties of variables (rows,), or of one variable within each pair (rows, columns)."""

    pairs: NDArray[np.int64]
    """Number of pairs of observations with the same value."""
    triples: NDArray[np.float64]
    """Ordered triples of observations with the same value; those of 2**21 fill 63 bits."""
    levels: NDArray[np.int32]
    """Number of distinct values."""

    def part(self, index: Any) -> Ties:
        """Return the ties at an index."""
        return Ties(self.pairs[index], self.triples[index], self.levels[index])


class TiesWithin(NamedTuple):
    """Observations and ties of pairs of variables, (rows, columns) each."""

    n: NDArray[np.int32]
    """Number of observations present in both variables."""
    rows: Ties
    """Ties of the row variable over these observations."""
    columns: Ties
    """Ties of the column variable over these observations."""


@njit
def _count(ranks: NDArray[Any], absent: int, counts: NDArray[np.int32]) -> None:
    """Count the observations of one variable at each rank; counts must cover all ranks."""
    counts[:] = 0
    for k in range(ranks.shape[0]):
        if ranks[k] != absent:
            counts[ranks[k]] += 1


@njit
def ordered_triples(t: Any) -> float:
    """Return t (t - 1) (t - 2) as a float, exact up to 2**53."""
    many = float(t)
    return many * (many - 1.0) * (many - 2.0)


@njit
def _sums(counts: NDArray[np.int32]) -> tuple[np.int64, np.int64, np.int64, np.int64, float]:
    """Return observations, tied pairs, triples modulo 2**64, levels and triples from counts."""
    n = pairs = triples = levels = np.int64(0)
    many = 0.0
    for rank in range(counts.shape[0]):
        t = np.int64(counts[rank])
        n += t
        pairs += t * (t - 1) // 2
        triples += t * (t - 1) * (t - 2)
        levels += t > 0
        many += ordered_triples(t)
    return n, pairs, triples, levels, many


@njit
def _ties(
    ranks: NDArray[Any],
    absent: int,
    counts: NDArray[np.int32],
    pairs: NDArray[np.int64],
    triples: NDArray[np.float64],
    levels: NDArray[np.int32],
) -> None:
    """Write pairs, triples and levels (rows,) of ranks (rows, n); counts (n,) is scratch."""
    for i in range(ranks.shape[0]):
        _count(ranks[i], absent, counts)
        _, pairs[i], _, levels[i], triples[i] = _sums(counts)


def ties(ranks: NDArray[Any]) -> Ties:
    """Return the ties of each variable over its present observations; ranks: (rows, n).

    Examples
    --------
    >>> import numpy as np
    >>> found = ties(np.array([[0, 0, 0, 1], [3, 1, 2, 0]], np.uint16))
    >>> found.pairs.tolist(), found.triples.tolist(), found.levels.tolist()
    ([3, 0], [6.0, 0.0], [2, 4])
    """
    rows = ranks.shape[0]
    found = Ties(np.empty(rows, np.int64), np.empty(rows), np.empty(rows, np.int32))
    counts = np.empty(ranks.shape[1], np.int32)
    _ties(np.ascontiguousarray(ranks), missing(ranks), counts, *found)
    return found


@njit
def _within(
    ranks: NDArray[Any],
    absent: int,
    places: NDArray[np.int32],
    starts: NDArray[np.int64],
    n: NDArray[np.int32],
    pairs: NDArray[np.int64],
    triples: NDArray[np.float64],
    levels: NDArray[np.int32],
) -> None:
    """Write the ties of ``ranks`` (rows, n) without the observations that each column misses.

    places[starts[j] : starts[j + 1]] are the observations that column j misses. n, pairs, triples
    and levels are (rows, columns). Missing observations are taken out of the counts and put back,
    so the cost of a pair is the number of missing values of its column.
    """
    counts = np.empty(ranks.shape[1], np.int32)
    for i in range(ranks.shape[0]):
        row = ranks[i]
        _count(row, absent, counts)
        whole = _sums(counts)
        tied = whole[1] > 0
        for j in range(n.shape[1]):
            left = whole[0]
            lost_pairs = lost_triples = lost_levels = np.int64(0)
            lost_many = 0.0
            for k in range(starts[j], starts[j + 1]):
                rank = row[places[k]]
                if rank == absent:
                    continue
                left -= 1
                if tied:
                    t = np.int64(counts[rank])
                    counts[rank] = t - 1
                    lost_pairs += t - 1
                    lost_triples += 3 * (t - 1) * (t - 2)
                    lost_many += 3.0 * float(t - 1) * float(t - 2)
                    lost_levels += t == 1
            if tied:
                for k in range(starts[j], starts[j + 1]):
                    rank = row[places[k]]
                    if rank != absent:
                        counts[rank] += 1
            n[i, j] = left
            pairs[i, j] = whole[1] - lost_pairs
            # Integers may wrap in between, but the difference is exact if it fits 63 bits. With
            # more observations, the difference of floats is as exact as the variance needs.
            few = left <= MOST_EXACT
            triples[i, j] = float(whole[2] - lost_triples) if few else whole[4] - lost_many
            levels[i, j] = whole[3] - lost_levels if tied else left


def _one_side(ranks: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[np.int32], Ties]:
    lost = other == missing(other)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lost.sum(axis=1))])
    places = np.nonzero(lost)[1].astype(np.int32)
    shape = ranks.shape[0], other.shape[0]
    n = np.empty(shape, np.int32)
    found = Ties(np.empty(shape, np.int64), np.empty(shape), np.empty(shape, np.int32))
    _within(np.ascontiguousarray(ranks), missing(ranks), places, starts, n, *found)
    return n, found


def ties_within(a: NDArray[Any], b: NDArray[Any] | None = None) -> TiesWithin:
    """Return the observations and ties of each pair over the observations present in both.

    a: (rows, n), b: (columns, n) dense ranks; without ``b``, ``a`` is paired with itself.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[0, 0, 1, 1]], np.uint16)
    >>> b = np.array([[0, 1, 65535, 2]], np.uint16)
    >>> found = ties_within(a, b)
    >>> found.n.item(), found.rows.pairs.item(), found.columns.levels.item()
    (3, 1, 3)
    """
    n, rows = _one_side(a, a if b is None else b)
    columns = rows if b is None else _one_side(b, a)[1]
    return TiesWithin(n, rows, Ties(columns.pairs.T, columns.triples.T, columns.levels.T))
