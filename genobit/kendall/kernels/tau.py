"""Kendall's tau, Somers' D and p-values from scores, observations and ties of pairs of variables.

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

    from genobit.kendall.kernels.pvalues import Untied
    from genobit.kendall.kernels.ties import Ties

A, B, C, D_ROWS, D_COLUMNS = range(5)
Whole = int | np.int64
"""An integer count. Kernels convert counts to np.int64, as int() in numba keeps 32 bits."""
VARIANTS = {"a": A, "b": B, "c": C, "d_rows": D_ROWS, "d_columns": D_COLUMNS}


class Counted(NamedTuple):
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
    counted: Counted


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
    if max(ties_x, ties_y) == total:
        # Also true for fewer than two observations, which have no pairs.
        return np.nan
    untied_x, untied_y = float(total - ties_x), float(total - ties_y)
    if code == A:
        value = score / float(total)
    elif code == B:
        # The root of an exact square is exact, so a variable has tau-b 1 with itself.
        value = score / math.sqrt(untied_x * untied_y)
    elif code == C:
        levels = float(min(levels_x, levels_y))
        value = 2.0 * score / (float(n) * float(n) * (levels - 1.0) / levels)
    else:
        # Somers' denominator keeps the pairs tied in the dependent variable.
        value = score / (untied_y if code == D_ROWS else untied_x)
    return min(1.0, max(-1.0, value))


@njit
def asymptotic(score: Whole, n: Whole, x: tuple[Whole, float], y: tuple[Whole, float]) -> float:
    """Return the two-sided normal p-value with the variance under ties (Kendall 1970, chapter 4).

    x and y are (tied pairs, tied triples): sum t (t - 1) / 2 and sum t (t - 1) (t - 2).
    """
    pairs = n * (n - 1)
    # Floats hold these integers exactly up to 100,000 observations, so the order of addition does
    # not matter. In 63 bits, cubes of 1.3 million would overflow.
    fives = 18.0 * float(x[0] + y[0]) + 2.0 * (float(x[1]) + float(y[1]))
    variance = (float(pairs) * float(2 * n + 5) - fives) / 18.0
    variance += 2.0 * (float(x[0]) * float(y[0])) / float(pairs)
    if n > 2:
        variance += float(x[1]) * float(y[1]) / (9.0 * float(pairs) * float(n - 2))
    return math.erfc(abs(float(score)) / math.sqrt(variance) / math.sqrt(2.0))


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


@njit
def _pvalues(
    score: NDArray[np.int64],
    n: NDArray[np.integer],
    x: tuple[NDArray[np.int64], NDArray[np.float64]],
    y: tuple[NDArray[np.int64], NDArray[np.float64]],
    exact: bool,
    starts: NDArray[np.int64],
    values: NDArray[np.float64],
    extremes: NDArray[np.float64],
    out: NDArray[np.floating],
) -> None:
    """Write all p-values (rows, columns); x and y are tied pairs and triples.

    The other arguments are the fields of `Untied`.
    """
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            m = np.int64(n[i, j])
            total = m * (m - 1) // 2
            if max(x[0][i, j], y[0][i, j]) == total:
                out[i, j] = np.nan
                continue
            if x[0][i, j] == 0 and y[0][i, j] == 0:
                # Without ties the p-value depends on n and the score alone.
                fewer = (total - abs(score[i, j])) // 2
                if starts[m] >= 0:
                    out[i, j] = values[starts[m] + fewer]
                    continue
                if exact and fewer <= 1:
                    out[i, j] = extremes[min(m - fewer, extremes.shape[0] - 1)]
                    continue
            ties_x, ties_y = (x[0][i, j], x[1][i, j]), (y[0][i, j], y[1][i, j])
            out[i, j] = asymptotic(score[i, j], m, ties_x, ties_y)


def _spread(shape: tuple[int, ...], first: Any, second: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Broadcast both arguments to one shape, so that numba compiles each kernel only once."""
    return np.broadcast_to(first, shape), np.broadcast_to(second, shape)


def coefficients(counted: Counted, variant: str, out: NDArray[np.floating]) -> None:
    """Write tau or Somers' D of a block of pairs to ``out``.

    ``variant`` is a key of `VARIANTS`. Writes NaN for a constant variable and for fewer than two
    observations.
    """
    shape = counted.score.shape
    score, n = _spread(shape, counted.score, counted.n)
    x = _spread(shape, counted.rows.pairs, counted.rows.levels)
    y = _spread(shape, counted.columns.pairs, counted.columns.levels)
    _coefficients(VARIANTS[variant], score, n, x, y, out)


def pvalues(counted: Counted, untied: Untied, out: NDArray[np.floating]) -> None:
    """Write two-sided p-values of independence to ``out``, NaN where tau is NaN.

    ``untied`` holds the p-values of pairs without ties (`genobit.kendall.kernels.pvalues.untied`).
    """
    shape = counted.score.shape
    score, n = _spread(shape, counted.score, counted.n)
    x = _spread(shape, counted.rows.pairs, counted.rows.triples)
    y = _spread(shape, counted.columns.pairs, counted.columns.triples)
    _pvalues(score, n, x, y, *untied, out)


@njit
def count_further(
    score: NDArray[np.int64], observed: NDArray[np.int64], further: NDArray[np.int32]
) -> None:
    """Increment ``further`` where the score is at least as far from 0 as the observed score."""
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            further[i, j] += abs(score[i, j]) >= abs(observed[i, j])


@njit
def _shares(
    n: NDArray[np.integer],
    ties_x: NDArray[np.int64],
    ties_y: NDArray[np.int64],
    further: NDArray[np.int32],
    permutations: int,
    out: NDArray[np.floating],
) -> None:
    for i in range(further.shape[0]):
        for j in range(further.shape[1]):
            m = np.int64(n[i, j])
            total = m * (m - 1) // 2
            if max(ties_x[i, j], ties_y[i, j]) == total:
                out[i, j] = np.nan
            else:
                out[i, j] = (further[i, j] + 1.0) / (permutations + 1.0)


def shares(
    counted: Counted, further: NDArray[np.int32], permutations: int, out: NDArray[np.floating]
) -> None:
    """Write permutation p-values: (further + 1) / (permutations + 1), NaN where tau is NaN.

    Adding 1 counts the observed order as one of the equally likely orders, so no p-value is 0.
    """
    x, y = _spread(further.shape, counted.rows.pairs, counted.columns.pairs)
    n, _ = _spread(further.shape, counted.n, 0)
    _shares(n, x, y, further, permutations, out)
