"""Ties of ranked variables: what the denominators and the variances of Kendall's tau need of them.

With t the number of observations at each distinct value, a variable has

    pairs      sum of t (t - 1) / 2
    triples    sum of t (t - 1) (t - 2)
    levels     number of distinct values

and scipy's sum of t (t - 1) (2 t + 5) is 2 triples + 18 pairs. Where observations are missing all
three are those of the observations that both variables of a pair have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.ranks import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_EXACT = 2**21
"""Observations whose ordered triples fit 63 bits."""


class Ties(NamedTuple):
    """Ties of variables (rows,), or of one variable in each pair (rows, columns)."""

    pairs: NDArray[np.int64]
    """Pairs of observations with the same value."""
    triples: NDArray[np.float64]
    """Ordered triples of observations with the same value: those of 2**21 fill 63 bits."""
    levels: NDArray[np.int32]
    """Distinct values."""


class TiesWithin(NamedTuple):
    """What pairs of variables have over the observations present in both, (rows, columns) each."""

    n: NDArray[np.int32]
    """Observations present in both."""
    rows: Ties
    """Ties of the variable of the row."""
    columns: Ties
    """Ties of the variable of the column."""


@njit
def _count(ranks: NDArray[Any], absent: int, counts: NDArray[np.int32]) -> None:
    """Observations of one variable at each rank; counts must be at least as long."""
    counts[:] = 0
    for k in range(ranks.shape[0]):
        if ranks[k] != absent:
            counts[ranks[k]] += 1


@njit
def ordered_triples(t: Any) -> float:
    """t (t - 1) (t - 2) of any count, exact up to 2**53."""
    many = float(t)
    return many * (many - 1.0) * (many - 2.0)


@njit
def _sums(counts: NDArray[np.int32]) -> tuple[np.int64, np.int64, np.int64, np.int64, float]:
    """Counts of each rank -> observations, tied pairs, triples modulo 2**64, levels, triples."""
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
    pairs: NDArray[np.int64],
    triples: NDArray[np.float64],
    levels: NDArray[np.int32],
) -> None:
    """Ranks (rows, n) -> pairs, triples, levels (rows,)."""
    counts = np.empty(ranks.shape[1], np.int32)
    for i in range(ranks.shape[0]):
        _count(ranks[i], absent, counts)
        _, pairs[i], _, levels[i], triples[i] = _sums(counts)


def ties(ranks: NDArray[Any]) -> Ties:
    """Ties of each variable over the observations it has.

    Parameters
    ----------
    ranks
        Dense ranks (rows, n) of `ranks.ranked`.

    Examples
    --------
    >>> import numpy as np
    >>> found = ties(np.array([[0, 0, 0, 1], [3, 1, 2, 0]], np.uint16))
    >>> found.pairs.tolist(), found.triples.tolist(), found.levels.tolist()
    ([3, 0], [6.0, 0.0], [2, 4])
    """
    rows = ranks.shape[0]
    found = Ties(np.empty(rows, np.int64), np.empty(rows), np.empty(rows, np.int32))
    _ties(np.ascontiguousarray(ranks), missing(ranks), *found)
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
    """Ties of ``ranks`` (rows, n) without the observations that another variable misses.

    places[starts[j] : starts[j + 1]] are those that column j misses; n, pairs, triples, levels are
    (rows, columns). Observations are taken out one by one and put back: a pair costs as much as
    its column misses.
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
            # Whole numbers wrap on the way and are right in the end, if that fits 63 bits; of more
            # observations a difference of floats is as exact as the variance it goes into.
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
    """Observations and ties of each pair of variables, over the observations present in both.

    Parameters
    ----------
    a, b
        Dense ranks (rows, n) and (columns, n) of `ranks.ranked`. Without ``b``, ``a`` with itself.

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
