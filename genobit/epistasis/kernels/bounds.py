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

In front of it stands another, of two classes with shares f and g = 1 - f, that takes half of the
operations and no division. A cell of n samples, of which f n + d are of the first class, gives
n K(d / n), the relative entropy K(x) of shares f + x to f. With K'' = 1 / ((f + x) (g - x)),

    K(x) = x^2 (A + B x + h(x) x^2),  A = 1 / (2 f g),  B = (f - g) / (6 f^2 g^2)

where h(x) is a mean of the fourth derivative between 0 and x, weighted, and that is convex: h is at
most C, the larger of its values where a cell is all of one class. N MI is at most the sum of
d t (A + B t + C t^2) over cells, t = d / n.

What reciprocals are off by, e, changes d t by e of it and A + B t + C t^2 by at most e of
(2 + k) / (1 - k), k = |B| / (2 sqrt(A C)), and little more, since |B t| is at most k (A + C t^2).
What d loses, 2 units of n, changes a term by as many of n (2 A + 3 |B| + 4 C), as t is at most 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.count_lanes import (
    RATIO_LANES,
    ROUGH,
    load_ratios,
    multiply_add,
    ratio_everywhere,
    reaching,
    rough_reciprocal,
    store_ratios,
)
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.statistics import BOOST, CHI2, Rule

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

UNIT = 2.0**-23
"""Of the last place of 32 bits: twice what one operation rounds by."""
TINY = np.float32(1e-30)
"""Keeps empty cells from 0 / 0; nothing beside the denominator of any other."""
MOST_LOST = 1e-4
"""Nats of a table by which quick bounds may be off; where classes are very unequal it is more."""
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


class Quick(NamedTuple):
    """What quick bounds of complete tables need to know."""

    share: np.float32
    """Of the first class, f."""
    square: np.float32
    """A, and the others of the sum."""
    cube: np.float32
    fourth: np.float32
    samples: float
    """N times what is left of the sum where reciprocals are rough; 0 if there is no such bound."""
    lost: float
    """Nats, at most."""


@njit
def quick(sizes: NDArray[np.int64], rule: Rule) -> Quick:
    """The quick bounds of tables where no call is missing."""
    none = np.float32(0)
    if sizes.shape[0] != 2 or rule.statistic == CHI2 or sizes.min() == 0:
        return Quick(none, none, none, none, 0.0, 0.0)
    f, g = sizes[0] / sizes.sum(), sizes[1] / sizes.sum()
    a, b = 1 / (2 * f * g), (f - g) / (6 * (f * g) ** 2)
    # K is ln(1 / f) at x = g and ln(1 / g) at x = -f.
    c = max((np.log(1 / f) / g**2 - a - b * g) / g**2, (np.log(1 / g) / f**2 - a + b * f) / f**2)
    k = abs(b) / (2 * np.sqrt(a * c))
    off = ROUGH * (1 + 1.01 * (2 + k) / (1 - k))
    lost = 2 * UNIT * (2 * a + 3 * abs(b) + 4 * c)
    samples = sizes.sum() * (1 - off) if k < 1 and off < 1 and lost <= MOST_LOST else 0.0
    return Quick(np.float32(f), np.float32(a), np.float32(b), np.float32(c), samples, lost)


@njit
def any_near(
    tables: Any, cells: int, width: int, stop: int, quick: Quick, information: float
) -> bool:
    """Whether any of the first ``stop`` tables may have so much information.

    ``tables`` (2, cells, width) are `borrowed`. About as many terms are added as for `least_bound`.
    """
    least = (information - quick.lost) / (1 + (2 * cells + 64) * UNIT) * quick.samples
    limit, less = ratio_everywhere(np.float32(least)), ratio_everywhere(-quick.share)
    square, cube = ratio_everywhere(quick.square), ratio_everywhere(quick.cube)
    fourth = ratio_everywhere(quick.fourth)
    for k in range(0, stop, RATIO_LANES):
        total = ratio_everywhere(np.float32(0))
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
        if reaching(total, limit):
            return True
    return False


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
    return np.float32(
        least_bound(least_information(rule, threshold, samples), tables.shape[0] * tables.shape[1])
    )


@njit
def least_information(rule: Rule, threshold: float, samples: int) -> float:
    """Nats that a table has at least whose score reaches the threshold."""
    return threshold / (2 * samples) if rule.statistic == BOOST else threshold


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
