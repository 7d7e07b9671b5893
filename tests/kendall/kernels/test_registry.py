"""All kernels of Kendall scores against pairs counted one by one, scipy and each other."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from genobit.kendall.kernels import registry
from genobit.kendall.kernels.bitonic_sort import network
from genobit.kendall.kernels.knight import NARROW, ROWS
from genobit.kendall.kernels.ranks import ranked, ties
from genobit.kendall.kernels.registry import KERNELS, Kernel, chosen_kernel, costs, scores
from genobit.kendall.kernels.tables import MOST_LEVELS
from tests.helpers.reference import kendall_scores
from tests.helpers.sized import sized

MERGES = ("merge", "packed-merge")
ALL = (*KERNELS, "merge")
"""The kernels, and the merge sort of the benchmarks."""


@pytest.fixture(scope="module", autouse=True)
def merge() -> Iterator[None]:
    """Score pairs by ``kernel="merge"``, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KERNELS, "merge", Kernel("tests.benchmarks.merge_sort", lambda _: math.inf))
        yield


def values_of(seed: int, rows: int, n: int, levels: int, missing: float) -> np.ndarray:
    """Rows that differ: every second has no ties, the last is constant."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, levels, (rows, n)).astype(float)
    values[::2] += rng.random((len(values[::2]), n))
    values[-1] = 1.0
    values[rng.random((rows, n)) < missing] = np.nan
    values[0] = rng.permutation(n)
    return values


def halves(kernel: str, ranks: np.ndarray) -> np.ndarray:
    """The upper triangle of a kernel, which leaves the lower as it was."""
    out = np.full((len(ranks), len(ranks)), -(2**40))
    importlib.import_module(KERNELS[kernel].module).score_pairs(ranks, ranks, True, out)
    return np.triu(out)


@pytest.mark.parametrize("kernel", ALL)
@settings(max_examples=sized(40, 10))
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, sized(70, 25)),
    levels=st.sampled_from([1, 2, 3, 8, 1000]),
    missing=st.sampled_from([0.0, 0.1, 0.8, 1.0]),
)
def test_scores__equal_pairs_counted_one_by_one(
    kernel: str, seed: int, n: int, levels: int, missing: float
) -> None:
    values = values_of(seed, 5, n, levels, missing)
    ranks, expected = ranked(values), np.array(kendall_scores(values, values))
    np.testing.assert_array_equal(scores(ranks[:2], ranks[2:], kernel), expected[:2, 2:])
    np.testing.assert_array_equal(halves(kernel, ranks), np.triu(expected))
    np.testing.assert_array_equal(scores(ranks, kernel=kernel), expected)


@pytest.mark.parametrize("kernel", ALL)
@pytest.mark.parametrize("n", sized([127, 128, 129, 353, 2000], [127, 128, 129]))
@pytest.mark.parametrize("levels", sized([3, 40, 10**6], [3, 10**6]))
def test_scores__are_those_of_scipy(kernel: str, n: int, levels: int) -> None:
    values = values_of(n, 5, n, levels, 0.05 if n == 353 else 0.0)
    found = scores(ranked(values), kernel=kernel)
    for i, j in itertools.combinations(range(len(values)), 2):
        kept = ~np.isnan(values[i]) & ~np.isnan(values[j])
        x, y = values[i][kept], values[j][kept]
        with np.errstate(all="ignore"):
            tau = stats.kendalltau(x, y).statistic
        pairs = len(x) * (len(x) - 1) / 2
        tied = ties(ranked(np.stack([x, y]))).pairs
        product = np.prod(pairs - tied)
        expected = 0.0 if np.isnan(tau) else tau * np.sqrt(product)
        assert found[i, j] == round(expected)


@pytest.mark.compiled("sorts of 32,766 observations and more take minutes")
@pytest.mark.parametrize("kernel", MERGES)
@pytest.mark.parametrize("n", [NARROW - 1, NARROW, NARROW + 1, 65_534, 65_535, 65_536])
def test_scores__where_the_width_of_ranks_and_keys_changes(kernel: str, n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.vstack([np.arange(n), np.arange(n)[::-1], rng.permutation(n), np.arange(n) // 2])
    found = scores(ranked(values), kernel=kernel)
    pairs = n * (n - 1) // 2
    assert found[0, 0] == pairs
    assert found[0, 1] == -pairs
    assert found[0, 2] == -found[1, 2]
    tau = stats.kendalltau(values[0], values[2]).statistic
    assert found[0, 2] == round(tau * pairs)
    assert found[0, 3] == found[3, 3] == pairs - n // 2


@pytest.mark.compiled("sorts of 32,767 observations and more take minutes")
@pytest.mark.parametrize("n", [NARROW, NARROW + 10, 70_000])
@pytest.mark.parametrize("missing", [0.0, 0.01])
def test_merges__agree_in_long_rows(n: int, missing: float) -> None:
    values = values_of(1, 6, n, 50, missing)
    ranks = ranked(values)
    np.testing.assert_array_equal(
        scores(ranks, kernel="merge"), scores(ranks, kernel="packed-merge")
    )


@pytest.mark.compiled("17,000 pairs of variables take minutes")
@pytest.mark.parametrize("kernel", ALL)
def test_scores__of_more_rows_than_a_block(kernel: str) -> None:
    ranks = ranked(values_of(3, 2 * ROWS + 5, 40, 6, 0.02))
    expected = scores(ranks, ranks, "merge")
    np.testing.assert_array_equal(scores(ranks, ranks, kernel), expected)
    np.testing.assert_array_equal(halves(kernel, ranks), np.triu(expected))
    np.testing.assert_array_equal(scores(ranks[:3], ranks, kernel), expected[:3])


@pytest.mark.parametrize("kernel", ALL)
def test_scores__from_many_threads_at_once(kernel: str) -> None:
    tables = [ranked(values_of(seed, *sized((20, 200), (4, 20)), 9, 0.01)) for seed in range(8)]
    alone = [scores(ranks, kernel=kernel) for ranks in tables]
    with ThreadPoolExecutor(8) as pool:
        for one, found in zip(
            alone, pool.map(lambda r: scores(r, kernel=kernel), tables), strict=True
        ):
            np.testing.assert_array_equal(found, one)


def test_table__refuses_what_has_too_many_levels() -> None:
    ranks = ranked(np.vstack([np.zeros(MOST_LEVELS + 1), np.arange(MOST_LEVELS + 1)]))
    with pytest.raises(ValueError, match=r"variable 1 .* 2,049 levels .* kernel='auto'"):
        scores(ranks, kernel="table")


def test_network__sorts_all_zeros_and_ones() -> None:
    keys = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
    for low, high in network(0, 16):
        keys[:, [low, high]] = np.sort(keys[:, [low, high]], axis=1)
    assert (np.diff(keys, axis=1) >= 0).all()


def test_costs__name_every_kernel_and_leave_out_tables_of_many_levels() -> None:
    assert set(costs(50, 20, levels=3, fitted=False)) == set(KERNELS)
    assert set(costs(50, 20, levels=50, fitted=False)) == set(KERNELS) - {"table"}
    assert min(costs(30, 5).values()) > 0


def test_costs__are_fitted_where_a_choice_is_close_and_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def factor(kernel: str) -> float:
        asked.append(kernel)
        return 0.01 if kernel == "packed-merge" else 1.0

    monkeypatch.setattr(registry, "factor", factor)
    assert chosen_kernel(8000, 2000, tied=False) == "packed-merge"
    assert set(asked) == {"packed-merge", "signs"}
    asked.clear()
    chosen_kernel(353, 100, tied=False)
    assert not asked


def test_choice__for_many_variables_with_a_few_others_shares_no_planes() -> None:
    for n in (353, 2000, 17_941):
        assert chosen_kernel(n, 1000, others=1, tied=False) == "packed-merge"
        assert chosen_kernel(n, 1, others=1000, tied=False) == "packed-merge"
    triangle = costs(353, 1000, tied=False, fitted=False)
    chosen = chosen_kernel(353, 1000, others=1000, tied=False)
    assert triangle[chosen] == min(triangle.values())
    square, triangle = costs(400, 70, others=70, fitted=False), costs(400, 70, fitted=False)
    ratio = square["packed-merge"] / triangle["packed-merge"]
    assert ratio == pytest.approx(70 / 34.5)
