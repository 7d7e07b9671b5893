from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS, load_register, zero_register
from genobit.ld.kernels.popcount_accumulators import (
    IN_BYTES,
    TALLY_WORDS,
    store_sums,
    tallied,
    tally,
    zero_tally,
)

ROWS = 4


@njit
def _counts(words, out, at):
    """Bits set in each of four rows, each of so many registers that a tally holds all of them."""
    width = words.size // ROWS
    a, b, c, d = zero_tally(), zero_tally(), zero_tally(), zero_tally()
    for w in range(0, width, REGISTER_WORDS):
        a += tally(load_register(words, w))
        b += tally(load_register(words, width + w))
        c += tally(load_register(words, 2 * width + w))
        d += tally(load_register(words, 3 * width + w))
    # Added to what was there, as behind the first tally of a long row.
    e = zero_register() + tallied(d)
    store_sums(out, at, tallied(a), tallied(b), tallied(c), e)


@given(st.integers(0, 31), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_tallies__count_the_bits_of_four_rows(registers: int, seed: int, at: int) -> None:
    random = np.random.default_rng(seed)
    words = random.integers(0, 2**64, (ROWS, registers * REGISTER_WORDS), np.uint64)
    out = np.full(at + ROWS + 1, -7)
    _counts(words.reshape(-1), out, at)
    expected = [-7] * at + np.bitwise_count(words).sum(axis=1).tolist() + [-7]
    assert out.tolist() == expected


def test_a_tally__is_right_when_it_is_full() -> None:
    width = TALLY_WORDS if IN_BYTES else 31 * REGISTER_WORDS
    out = np.zeros(ROWS, np.int64)
    _counts(np.full(ROWS * width, 2**64 - 1, np.uint64), out, 0)
    assert out.tolist() == [64 * width] * ROWS
