"""Rates of the CPU at hand."""

from __future__ import annotations

import pytest

from genobit.engine import machine
from genobit.engine.simd import cpu
from tests.helpers.cohorts import cohort, random_calls


@pytest.mark.parametrize("call", ["ld", "grm", "crossproduct", "unrelated"])
def test_estimates__are_longer_without_a_vector_popcount(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    estimate = getattr(cohort(random_calls(1, 700, 300)).genobit.estimate, call)
    seconds = []
    for there in (True, False):
        host = cpu.host()._replace(vector_popcount=there)
        monkeypatch.setattr(cpu, "host", lambda host=host: host)
        assert machine.counted(1.0, "and") == (1 if there else machine.WITHOUT_POPCOUNT["and"])
        seconds.append(estimate().seconds)
    assert seconds[0] < seconds[1]
