"""P-values of Kendall scores: exact without ties, asymptotic, and from permutations.

Each function makes one pass over the pairs of a tile and allocates no array of its size.

Without ties, all n! orders are equally likely. The last observation is discordant with any number
of the others, from 0 to n - 1. The share of orders with c discordant pairs therefore follows from
the shares for n - 1 (Kendall 1970, Rank Correlation Methods, chapter 5).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.tau import Whole, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.kendall.kernels.tau import ScoreCounts

SHORT = 33
"""Most observations for which "auto" is exact, as in scipy.stats.kendalltau."""
LARGEST_TABLE = 2**20
"""Most entries of the table of asymptotic p-values of one n: 8 MiB."""
LARGEST_EXACT = 2**25
"""Most entries of all tables of exact p-values: 256 MiB."""
SCALE = 2.0**200
"""Factor of shares in computation, so that the smallest p-values of float64 keep their digits."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""Smaller scaled shares are dropped: they are too small to change a p-value that is not 0."""
EXTREMES = np.array([2 / math.factorial(k) for k in range(179)])
"""2 / k! at index k: the p-value of 0 discordant pairs of k observations, or of 1 of k + 1."""
SIDES = {"two-sided": 0, "greater": 1, "less": -1}
"""Sign of the scores that speak for an alternative hypothesis; 0 for both."""


class Untied(NamedTuple):
    """Lookup tables of p-values for pairs of variables without ties."""

    exact: bool
    """Whether a score with at most one pair against the others has an exact p-value for any n."""
    longest: int
    """Most observations for which every score has an exact p-value."""
    starts: NDArray[np.int64]
    """Index into ``values`` of the table for n observations, at index n; -1 for no table."""
    values: NDArray[np.float64]
    """P-values by the number of discordant pairs, or of concordant pairs if there are fewer."""
    extremes: NDArray[np.float64]
    """`EXTREMES`."""


def _fewest(n: int) -> int:
    """Count the possible values of min(discordant, concordant) for n observations."""
    return n * (n - 1) // 4 + 1


@njit
def _one_more(share: NDArray[np.float64], low: int, n: int, size: int) -> NDArray[np.float64]:
    """Return the first ``size`` shares of n observations from those of n - 1.

    share: shares of n - 1 observations from ``low`` discordant pairs on; returns (size,).
    """
    out = np.empty(size)
    last = (n - 1) * (n - 2) // 2 - 2 * low
    total = 0.0
    for k in range(size):
        # The upper half mirrors the lower one.
        total += share[k] if k < share.size else share[last - k]
        if k >= n:
            total -= share[k - n]
        out[k] = total / n
    return out


