"""The kernels of a CPU follow the name and the features that numba compiles for."""

from __future__ import annotations

import pytest

from genobit.engine.gemm import matrix_unit, products
from genobit.engine.simd import cpu
from genobit.engine.simd.jit import target_description
from tests.engine.simd.processes import only_x86


@only_x86
@pytest.mark.parametrize(
    ("name", "features", "many", "few"),
    [
        ("znver4", "", "popcount", "popcount"),
        ("znver4", "-avx512vpopcntdq", "sums", "table"),
        ("haswell", "+avx512f,+avx512vpopcntdq", "popcount", "popcount"),
        ("haswell", "", "sums", "table"),
        ("x86-64-v2", "", "sums", "table"),
        ("x86-64", "", "sums", "scalar"),
    ],
)
def test_families__follow_the_features(
    name: str, features: str, many: str, few: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = (target_description()[0], name, features)
    monkeypatch.setattr(cpu, "target_description", lambda: target)
    host = cpu.host.__wrapped__()
    monkeypatch.setattr(products, "host", lambda: host)
    monkeypatch.setattr(matrix_unit, "permitted", lambda: False)
    matrix_unit.usable.cache_clear()
    assert [products.chosen_kernel(rows=rows) for rows in (2**62, 1)] == [many, few]
    matrix_unit.usable.cache_clear()
