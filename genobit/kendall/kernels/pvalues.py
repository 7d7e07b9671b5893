"""P-values of Kendall scores without ties: a number for each n and number of discordant pairs.

Of n! equally likely orders, the share with at most c discordant pairs follows from that of n - 1: a
new last observation is discordant with any number of the n - 1 others, from none to all (Kendall
1970, Rank Correlation Methods, chapter 5).
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
"""Observations up to which "auto" is exact, as scipy.stats.kendalltau has it."""
LARGEST_TABLE = 2**20
"""Most entries of a table of the asymptotic p-values of one n: 8 MiB."""
LARGEST_EXACT = 2**25
"""Most entries of tables of exact p-values: 256 MiB."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""Shares below it are left out, so that p-values below about 1e-300 may be 0."""
EXTREMES = np.array([2.0 / math.factorial(k) for k in range(171)] + [0.0])
"""At index k, 2 / k!: the p-value of no discordant pair of k observations, or of one of k + 1."""


class Untied(NamedTuple):
    """How the p-value of a pair of variables without ties is found."""

    exact: bool
    """Whether a score with at most one pair against the others is exact for any n."""
    starts: NDArray[np.int64]
    """At index n, where the values of n observations start; -1 where there are none."""
    values: NDArray[np.float64]
    """P-values by the number of pairs that are discordant, or concordant if those are fewer."""
    extremes: NDArray[np.float64]
    """`EXTREMES`."""


def _fewest(n: int) -> int:
    """How many numbers of discordant (or concordant, if fewer) pairs n observations can have."""
    return n * (n - 1) // 4 + 1


@njit
def _one_more(share: NDArray[np.float64], low: int, n: int, size: int) -> NDArray[np.float64]:
    """Shares of n - 1 observations, from number ``low`` on -> the first ``size`` of n."""
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
    """Exact two-sided p-values for each n, by the number of discordant or concordant pairs.

    Parameters
    ----------
    wanted
        Numbers of observations, rising, from 2 on.

    Returns
    -------
        Of each n an array of n (n - 1) / 4 + 1 values: the probability that the fewer of the two
        kinds of pairs are as few as the index.

    Examples
    --------
    >>> exact_tables((3,))[0].round(3).tolist()
    [0.333, 1.0]
    """
    found = []
    # Shares of the numbers of pairs in the lower half, from ``low`` on. The upper half mirrors it.
    low, share = 0, np.ones(1)
    for n in range(2, (wanted[-1] if wanted else 1) + 1):
        most = _fewest(n)
        share = _one_more(share, low, n, most - low)
        # What float64 cannot hold is most of the range of many observations.
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
    """Tables of p-values for pairs without ties.

    Parameters
    ----------
    rule
        One of `RULES`.
    longest
        Most observations of a pair.
    wanted
        Numbers of observations that pairs have, rising: of "exact", whose tables are made for them.
    common
        Number of observations of all pairs, where it is one: its asymptotic p-values are looked
        up, not computed for each pair. The same bits either way.

    Raises
    ------
    ValueError
        For "exact" of so many observations that the tables would not fit `LARGEST_EXACT`.

    Notes
    -----
    scipy's "auto" is exact up to 33 observations, and past them where at most one pair is against
    the others.
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
