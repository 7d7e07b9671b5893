"""P-values of Kendall scores without ties, by n and number of discordant pairs.

All n! orders are equally likely. The last observation is discordant with any number of the others,
from 0 to n - 1. The share of orders with c discordant pairs therefore follows from the shares for
n - 1 (Kendall 1970, Rank Correlation Methods, chapter 5).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.tau import asymptotic

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULES = ("auto", "exact", "asymptotic")
SHORT = 33
"""Most observations for which "auto" is exact, as in scipy.stats.kendalltau."""
LARGEST_TABLE = 2**20
"""Most entries of the table of asymptotic p-values of one n: 8 MiB."""
LARGEST_EXACT = 2**25
"""Most entries of all tables of exact p-values: 256 MiB."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""Smaller shares are dropped, so p-values below about 1e-300 may be 0."""
EXTREMES = np.array([2.0 / math.factorial(k) for k in range(171)] + [0.0])
"""2 / k! at index k: the p-value of 0 discordant pairs of k observations, or of 1 of k + 1."""


class Untied(NamedTuple):
    """Lookup tables of p-values for pairs of variables without ties."""

    exact: bool
    """Whether a score with at most one pair against the others has an exact p-value for any n."""
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
    low, share = 0, np.ones(1)
    for n in range(2, (wanted[-1] if wanted else 1) + 1):
        most = _fewest(n)
        share = _one_more(share, low, n, most - low)
        # With many observations most shares are too small for float64, so drop them.
        few = int(np.searchsorted(share, SMALLEST))
        low, share = low + few, share[few:]
        if n in wanted:
            table = np.zeros(most)
            table[low:] = np.minimum(1.0, 2.0 * np.cumsum(share))
            found.append(table)
    return found


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

    ``rule`` is one of `RULES`, and ``longest`` is the largest number of observations of a pair. For
    "exact", ``wanted`` lists the numbers of observations that occur, rising. If all pairs have the
    same number, pass it as ``common``. Asymptotic p-values are then looked up, with the same bits.
    The rule "auto" follows scipy: exact up to 33 observations, and beyond if at most one pair is
    against the others. Raises ValueError if the tables of "exact" exceed `LARGEST_EXACT`.
    """
    numbers: tuple[int, ...] = ()
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
    return Untied(rule == "auto", starts, values, EXTREMES)
