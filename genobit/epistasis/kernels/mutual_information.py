"""Mutual information of contingency tables: genotypes of a combination by class.

A table has n_xc samples of class c in genotype cell x, sums n_x and N_c, and N in all:

    MI = ln N + (sum n_xc ln n_xc - sum n_x ln n_x - sum N_c ln N_c) / N     (nats)

Counts are whole numbers, so x ln x comes from a lookup table of N + 1 numbers. The lookup table
holds whole multiples of a power of two, so sums are exact. A score therefore has the same bits for
any order of cells and classes, any coding of alleles and any order of the members.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


BITS = 60
"""Bits of the largest multiple: sums of four such numbers fit in a signed 64-bit integer."""


class Logarithms(NamedTuple):
    """Lookup table of x ln x for x = 0, 1, ..., in whole multiples of ``unit``."""

    multiples: NDArray[np.int64]
    unit: float


@functools.lru_cache(4)
def x_log_x(most: int) -> Logarithms:
    """Return the lookup table of x ln x for x from 0 to ``most``; cached, so do not change it."""
    x = np.arange(most + 1, dtype=np.float64)
    x[1:] *= np.log(x[1:])
    unit = 2.0 ** (np.ceil(np.log2(max(float(x[-1]), 1.0))) - BITS)
    return Logarithms(np.rint(x / unit).astype(np.int64), float(unit))


@njit
def mutual_information(
    tables: NDArray[np.int32], k: int, logarithms: Logarithms
) -> tuple[float, int]:
    """Return the mutual information of table k in nats, and the number of its samples.

    tables: (classes, cells, n).
    """
    if tables.shape[0] == 2:
        return _information_of_two(tables[0], tables[1], k, logarithms)
    classes, cells, _ = tables.shape
    multiples = logarithms.multiples
    inner, outer, n = np.int64(0), np.int64(0), 0
    for x in range(cells):
        total = 0
        for c in range(classes):
            count = tables[c, x, k]
            total += count
            inner += multiples[count]
        inner -= multiples[total]
        n += total
    for c in range(classes):
        size = 0
        for x in range(cells):
            size += tables[c, x, k]
        outer += multiples[size]
    if n == 0:
        return np.nan, 0
    return (inner - outer + multiples[n]) * logarithms.unit / n, n


@njit
def _information_of_two(
    first: NDArray[np.int32], second: NDArray[np.int32], k: int, logarithms: Logarithms
) -> tuple[float, int]:
    """Return `mutual_information` of two classes, with three sums that do not depend on each other.

    first, second: (cells, n).
    """
    multiples = logarithms.multiples
    left, right, both = np.int64(0), np.int64(0), np.int64(0)
    cases, controls = 0, 0
    for x in range(first.shape[0]):
        a, b = first[x, k], second[x, k]
        left += multiples[a]
        right += multiples[b]
        both += multiples[a + b]
        cases += a
        controls += b
    n = cases + controls
    if n == 0:
        return np.nan, 0
    outer = multiples[cases] + multiples[controls]
    return (left + right - both - outer + multiples[n]) * logarithms.unit / n, n
