"""The inner loops that benchmarks take as limits of the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from genobit.engine.simd.jit import COMPILED
from tests.benchmarks import limits

A, B = 0x0123456789ABCDEF, 0xFEDCBA9876543210
STEPS = 7


@pytest.mark.skipif(not COMPILED, reason="the loops need instructions")
def test_limits__do_all_of_their_work() -> None:
    assert limits.scalar_and(STEPS) == STEPS * 8 * (A & B).bit_count()
    assert limits.scalar_xor(STEPS) == STEPS * 8 * (A ^ B).bit_count()
    words = np.arange(1, 65, dtype=np.uint64)
    # The sums start as the words themselves, and the first of four has the first word.
    of_and, of_xor = limits.vector_and(words, STEPS), limits.vector_xor(words, STEPS)
    assert of_and == 4 * (1 + STEPS * (1 & 1).bit_count())
    assert of_xor == 4 * (1 + STEPS * (1 ^ 1).bit_count())
