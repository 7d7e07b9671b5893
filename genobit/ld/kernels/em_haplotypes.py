"""Haplotype frequencies of two variants from unphased dosages: maximum likelihood r2 and D'.

The 3 x 3 table of dosages determines all haplotypes except those of the h double heterozygotes: f
of them carry both counted alleles on one haplotype, h - f on different haplotypes. The known
haplotypes, in the units of the table, are k11 with both counted alleles, k00 with none, k10 and k01
with one. With P = (k11 + f)(k00 + f) and Q = (k10 + h - f)(k01 + h - f), a step of the EM algorithm
(Hill 1974) is

    f <- h P / (P + Q)

At a fixed point, f Q = (h - f) P, the likelihood is stationary. This is a cubic in f, solved here
in closed form. Only roots inside [0, h] are haplotype counts; other roots are ignored.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from genobit.engine.simd.jit import njit

R2, DPRIME = 0, 1
STATISTICS = {"r2_em": R2, "dprime_em": DPRIME}
TIE = 1e-12
"""Log-likelihoods that differ by less, for each haplotype, are equal: rounding loses 1e-15."""
STEPS = 30
"""Most Newton steps. A simple root takes one or two; at a triple root each step gains a third."""
NEAR = 1e-9
"""Smallest step, as a share of h: at a simple root the next step is of the order of its square."""

Counts = NDArray[np.int32]
Haplotypes = tuple[float, float, float, float, float]


@njit
def known_haplotypes(
    n22: float,
    n20: float,
    n02: float,
    n00: float,
    x: tuple[float, float],
    y: tuple[float, float],
    n: float,
) -> Haplotypes:
    """Return the haplotypes k11, k00, k10, k01 that the table shows, and double heterozygotes h.

    Among n samples called at both variants, n20 have dosage 2 at the first and 0 at the second.
    The numbers with dosage 2 and 0 are x at the first variant, y at the second.
    """
    n21, n01 = x[0] - n22 - n20, x[1] - n02 - n00
    n12, n10 = y[0] - n22 - n02, y[1] - n20 - n00
    h = n - x[0] - x[1] - n12 - n10
    k11, k00 = 2 * n22 + n21 + n12, 2 * n00 + n01 + n10
    return k11, k00, 2 * n20 + n21 + n10, 2 * n02 + n01 + n12, h


@njit
def _term(count: float, haplotypes: float) -> float:
    return count * math.log(haplotypes) if count > 0 else 0.0


@njit
def _log_likelihood(f: float, k11: float, k00: float, k10: float, k01: float, h: float) -> float:
    """Return the log-likelihood up to a constant; swapping the variants does not change a bit."""
    p11, p00, p10, p01 = k11 + f, k00 + f, k10 + h - f, k01 + h - f
    known = (_term(k11, p11) + _term(k00, p00)) + (_term(k10, p10) + _term(k01, p01))
    return known + _term(h, p11 * p00 + p10 * p01)


@njit
def _polished(f: float, k11: float, k00: float, k10: float, k01: float, h: float) -> float:
    """Refine a root by Newton steps on f Q - (h - f) P, which has only one subtraction."""
    f = min(max(f, 0.0), h)
    for _ in range(STEPS):
        p11, p00, p10, p01 = k11 + f, k00 + f, k10 + h - f, k01 + h - f
        p, q = p11 * p00, p10 * p01
        slope = p + q - f * (p10 + p01) - (h - f) * (p11 + p00)
        if slope <= 0:
            return f
        better = min(max(f - (f * q - (h - f) * p) / slope, 0.0), h)
        if abs(better - f) <= NEAR * h:
            return better
        f = better
    return f


@njit
def _cubic_maxima(
    k11: float, k00: float, k10: float, k01: float, h: float
) -> tuple[float, float, bool]:
    """Return two places of maxima of the likelihood in [0, h], and whether they differ.

    Neither k11 k00 nor k10 k01 is 0, so f Q - (h - f) P is negative at 0 and positive at h. One or
    three of its roots are inside; of three, the middle one is a minimum.
    """
    same, other = k11 + k00, k10 + k01
    a = (same - other - 3 * h) / 2
    b = (k11 * k00 + (k10 + h) * (k01 + h) - h * same) / 2
    c = -h * k11 * k00 / 2
    q = (a * a - 3 * b) / 9
    r = (2 * a * a * a - 9 * a * b + 27 * c) / 54
    if r * r >= q * q * q:
        # A double root is no maximum; the third root is.
        s = -math.copysign((abs(r) + math.sqrt(r * r - q * q * q)) ** (1 / 3), r)
        root = s + (q / s if s != 0 else 0.0) - a / 3
        return root, root, False
    angle = math.acos(r / (q * math.sqrt(q))) / 3
    scale = -2 * math.sqrt(q)
    low = scale * math.cos(angle) - a / 3
    middle = scale * math.cos(angle - 2 * math.pi / 3) - a / 3
    high = scale * math.cos(angle + 2 * math.pi / 3) - a / 3
    if middle <= 0:
        return high, high, False
    if middle >= h:
        return low, low, False
    return low, high, True


@njit
def _edge_maxima(k11: float, k00: float, k10: float, k01: float, h: float) -> tuple[float, bool]:
    """Return the maximum in (0, h] if k11 k00 is 0 and k10 k01 is not, and whether 0 is one too.

    One root is f = 0, and the other two solve a quadratic.
    """
    b = (k11 + k00 - k10 - k01 - 3 * h) / 2
    c = ((k10 + h) * (k01 + h) - h * (k11 + k00)) / 2
    root = b * b - 4 * c
    if root < 0:
        return 0.0, False
    # The larger root first, the other from their product: this avoids cancellation.
    t = -(b + math.copysign(math.sqrt(root), b)) / 2
    first, second = t, c / t if t != 0 else 0.0
    high, low = max(first, second), min(first, second)
    if high <= 0:
        return 0.0, False
    return min(high, h), low > 0


@njit
def double_heterozygotes(
    k11: float, k00: float, k10: float, k01: float, h: float
) -> tuple[float, bool]:
    """Return how many double heterozygotes carry both counted alleles on one haplotype.

    The second value tells whether the likelihood has a second maximum. If both maxima are
    equal, the larger f is returned: D > 0.
    """
    if h == 0:
        return 0.0, False
    coupled, crossed = k11 * k00 == 0, k10 * k01 == 0
    if coupled and crossed:
        # The cubic is f (f - t) (h - f); t is a minimum if it is inside.
        t = (h + k10 + k01 - k11 - k00) / 2
        low, high = 0.0, h
        if t <= 0 or t >= h:
            return (h if t <= 0 else 0.0), False
    elif coupled:
        high, two = _edge_maxima(k11, k00, k10, k01, h)
        high, low = _polished(high, k11, k00, k10, k01, h) if 0 < high < h else high, 0.0
        if not two:
            return high, False
    elif crossed:
        # Mirror image: solve for h - f, the alleles on different haplotypes.
        away, two = _edge_maxima(k10, k01, k11, k00, h)
        low, high = _polished(h - away, k11, k00, k10, k01, h) if 0 < away < h else h - away, h
        if not two:
            return low, False
    else:
        low, high, two = _cubic_maxima(k11, k00, k10, k01, h)
        high = _polished(high, k11, k00, k10, k01, h)
        if not two:
            return high, False
        low = _polished(low, k11, k00, k10, k01, h)
    gain = _log_likelihood(high, k11, k00, k10, k01, h) - _log_likelihood(
        low, k11, k00, k10, k01, h
    )
    n = k11 + k00 + k10 + k01 + 2 * h
    return (high if gain >= -TIE * n else low), True


@njit
def _statistic(code: int, k11: float, k00: float, k10: float, k01: float, h: float) -> float:
    x, y = k11 + k10 + h, k11 + k01 + h
    n = x + k01 + k00 + h
    if min(x, n - x, y, n - y) <= 0:
        return np.nan
    f, _ = double_heterozygotes(k11, k00, k10, k01, h)
    d = (k11 + f) * (k00 + f) - (k10 + h - f) * (k01 + h - f)
    if code == R2:
        return min(d * d / (x * (n - x) * (y * (n - y))), 1.0)
    bound = min(x * (n - y), (n - x) * y) if d >= 0 else min(x * y, (n - x) * (n - y))
    return min(max(d / bound, -1.0), 1.0)


@njit
def complete_block(
    counts: Counts,
    code: int,
    n: float,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    diagonal: int,
    out: NDArray[np.floating],
) -> None:
    """Compute out (rows, columns) from counts (2 rows, 2 columns) of hom_alt and hom_ref.

    The planes are interleaved. Their bit counts are x (rows, 2) and y (columns, 2). Columns before
    i + diagonal of row i are skipped: no counts exist there, and solving them is slow.
    """
    for i in range(out.shape[0]):
        for j in range(max(0, i + diagonal), out.shape[1]):
            out[i, j] = _statistic(code, *complete_pair(counts, i, j, n, x, y))


@njit
def complete_pair(
    counts: Counts, i: int, j: int, n: float, x: NDArray[np.float64], y: NDArray[np.float64]
) -> Haplotypes:
    """Return the haplotypes of a pair from the counts of `complete_block`."""
    return known_haplotypes(
        counts[2 * i, 2 * j],
        counts[2 * i, 2 * j + 1],
        counts[2 * i + 1, 2 * j],
        counts[2 * i + 1, 2 * j + 1],
        (x[i, 0], x[i, 1]),
        (y[j, 0], y[j, 1]),
        n,
    )


@njit
def missing_block(counts: Counts, code: int, diagonal: int, out: NDArray[np.floating]) -> None:
    """Compute out (rows, columns) from counts (3 rows, 3 columns) of hom_alt, hom_ref and called.

    The planes are interleaved; ``diagonal`` is that of `complete_block`.
    """
    for i in range(out.shape[0]):
        for j in range(max(0, i + diagonal), out.shape[1]):
            out[i, j] = _statistic(code, *missing_pair(counts, i, j))


@njit
def missing_pair(counts: Counts, i: int, j: int) -> Haplotypes:
    """Return the haplotypes of a pair from the counts of `missing_block`."""
    return known_haplotypes(
        counts[3 * i, 3 * j],
        counts[3 * i, 3 * j + 1],
        counts[3 * i + 1, 3 * j],
        counts[3 * i + 1, 3 * j + 1],
        (float(counts[3 * i, 3 * j + 2]), float(counts[3 * i + 1, 3 * j + 2])),
        (float(counts[3 * i + 2, 3 * j]), float(counts[3 * i + 2, 3 * j + 1])),
        float(counts[3 * i + 2, 3 * j + 2]),
    )
