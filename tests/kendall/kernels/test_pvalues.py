"""Exact p-values of Kendall's tau against counts in whole numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from genobit.kendall.kernels.pvalues import exact_tables


def orders_of(n: int) -> list[int]:
    """Orders of n observations by discordant pairs, in whole numbers."""
    counts = [1]
    for k in range(2, n + 1):
        size = len(counts) + k - 1
        counts = [sum(counts[max(0, c - k + 1) : c + 1]) for c in range(size)]
    return counts


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 30, 61])
def test_exact_p_values__equal_whole_numbers(n: int) -> None:
    counts = orders_of(n)
    below, total, expected = 0, sum(counts), []
    for c in range(n * (n - 1) // 4 + 1):
        below += counts[c]
        expected.append(float(min(Fraction(1), Fraction(2 * below, total))))
    np.testing.assert_allclose(exact_tables((n,))[0], expected, rtol=1e-12)


def test_exact_p_values__of_several_numbers_are_those_of_each() -> None:
    for n, table in zip((4, 50, 400), exact_tables((4, 50, 400)), strict=True):
        np.testing.assert_array_equal(table, exact_tables((n,))[0])
    # Most of the range is below what float64 can hold.
    table = exact_tables((400,))[0]
    assert 0.05 < (table == 0).mean() < 0.3
    assert (np.diff(table) >= 0).all()
