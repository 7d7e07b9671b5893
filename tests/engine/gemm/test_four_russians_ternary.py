"""Tables of sums where a count moves from bytes to 16 bits, to 32, and from panel to panel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.gemm import four_russians
from tests.helpers.reference import ternary_products, words_of
from tests.helpers.sized import sized

BLOCK_BITS = 64 * four_russians.WORDS
BITS = (1, 3, 4, 5, 39, 40, 41, 59, 60, 61, 63, 64, 65, 119, 120, 121, 128, 239, 240, 241)
LONG = (BLOCK_BITS - 1, BLOCK_BITS, BLOCK_BITS + 1, 2 * BLOCK_BITS, 3 * BLOCK_BITS + 17)
EDGES = sized((1, 2, 31, 32, 33, 63, 64, 65, 129), (1, 2, 33))
SIXTEEN_BITS = 32_640
"""Bits whose sums, with their bias, no longer fit 16 bits: 65,535 / 2 in whole blocks."""


def operand(rows: int, bits: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random values, with rows all +1, all -1 and all 0 among them."""
    rng = np.random.default_rng(seed)
    mask = rng.uniform(size=(rows, bits)) < rng.uniform(size=(rows, 1))
    sign = rng.uniform(size=(rows, bits)) < rng.uniform(size=(rows, 1))
    kind = rng.integers(0, 8, rows)
    mask[kind <= 1], mask[kind == 2], sign[kind == 0], sign[kind == 1] = True, False, True, False
    return mask, sign


def product(a: tuple, b: tuple, diagonal: int = -(2**62)) -> np.ndarray:
    out = np.zeros((len(a[0]), len(b[0])), np.int32)
    planes = [words_of(x) for x in (*a, *b)]
    four_russians.multiply_ternary(*planes, diagonal, np.zeros(len(b[0]), np.int64), out)
    return out


@given(
    rows=st.sampled_from(EDGES),
    columns=st.sampled_from(EDGES),
    bits=st.sampled_from(sized(BITS + LONG, BITS)),
    seed=st.integers(0, 2**32),
)
def test_multiply__equals_the_reference(rows: int, columns: int, bits: int, seed: int) -> None:
    a, b = operand(rows, bits, seed), operand(columns, bits, seed + 1)
    np.testing.assert_array_equal(product(a, b), ternary_products(*a, *b))


@pytest.mark.compiled("32,000 positions and more of tables of sums take a minute")
@pytest.mark.parametrize("beyond", [-961, -960, -1, 0, 1, 959, 960, 961, 32_640, 70_000])
def test_multiply__where_sums_leave_16_bits(beyond: int) -> None:
    bits = SIXTEEN_BITS + beyond
    a, b = operand(9, bits, 1), operand(66, bits, 2)
    np.testing.assert_array_equal(product(a, b), ternary_products(*a, *b))


@pytest.mark.parametrize(
    "bits", sized([*BITS, *LONG, 32_639, 32_640, 32_641, 65_280, 131_000], [1, 65, 241])
)
def test_multiply__at_the_extremes(bits: int) -> None:
    """Every byte of every table sum at its most and at its least."""
    mask = np.ones((2, bits), bool)
    sign = np.array([[False], [True]]) & mask
    expected = bits * np.array([[1, -1], [-1, 1]])
    np.testing.assert_array_equal(product((mask, sign), (mask, sign)), expected)
    many = tuple(np.repeat(x, 40, axis=0) for x in (mask, sign))
    found = product(many, many)
    np.testing.assert_array_equal(found, np.repeat(np.repeat(expected, 40, 0), 40, 1))


def test_multiply__adds_to_what_is_there() -> None:
    a, b = operand(7, 100, 1), operand(70, 100, 2)
    out = np.full((7, 70), 1000, np.int32)
    planes = [words_of(x) for x in (*a, *b)]
    for _ in range(2):
        four_russians.multiply_ternary(*planes, -(2**62), np.zeros(70, np.int64), out)
    np.testing.assert_array_equal(out, 1000 + 2 * ternary_products(*a, *b))


@given(
    rows=st.sampled_from(EDGES),
    columns=st.sampled_from(EDGES),
    diagonal=st.integers(-140, 140),
)
def test_multiply__gives_what_is_on_and_above_a_diagonal(
    rows: int, columns: int, diagonal: int
) -> None:
    a, b = operand(rows, 130, rows), operand(columns, 130, columns)
    i, j = np.ogrid[:rows, :columns]
    wanted = i - j <= -diagonal
    found, expected = product(a, b, diagonal), ternary_products(*a, *b)
    np.testing.assert_array_equal(found[wanted], expected[wanted])


def test_multiply__from_eight_threads_at_once() -> None:
    a, b = operand(*sized((130, 2000), (9, 300)), 1), operand(*sized((129, 2000), (9, 300)), 2)
    expected = ternary_products(*a, *b)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: product(a, b), range(sized(24, 8))):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (0, 0)])
def test_multiply__of_no_rows(rows: int, columns: int) -> None:
    assert product(operand(rows, 70, 1), operand(columns, 70, 1)).shape == (rows, columns)


def test_multiply__of_no_words() -> None:
    none = np.zeros((3, 0), np.uint64)
    out = np.full((3, 3), 4, np.int32)
    four_russians.multiply_ternary(none, none, none, none, 0, np.zeros(3, np.int64), out)
    assert (out == 4).all()
