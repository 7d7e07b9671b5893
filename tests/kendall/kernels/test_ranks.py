from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.kendall.kernels.ranks import Ties, ranked, ties, ties_within


def counted(values: np.ndarray) -> tuple[int, int, int]:
    """Pairs, triples, levels of the values that are not missing."""
    counts = Counter(values[~np.isnan(values)].tolist()).values()
    pairs = sum(t * (t - 1) // 2 for t in counts)
    return pairs, sum(t * (t - 1) * (t - 2) for t in counts), len(counts)


def values_of(seed: int, rows: int, n: int, levels: int, missing: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, levels, (rows, n)).astype(float)
    values[rng.random((rows, n)) < missing] = np.nan
    return values


def columns_of(found: Ties, *index: int) -> tuple[int, ...]:
    return tuple(int(values[index]) for values in found)


CASES = {
    "seed": st.integers(0, 2**32),
    "n": st.integers(0, 40),
    "levels": st.sampled_from([1, 2, 3, 10, 1000]),
    "missing": st.sampled_from([0.0, 0.05, 0.5, 1.0]),
}


@given(**CASES)
def test_ties__equal_counted_values(seed: int, n: int, levels: int, missing: float) -> None:
    values = values_of(seed, 4, n, levels, missing)
    found = ties(ranked(values))
    for i, row in enumerate(values):
        assert columns_of(found, i) == counted(row)


@given(**CASES)
def test_ties_within__are_of_the_observations_present_in_both(
    seed: int, n: int, levels: int, missing: float
) -> None:
    a, b = values_of(seed, 3, n, levels, missing), values_of(seed + 1, 4, n, levels, missing / 2)
    found = ties_within(ranked(a), ranked(b))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            both = ~np.isnan(x) & ~np.isnan(y)
            assert found.n[i, j] == both.sum()
            assert columns_of(found.rows, i, j) == counted(x[both])
            assert columns_of(found.columns, i, j) == counted(y[both])


def test_ties_within__of_one_table_equal_those_of_it_twice() -> None:
    ranks = ranked(values_of(0, 7, 30, 4, 0.2))
    once, twice = ties_within(ranks), ties_within(ranks, ranks)
    np.testing.assert_array_equal(once.n, twice.n)
    for one, two in zip((*once.rows, *once.columns), (*twice.rows, *twice.columns), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n", [65_534, 65_535, 70_000])
def test_ties__of_wide_ranks(n: int) -> None:
    ranks = ranked(np.vstack([np.arange(n), np.arange(n) // 2, np.zeros(n)]))
    found = ties(ranks)
    assert found.levels.tolist() == [n, -(-n // 2), 1]
    assert found.pairs.tolist() == [0, n // 2, n * (n - 1) // 2]
    assert found.triples[2] == n * (n - 1) * (n - 2)
