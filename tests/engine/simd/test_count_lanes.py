"""Registers of counts: permuted, gathered, and float32 whose reciprocals are rough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.simd.count_lanes import (
    COUNT_LANES,
    RATIO_LANES,
    ROUGH,
    gather_counts,
    load_ratios,
    permute_counts,
    rough_reciprocal,
)
from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import store


@njit
def _deal(counts, first, places, at, permuted, gathered):
    store(permuted, 0, permute_counts(counts, first, places, at))
    store(gathered, 0, gather_counts(counts, first, places, at))


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
@given(seed=st.integers(0, 2**32), first=st.integers(0, 9), at=st.integers(0, 9))
def test_permuted_counts__are_those_of_a_gather(
    dtype: type[np.signedinteger], seed: int, first: int, at: int
) -> None:
    rng = np.random.default_rng(seed)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    counts = rng.integers(least, most, 2 * COUNT_LANES + 9, dtype, endpoint=True)
    places = rng.integers(0, COUNT_LANES, COUNT_LANES + 9).astype(np.uint32)
    permuted, gathered = np.empty(COUNT_LANES, dtype), np.empty(COUNT_LANES, dtype)
    _deal(counts, first, places, at, permuted, gathered)
    right = counts[first + places[at : at + COUNT_LANES].astype(int)]
    np.testing.assert_array_equal(permuted, right)
    np.testing.assert_array_equal(gathered, right)


@njit
def _invert(numbers, out):
    for k in range(0, numbers.shape[0], RATIO_LANES):
        store(out, k, rough_reciprocal(load_ratios(numbers, k)))


def test_rough_reciprocals__are_off_by_less_than_they_say() -> None:
    whole = np.arange(1, 2**20 + 1, dtype=np.float32)
    # The error is that of the mantissa, whatever the exponent but for the ends.
    small = np.float32(2) ** -100 * whole[-(2**16) :]
    for numbers in (whole, small, 1 / small):
        out = np.empty_like(numbers)
        _invert(numbers, out)
        off = np.abs(out.astype(np.float64) * numbers - 1)
        assert ROUGH / 1.1 < off.max() < ROUGH


def test_rough_reciprocal_of_nothing__is_some_number() -> None:
    out = np.empty(RATIO_LANES, np.float32)
    _invert(np.zeros(RATIO_LANES, np.float32), out)
    assert np.isfinite(out).all()
