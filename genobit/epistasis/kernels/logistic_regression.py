"""Logistic regression with covariates: likelihood ratios of pairs, and an upper bound of them.

`fit_logistic` maximises the likelihood by Newton's method. `excess` bounds the ratio from above
without a fit; docs/internals/epistasis-bounds.md proves it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.pair_moments import factorise, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.pair_moments import Model

STEPS = 40
"""Most steps of Newton's method."""
CONVERGED = 1e-8
"""The fit has converged when a step changes no log odds by more than this."""
SHORT = 0.1
"""Change of log odds below which a fit is near its maximum. Without a finite maximum, the changes
stay about 1."""
WRONG = 1e-6
"""A step separates the classes if it moves no sample the wrong way by more than this share of its
largest change. The likelihood then grows along the step without end."""
ROUNDING = 1e-12
"""Exceeds the rounding error of a log likelihood, relative to it."""
DEPENDENT = 1e-12
"""A pivot below this share of its diagonal entry is 0."""
INSIDE = 1e-9
"""Least distance of a probability from 0 and 1, relative to its distance without the pair."""
LANES = 16
"""Partial sums that a loop keeps, so that the compiler may use vector registers."""


@njit
def excess(
    steps: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    called: tuple[NDArray[np.float64], NDArray[np.float64]],
    model: Model,
    skewed: NDArray[np.float64],
    scratch: NDArray[np.float64],
) -> float:
    """Return how much the likelihood ratio of a pair may exceed its score statistic.

    steps: (2, columns) Newton steps of the full and the main-effects model, from the fit of the
    covariates; x, y: (samples,) centred dosages, 0 if missing; skewed: w (1 - 2p). Returns infinity
    if the step leaves the interior of the probabilities.
    """
    n, columns = x.size, model.basis.shape[0]
    u, v, total, least = scratch[0], scratch[1], scratch[2], scratch[3]
    for s in range(n):
        u[s] = steps[0, 0]
        v[s] = steps[1, 0]
    for c in range(1, columns):
        a, b = steps[0, c], steps[1, c]
        basis = model.basis[c]
        for s in range(n):
            u[s] += a * basis[s]
            v[s] += b * basis[s]
    a, b, d = steps[0, columns], steps[0, columns + 1], steps[0, columns + 2]
    e, f = steps[1, columns], steps[1, columns + 1]
    m0, m1 = called
    for s in range(n):
        m = m0[s] * m1[s]
        full = m * (u[s] + a * x[s] + b * y[s] + d * x[s] * y[s])
        main = m * (v[s] + e * x[s] + f * y[s])
        w = model.weights[s]
        r = model.residuals[s]
        # p: the residual is 1 - p of a case and -p of a control.
        p = 1.0 - r if r > 0 else -r
        least[s] = min(1.0 + (1.0 - p) * full, 1.0 - p * full)
        u2, v2 = full * full, main * main
        total[s] = (
            skewed[s] / 3 * (main * v2 - full * u2)
            + 2.0 / 3 * w * (1.0 - 3.0 * w) * u2 * u2
            + v2 * v2 / 288
        )
    sums, lowest = np.zeros(LANES), np.ones(LANES)
    whole = n // LANES * LANES
    for s in range(0, whole, LANES):
        for lane in range(LANES):
            sums[lane] += total[s + lane]
            lowest[lane] = min(lowest[lane], least[s + lane])
    for s in range(whole, n):
        sums[0] += total[s]
        lowest[0] = min(lowest[0], least[s])
    return _added(sums) if lowest.min() > INSIDE else np.inf


@njit
def fit_logistic(
    design: NDArray[np.float64], case: NDArray[np.float64], offset: NDArray[np.float64]
) -> tuple[int, float, float, float]:
    """Return whether the fit has converged, then effect, its error and the likelihood ratio.

    design: (columns, samples), its last column is tested; case: (samples,) 0 or 1; offset: log odds
    of each sample to start from, a combination of the columns.
    """
    k = design.shape[0]
    eta, effects = offset.copy(), np.zeros(k)
    factor = np.empty((k + 1, k + 1))
    if not climb(design[: k - 1], case, eta, effects, factor[:k, :k]):
        return 0, np.nan, np.nan, np.nan
    lower = _likelihood(case, eta)
    if not climb(design, case, eta, effects, factor):
        return 0, np.nan, np.nan, np.nan
    ratio = 2 * (_likelihood(case, eta) - lower)
    # The last pivot is the square root of the information on the last column, given the others.
    return 1, effects[k - 1], 1 / factor[k - 1, k - 1], max(ratio, 0.0)


