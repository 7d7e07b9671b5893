from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.gemm.carry_save import add_one, add_two, bits_in, no_bits
from genobit.engine.simd.jit import COMPILED
from genobit.engine.simd.registers import WORD_LANES, load_words
from genobit.engine.simd.vector import store

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def counter(carries: bool) -> Callable[..., None]:
    """Return a function that counts, as on CPUs whose carries are counted, or as on the others."""

    def compiled(function: Any) -> Any:
        code = getattr(function, "py_func", function)
        known = {**code.__globals__, "CARRIES": carries}
        return numba.njit(FunctionType(code.__code__, known)) if COMPILED else function

    two, one, bits = compiled(add_two), compiled(add_one), compiled(bits_in)

    def counted(a: NDArray[np.uint64], b: NDArray[np.uint64], pairs: int, out: NDArray[np.int64]):
        sums = no_bits()
        for k in range(0, 2 * pairs * WORD_LANES, 2 * WORD_LANES):
            second = k + WORD_LANES
            words = load_words(a, k), load_words(b, k), load_words(a, second), load_words(b, second)
            sums = two(sums, words[0], words[1], words[2], words[3])
        for k in range(2 * pairs * WORD_LANES, a.shape[0], WORD_LANES):
            sums = one(sums, load_words(a, k), load_words(b, k))
        store(out, 0, bits(sums))

    return numba.njit(counted) if COMPILED else counted


COUNTERS = [counter(False), counter(True)]


@given(words=st.integers(0, 9), data=st.data(), seed=st.integers(0, 2**32))
def test_bits_in__are_those_of_all_products(words: int, data: st.DataObject, seed: int) -> None:
    pairs = data.draw(st.integers(0, words // 2))
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 2**64, (2, words, WORD_LANES), np.uint64)
    # Words without bits and of all bits: both kinds of carry, and none.
    a[random.random(words) < 0.2] = 0
    a[random.random(words) < 0.3] = b[:] = ~np.uint64(0)
    b ^= random.integers(0, 2**64, b.shape, np.uint64) & (random.random(b.shape) < 0.5)
    out = np.zeros(WORD_LANES, np.int64)
    for counted in COUNTERS:
        counted(a.reshape(-1), b.reshape(-1), pairs, out)
        assert out.tolist() == np.bitwise_count(a & b).sum(axis=0, dtype=np.int64).tolist()
