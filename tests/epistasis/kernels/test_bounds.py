"""Scores of tables are what their definitions say, and no bound is below them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from genobit.engine.simd.count_lanes import COUNT_LANES
from genobit.epistasis.kernels.bounds import (
    MOST_LOST,
    ClassShares,
    any_may_reach,
    bound,
    count_classes,
    least_bound,
    most_information,
    quick,
    shares_of,
)
from genobit.epistasis.kernels.mutual_information import mutual_information, x_log_x
from genobit.epistasis.kernels.statistics import (
    BOOST,
    CHI2,
    GAIN,
    Rule,
    branches_of,
    pearson,
    ranked_scores,
)
from tests.epistasis.twins import information
from tests.helpers.sized import sized

DTYPES = [np.int16, np.int32]


@st.composite
def extreme_tables(draw: st.DrawFn, classes: st.SearchStrategy[int]) -> np.ndarray:
    """Tables (classes, 9 or 27, 5) with empty cells and classes, and classes of few and of many."""
    shape = (draw(classes), draw(st.sampled_from([9, 27])), 5)
    counts = st.sampled_from([0, 0, 0, 1, 2, 3, 7, 100, 1_000, 32_000])
    most = st.lists(st.sampled_from([0, 1, 1_000, 32_000]), min_size=shape[0], max_size=shape[0])
    limits = np.array(draw(most)).reshape(-1, 1, 1)
    return np.minimum(draw(hnp.arrays(np.int64, shape, elements=counts)), limits)


def in_registers(counts: np.ndarray) -> np.ndarray:
    """The same tables again and again, to fill registers."""
    return np.ascontiguousarray(np.tile(counts, (1, 1, COUNT_LANES)))


def bounds_of(counts: np.ndarray) -> tuple[np.ndarray, ClassShares]:
    n = counts.shape[2]
    classed = shares_of(np.zeros(counts.shape[0], np.int64), n)
    count_classes(counts, classed)
    found = np.empty(n, np.float32)
    most_information(counts, classed, found)
    return found, classed


@given(seed=st.integers(0, 2**32), classes=st.integers(1, 3), most=st.sampled_from([1, 3, 50]))
def test_mutual_information__is_the_definition(seed: int, classes: int, most: int) -> None:
    counts = np.random.default_rng(seed).integers(0, most + 1, (classes, 9, 6)).astype(np.int32)
    logarithms = x_log_x(int(counts.sum()))
    for k in range(6):
        score, n = mutual_information(counts, k, logarithms)
        assert n == counts[:, :, k].sum()
        np.testing.assert_allclose(score, information(counts[:, :, k]), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=sized(300, 10))
@given(counts=extreme_tables(st.integers(1, 4)))
def test_bound__lets_through_what_reaches_the_threshold(
    dtype: type[np.signedinteger], counts: np.ndarray
) -> None:
    counts = in_registers(counts).astype(dtype)
    found, _ = bounds_of(counts)
    for k in (*range(5), *range(counts.shape[2] - 5, counts.shape[2])):
        score = information(counts[:, :, k].astype(int))
        if not math.isnan(score):
            assert found[k] >= np.float32(least_bound(score, counts[:, :, k].size))


@pytest.mark.parametrize("statistic", [CHI2, GAIN, BOOST])
@settings(max_examples=sized(200, 10))
@given(counts=extreme_tables(st.just(2)))
@example(counts=np.array([[[32_000]] + [[1]] * 8, [[0]] * 9]))
def test_bound__holds_for_each_statistic(statistic: int, counts: np.ndarray) -> None:
    counts = in_registers(counts[:, :9]).astype(np.int16)
    samples = counts.sum(axis=(0, 1))
    _, classed = bounds_of(counts)
    rule = Rule(statistic)
    scores = ranked_scores(counts, rule, x_log_x(int(samples.max())))
    for k in np.flatnonzero(np.isfinite(scores)):
        # A search knows the samples of all, which is at least as many as have no missing call.
        for many in (samples[k], 2 * samples[k]):
            found = np.empty(counts.shape[2], np.float32)
            threshold = pearson(counts, k) if statistic == CHI2 else scores[k]
            least = bound(counts, classed, rule, threshold, many, found, branches_of(rule).chi2)
            if statistic != CHI2 or many == samples[k]:
                assert found[k] >= least


@pytest.mark.parametrize("classes", [2, 3])
def test_bound__is_near_the_information_of_random_tables(classes: int) -> None:
    rng = np.random.default_rng(classes)
    counts = rng.poisson(12, (classes, 81, sized(1_024, 5 * COUNT_LANES))).astype(np.int32)
    found, _ = bounds_of(counts)
    exact = [information(counts[:, :, k]) for k in range(counts.shape[2])]
    np.testing.assert_allclose(found, exact, rtol=0.02)
    assert (found >= exact).mean() > 0.99


def test_bound__is_the_same_of_complete_tables_whether_classes_are_counted_or_known() -> None:
    rng = np.random.default_rng(3)
    base = rng.multinomial(500, np.full(27, 1 / 27), (2, COUNT_LANES)).transpose(0, 2, 1)
    counts = np.ascontiguousarray(base.astype(np.int16))
    found, counted = bounds_of(counts)
    known = shares_of(np.array([500, 500]), COUNT_LANES)
    np.testing.assert_array_equal(counted.shares, known.shares)
    np.testing.assert_array_equal(counted.samples, known.samples)
    again = np.empty(COUNT_LANES, np.float32)
    most_information(counts, known, again)
    np.testing.assert_array_equal(found, again)


def dealt(seed: int, sizes: tuple[int, int], cells: int, uneven: float) -> np.ndarray:
    """Tables (2, cells, a register) of samples dealt to cells, some of which few samples have."""
    rng = np.random.default_rng(seed)
    out = np.zeros((2, cells, COUNT_LANES), np.int16)
    for k in range(COUNT_LANES):
        shares = rng.dirichlet(np.full(cells, uneven), 2)
        if k % 4 == 0:
            shares[1] = shares[0]
        for c, size in enumerate(sizes):
            out[c, :, k] = rng.multinomial(size, shares[c])
    return out


def near(counts: np.ndarray, k: int, information: float) -> bool:
    """Whether table k may have so much information, its neighbours being without any."""
    sizes = counts.sum(axis=(1, 2)) // counts.shape[2]
    alone = np.zeros_like(counts)
    alone[:, :, k] = counts[:, :, k]
    told = quick(sizes, Rule())
    assert told.samples > 0
    return any_may_reach(alone.ravel(), counts.shape[1], counts.shape[2], k + 1, told, information)


@settings(max_examples=sized(60, 10))
@given(
    seed=st.integers(0, 2**32),
    sizes=st.tuples(st.integers(1, 2_000), st.integers(1, 2_000)),
    cells=st.sampled_from([9, 27]),
    uneven=st.sampled_from([0.05, 1.0, 50.0]),
)
@example(seed=1, sizes=(32_000, 4_000), cells=9, uneven=0.05)
def test_quick_bound__lets_through_what_reaches_the_threshold(
    seed: int, sizes: tuple[int, int], cells: int, uneven: float
) -> None:
    assume(quick(np.array(sizes), Rule()).samples > 0)
    counts = dealt(seed, sizes, cells, uneven)
    for k in range(counts.shape[2]):
        assert near(counts, k, information(counts[:, :, k].astype(int)))


@pytest.mark.parametrize("sizes", [(1_000, 1_000), (700, 1_300), (1_500, 500)])
def test_quick_bound__is_near_the_information_of_random_tables(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    table = np.stack([rng.multinomial(size, np.full(27, 1 / 27), COUNT_LANES).T for size in sizes])
    counts = np.ascontiguousarray(table.astype(np.int16))
    for k in range(COUNT_LANES):
        # 1.03 times the information for equal classes, 1.11 for the last ones.
        assert not near(counts, k, 1.12 * information(counts[:, :, k].astype(int)))


@pytest.mark.parametrize("sizes", [(0, 50), (50, 0), (1, 2_000), (10, 10, 10)])
def test_quick_bound__is_left_out_where_classes_are_very_unequal(sizes: tuple[int, ...]) -> None:
    told = quick(np.array(sizes), Rule())
    assert told.samples == 0
    assert quick(np.array([50, 50]), Rule(CHI2)).samples == 0
    assert 0 < quick(np.array([50, 60]), Rule()).lost < MOST_LOST
