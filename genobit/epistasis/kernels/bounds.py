"""Upper bounds of the scores of contingency tables, in float32.

A table has n_xc samples of class c in genotype cell x, sums n_x and N_c, and N in all. With
e = n_x N_c / N and r = n_xc / e, N MI is at most the sum over cells and classes of

    e (r - 1)^2 (r + 2) / (4 r + 2)

(Topsoe 2007, "Some bounds for the logarithmic function"). About one random combination in 5,000
passes this bound.

For two classes without missing calls a quick bound comes first. It takes half of the operations
and no division. The classes have shares f and g = 1 - f. A cell of n samples has f n + d of the
first class, and t = d / n. N MI is at most the sum over cells of

    d t (A + B t + C t^2),  A = 1 / (2 f g),  B = (f - g) / (6 f^2 g^2)

C bounds the rest of the series. See docs/internals/epistasis-bounds.md for the proofs and the
rounding errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.count_lanes import (
    RATIO_LANES,
    ROUGH,
    abs_ge_mask,
    load_ratios,
    rough_reciprocal,
    splat_ratio,
)
from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import multiply_add, store
from genobit.epistasis.kernels.statistics import BOOST, CHI2, Rule

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

UNIT = 2.0**-23
"""Unit in the last place of a float32; one operation rounds by at most half of it."""
TINY = np.float32(1e-30)
"""Added to denominators so that empty cells give no 0 / 0; negligible in all other cells."""
MOST_LOST = 1e-4
"""Largest rounding error of a quick bound, in nats. Very unequal classes exceed it and do without
the quick bound."""
MARGIN = np.float32(1 - 2e-5)
"""Allows for the rounding of chi2, a float32 sum of a few hundred terms."""


class ClassShares(NamedTuple):
    """Class shares and sample counts of some tables."""

    shares: NDArray[np.float32]
    """N_c / N, (classes, n)."""
    samples: NDArray[np.float32]
    """N, (n,)."""


@njit
def shares_of(sizes: NDArray[np.int64], n: int) -> ClassShares:
    """Return the class shares of ``n`` tables without missing calls.

    sizes: (classes,), samples of each class.
    """
    shares, samples = np.empty((sizes.shape[0], n), np.float32), np.empty(n, np.float32)
    total = total_of(sizes)
    for c in range(sizes.shape[0]):
        shares[c] = sizes[c] / max(total, 1)
    samples[:] = total
    return ClassShares(shares, samples)


@njit
def total_of(sizes: NDArray[np.int64]) -> int:
    """Return the sum of the sizes."""
    total = 0
    for c in range(sizes.shape[0]):
        total += sizes[c]
    return total


class QuickBound(NamedTuple):
    """Coefficients and margins of the quick bound, for tables without missing calls."""

    share: np.float32
    """f, the share of the first class."""
    square: np.float32
    """A; ``cube`` is B and ``fourth`` is C."""
    cube: np.float32
    fourth: np.float32
    samples: float
    """N, reduced for the error of approximate reciprocals; 0 if there is no quick bound."""
    lost: float
    """Largest rounding error in nats."""


@njit
def quick(sizes: NDArray[np.int64], rule: Rule) -> QuickBound:
    """Return the quick bound of tables without missing calls."""
    none = np.float32(0)
    if sizes.shape[0] != 2 or rule.statistic == CHI2 or sizes[0] == 0 or sizes[1] == 0:
        return QuickBound(none, none, none, none, 0.0, 0.0)
    total = sizes[0] + sizes[1]
    f, g = sizes[0] / total, sizes[1] / total
    a, b = 1 / (2 * f * g), (f - g) / (6 * (f * g) ** 2)
    # K is ln(1 / f) at x = g and ln(1 / g) at x = -f.
    c = max((np.log(1 / f) / g**2 - a - b * g) / g**2, (np.log(1 / g) / f**2 - a + b * f) / f**2)
    k = abs(b) / (2 * np.sqrt(a * c))
    off = ROUGH * (1 + 1.01 * (2 + k) / (1 - k))
    lost = 2 * UNIT * (2 * a + 3 * abs(b) + 4 * c)
    samples = total * (1 - off) if k < 1 and off < 1 and lost <= MOST_LOST else 0.0
    return QuickBound(np.float32(f), np.float32(a), np.float32(b), np.float32(c), samples, lost)


@njit
def any_may_reach(
    tables: Any, cells: int, width: int, stop: int, quick: QuickBound, information: float
) -> bool:
    """Return whether any of the first ``stop`` tables may reach ``information`` nats.

    tables: (2, cells, width), `unowned`. The rounding margin is like that of `least_bound`.
    """
    least = (information - quick.lost) / (1 + (2 * cells + 64) * UNIT) * quick.samples
    limit, less = splat_ratio(np.float32(least)), splat_ratio(-quick.share)
    square, cube = splat_ratio(quick.square), splat_ratio(quick.cube)
    fourth = splat_ratio(quick.fourth)
    for k in range(0, stop, RATIO_LANES):
        total = splat_ratio(np.float32(0))
        case, control = k, cells * width + k
        for _ in range(cells):
            a = load_ratios(tables, case)
            here = a + load_ratios(tables, control)
            d = multiply_add(less, here, a)
            t = d * rough_reciprocal(here)
            total = multiply_add(
                d * t, multiply_add(t, multiply_add(t, fourth, cube), square), total
            )
            case, control = case + width, control + width
        if abs_ge_mask(total, limit):
            return True
    return False


@njit
def count_classes(tables: NDArray[Any], out: ClassShares) -> None:
    """Fill ``out`` with the class shares and sample counts of tables (classes, cells, n)."""
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
    classed: ClassShares,
    rule: Rule,
    threshold: float,
    samples: int,
    out: NDArray[np.float32],
    chi2: bool | None,
) -> np.float32:
    """Fill ``out`` (n,) with upper bounds of tables (classes, cells, n) and return their limit.

    A table whose bound is below the limit scores below ``threshold``. Gain is at most MI, and the
    likelihood ratio of the interaction at most 2 n MI. No table has more than ``samples`` samples.
    ``chi2`` is that of `genobit.epistasis.kernels.statistics.Branches`.
    """
    if chi2 is not None:
        relative_chi2(tables, out)
        return np.float32(1 + threshold / samples) * MARGIN
    most_information(tables, classed, out)
    return np.float32(
        least_bound(least_information(rule, threshold, samples), tables.shape[0] * tables.shape[1])
    )


@njit
def least_information(rule: Rule, threshold: float, samples: int) -> float:
    """Return the smallest mutual information, in nats, of a table that reaches the threshold."""
    return threshold / (2 * samples) if rule.statistic == BOOST else threshold


@njit
def any_reach(bounds: NDArray[np.float32], limit: np.float32) -> bool:
    """Return whether any bound is not less than ``limit``."""
    # Counting compares a whole register at a time; a loop that ends early does not.
    reached = 0
    for k in range(bounds.shape[0]):
        reached += not (bounds[k] < limit)
    return reached > 0


@njit
def least_bound(information: float, terms: int) -> float:
    """Return the smallest `most_information` of ``terms`` counts that hold ``information`` nats."""
    return (information - 32 * UNIT) / (1 + (terms + 64) * UNIT)


@njit
def most_information(tables: NDArray[Any], classed: ClassShares, out: NDArray[np.float32]) -> None:
    """Fill ``out`` (n,) with upper bounds of mutual information, in nats.

    tables: (classes, cells, n); n is a multiple of ``RATIO_LANES``.
    """
    classes, cells, _ = tables.shape
    shares, samples = classed
    out[:] = 0
    if classes == 2:
        flat, left, right = tables.reshape(-1), shares[0], shares[1]
        for k in range(0, out.shape[0], RATIO_LANES):
            store(out, k, _of_two(flat, cells, out.shape[0], left, right, samples, k))
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
    """Add e (r - 1)^2 (r + 2) / (4 r + 2) of one cell and class to ``out``."""
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
    """Return the bounds of one register of tables of two classes, from table k on.

    The counts of a cell are a and b, with n = a + b; the shares are f and g = 1 - f. The terms of
    both classes add up to d^2 (m + s) / (2 f g n (m + 2 s)), which takes one division:

        d = a - f n,  s = d (3 (g - f) n - 2 d),  m = 9 f g n^2

    See docs/internals/epistasis-bounds.md.
    """
    left, right = load_ratios(lefts, k), load_ratios(rights, k)
    both, tiny = left * right, splat_ratio(TINY)
    less, nine = splat_ratio(np.float32(-1)) * left, splat_ratio(np.float32(9)) * both
    three = splat_ratio(np.float32(3)) * (right - left)
    twice = splat_ratio(np.float32(-2))
    total = splat_ratio(np.float32(0))
    case, control = k, cells * n + k
    for _ in range(cells):
        a = load_ratios(tables, case)
        here = a + load_ratios(tables, control)
        d = multiply_add(less, here, a)
        s = d * multiply_add(three, here, twice * d)
        shared = multiply_add(nine * here, here, s)
        total = total + (d * d) * shared / multiply_add(here, shared + s, tiny)
        case, control = case + n, control + n
    return total / multiply_add(splat_ratio(np.float32(2)) * both, load_ratios(samples, k), tiny)


@njit
def relative_chi2(tables: NDArray[Any], out: NDArray[np.float32]) -> None:
    """Fill ``out`` (n,) with 1 + chi2 / N of tables (classes, cells, n), in float32."""
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
    """Add the chi2 terms of two classes to ``out``, without an intermediate array.

    first, second: (cells, n) counts of the two classes; weights: (2, n).
    """
    one = np.float32(1)
    left, right = weights[0], weights[1]
    for x in range(first.shape[0]):
        cases, controls = first[x], second[x]
        for k in range(out.shape[0]):
            a, b = np.float32(cases[k]), np.float32(controls[k])
            out[k] += (a * a * left[k] + b * b * right[k]) / max(a + b, one)
