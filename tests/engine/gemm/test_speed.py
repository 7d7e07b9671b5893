"""The speed of products that `genobit info` shows."""

from __future__ import annotations

import pytest

import genobit as gb
from genobit.engine.gemm import speed
from genobit.engine.simd.jit import COMPILED

FAMILIES = ("popcount", "table", "sums", "scalar")
# The twin of the matrix unit takes seconds.
CASES = [(f, p) for f in FAMILIES for p in ("and", "xor", "ternary")] + [("matrix", "ternary")]


@pytest.mark.parametrize(("kernel", "product"), CASES)
def test_speed__names_the_kernel_in_use(kernel: str, product: str) -> None:
    with gb.set_options(kernel=kernel):
        found = speed.speed(product)
        assert found is speed.speed(product)
    assert found.kernel == kernel
    if COMPILED:
        assert found.rate > 0
        assert str(found).startswith(f"{kernel}, ")
        assert str(found).endswith(" G products/s a core")
    else:
        assert str(found) == f"{kernel}, not measured: kernels are not compiled"
