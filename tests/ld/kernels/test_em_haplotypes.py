"""Haplotype frequencies of largest likelihood against a grid, and the blocks that engines fill."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genobit.engine.options import set_options
from genobit.ld.kernels import em_haplotypes, pairs
from tests.helpers.cohorts import TAILS, random_calls
from tests.helpers.reference import (
    banded,
    coupled_double_heterozygotes,
    dosages,
    haplotype_likelihood,
    known_haplotypes,
    linkage_from_haplotypes,
)
from tests.helpers.sized import KERNELS, sized
from tests.helpers.windows import rows_of, window
from tests.ld.kernels import ld_band, ld_square

STATISTICS = ("r2_em", "dprime_em")
Known = tuple[int, int, int, int, int]


def estimate(known: Known) -> float:
    return em_haplotypes.double_heterozygotes(*map(float, known))[0]


def likelihood(f: float, known: Known) -> float:
    return float(haplotype_likelihood(np.array([f]), known)[0])


def check_estimate(known: Known) -> None:
    found, right = estimate(known), coupled_double_heterozygotes(known)
    h = known[4]
    assert 0 <= found <= h
    # Nowhere on the grid is it larger; and it is the same place, where it is not flat around it.
    assert likelihood(found, known) >= likelihood(right, known) - 1e-10
    if likelihood(right, known) - likelihood(found, known) != pytest.approx(0, abs=1e-12):
        return
    flat = abs(found - right) > 1e-3 * max(h, 1)
    if flat:
        nearby = np.linspace(min(found, right), max(found, right), 50)
        assert np.ptp(haplotype_likelihood(nearby, known)) < 1e-9


small = st.integers(0, 6)
large = st.integers(0, 3000)


@given(known=st.tuples(small, small, small, small, small) | st.tuples(*[large] * 5))
@example(known=(0, 0, 0, 0, 7))  # either phase: a tie
@example(known=(2, 0, 2, 0, 9))  # two maxima on the edges, a tie
@example(known=(3, 2, 0, 1, 9))
@example(known=(0, 0, 1, 3, 40))  # 0 is a maximum, and so is a place inside
@example(known=(1, 1, 1, 1, 40))  # three roots inside
@example(known=(1, 2, 2, 1, 4))  # a tie of two places inside
def test_double_heterozygotes__have_the_largest_likelihood(known: Known) -> None:
    check_estimate(known)


def test_double_heterozygotes__of_all_small_tables() -> None:
    two = 0
    for known in product(range(4), range(4), range(4), range(4), (0, 1, 5, 12)):
        check_estimate(known)
        two += em_haplotypes.double_heterozygotes(*map(float, known))[1]
    assert two > 50  # of each way to have two maxima


@pytest.mark.parametrize(
    ("known", "right"),
    [((0, 0, 0, 0, 7), 7.0), ((2, 0, 2, 0, 9), 9.0), ((1, 1, 1, 1, 40), 39.97498)],
)
def test_double_heterozygotes__of_equal_likelihood_are_coupled(known: Known, right: float) -> None:
    found = estimate(known)
    assert found == pytest.approx(right, abs=1e-5)
    # The table is its own mirror image: as many of them the other way round are as likely.
    away = known[4] - found
    assert likelihood(away, known) == pytest.approx(likelihood(found, known), abs=1e-12)


@given(known=st.tuples(*[st.integers(0, 10**6)] * 5))
def test_double_heterozygotes__stand_still_under_a_step_of_em(known: Known) -> None:
    k11, k00, k10, k01, h = known
    f = estimate(known)
    p, q = (k11 + f) * (k00 + f), (k10 + h - f) * (k01 + h - f)
    # It cancels no more than this: f Q and (h - f) P, each good to 1e-15.
    assert abs(f * q - (h - f) * p) <= 1e-12 * max(h, 1) * max(p, q, 1)
    # Exchanging the variants exchanges 10 and 01, and changes no bit.
    assert estimate((k11, k00, k01, k10, h)) == f


@given(
    seed=st.integers(0, 2**32),
    variants=st.integers(1, 9),
    samples=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.1, 0.7, 1.0]),
)
def test_square__equals_the_reference(
    seed: int, variants: int, samples: int, missing: float
) -> None:
    calls = random_calls(seed, variants, samples, missing=missing)
    x = dosages(calls)
    rows = rows_of(calls, haploid=False)
    for statistic in STATISTICS:
        right = np.full((variants, variants), np.nan)
        for i, j in product(range(variants), repeat=2):
            known = known_haplotypes(x[i], x[j])
            right[i, j] = linkage_from_haplotypes(statistic, known, estimate(known))
        found = []
        for kernel in KERNELS:
            with set_options(kernel=kernel):
                found.append(ld_square(statistic, rows))
            assert found[-1].tobytes() == found[0].tobytes()
        np.testing.assert_allclose(found[0], right, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(found[0], found[0].T)
        rectangle = ld_square(statistic, rows, rows)
        np.testing.assert_array_equal(rectangle, found[0])
        varies = ~np.isnan(np.diag(right))
        np.testing.assert_array_equal(np.diag(found[0])[varies], 1)


def test_square__does_not_depend_on_whether_completeness_is_known() -> None:
    calls, gappy = random_calls(8, 50, 100), random_calls(9, 50, 100, missing=0.1)
    for statistic in STATISTICS:
        known = ld_square(statistic, rows_of(calls, haploid=False, called=False))
        both = rows_of(np.concatenate([calls, gappy]), haploid=False)
        assert ld_square(statistic, both)[:50, :50].tobytes() == known.tobytes()


@given(
    seed=st.integers(0, 2**16),
    missing=st.sampled_from([0.0, 0.1]),
    cut=st.integers(1, sized(150, 30)),
)
def test_band_and_pairs__equal_the_square(seed: int, missing: float, cut: int) -> None:
    n = sized(150, 30)
    rows = rows_of(random_calls(seed, n, 40, missing=missing), haploid=False)
    last = window(n, 30, seed)
    inside = {(i, j) for i in range(n) for j in range(i + 1, last[i] + 1)}
    square = ld_square("r2_em", rows)
    right = banded(square, inside)
    stop = int(last[cut - 1]) + 1
    head, reached = rows.part(0, cut), rows.part(0, stop)
    found = ld_band("r2_em", head, reached, last[:cut], right.shape[1])
    np.testing.assert_array_equal(found, right[:cut])

    i, j, r2 = pairs.pairs(rows, None, last, 0, 0.3, "r2_em")
    wanted = sorted((i, j) for i, j in inside if square[i, j] >= np.float32(0.3))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == wanted
    assert r2.astype(np.float32).tobytes() == square[i, j].tobytes()
