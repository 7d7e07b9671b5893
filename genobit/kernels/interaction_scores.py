"""Scores that combinations are ranked by, of tables (classes, cells, n), and when one is refused.

Cells are numbered with the last member's genotype changing fastest. Sums run over the cells in
their order, so that a score has the same bits wherever its table stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit._jit import njit
from genobit.kernels.table_scores import mutual_information

if TYPE_CHECKING:
    from numpy.typing import NDArray

MUTUAL_INFORMATION, CHI2, GAIN, BOOST = range(4)
SWEEPS = 10_000
SLACK = 1 + 1e-9
"""More than rounding takes from a bound."""
CONVERGED = 1e-12
"""Change of a fitted share in a sweep at which the fit stands. The statistic's error is of second
order in it."""


class Rule(NamedTuple):
    """What combinations are ranked by, and which are not ranked."""

    statistic: int = MUTUAL_INFORMATION
    min_n: int = 0
    """Fewest samples without a missing call."""
    min_count: int = 0
    """Fewest samples of each class, and of each genotype cell that is not empty."""


@njit
def least_relative_chi2(statistic: int, score: float, samples: int) -> float:
    """The least 1 + chi2 / n that a combination with this score can have, of at most ``samples``.

    MI <= ln(1 + chi2 / n), and the interaction's likelihood ratio is at most 2 n MI.
    """
    if statistic == CHI2:
        return 1 + score / samples
    if statistic == BOOST:
        return np.exp(score / (2 * samples))
    return np.exp(score)


@njit
def ranked(tables: NDArray[np.int32], k: int, n: int, rule: Rule) -> bool:
    """Whether table k of n samples has enough of them."""
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
    logarithms: NDArray[np.float64],
) -> float:
    """Score of table k, NaN if it is not ranked; anything below the threshold if it is below."""
    information, n = mutual_information(tables, k, logarithms)
    if not ranked(tables, k, n, rule):
        return np.nan
    # What is 0 may come out a rounding below it.
    information = max(information, 0.0)
    if rule.statistic == MUTUAL_INFORMATION:
        return information
    if rule.statistic == CHI2:
        return pearson(tables, k)
    # Gain is at most the information, and the interaction at most 2 n times the gain, as a fit
    # without it is at least as good as that of one variant alone.
    unit = 2 * n if rule.statistic == BOOST else 1
    most = unit * information
    if most >= threshold:
        most = unit * max(information - best_subset(tables, k, logarithms), 0.0)
        if rule.statistic == BOOST and most * SLACK >= threshold:
            most = interaction(tables, k)
    return most


@njit
def pearson(tables: NDArray[np.int32], k: int) -> float:
    """Pearson's chi2 of table k."""
    classes, cells, _ = tables.shape
    sizes = np.zeros(classes, np.int64)
    n = 0
    for c in range(classes):
        for x in range(cells):
            sizes[c] += tables[c, x, k]
        n += sizes[c]
    total = 0.0
    for x in range(cells):
        cell = 0
        for c in range(classes):
            cell += tables[c, x, k]
        for c in range(classes):
            if cell and sizes[c]:
                expected = cell * (sizes[c] / n)
                total += (tables[c, x, k] - expected) ** 2 / expected
    return total


@njit
def best_subset(tables: NDArray[np.int32], k: int, logarithms: NDArray[np.float64]) -> float:
    """Largest mutual information of the members but one, of the same samples."""
    classes, cells, _ = tables.shape
    reduced = np.empty((classes, cells // 3, 1), np.int32)
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
        information, _ = mutual_information(reduced, 0, logarithms)
        best = max(best, information)
        step *= 3
    return best


@njit
def interaction(tables: NDArray[np.int32], k: int) -> float:
    """Likelihood ratio of the interaction of two variants on the classes.

    Twice the log likelihood of the table less that of the best fit without interaction of all
    three (all pairs of margins kept), by iterative proportional fitting.
    """
    classes = tables.shape[0]
    cells = np.empty((classes, 9))
    for c in range(classes):
        for x in range(9):
            cells[c, x] = tables[c, x, k]
    counts, fitted = cells.reshape((classes, 3, 3)), np.ones((classes, 3, 3))
    n = counts.sum()
    before = np.empty((classes, 3, 3))
    for _ in range(SWEEPS):
        before[:] = fitted
        _fit_genotypes(counts, fitted)
        for c in range(classes):
            _fit_rows(counts[c], fitted[c])
            _fit_rows(counts[c].T, fitted[c].T)
        if np.abs(fitted - before).max() <= CONVERGED * n:
            break
    total = 0.0
    for count, mean in zip(counts.ravel(), fitted.ravel()):  # noqa: B905 - numba has no strict
        if count > 0:
            total += count * np.log(count / mean)
    return max(2 * total, 0.0)


@njit
def _fit_genotypes(counts: NDArray[np.float64], fitted: NDArray[np.float64]) -> None:
    """Give the fit (classes, 3, 3) the sums over classes that the counts have."""
    for a in range(3):
        for b in range(3):
            wanted, found = counts[:, a, b].sum(), fitted[:, a, b].sum()
            fitted[:, a, b] *= wanted / found if found > 0 else 0.0


@njit
def _fit_rows(counts: NDArray[np.float64], fitted: NDArray[np.float64]) -> None:
    """Give the fit (3, 3) of a class the sums of rows that its counts have."""
    for a in range(3):
        wanted, found = counts[a].sum(), fitted[a].sum()
        fitted[a] *= wanted / found if found > 0 else 0.0


@njit
def ranked_scores(
    tables: NDArray[np.int32], rule: Rule, logarithms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Score of each table (classes, cells, n), NaN of those that are not ranked."""
    out = np.empty(tables.shape[2])
    for k in range(tables.shape[2]):
        out[k] = score(tables, k, rule, -np.inf, logarithms)
    return out


def scores_of(
    tables: NDArray[np.int32], statistic: int, logarithms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Score of each table (classes, cells, n), with the bits that a search ranks it by."""
    return ranked_scores(tables, Rule(statistic), logarithms)
