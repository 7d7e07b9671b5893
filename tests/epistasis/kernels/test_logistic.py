"""The fit without interaction is no worse than another way to it, however uneven the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from genobit.epistasis.kernels.logistic import interaction_ratio
from tests.helpers.reference import proportional_ratio
from tests.helpers.sized import sized

COUNTS = st.sampled_from([0, 0, 1, 2, 3, 20, 1_000, 30_000])
# Found by comparison: each effect cut to the longest step, one cancelled the other and none moved.
STOOD_STILL = [
    [[[32_000, 1, 1], [1, 1, 1], [1, 1, 1]], [[0] * 3] * 3],
    [[[0] * 3] * 3, [[4, 0, 1], [29_777, 30_134, 1], [29_845, 1, 0]]],
    [
        [[997, 3, 0], [0, 30_054, 0], [1, 0, 1]],
        [[1, 29_940, 0], [3, 29_921, 19], [30_374, 2, 0]],
    ],
    [[[12, 1_013, 1], [29_748, 0, 0], [0, 30_229, 0]], [[0, 0, 0], [0, 1, 3], [0, 0, 27]]],
]


def ratio(table: np.ndarray) -> float:
    return interaction_ratio(*table.astype(float))


def no_worse(table: np.ndarray, sweeps: int) -> bool:
    return 0 <= ratio(table) <= proportional_ratio(table, sweeps) * (1 + 1e-3) + 1e-3


@pytest.mark.parametrize("table", STOOD_STILL)
def test_fit__does_not_stand_still(table: list) -> None:
    assert no_worse(np.array(table), 20_000)


@given(counts=hnp.arrays(np.int64, (3, 3), elements=COUNTS), empty=st.integers(0, 1))
def test_a_class_without_samples__has_no_interaction(counts: np.ndarray, empty: int) -> None:
    table = np.zeros((2, 3, 3), np.int64)
    table[1 - empty] = counts
    assert 0 <= ratio(table) < 1e-6


@given(table=hnp.arrays(np.int64, (2, 3, 3), elements=COUNTS))
@settings(max_examples=sized(500, 10))
def test_fit__is_no_worse_than_proportional_fitting(table: np.ndarray) -> None:
    assert no_worse(table, 200)


@given(table=hnp.arrays(np.int64, (2, 3, 3), elements=COUNTS), axis=st.sampled_from([0, 1, 2]))
def test_classes_and_variants_may_be_exchanged(table: np.ndarray, axis: int) -> None:
    turned = np.swapaxes(table, 1, 2) if axis == 2 else np.flip(table, axis)
    np.testing.assert_allclose(ratio(turned), ratio(table), rtol=1e-3, atol=1e-3)
