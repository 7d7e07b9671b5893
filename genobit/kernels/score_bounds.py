"""Bounds in front of the scores of contingency tables: what a score is at most, in 32 bits.

With n_xc samples of class c in genotype cell x, sums n_x and N_c, N in all, e = n_x N_c / N
expected and r = n_xc / e, N MI is the sum over cells and classes of e (r ln r - r + 1), and

    r ln r - r + 1 <= (r - 1)^2 (r + 2) / (4 r + 2)

by the Pade approximant ln r <= (r - 1)(r + 5) / (4 r + 2) (Topsoe 2007, "Some bounds for the
logarithmic function"). It holds below 1, too: approximant less logarithm is 0 at 1, and its
derivative, 4 (r - 1)^3 / (r (4 r + 2)^2), has the sign of r - 1. Both sides agree up to the third
power of r - 1 and at r = 0, so that of random combinations about one in 5,000 comes past, where
MI <= ln(1 + chi2 / N) lets through a third of quadruples.

All terms are positive, so that rounding changes their sum by less than as many units of the last
place as there are terms, and 64 of the operations of each. What n_xc - e loses is at most 4 units
of e; times 2 |n_xc - e| / e it is 8 of |n_xc - e|, whose sum is at most 2 N: 32 units of 1 are
more. A unit is twice what an operation rounds by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit._jit import njit
from genobit.kernels.count_lanes import (
    RATIO_LANES,
    load_ratios,
    multiply_add,
    ratio_everywhere,
    store_ratios,
)
from genobit.kernels.interaction_scores import BOOST, CHI2, Rule

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

UNIT = 2.0**-23
"""Of the last place of 32 bits: twice what one operation rounds by."""
TINY = np.float32(1e-30)
"""Keeps empty cells from 0 / 0; nothing beside the denominator of any other."""
MARGIN = np.float32(1 - 2e-5)
"""Sums of chi2 of a few hundred terms of 32 bits are off by less."""


class Classed(NamedTuple):
    """How the samples of some tables are dealt to the classes."""

    shares: NDArray[np.float32]
    """N_c / N, (classes, n)."""
    samples: NDArray[np.float32]
    """N, (n,)."""


@njit
def shares_of(sizes: NDArray[np.int64], n: int) -> Classed:
    """Of ``n`` tables where no call is missing."""
    shares, samples = np.empty((sizes.shape[0], n), np.float32), np.empty(n, np.float32)
    total = sizes.sum()
    for c in range(sizes.shape[0]):
        shares[c] = sizes[c] / max(total, 1)
    samples[:] = total
    return Classed(shares, samples)


@njit
def count_classes(tables: NDArray[Any], out: Classed) -> None:
    """The same of the samples that tables (classes, cells, n) have."""
    classes, cells, n = tables.shape
    size, total = np.empty(n, np.int32), np.zeros(n, np.int32)
    for c in range(classes):
        size[:] = 0
        for x in range(cells):
            line = tables[c, x]
            for k in range(n):
                size[k] += line[k]
        share = out.shares[c]
        for k in range(n):
            share[k] = np.float32(size[k])
            total[k] += size[k]
    for k in range(n):
        out.samples[k] = np.float32(total[k])
    for c in range(classes):
        share = out.shares[c]
        for k in range(n):
            share[k] /= out.samples[k] + TINY


@njit
def bound(
    tables: NDArray[Any],
    classed: Classed,
    rule: Rule,
    threshold: float,
    samples: int,
    out: NDArray[np.float32],
) -> np.float32:
    """Bounds of tables (classes, cells, n) of at most ``samples``, and the least that will do.

    Gain is at most the information, and the interaction's likelihood ratio at most 2 n MI.
    """
    if rule.statistic == CHI2:
        relative_chi2(tables, out)
        return np.float32(1 + threshold / samples) * MARGIN
    most_information(tables, classed, out)
    least = threshold / (2 * samples) if rule.statistic == BOOST else threshold
    return np.float32(least_bound(least, tables.shape[0] * tables.shape[1]))


@njit
def any_reach(bounds: NDArray[np.float32], limit: np.float32) -> bool:
    """Whether some bounds are no less than the limit, asked of a register at a time."""
    reached = 0
    for k in range(bounds.shape[0]):
        reached += not (bounds[k] < limit)
    return reached > 0


@njit
def least_bound(information: float, terms: int) -> float:
    """The least that `most_information` of ``terms`` counts can be where there is so much."""
    return (information - 32 * UNIT) / (1 + (terms + 64) * UNIT)


@njit
def most_information(tables: NDArray[Any], classed: Classed, out: NDArray[np.float32]) -> None:
    """Most mutual information of tables (classes, cells, n) in nats: out (n,)."""
    classes, cells, _ = tables.shape
    shares, samples = classed
    out[:] = 0
    if classes == 2:
        whole = out.shape[0] // RATIO_LANES * RATIO_LANES
        flat, left, right = tables.reshape(-1), shares[0], shares[1]
        for k in range(0, whole, RATIO_LANES):
            store_ratios(out, k, _of_two(flat, cells, out.shape[0], left, right, samples, k))
        for k in range(whole, out.shape[0]):
            out[k] = _of_two_alone(tables, left[k], right[k], samples[k], k)
        return
    total = np.empty(out.shape[0], np.float32)
    for x in range(cells):
        total[:] = 0
        for c in range(classes):
            line = tables[c, x]
            for k in range(out.shape[0]):
                total[k] += np.float32(line[k])
        for c in range(classes):
            _add(tables[c, x], total, shares[c], out)
    for k in range(out.shape[0]):
        out[k] /= samples[k] + TINY


@njit
def _add(
    counts: NDArray[Any],
    total: NDArray[np.float32],
    share: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """e (r - 1)^2 (r + 2) / (4 r + 2) of a cell in a class."""
    two, four = np.float32(2), np.float32(4)
    for k in range(out.shape[0]):
        count = np.float32(counts[k])
        expected = total[k] * share[k]
        away, twice = count - expected, two * expected
        out[k] += (away * away) * (count + twice) / (expected * (four * count + twice) + TINY)


@njit
def _of_two(
    tables: NDArray[Any],
    cells: int,
    n: int,
    lefts: NDArray[np.float32],
    rights: NDArray[np.float32],
    samples: NDArray[np.float32],
    k: int,
) -> Any:
    """The bounds of a register of tables of two classes, from number k on.

    With the counts a and b of a cell, shares f and g = 1 - f, n = a + b, d = a - f n, s = d (3 (g -
    f) n - 2 d) and m = 9 f g n^2 the terms of both classes are d^2 (m + s) / (2 f g n (m + 2 s)):
    one division. Where s is negative m + 2 s is a third of m or more.

    d, taken of the first class, loses up to 2 units of n also where g n is small. The terms of a
    cell grow with d by at most 1 + r / 2, r of the second class, and the sum of r n over cells is N
    at most: 3 units of 1 in all, of the 32 that there are.
    """
    left, right = load_ratios(lefts, k), load_ratios(rights, k)
    both, tiny = left * right, ratio_everywhere(TINY)
    less, nine = ratio_everywhere(np.float32(-1)) * left, ratio_everywhere(np.float32(9)) * both
    three = ratio_everywhere(np.float32(3)) * (right - left)
    twice = ratio_everywhere(np.float32(-2))
    total = ratio_everywhere(np.float32(0))
    case, control = k, cells * n + k
    for _ in range(cells):
        a = load_ratios(tables, case)
        here = a + load_ratios(tables, control)
        d = multiply_add(less, here, a)
        s = d * multiply_add(three, here, twice * d)
        shared = multiply_add(nine * here, here, s)
        total = total + (d * d) * shared / multiply_add(here, shared + s, tiny)
        case, control = case + n, control + n
    return total / multiply_add(
        ratio_everywhere(np.float32(2)) * both, load_ratios(samples, k), tiny
    )


@njit
def _of_two_alone(
    tables: NDArray[Any], left: np.float32, right: np.float32, samples: np.float32, k: int
) -> np.float32:
    """The same of one table."""
    two, three, nine = np.float32(2), np.float32(3) * (right - left), np.float32(9) * (left * right)
    total = np.float32(0)
    for x in range(tables.shape[1]):
        a = np.float32(tables[0, x, k])
        here = a + np.float32(tables[1, x, k])
        d = a - left * here
        s = d * (three * here - two * d)
        shared = nine * here * here + s
        total += (d * d) * shared / (here * (shared + s) + TINY)
    return np.float32(total / (two * (left * right) * samples + TINY))


@njit
def relative_chi2(tables: NDArray[Any], out: NDArray[np.float32]) -> None:
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
    first: NDArray[Any],
    second: NDArray[Any],
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
