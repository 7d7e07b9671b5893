"""Sign planes: variables with and without ties in one product, and the masked differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import genobit as gb
from genobit.kendall.kernels import signs
from genobit.kendall.kernels.masked import BLOCK_COLUMNS, BLOCK_ROWS, masked_differences
from genobit.kendall.kernels.ranks import ranked
from genobit.kendall.kernels.registry import scores
from tests.helpers.reference import kendall_scores
from tests.helpers.sized import KERNELS, sized
from tests.kendall.kernels.values import mixed


def triangle(ranks: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    out = np.full((len(ranks), len(ranks)), -(2**40))
    signs.score_pairs(ranks, ranks, True, out)
    return np.triu(out)


@pytest.mark.parametrize("family", ["auto", "scalar"])
@settings(max_examples=sized(30, 8))
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(0, 14),
    others=st.integers(0, 30),
    n=st.integers(0, 40),
    tied=st.tuples(*[st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])] * 2),
    missing=st.sampled_from([0.0, 0.0, 0.2]),
    dtype=st.sampled_from(["float64", "float32", "int8", "int64"]),
    words=st.sampled_from([1, 2, 64]),
)
def test_scores__of_any_mix_of_tied_and_untied_variables(
    family: str,
    seed: int,
    rows: int,
    others: int,
    n: int,
    tied: tuple[float, float],
    missing: float,
    dtype: str,
    words: int,
) -> None:
    """The pairs of observations come in blocks of few words, so most examples have several."""
    a = mixed(seed, rows, n, tied[0], missing, dtype)
    b = mixed(seed + 1, others, n, tied[1], missing, dtype)
    expected = np.array(kendall_scores(a, b), np.int64).reshape(rows, others)
    alone = np.array(kendall_scores(a, a), np.int64).reshape(rows, rows)
    with gb.set_options(kernel=family), pytest.MonkeyPatch.context() as patch:
        patch.setattr(signs, "MOST_WORDS", words)
        np.testing.assert_array_equal(scores(ranked(a), ranked(b), "signs"), expected)
        np.testing.assert_array_equal(triangle(ranked(a)), np.triu(alone))
        np.testing.assert_array_equal(scores(ranked(a), kernel="signs"), alone)


@pytest.mark.compiled("60,000 pairs of variables take minutes")
@pytest.mark.parametrize("family", KERNELS)
@pytest.mark.parametrize("tied", [1, 260, 500, 519])
def test_scores__of_a_mix_are_the_same_in_every_family(family: str, tied: int) -> None:
    rng = np.random.default_rng(tied)
    values = rng.permuted(np.tile(np.arange(50.0), (520, 1)), axis=1)
    values[rng.permutation(520)[:tied]] //= 3
    ranks = ranked(values)
    expected = scores(ranks, kernel="packed-merge")
    with gb.set_options(kernel=family):
        np.testing.assert_array_equal(scores(ranks, kernel="signs"), expected)
        np.testing.assert_array_equal(scores(ranks[:7], ranks, "signs"), expected[:7])


def test_blocks__of_pairs_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, shape = np.random.default_rng(6), sized((9, 301), (4, 70))
    values = rng.random(shape)
    values[rng.random(values.shape) < 0.1] = np.nan
    monkeypatch.setattr(signs, "BLOCK_BYTES", 1)
    for rows in (ranked(values), ranked(rng.random(shape))):
        expected = scores(rows, kernel="packed-merge")
        np.testing.assert_array_equal(scores(rows, kernel="signs"), expected)


def test_ranks__of_32_bits_are_compared_as_those_of_16() -> None:
    rng = np.random.default_rng(8)
    ranks = ranked(rng.random(sized((70, 33), (7, 13))))
    wide = ranks.astype(np.uint32)
    np.testing.assert_array_equal(scores(wide, kernel="signs"), scores(ranks, kernel="signs"))


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (1, 1, 1),
        (5, 25, 3),
        *sized([(BLOCK_ROWS + 3, BLOCK_COLUMNS + 1, 2), (9, 24, 700)], [(4, 24, 9)]),
    ],
)
def test_masked_differences__are_bits_counted_one_by_one(
    rows: int, columns: int, words: int
) -> None:
    rng = np.random.default_rng(0)
    a, mask, sign = (
        rng.integers(0, 2**64, (k, words), dtype=np.uint64) for k in (rows, columns, columns)
    )
    found = np.full((rows, columns), -1)
    for some, others, counts in masked_differences(a, mask, sign):
        found[some, others] = counts
    expected = np.bitwise_count(mask & (a[:, None] ^ sign)).sum(axis=2)
    np.testing.assert_array_equal(found, expected)
