"""Tables of sums of eight bits where a count moves from bytes to 16 bits, to 32, and on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.gemm import four_russians
from tests.helpers.sized import sized

BLOCK = four_russians.WORDS
EDGES = sized((1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 129), (1, 9, 33))
WORDS = sized(
    (1, 2, 3, 4, 7, 8, 9, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 2),
    (1, 2, 9, BLOCK + 1),
)


def operand(rows: int, words: int, seed: int) -> np.ndarray:
    """Random words, with rows of all bits and of none among them."""
    rng = np.random.default_rng(seed)
    out = rng.integers(0, 2**64, (rows, words), np.uint64)
    out[rng.integers(0, 4, rows) == 0] = ~np.uint64(0)
    out[rng.integers(0, 8, rows) == 0] = 0
    return out


def expected(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([[int(np.bitwise_count(x & y).sum()) for y in b] for x in a])


def multiply(a: np.ndarray, b: np.ndarray, diagonal: int, out: np.ndarray) -> None:
    four_russians.multiply_and(a, b, diagonal, np.zeros(len(b), np.int64), out)


def product(a: np.ndarray, b: np.ndarray, diagonal: int = -(2**62)) -> np.ndarray:
    out = np.zeros((len(a), len(b)), np.int32)
    multiply(a, b, diagonal, out)
    return out


@given(
    rows=st.sampled_from(EDGES),
    columns=st.sampled_from(EDGES),
    words=st.sampled_from(WORDS),
    seed=st.integers(0, 2**32),
)
def test_multiply__equals_bits_counted_one_by_one(
    rows: int, columns: int, words: int, seed: int
) -> None:
    a, b = operand(rows, words, seed), operand(columns, words, seed + 1)
    np.testing.assert_array_equal(product(a, b), expected(a, b))


@pytest.mark.compiled("65,000 positions and more of tables of sums take minutes")
@pytest.mark.parametrize("beyond", [-19, -18, -1, 0, 1, 17, 18, 19, 1023])
def test_multiply__where_sums_leave_16_bits(beyond: int) -> None:
    words = four_russians.LARGEST + beyond
    a, b = np.full((3, words), ~np.uint64(0)), operand(66, words, 2)
    np.testing.assert_array_equal(product(a, b), expected(a, b))


@pytest.mark.parametrize("diagonal", [-70, -3, 0, 5, 64, 200])
def test_multiply__above_a_diagonal(diagonal: int) -> None:
    a, b = operand(130, 5, 3), operand(190, 5, 4)
    wanted = np.arange(130)[:, None] <= np.arange(190) - diagonal
    found = product(a, b, diagonal)
    np.testing.assert_array_equal(found[wanted], expected(a, b)[wanted])


def test_multiply__writes_over_what_is_there() -> None:
    a, b = operand(3, 2, 5), operand(4, 2, 6)
    out = np.full((3, 4), 7, np.int32)
    multiply(a, b, -(2**62), out)
    np.testing.assert_array_equal(out, expected(a, b))


def test_multiply__of_nothing() -> None:
    out = np.zeros((0, 0), np.int32)
    multiply(np.zeros((0, 3), np.uint64), np.zeros((0, 3), np.uint64), 0, out)
    assert product(operand(2, 1, 0)[:, :0], operand(2, 1, 0)[:, :0]).tolist() == [[0, 0], [0, 0]]


def test_multiply__from_many_threads_at_once() -> None:
    pairs = [
        (operand(*sized((40, 20), (4, 3)), k), operand(*sized((70, 20), (7, 3)), k + 100))
        for k in range(sized(16, 8))
    ]
    with ThreadPoolExecutor(8) as pool:
        for (a, b), found in zip(pairs, pool.map(lambda p: product(*p), pairs), strict=True):
            np.testing.assert_array_equal(found, expected(a, b))
