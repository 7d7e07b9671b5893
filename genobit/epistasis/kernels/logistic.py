"""Logistic regression of two classes on the genotypes of two variants, from their 3 x 3 tables.

The model without interaction has one effect for each genotype of either variant. Each step of
Newton's method solves a weighted least squares problem: it eliminates the rows, then the columns.
The iterative proportional fitting of plink 1.9 has the same limit. With empty cells its steps
shrink like 1 / k^2 and it stops early. The error of Newton's method falls at least e-fold a step
even there, although the effects grow without limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 100
CONVERGED = 1e-13
"""The fit has converged when a step changes the likelihood ratio by at most this per sample."""
LONGEST = 3.0
"""Longest step of an effect, in logits."""
DEPENDENT = 1e-13
"""A pivot below this share of its column's weight is 0."""


# Loops take the place of numpy expressions, which numba compiles for several seconds.
@njit
def interaction_ratio(controls: NDArray[np.float64], cases: NDArray[np.float64]) -> float:
    """Return the likelihood ratio of the interaction; controls and cases: (3, 3) counts."""
    n, fitted = np.zeros((3, 3)), np.zeros((3, 3))
    left_over, weights = np.zeros((3, 3)), np.zeros((3, 3))
    effects, move = np.zeros((2, 3)), np.zeros((2, 3))
    best, samples = np.inf, 0.0
    for cell in range(9):
        a, b = cell // 3, cell % 3
        n[a, b] = controls[a, b] + cases[a, b]
        samples += n[a, b]
    linked = _linked(n)
    for _ in range(STEPS):
        for cell in range(9):
            a, b = cell // 3, cell % 3
            fitted[a, b] = 1 / (1 + np.exp(-effects[0, a] - effects[1, b]))
        ratio = _ratio(controls, cases, n, fitted)
        if ratio - best > CONVERGED * samples:
            # The step was too long: go back half of it.
            _scale(move, 0.5)
            _add(effects, move, -1.0)
            continue
        settled = best - ratio <= CONVERGED * samples
        best = min(best, ratio)
        if settled:
            break
        for cell in range(9):
            a, b = cell // 3, cell % 3
            expected = n[a, b] * fitted[a, b]
            left_over[a, b] = cases[a, b] - expected
            weights[a, b] = expected * (1 - fitted[a, b])
        _step(left_over, weights, linked, move)
        _add(effects, move, 1.0)
    return max(best, 0.0)


@njit
def _scale(move: NDArray[np.float64], factor: float) -> None:
    for side in range(2):
        for a in range(3):
            move[side, a] *= factor


@njit
def _add(effects: NDArray[np.float64], move: NDArray[np.float64], sign: float) -> None:
    for side in range(2):
        for a in range(3):
            effects[side, a] += sign * move[side, a]


@njit
def _linked(n: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns (3,) filled cells link to an earlier column, directly or not.

    The first column of each linked group keeps effect 0. Adding a constant to the columns of a
    group and subtracting it from their rows does not change the fit. Without this rule, rounding
    may take a very long step in that direction, and the limit on steps stops all other effects.
    """
    group, linked = np.empty(3, np.int64), np.empty(3, np.bool_)
    for b in range(3):
        group[b] = b
    for b in range(1, 3):
        for c in range(b):
            for a in range(3):
                if n[a, b] > 0 and n[a, c] > 0:
                    old, new = group[b], group[c]
                    for d in range(3):
                        if group[d] == old:
                            group[d] = new
    for b in range(3):
        linked[b] = group[b] != b
    return linked


@njit
def _ratio(
    controls: NDArray[np.float64],
    cases: NDArray[np.float64],
    n: NDArray[np.float64],
    fitted: NDArray[np.float64],
) -> float:
    total = 0.0
    for a in range(3):
        for b in range(3):
            if cases[a, b] > 0:
                total += cases[a, b] * np.log(cases[a, b] / (n[a, b] * fitted[a, b]))
            if controls[a, b] > 0:
                total += controls[a, b] * np.log(controls[a, b] / (n[a, b] * (1 - fitted[a, b])))
    return 2 * total


@njit
def _step(
    left_over: NDArray[np.float64],
    weights: NDArray[np.float64],
    linked: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (2, 3) with one Newton step: effects of the rows, then of the columns."""
    row_weights, row_sums, right, least = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    left = np.zeros((3, 3))
    for cell in range(9):
        a, b = cell // 3, cell % 3
        row_weights[a] += weights[a, b]
        row_sums[a] += left_over[a, b]
        left[b, b] += weights[a, b]
        right[b] += left_over[a, b]
    for b in range(3):
        least[b] = DEPENDENT * left[b, b] if linked[b] else np.inf
    for a in range(3):
        if row_weights[a] > 0:
            for b in range(3):
                share = weights[a, b] / row_weights[a]
                right[b] -= share * row_sums[a]
                for c in range(3):
                    left[b, c] -= share * weights[a, c]
    _solve(left, right, least, out[1])
    longest = LONGEST
    for a in range(3):
        move = row_sums[a]
        for b in range(3):
            move -= weights[a, b] * out[1, b]
        out[0, a] = move / row_weights[a] if row_weights[a] > 0 else 0.0
        longest = max(longest, abs(out[0, a]), abs(out[1, a]))
    # Scale all effects by one factor: if each is cut alone, effects that cancel each other stall.
    _scale(out, LONGEST / longest)


@njit
def _solve(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    least: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Solve left out = right (3,), changing both; out is 0 where a pivot is not above ``least``."""
    eliminate(left, right, least)
    for b in range(2, -1, -1):
        out[b] = 0.0
        if left[b, b] > least[b]:
            rest = right[b]
            for c in range(b + 1, 3):
                rest -= left[b, c] * out[c]
            out[b] = rest / left[b, b]


@njit
def eliminate(
    left: NDArray[np.float64], right: NDArray[np.float64], least: NDArray[np.float64]
) -> None:
    """Make left x = right (3,) upper triangular in place; skip pivots not above ``least`` (3,)."""
    for b in range(3):
        if left[b, b] <= least[b]:
            continue
        for c in range(b + 1, 3):
            factor = left[c, b] / left[b, b]
            right[c] -= factor * right[b]
            for d in range(b + 1, 3):
                left[c, d] -= factor * left[b, d]
