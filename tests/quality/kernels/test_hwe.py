"""Exact tests of Hardy-Weinberg equilibrium against a sum of fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.quality.kernels.hwe import p_values
from tests.helpers.reference import hardy_weinberg

COUNT = st.one_of(st.integers(0, 4), st.integers(0, 120))


def p_value(het: int, one: int, other: int, *, midp: bool = False) -> float:
    counts = (np.array([count]) for count in (het, one, other))
    return float(p_values(*counts, midp)[0])


@given(genotypes=st.tuples(COUNT, COUNT, COUNT), midp=st.booleans())
def test_p_values__equal_sums_of_fractions(genotypes: tuple[int, int, int], midp: bool) -> None:
    right = hardy_weinberg(*genotypes, midp=midp)
    assert p_value(*genotypes, midp=midp) == pytest.approx(right, rel=1e-12)


def test_p_values__of_published_example() -> None:
    # Wigginton et al. (2005), table 1: 100 samples, 21 rare alleles, 5 heterozygotes.
    assert p_value(5, 8, 87) == pytest.approx(hardy_weinberg(5, 8, 87), rel=1e-13)
    assert p_value(21, 0, 79) == pytest.approx(0.593, abs=1e-3)


@pytest.mark.parametrize("midp", [False, True])
def test_p_values__reach_the_smallest_floats(midp: bool) -> None:
    # The whole sample is homozygous for one of two equally common alleles.
    right = hardy_weinberg(0, 500, 500, midp=midp)
    assert 0 < right < 1e-295
    assert p_value(0, 500, 500, midp=midp) == pytest.approx(right, rel=1e-10)
    assert p_value(0, 5000, 5000, midp=midp) == 0
    assert p_value(10_000, 0, 0, midp=midp) == 0


def test_p_values__do_not_depend_on_which_allele_is_named_first() -> None:
    counts = np.random.default_rng(1).integers(0, 60, (3, 200))
    het, one, other = counts
    np.testing.assert_array_equal(
        p_values(het, one, other, False), p_values(het, other, one, False)
    )