def exact_tables(wanted: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Return the exact two-sided p-values of each n by min(discordant, concordant).

    ``wanted`` lists numbers of observations, rising, from 2 on. Entry c of a table is the
    probability that min(discordant, concordant) is at most c; its length is n (n - 1) // 4 + 1.

    Examples
    --------
    >>> exact_tables((3,))[0].round(3).tolist()
    [0.333, 1.0]
    """
    found = []
    # ``share`` holds the lower half of the distribution from ``low`` on; the upper half mirrors it.
    low, share = 0, np.full(1, SCALE)
    for n in range(2, (wanted[-1] if wanted else 1) + 1):
        most = _fewest(n)
        share = _one_more(share, low, n, most - low)
        # With many observations most shares are too small for float64, so drop them.
        few = int(np.searchsorted(share, SMALLEST))
        low, share = low + few, share[few:]
        if n in wanted:
            table = np.zeros(most)
            table[low:] = np.minimum(1.0, np.cumsum(share) / (SCALE / 2))
            found.append(table)
    return found


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
def _asymptotic_table(n: int, exact: bool, extremes: NDArray[np.float64]) -> NDArray[np.float64]:
    total = n * (n - 1) // 2
    out = np.empty(total // 2 + 1)
    for fewer in range(out.shape[0]):
        out[fewer] = asymptotic(total - 2 * fewer, n, (0, 0), (0, 0))
    if exact:
        for fewer in range(min(2, out.shape[0])):
            out[fewer] = extremes[min(n - fewer, extremes.shape[0] - 1)]
    return out


@functools.lru_cache(maxsize=4)
def untied(rule: str, longest: int, wanted: tuple[int, ...] = (), common: int = 0) -> Untied:
    """Build the tables of p-values for pairs without ties.

    ``rule`` is "auto", "exact" or "asymptotic", and ``longest`` is the largest number of
    observations of a pair. For "exact", ``wanted`` lists the numbers of observations that occur,
    rising. If all pairs have the same number, pass it as ``common``. Asymptotic p-values are then
    looked up, with the same bits.
    The rule "auto" follows scipy: exact up to 33 observations, and beyond if at most one pair is
    against the others. Raises ValueError if the tables of "exact" exceed `LARGEST_EXACT`.
    """
    numbers: tuple[int, ...] = ()
    exact_to = {"exact": longest, "auto": SHORT, "asymptotic": 0}[rule]
    if rule == "exact":
        numbers = tuple(n for n in wanted if n >= 2)
        if sum(map(_fewest, numbers)) > LARGEST_EXACT:
            msg = (
                f"pvalue='exact' of {numbers[-1]:,} observations takes tables of "
                f"{8 * sum(map(_fewest, numbers)) / 2**30:,.1f} GiB: use pvalue=True or "
                "'asymptotic', which are good from some 30 observations on"
            )
            raise ValueError(msg)
    elif rule == "auto":
        numbers = tuple(range(2, min(longest, SHORT) + 1))
    tables = dict(zip(numbers, exact_tables(numbers), strict=True))
    lookup = common >= 2 and common not in tables and _fewest(common) < LARGEST_TABLE
    if lookup and rule in {"auto", "asymptotic"}:
        tables[common] = _asymptotic_table(common, rule == "auto", EXTREMES)
    starts = np.full(longest + 1, -1, np.int64)
    start = 0
    for n, table in tables.items():
        starts[n] = start
        start += table.size
    values = np.concatenate([np.empty(0), *tables.values()])
    return Untied(rule == "auto", exact_to, starts, values, EXTREMES)


@njit
def _pvalues(
    score: NDArray[np.int64],
    n: NDArray[np.integer],
    x: tuple[NDArray[np.int64], NDArray[np.float64]],
    y: tuple[NDArray[np.int64], NDArray[np.float64]],
    side: int,
    exact: bool,
    longest: int,
    starts: NDArray[np.int64],
    values: NDArray[np.float64],
    extremes: NDArray[np.float64],
    out: NDArray[np.floating],
) -> None:
    """Write all p-values (rows, columns); x and y are tied pairs and triples.

    The other arguments are one of `SIDES` and the fields of `Untied`.
    """
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            m = np.int64(n[i, j])
            total = m * (m - 1) // 2
            if max(x[0][i, j], y[0][i, j]) == total:
                out[i, j] = np.nan
                continue
            # Without ties the p-value depends on n and the score alone.
            untied = x[0][i, j] == 0 and y[0][i, j] == 0
            fewer = (total - abs(score[i, j])) // 2
            against = side != 0 and side * score[i, j] <= 0
            if against and untied and (m <= longest or (exact and fewer <= 1)):
                # The observed score counts on both sides, so take the next score away from 0.
                fewer -= 1
            if fewer < 0:
                p = 0.0
            elif untied and starts[m] >= 0:
                p = values[starts[m] + fewer]
            elif untied and exact and fewer <= 1:
                p = extremes[min(m - fewer, extremes.shape[0] - 1)]
            else:
                ties_x, ties_y = (x[0][i, j], x[1][i, j]), (y[0][i, j], y[1][i, j])
                p = asymptotic(score[i, j], m, ties_x, ties_y)
            if side != 0:
                p = 1 - p / 2 if against else p / 2
            out[i, j] = p


def pvalues(
    counted: ScoreCounts, untied: Untied, alternative: str, out: NDArray[np.floating]
) -> None:
    """Write p-values of independence to ``out``, NaN where tau is NaN.

    ``untied`` holds the two-sided p-values of pairs without ties (see `untied`), ``alternative`` is
    a key of `SIDES`. One-sided, a score for the alternative has half the two-sided p-value, and a
    score against it 1 minus that half.
    """
    shape = counted.score.shape
    score, n = spread(shape, counted.score, counted.n)
    x = spread(shape, counted.rows.pairs, counted.rows.triples)
    y = spread(shape, counted.columns.pairs, counted.columns.triples)
    _pvalues(score, n, x, y, SIDES[alternative], *untied, out)


@njit
def count_further(
    score: NDArray[np.int64],
    observed: NDArray[np.int64],
    left: int,
    side: int,
    further: NDArray[np.int32],
) -> None:
    """Increment ``further`` where the score is at least as far to its side as the observed score.

    Column j of ``score`` is column ``left + j`` of the others; ``side`` is one of `SIDES`.
    """
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            k = left + j
            if side == 0:
                further[i, k] += abs(score[i, j]) >= abs(observed[i, k])
            else:
                further[i, k] += side * score[i, j] >= side * observed[i, k]


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
    counted: ScoreCounts, further: NDArray[np.int32], permutations: int, out: NDArray[np.floating]
) -> None:
    """Write permutation p-values: (further + 1) / (permutations + 1), NaN where tau is NaN.

    Adding 1 counts the observed order as one of the equally likely orders, so no p-value is 0.
    """
    x, y = spread(further.shape, counted.rows.pairs, counted.columns.pairs)
    n, _ = spread(further.shape, counted.n, 0)
    _shares(n, x, y, further, permutations, out)
