from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits import words as kernels
from tests.helpers.cohorts import TAILS
from tests.helpers.reference import bits_of, words_of

word = st.integers(0, 2**64 - 1)


def random_bits(rows: int, n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (rows, n)).astype(bool)


@given(word)
def test_even_bits__keeps_every_second_bit(x: int) -> None:
    expected = sum((x >> 2 * k & 1) << k for k in range(32))
    assert int(kernels.even_bits(np.uint64(x))) == expected


@given(word)
def test_spread_bits__undoes_even_bits(x: int) -> None:
    spread = int(kernels.spread_bits(np.uint64(x)))
    assert spread == sum((x >> k & 1) << 2 * k for k in range(32))
    assert int(kernels.even_bits(np.uint64(spread))) == x & 0xFFFFFFFF


@pytest.mark.parametrize("n", [64, 128, 192])
def test_interleave__takes_bits_in_turn(n: int) -> None:
    even, odd = random_bits(3, n, 1), random_bits(3, n, 2)
    out = np.empty((3, 2 * n // 64), np.uint64)
    kernels.interleave(words_of(even), words_of(odd), out)
    expected = np.stack([even, odd], axis=2).reshape(3, 2 * n)
    np.testing.assert_array_equal(bits_of(out, 2 * n), expected)


@given(st.integers(0, 20), st.sampled_from(TAILS), st.integers(0, 2**32))
def test_count_rows(rows: int, n: int, seed: int) -> None:
    x = random_bits(rows, n, seed)
    np.testing.assert_array_equal(kernels.count_rows(words_of(x)), x.sum(axis=1))


@given(st.integers(1, 130), st.sampled_from(TAILS), st.integers(0, 2**32))
def test_transpose_bits__turns_rows_into_columns_and_pads_with_zeros(
    rows: int, n: int, seed: int
) -> None:
    x = random_bits(rows, n, seed)
    turned = kernels.transpose_bits(words_of(x), n)
    np.testing.assert_array_equal(turned, words_of(x.T))
    np.testing.assert_array_equal(kernels.transpose_bits(turned, rows), words_of(x))


@pytest.mark.parametrize("rows", [64, 448, 449, 511, 512, 513, 960, 961, 1100])
@pytest.mark.parametrize("n", [63, 448, 511, 512, 513, 1100])
def test_transpose_bits__around_the_edges_of_tiles(rows: int, n: int) -> None:
    x = random_bits(rows, n, rows + n)
    np.testing.assert_array_equal(kernels.transpose_bits(words_of(x), n), words_of(x.T))


def test_transpose_bits__of_words_that_are_not_together() -> None:
    x = random_bits(70, 128, 3)
    wide = np.zeros((70, 5), np.uint64)
    wide[:, 1:3] = words_of(x)
    np.testing.assert_array_equal(kernels.transpose_bits(wide[:, 1:3], 128), words_of(x.T))


@pytest.mark.parametrize("shape", [(0, 1), (3, 0), (0, 0)])
def test_transpose_bits__of_nothing(shape: tuple[int, int]) -> None:
    rows, n = shape
    found = kernels.transpose_bits(np.zeros((rows, n), np.uint64), 64 * n)
    assert found.shape == (64 * n, -(-rows // 64))


@given(st.sampled_from(TAILS), st.data())
def test_select_bits__in_any_order_with_repeats(n: int, data: st.DataObject) -> None:
    chosen = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=140)), np.int64)
    x = random_bits(3, n, n)
    out = kernels.select_bits(words_of(x), chosen)
    np.testing.assert_array_equal(out, words_of(x[:, chosen]))


def test_kernels_take_arrays_that_may_not_be_written() -> None:
    x = random_bits(70, 70, 5)
    words = words_of(x)
    words.flags.writeable = False
    np.testing.assert_array_equal(kernels.count_rows(words), x.sum(axis=1))
    np.testing.assert_array_equal(kernels.transpose_bits(words, 70), words_of(x.T))
