"""Scores of contingency tables (classes, cells, n), and the rule for tables that are not ranked.

The genotype of the last member changes fastest along the cells. A score has the same bits for any
coding of alleles, order of the members and order of the classes. Sums are exact in whole numbers,
and `interaction` fits the canonical table of all mirror images: floating-point sums depend on the
order of their terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.gemm.products import LARGEST_SHORT
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.logistic import interaction_ratio
from genobit.epistasis.kernels.mutual_information import BITS, Logarithms, mutual_information

if TYPE_CHECKING:
    from numpy.typing import NDArray

MUTUAL_INFORMATION, CHI2, GAIN, BOOST = range(4)


class Rule(NamedTuple):
    """The statistic that ranks combinations, and the limits below which one is not ranked."""

    statistic: int = MUTUAL_INFORMATION
    min_n: int = 0
    """Fewest samples without a missing call."""
    min_count: int = 0
    """Fewest samples of each class, and of each genotype cell that is not empty."""


class Branches(NamedTuple):
    """Parts of a score beside mutual information: True if the statistic needs it, else None.

    An argument that is None has its own type. numba leaves out the branches that it excludes, and
    does not compile the kernels that only these call.
    """

    chi2: bool | None
    gain: bool | None
    fit: bool | None
    """The logistic fit of `BOOST`."""


def branches_of(rule: Rule) -> Branches:
    """Return the parts of the score of a rule."""
    return Branches(
        True if rule.statistic == CHI2 else None,
        True if rule.statistic in {GAIN, BOOST} else None,
        True if rule.statistic == BOOST else None,
    )


@njit
def ranked(tables: NDArray[np.int32], k: int, n: int, rule: Rule) -> bool:
    """Return whether table k, of n samples, has enough samples to be ranked."""
    if n == 0 or n < rule.min_n:
        return False
    if rule.min_count <= 0:
        return True
    classes, cells, _ = tables.shape
    for x in range(cells):
        total = 0
        for c in range(classes):
            total += tables[c, x, k]
        if 0 < total < rule.min_count:
            return False
    for c in range(classes):
        size = 0
        for x in range(cells):
            size += tables[c, x, k]
        if size < rule.min_count:
            return False
    return True


@njit
def score(
    tables: NDArray[np.int32],
    k: int,
    rule: Rule,
    threshold: float,
    logarithms: Logarithms,
    chi2: bool | None,
    gain: bool | None,
    fit: bool | None,
) -> float:
    """Return the score of table k, NaN if it is not ranked.

    Below ``threshold`` the result may be an upper bound of the score that is also below it. The
    last three arguments are `Branches`.
    """
    information, n = mutual_information(tables, k, logarithms)
    if not ranked(tables, k, n, rule):
        return np.nan
    # Rounding may turn 0 into a small negative number.
    information = max(information, 0.0)
    if chi2 is not None:
        return pearson(tables, k)
    if gain is None:
        return information
    # Gain is at most the mutual information. The likelihood ratio of the interaction is at most
    # 2 n times the gain, because the additive fit is no worse than the fit of one variant.
    unit = 1 if fit is None else 2 * n
    most = unit * information
    if most >= threshold:
        most = unit * max(information - best_subset(tables, k, logarithms), 0.0)
        if fit is not None and most >= threshold:
            # Cap the fit at the bound: a table that the bound skips then never scores higher.
            most = min(most, interaction(tables, k))
    return most


@njit
def pearson(tables: NDArray[np.int32], k: int) -> float:
    """Return Pearson's chi2 of table k: the sum of (N n_xc - n_x N_c)^2 / (N n_x N_c)."""
    classes, cells, _ = tables.shape
    sizes = np.zeros(classes, np.int64)
    n = np.int64(0)
    for c in range(classes):
        for x in range(cells):
            sizes[c] += tables[c, x, k]
        n += sizes[c]
    # The sum is at most N times the number of classes: add whole multiples of a power of two.
    unit = 2.0 ** (np.ceil(np.log2(max(n * classes, 1))) - BITS)
    total = np.int64(0)
    for x in range(cells):
        cell = np.int64(0)
        for c in range(classes):
            cell += tables[c, x, k]
        for c in range(classes):
            if cell and sizes[c]:
                away = float(n * tables[c, x, k] - cell * sizes[c])
                total += np.int64(np.rint(away * away / (float(cell * sizes[c]) * n) / unit))
    return total * unit


@njit
def best_subset(tables: NDArray[np.int32], k: int, logarithms: Logarithms) -> float:
    """Return the largest mutual information of all members but one, with the same samples."""
    classes, cells, _ = tables.shape
    reduced = np.empty((classes, cells // 3, 1), tables.dtype)
    best = 0.0
    step = 1
    while step < cells:
        for c in range(classes):
            for x in range(cells // 3):
                start = x // step * 3 * step + x % step
                reduced[c, x, 0] = (
                    tables[c, start, k]
                    + tables[c, start + step, k]
                    + tables[c, start + 2 * step, k]
                )
        information, _ = mutual_information(reduced, int(np.int64(0)), logarithms)
        best = max(best, information)
        step *= 3
    return best


@njit
def canonical(tables: NDArray[np.float64], exchange: bool) -> NDArray[np.float64]:
    """Return the lexicographically smallest image of two tables (2, 3, 3) of a pair of variants.

    Images come from reversing rows, reversing columns and exchanging the variants. ``exchange``
    also exchanges the two tables.
    """
    best, image = tables.copy(), np.empty((2, 3, 3))
    for number in range(1, 16 if exchange else 8):
        smaller = 0
        for t in range(2):
            for a in range(3):
                for b in range(3):
                    i, j = (b, a) if number & 4 else (a, b)
                    i, j = 2 - i if number & 1 else i, 2 - j if number & 2 else j
                    found = tables[1 - t if number & 8 else t, i, j]
                    image[t, a, b] = found
                    if smaller == 0 and found != best[t, a, b]:
                        smaller = 1 if found < best[t, a, b] else -1
            if smaller < 0:
                break
        if smaller > 0:
            best, image = image, best
    return best


@njit
def interaction(tables: NDArray[np.int32], k: int) -> float:
    """Return the likelihood ratio of the interaction of two variants on two classes."""
    counts = np.empty((2, 3, 3))
    for c in range(2):
        for x in range(9):
            counts[c, x // 3, x % 3] = tables[c, x, k]
    counts = canonical(counts, exchange=True)
    return interaction_ratio(counts[0], counts[1])


@njit
def _scores(
    tables: NDArray[Any],
    rule: Rule,
    logarithms: Logarithms,
    chi2: bool | None,
    gain: bool | None,
    fit: bool | None,
) -> NDArray[np.float64]:
    out = np.empty(tables.shape[2])
    for k in range(tables.shape[2]):
        out[k] = score(tables, k, rule, -np.inf, logarithms, chi2, gain, fit)
    return out


def ranked_scores(
    tables: NDArray[np.int32], rule: Rule, logarithms: Logarithms
) -> NDArray[np.float64]:
    """Return the score (n,) of each table (classes, cells, n), NaN if it is not ranked."""
    # The type of a search, so that its compiled scores serve here, too.
    short = tables.sum(axis=1).max(initial=0) <= LARGEST_SHORT
    counts = tables.astype(np.int16 if short else np.int32, order="C")
    return _scores(counts, rule, logarithms, *branches_of(rule))


def scores_of(
    tables: NDArray[np.int32], statistic: int, logarithms: Logarithms
) -> NDArray[np.float64]:
    """Return the score (n,) of each table (classes, cells, n), with the same bits as a search."""
    return ranked_scores(tables, Rule(statistic), logarithms)
