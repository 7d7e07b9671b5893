"""What `genobit info` says of a CPU."""

from __future__ import annotations

import pytest

from genobit.engine.simd import cpu
from genobit.launcher.machine import info


@pytest.mark.parametrize(
    ("tiles", "permitted", "usable", "said"),
    [
        (False, False, False, "no"),
        (True, False, False, "not permitted by this system"),
        (True, True, False, "no, its sums are wrong"),
        (True, True, True, "yes"),
    ],
)
def test_info__says_why_the_matrix_unit_is_not_used(
    tiles: bool, permitted: bool, usable: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = cpu.host()._replace(tiles=tiles)
    monkeypatch.setattr(cpu, "host", lambda: host)
    monkeypatch.setattr("genobit.engine.simd.amx.permitted", lambda: permitted)
    monkeypatch.setattr("genobit.engine.gemm.speed.speed", lambda _: "not measured")
    monkeypatch.setattr("genobit.engine.gemm.matrix_unit.usable", lambda _: usable)
    assert info().sections["Kernels"]["matrix unit"] == said
