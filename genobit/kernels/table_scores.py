"""Scores of contingency tables, genotypes of a combination by class, and a bound that comes first.

Of a table with n_xc samples of class c in genotype cell x, sums n_x and N_c, and N in all:

    MI = ln N + (sum n_xc ln n_xc - sum n_x ln n_x - sum N_c ln N_c) / N     (nats)

Counts are whole, so x ln x is a table of N + 1 numbers. As Kullback-Leibler divergence is at most
the logarithm of 1 + chi2 / N (Gibbs and Su 2002, theorem 5), and 1 + chi2 / N is the sum of
n_xc^2 / (n_x N_c), a combination whose sum is too small cannot be among the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARGIN = np.float32(1 - 2e-5)
"""Sums of a few hundred terms of 32 bits are off by less."""


def x_log_x(most: int) -> NDArray[np.float64]:
    """x ln x for x from 0 to ``most``."""
    x = np.arange(most + 1, dtype=np.float64)
    x[1:] *= np.log(x[1:])
    return x


@njit
def relative_chi2(tables: NDArray[np.int32], out: NDArray[np.float32]) -> None:
    """tables (classes, cells, n) -> 1 + chi2 / N of each, in 32 bits."""
    classes, cells, n = tables.shape
    one = np.float32(1)
    weights = np.empty((classes, n), np.float32)
    sums = np.empty(n, np.int32)
    for c in range(classes):
        sums[:] = 0
        for x in range(cells):
            line = tables[c, x]
            for k in range(n):
                sums[k] += line[k]
        for k in range(n):
            weights[c, k] = one / max(np.float32(sums[k]), one)
    out[:] = 0
    if classes == 2:
        _add_two(tables[0], tables[1], weights, out)
        return
    part, total = np.empty(n, np.float32), np.empty(n, np.float32)
    for x in range(cells):
        part[:] = 0
        total[:] = 0
        for c in range(classes):
            line, weight = tables[c, x], weights[c]
            for k in range(n):
                count = np.float32(line[k])
                total[k] += count
                part[k] += count * count * weight[k]
        for k in range(n):
            out[k] += part[k] / max(total[k], one)


@njit
def _add_two(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    weights: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """The same of two classes, a cell in one go: nothing goes through memory between them."""
    one = np.float32(1)
    left, right = weights[0], weights[1]
    for x in range(first.shape[0]):
        cases, controls = first[x], second[x]
        for k in range(out.shape[0]):
            a, b = np.float32(cases[k]), np.float32(controls[k])
            out[k] += (a * a * left[k] + b * b * right[k]) / max(a + b, one)


@njit
def mutual_information(
    tables: NDArray[np.int32], k: int, logarithms: NDArray[np.float64]
) -> tuple[float, int]:
    """Mutual information of table k in nats, and the samples in it.

    Sums run over the cells in their order, so the result has the same bits wherever a table stands.
    """
    if tables.shape[0] == 2:
        return _information_of_two(tables[0], tables[1], k, logarithms)
    classes, cells, _ = tables.shape
    inner, outer, n = 0.0, 0.0, 0
    for x in range(cells):
        total = 0
        for c in range(classes):
            count = tables[c, x, k]
            total += count
            inner += logarithms[count]
        inner -= logarithms[total]
        n += total
    for c in range(classes):
        size = 0
        for x in range(cells):
            size += tables[c, x, k]
        outer += logarithms[size]
    if n == 0:
        return np.nan, 0
    return (inner - outer + logarithms[n]) / n, n


@njit
def _information_of_two(
    first: NDArray[np.int32], second: NDArray[np.int32], k: int, logarithms: NDArray[np.float64]
) -> tuple[float, int]:
    """The same of two classes: three sums go side by side, none waits for another's addition."""
    left, right, both = 0.0, 0.0, 0.0
    cases, controls = 0, 0
    for x in range(first.shape[0]):
        a, b = first[x, k], second[x, k]
        left += logarithms[a]
        right += logarithms[b]
        both += logarithms[a + b]
        cases += a
        controls += b
    n = cases + controls
    if n == 0:
        return np.nan, 0
    outer = logarithms[cases] + logarithms[controls]
    return (left + right - both - outer + logarithms[n]) / n, n
