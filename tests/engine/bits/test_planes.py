"""Padding bits are zero in every plane, and the last word's bits count without them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.layout import pack_bits, tail_mask, unpack_bits, words_for
from genobit.engine.bits.planes import PlaneRows, all_called
from tests.helpers.cohorts import TAILS


@given(bits=st.sampled_from(TAILS), words_more=st.integers(0, 3), seed=st.integers(0, 2**32))
def test_padding_is_zero(bits: int, words_more: int, seed: int) -> None:
    values = np.random.default_rng(seed).random((3, 5, bits)) < 0.5
    packed = pack_bits(values)
    np.testing.assert_array_equal(unpack_bits(packed, bits), values)
    assert packed.shape == (3, 5, words_for(bits))
    assert not (packed[..., -1] & ~tail_mask(bits)).any()
    row = all_called(bits, words_for(bits) + words_more)
    assert np.bitwise_count(row).sum() == bits
    np.testing.assert_array_equal(row[: words_for(bits)], pack_bits(np.ones(bits, np.bool_)))
    carrier, hom_alt = pack_bits(values[0]), pack_bits(values[0] & values[1])
    for called in (None, pack_bits(values[0] | values[2])):
        for plane in PlaneRows(False, bits, (carrier, hom_alt), called).ternary():
            assert not (plane[:, -1] & ~tail_mask(bits)).any()


@given(bits=st.sampled_from(TAILS), data=st.data())
def test_complete__whatever_call_is_missing(bits: int, data: st.DataObject) -> None:
    called = np.tile(all_called(bits), (3, 1))
    assert PlaneRows(False, bits, (), called).complete()
    row, bit = data.draw(st.integers(0, 2)), data.draw(st.integers(0, bits - 1))
    called[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    assert not PlaneRows(False, bits, (), called).complete()


def test_complete__of_no_calls() -> None:
    assert PlaneRows(False, 0, (), np.zeros((2, 0), np.uint64)).complete()
    assert all_called(0, 2).tolist() == [0, 0]
