"""Kendall scores of variables with few levels, from contingency tables by popcounts of planes.

A plane of a variable marks the observations at or above a level. The product of all planes counts,
for each pair of variables,

    C[p, q] = observations with x >= p and y >= q

N[p, q], the observations at both levels, is a difference of four entries of C. Each observation is
concordant with those above it in both variables. It is discordant with those above it in x and
below it in y:

    score = sum of N[p, q] (C[p + 1, q + 1] - (C[p + 1, 0] - C[p + 1, q]))

If nothing is missing, level 0 needs no plane, as its counts depend on one variable only. Otherwise
the plane of level 0 marks the observations that are present. `genotype_tables` does this for
genotypes, whose planes exist already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.words import count_rows
from genobit.engine.pairwise.statistic import counted
from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.ranks import missing, missing_any
from genobit.kendall.kernels.ties import ties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Planes

MOST_LEVELS = 2048
"""Most levels of a variable: the table of a pair has the square of the levels as cells."""


@njit
def _planes(ranks: NDArray[Any], absent: int, first: int, levels: int, out: Any) -> None:
    """Set the bits of ``ranks >= level`` in row ``variable * group + level - first`` of out."""
    group = levels - first
    for i in range(ranks.shape[0]):
        for k in range(ranks.shape[1]):
            if ranks[i, k] == absent:
                continue
            bit = np.uint64(1) << np.uint64(k % 64)
            for level in range(first, ranks[i, k] + 1):
                out[i * group + level - first, k // 64] |= bit


def planes(ranks: NDArray[Any], first: int, levels: int) -> Planes:
    """Return the planes of levels ``first`` to ``levels - 1`` of each variable, by variable."""
    rows, n = ranks.shape
    out = np.zeros((rows * (levels - first), -(-n // 64)), np.uint64)
    _planes(ranks, missing(ranks), first, levels, out)
    return (out,)


@njit
def _from_table(at_least: NDArray[np.int64]) -> Any:
    """Return the score from C (levels + 1, levels + 1), whose last row and column are 0."""
    score = np.int64(0)
    for p in range(at_least.shape[0] - 1):
        above = at_least[p + 1, 0]
        for q in range(at_least.shape[1] - 1):
            both, right = at_least[p + 1, q + 1], at_least[p + 1, q]
            here = at_least[p, q] - right - at_least[p, q + 1] + both
            score += here * (both - above + right)
    return score


@njit
def _block(
    counts: NDArray[np.int32],
    first: int,
    levels: int,
    n: int,
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    diagonal: int,
    out: NDArray[np.int64],
) -> None:
    """Write the scores of rows and columns to ``out`` from the counts of their planes.

    x, y: observations in each plane of the rows and of the columns; out: (rows, columns). Row i
    has counts from column ``i + diagonal`` on.
    """
    group = levels - first
    at_least = np.zeros((levels + 1, levels + 1), np.int64)
    for i in range(out.shape[0]):
        for j in range(max(0, i + diagonal), out.shape[1]):
            for p in range(group):
                for q in range(group):
                    at_least[first + p, first + q] = counts[i * group + p, j * group + q]
            if first:
                at_least[0, 0] = n
                for p in range(group):
                    at_least[1 + p, 0] = x[i * group + p]
                    at_least[0, 1 + p] = y[j * group + p]
            out[i, j] = _from_table(at_least)


def _levels(ranks: NDArray[Any]) -> int:
    found = ties(ranks).levels
    if found.max(initial=0) > MOST_LEVELS:
        row = int(np.argmax(found > MOST_LEVELS))
        msg = (
            f"variable {row} of a tile has {found[row]:,} levels and tables of counts take up to "
            f"{MOST_LEVELS:,}: use kernel='auto'"
        )
        raise ValueError(msg)
    return int(found.max(initial=1))


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of the rows of ``a`` with those of ``b`` to ``out``.

    a: (rows, n), b: (columns, n); writes out (rows, columns), with ``upper`` only where row <=
    column. Raises ValueError if a variable has more than `MOST_LEVELS` levels.
    """
    levels = max(_levels(a), _levels(b))
    first = 0 if missing_any(a) or missing_any(b) else 1
    group = levels - first
    if not group or not a.shape[1]:
        out[:] = 0
        return
    of_a = planes(a, first, levels)
    of_b = of_a if a is b else planes(b, first, levels)
    x, y = count_rows(of_a[0]), count_rows(of_b[0])
    x, y = x.reshape(-1, group), y.reshape(-1, group)
    for rows, columns, diagonal, counts in counted("and", of_a, of_b, group=group, upper=upper):
        of_rows, of_columns = x[rows].ravel(), y[columns].ravel()
        table = first, levels, a.shape[1], of_rows, of_columns, diagonal, out[rows, columns]
        _block(counts, *table)
