"""Kendall's tau and Somers' D from scores, observations and ties of pairs of variables.

Each function makes one pass over the pairs of a tile and allocates no array of its size. Every
expression gives the same bits for (x, y) and (y, x), so a result does not depend on the side of the
diagonal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.kendall.kernels.ranks import Ties

A, B, C, D_ROWS, D_COLUMNS = range(5)
Whole = int | np.int64
"""An integer count. Kernels convert counts to np.int64, as int() in numba keeps 32 bits."""
STATISTICS = {
    "tau_a": A,
    "tau_b": B,
    "tau_c": C,
    "somers_d_rows": D_ROWS,
    "somers_d_columns": D_COLUMNS,
}


class ScoreCounts(NamedTuple):
    """Counts of a block of pairs; each field broadcasts to the shape of the score."""

    score: NDArray[np.int64]
    """Number of concordant less discordant pairs of observations."""
    n: NDArray[np.integer] | int
    """Number of observations present in both variables."""
    rows: Ties
    """Ties of the row variable over these observations."""
    columns: Ties
    """Ties of the column variable over these observations."""


class Block(NamedTuple):
    """Counts of some rows and columns of a tile."""

    rows: slice
    columns: slice
    counted: ScoreCounts


@njit
def _coefficient(
    code: int,
    score: Whole,
    n: Whole,
    ties_x: Whole,
    ties_y: Whole,
    levels_x: Whole,
    levels_y: Whole,
) -> float:
    total = n * (n - 1) // 2
    if max(np.int64(ties_x), np.int64(ties_y)) == total:
        # Also true for fewer than two observations, which have no pairs.
        return np.nan
    untied_x, untied_y = float(total - ties_x), float(total - ties_y)
    if code == A:
        value = score / float(total)
    elif code == B:
        # The root of an exact square is exact, so a variable has tau-b 1 with itself.
        value = score / math.sqrt(untied_x * untied_y)
    elif code == C:
        levels = float(min(np.int64(levels_x), np.int64(levels_y)))
        value = 2.0 * score / (float(n) * float(n) * (levels - 1.0) / levels)
    else:
        # Somers' denominator keeps the pairs tied in the dependent variable.
        value = score / (untied_y if code == D_ROWS else untied_x)
    # Rounding may exceed 1.
    return value if abs(value) < 1.0 else math.copysign(1.0, value)


@njit
def _coefficients(
    code: int,
    score: NDArray[np.int64],
    n: NDArray[np.integer],
    x: tuple[NDArray[np.int64], NDArray[np.int32]],
    y: tuple[NDArray[np.int64], NDArray[np.int32]],
    out: NDArray[np.floating],
) -> None:
    """Write all coefficients (rows, columns); x and y are tied pairs and levels."""
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            out[i, j] = _coefficient(
                code,
                score[i, j],
                np.int64(n[i, j]),
                x[0][i, j],
                y[0][i, j],
                x[1][i, j],
                y[1][i, j],
            )


def spread(shape: tuple[int, ...], first: Any, second: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Broadcast both arguments to one shape, so that numba compiles each kernel only once."""
    return np.broadcast_to(first, shape), np.broadcast_to(second, shape)


def coefficients(counted: ScoreCounts, statistic: str, out: NDArray[np.floating]) -> None:
    """Write tau or Somers' D of a block of pairs to ``out``.

    ``statistic`` is a key of `STATISTICS`. Writes NaN for a constant variable and for fewer than
    two observations.
    """
    shape = counted.score.shape
    score, n = spread(shape, counted.score, counted.n)
    x = spread(shape, counted.rows.pairs, counted.rows.levels)
    y = spread(shape, counted.columns.pairs, counted.columns.levels)
    _coefficients(STATISTICS[statistic], score, n, x, y, out)