@njit
def climb(
    design: NDArray[np.float64],
    case: NDArray[np.float64],
    eta: NDArray[np.float64],
    effects: NDArray[np.float64],
    factor: NDArray[np.float64],
) -> bool:
    """Move log odds and effects to the maximum by Newton's method; False if none is finite."""
    k, n = design.shape
    step, before, scratch = np.empty(k), np.empty(n), np.empty((2, n))
    best = -np.inf
    for _ in range(STEPS):
        reached = _likelihood(case, eta)
        if reached < best - ROUNDING * abs(best):
            # The step was too long: go back half of it.
            for a in range(k):
                step[a] *= 0.5
            _move(design, step, -1.0, eta, effects)
            continue
        best = max(best, reached)
        _information(design, case, eta, factor, scratch)
        if not factorise(factor, DEPENDENT):
            return False
        solve(factor, k, step)
        before[:] = eta
        _move(design, step, 1.0, eta, effects)
        longest, wrong = _changes(case, before, eta)
        if longest < CONVERGED:
            return True
        if longest > SHORT and wrong < WRONG * longest:
            return False
    return False


@njit
def _move(
    design: NDArray[np.float64],
    step: NDArray[np.float64],
    sign: float,
    eta: NDArray[np.float64],
    effects: NDArray[np.float64],
) -> None:
    """Add a step, or take it back, in effects and log odds."""
    k, n = design.shape
    for a in range(k):
        effects[a] += sign * step[a]
        for s in range(n):
            eta[s] += sign * step[a] * design[a, s]


@njit
def _changes(
    case: NDArray[np.float64], before: NDArray[np.float64], eta: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the largest change of log odds, and the largest one away from the sample's class."""
    longest, wrong = 0.0, 0.0
    for s in range(eta.size):
        change = eta[s] - before[s]
        longest, wrong = max(longest, abs(change)), max(wrong, (1 - 2 * case[s]) * change)
    return longest, wrong


@njit
def _information(
    design: NDArray[np.float64],
    case: NDArray[np.float64],
    eta: NDArray[np.float64],
    out: NDArray[np.float64],
    scratch: NDArray[np.float64],
) -> None:
    """Fill ``out`` on and below the diagonal with X'WX, and its last row with X'(y - p)."""
    k, n = design.shape
    weights, weighted = scratch[0], scratch[1]
    for s in range(n):
        # 1 - p would lose its digits near 0.
        small = math.exp(-abs(eta[s]))
        near, far = 1 / (1 + small), small / (1 + small)
        weights[s] = near * far
        weighted[s] = (far if eta[s] > 0 else near) if case[s] else -(near if eta[s] > 0 else far)
    out[k, k] = 0.0
    for a in range(k):
        out[k, a] = _dot(weighted, design[a])
    for a in range(k):
        for s in range(n):
            weighted[s] = weights[s] * design[a, s]
        for b in range(a + 1):
            out[a, b] = _dot(weighted, design[b])


@njit
def _dot(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    sums = np.zeros(LANES)
    whole = x.size // LANES * LANES
    for s in range(0, whole, LANES):
        for lane in range(LANES):
            sums[lane] += x[s + lane] * y[s + lane]
    for s in range(whole, x.size):
        sums[0] += x[s] * y[s]
    return _added(sums)


@njit
def _added(sums: NDArray[np.float64]) -> float:
    """Add partial sums one by one: numpy adds in another order than compiled code."""
    total = 0.0
    for lane in range(LANES):
        total += sums[lane]
    return total


@njit
def _likelihood(case: NDArray[np.float64], eta: NDArray[np.float64]) -> float:
    """Return the log likelihood."""
    total = 0.0
    for s in range(eta.size):
        total += case[s] * eta[s] - max(eta[s], 0.0) - math.log1p(math.exp(-abs(eta[s])))
    return total
