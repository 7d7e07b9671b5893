from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.grm.kernels.row_sums import add_row_sums
from tests.helpers.cohorts import TAILS
from tests.helpers.reference import words_of


@given(
    rows=st.integers(0, 20),
    bits=st.sampled_from(TAILS),
    dtype=st.sampled_from([np.int64, np.float64]),
    seed=st.integers(0, 2**32),
)
def test_row_sums__equal_the_product(rows: int, bits: int, dtype: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=(rows, bits)) < rng.uniform()
    weights = rng.integers(-(2**40), 2**40, bits).astype(dtype)
    start = rng.integers(-100, 100, rows).astype(dtype)
    out = start.copy()
    add_row_sums(words_of(values), weights, out)
    np.testing.assert_array_equal(out, start + values.astype(dtype) @ weights)


def test_row_sums__of_integers_past_floats() -> None:
    values = np.ones((3, 100), bool)
    weights = np.full(100, 2**55 + 1)
    out = np.zeros(3, np.int64)
    add_row_sums(words_of(values), weights, out)
    assert out.tolist() == [100 * (2**55 + 1)] * 3


@pytest.mark.parametrize("words", [0, 1, 7])
def test_row_sums__of_nothing(words: int) -> None:
    out = np.array([5.0, 6.0])
    add_row_sums(np.zeros((2, words), np.uint64), np.ones(64 * words), out)
    add_row_sums(np.zeros((0, words), np.uint64), np.ones(64 * words), out[:0])
    assert out.tolist() == [5.0, 6.0]


def test_row_sums__of_planes_cut_from_others() -> None:
    words = words_of(np.random.default_rng(0).uniform(size=(6, 640)) < 0.5)
    part, out = words[::2, 3:7], np.zeros(3, np.int64)
    add_row_sums(part, np.arange(256), out)
    expected = np.zeros(3, np.int64)
    add_row_sums(np.ascontiguousarray(part), np.arange(256), expected)
    np.testing.assert_array_equal(out, expected)
