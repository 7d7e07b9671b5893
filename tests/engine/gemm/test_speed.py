"""The speed of products that `genobit info` shows, and the limits beside it."""

from __future__ import annotations

import numpy as np
import pytest

import genobit as gb
from genobit.engine.gemm import limits, speed
from genobit.engine.simd.jit import COMPILED

FAMILIES = ("popcount", "table", "sums", "scalar")
# The twin of the matrix unit takes seconds.
CASES = [(f, p) for f in FAMILIES for p in ("and", "xor", "ternary")] + [("matrix", "ternary")]
A, B = 0x0123456789ABCDEF, 0xFEDCBA9876543210
STEPS = 7


@pytest.mark.parametrize(("kernel", "product"), CASES)
def test_speed__names_the_kernel_in_use(kernel: str, product: str) -> None:
    with gb.set_options(kernel=kernel):
        found = speed.speed(product)
        assert found is speed.speed(product)
    assert found.kernel == kernel
    if COMPILED:
        assert found.rate > 0
        assert found.limit > 0
        assert str(found).startswith(f"{kernel}, ")
        assert "% of its limit" in str(found)
    else:
        assert str(found) == f"{kernel}, not measured: kernels are not compiled"


@pytest.mark.skipif(not COMPILED, reason="the loops need instructions")
def test_limits__do_all_of_their_work() -> None:
    assert limits.scalar_and(STEPS) == STEPS * 8 * (A & B).bit_count()
    assert limits.scalar_xor(STEPS) == STEPS * 8 * (A ^ B).bit_count()
    words = np.arange(1, 65, dtype=np.uint64)
    # The sums start as the words themselves, and the first of four has the first word.
    of_and, of_xor = limits.vector_and(words, STEPS), limits.vector_xor(words, STEPS)
    assert of_and == 4 * (1 + STEPS * (1 & 1).bit_count())
    assert of_xor == 4 * (1 + STEPS * (1 ^ 1).bit_count())
