"""Exact p-values of Kendall's tau against counts in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import factorial

import numpy as np
import pytest

from genobit.kendall.kernels.pvalues import EXTREMES, exact_tables


def orders_of(n: int) -> list[int]:
    """Orders of n observations by discordant pairs, in whole numbers."""
    counts = [1]
    for k in range(2, n + 1):
        below = [0, *accumulate([*counts, *[0] * (k - 1)])]
        counts = [below[c + 1] - below[max(0, c - k + 1)] for c in range(len(below) - 1)]
    return counts


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 30, 61, 171, 200])
def test_exact_p_values__equal_whole_numbers(n: int) -> None:
    counts = orders_of(n)
    below, total, expected = 0, sum(counts), []
    for c in range(n * (n - 1) // 4 + 1):
        below += counts[c]
        expected.append(float(min(Fraction(1), Fraction(2 * below, total))))
    # Subnormal numbers have fewer digits: they may differ by a few of the smallest steps.
    np.testing.assert_allclose(exact_tables((n,))[0], expected, rtol=1e-12, atol=2e-323)


def test_exact_p_values__of_several_numbers_are_those_of_each() -> None:
    for n, table in zip((4, 50, 400), exact_tables((4, 50, 400)), strict=True):
        np.testing.assert_array_equal(table, exact_tables((n,))[0])
    # Most of the range is below what float64 can hold.
    table = exact_tables((400,))[0]
    assert 0.05 < (table == 0).mean() < 0.3
    assert (np.diff(table) >= 0).all()


def test_extremes__are_two_orders_of_all_down_to_the_smallest_float() -> None:
    right = [float(Fraction(2, factorial(k))) for k in range(EXTREMES.size)]
    assert EXTREMES.tolist() == right
    assert right[-2] > right[-1] == 0
    for n in (170, 171, 175, 178):
        np.testing.assert_allclose(
            exact_tables((n,))[0][:2], [right[n], right[n - 1]], rtol=1e-12, atol=5e-324
        )
