from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from genobit.kendall.false_discovery import FalseDiscovery, merged


def streamed(parts: list[np.ndarray], fdr: float) -> tuple[FalseDiscovery, np.ndarray, list[float]]:
    """What stands after all parts, of each p-value that never lay above the bound."""
    discovery = FalseDiscovery(fdr, sum(len(part) for part in parts))
    bounds = []
    for part in parts:
        known = part[~np.isnan(part)]
        below = known[known <= discovery.bound]
        values, counts = np.unique(below, return_counts=True)
        discovery.add(values, counts, tests=len(known), pairs=len(part))
        bounds.append(discovery.bound)
    everything = np.concatenate(parts)
    q = np.full(everything.shape, np.inf)
    kept = everything <= discovery.bound
    q[kept] = discovery.qvalues(everything[kept])
    return discovery, q, bounds


def check(parts: list[np.ndarray], fdr: float) -> None:
    discovery, q, bounds = streamed(parts, fdr)
    everything = np.concatenate(parts)
    known = ~np.isnan(everything)
    assert discovery.tests == known.sum()
    wanted = np.full(everything.shape, np.inf)
    if known.any():
        wanted[known] = false_discovery_control(everything[known])
    stand = wanted <= fdr
    np.testing.assert_array_equal(q <= fdr, stand)
    # To the last bit: no tolerance.
    np.testing.assert_array_equal(q[stand], wanted[stand])
    assert bounds == sorted(bounds, reverse=True)
    assert not stand.any() or bounds[-1] >= everything[stand].max()


P_VALUES = st.one_of(
    st.just(float("nan")),
    st.floats(0, 1),
    st.floats(0, 0.02),
    # Equal values, as of scores of few observations.
    st.sampled_from([0.0, 1e-12, 1 / 3, 0.004, 0.01, 0.05, 1.0]),
)
FDR = st.one_of(st.floats(1e-6, 1), st.sampled_from([0.01, 0.05, 1.0]))


@given(parts=st.lists(st.lists(P_VALUES, max_size=30), min_size=1, max_size=6), fdr=FDR)
def test_qvalues__are_scipys_however_the_tests_arrive(parts: list[list[float]], fdr: float) -> None:
    check([np.array(part, float) for part in parts], fdr)


@pytest.mark.parametrize("fdr", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_qvalues__of_many_tests(share: float, fdr: float) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    p[rng.random(p.size) < share] **= 8
    p = np.round(p, 4)
    p[rng.random(p.size) < 0.1] = np.nan
    check(np.array_split(p, 13), fdr)


def test_bound__falls_so_that_few_pvalues_are_kept() -> None:
    rng = np.random.default_rng(1)
    parts = np.array_split(rng.random(100_000), 50)
    discovery = FalseDiscovery(0.05, 100_000)
    most = 0
    for part in parts:
        below = part[part <= discovery.bound]
        discovery.add(*np.unique(below, return_counts=True), tests=len(part), pairs=len(part))
        most = max(most, discovery.nbytes)
    assert most < 16 * 2_000
    assert discovery.bound < 1e-4


def test_qvalues__of_no_tests() -> None:
    discovery = FalseDiscovery(0.05, 3)
    discovery.add(np.empty(0), np.empty(0, np.int64), tests=0, pairs=3)
    assert discovery.tests == 0
    assert discovery.qvalues(np.empty(0)).shape == (0,)


def test_merged__of_nothing() -> None:
    values, counts = merged(np.empty(0), np.empty(0, np.int64))
    assert values.shape == counts.shape == (0,)
