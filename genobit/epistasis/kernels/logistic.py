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


@njit
def interaction_ratio(controls: NDArray[np.float64], cases: NDArray[np.float64]) -> float:
    """Return the likelihood ratio of the interaction; controls and cases: (3, 3) counts."""
    n = controls + cases
    effects, move = np.zeros((2, 3)), np.zeros((2, 3))
    fitted = np.empty((3, 3))
    best, samples = np.inf, n.sum()
    linked = _linked(n)
    for _ in range(STEPS):
        for a in range(3):
            for b in range(3):
                fitted[a, b] = 1 / (1 + np.exp(-effects[0, a] - effects[1, b]))
        ratio = _ratio(controls, cases, n, fitted)
        if ratio - best > CONVERGED * samples:
            # The step was too long: go back half of it.
            move /= 2
            effects -= move
            continue
        settled = best - ratio <= CONVERGED * samples
        best = min(best, ratio)
        if settled:
            break
        move[:] = _step(cases - n * fitted, n * fitted * (1 - fitted), linked)
        effects += move
    return max(best, 0.0)


@njit
def _linked(n: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns (3,) filled cells link to an earlier column, directly or not.

    The first column of each linked group keeps effect 0. Adding a constant to the columns of a
    group and subtracting it from their rows does not change the fit. Without this rule, rounding
    may take a very long step in that direction, and the limit on steps stops all other effects.
    """
    group = np.arange(3)
    for b in range(1, 3):
        for c in range(b):
            for a in range(3):
                if n[a, b] > 0 and n[a, c] > 0 and group[b] != group[c]:
                    group[:] = np.where(group == group[b], group[c], group)
    return group != np.arange(3)


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
    left_over: NDArray[np.float64], weights: NDArray[np.float64], linked: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return one Newton step (2, 3): effects of the rows, then of the columns."""
    row_weights, row_sums = weights.sum(axis=1), left_over.sum(axis=1)
    column_weights, right = weights.sum(axis=0), left_over.sum(axis=0)
    left = np.diag(column_weights)
    for a in range(3):
        if row_weights[a] > 0:
            for b in range(3):
                share = weights[a, b] / row_weights[a]
                right[b] -= share * row_sums[a]
                for c in range(3):
                    left[b, c] -= share * weights[a, c]
    step = np.zeros((2, 3))
    step[1] = _solved(left, right, np.where(linked, DEPENDENT * column_weights, np.inf))
    for a in range(3):
        if row_weights[a] > 0:
            move = row_sums[a]
            for b in range(3):
                move -= weights[a, b] * step[1, b]
            step[0, a] = move / row_weights[a]
    # Scale all effects by one factor: if each is cut alone, effects that cancel each other stall.
    return step * min(1.0, LONGEST / max(np.abs(step).max(), LONGEST))


@njit
def _solved(
    left: NDArray[np.float64], right: NDArray[np.float64], least: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve left x = right (3,) in place; x is 0 where a pivot is not above ``least``."""
    eliminate(left, right, least)
    step = np.zeros(3)
    for b in range(2, -1, -1):
        if left[b, b] > least[b]:
            rest = right[b]
            for c in range(b + 1, 3):
                rest -= left[b, c] * step[c]
            step[b] = rest / left[b, b]
    return step


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
