"""Mutual information of contingency tables, genotypes of a combination by class.

Of a table with n_xc samples of class c in genotype cell x, sums n_x and N_c, and N in all:

    MI = ln N + (sum n_xc ln n_xc - sum n_x ln n_x - sum N_c ln N_c) / N     (nats)

Counts are whole, so x ln x is a table of N + 1 numbers.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from genobit._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@functools.lru_cache(4)
def x_log_x(most: int) -> NDArray[np.float64]:
    """x ln x for x from 0 to ``most``, to be read."""
    x = np.arange(most + 1, dtype=np.float64)
    x[1:] *= np.log(x[1:])
    return x


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
