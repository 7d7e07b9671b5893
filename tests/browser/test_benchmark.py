"""The benchmark of the LD explorer's frames runs: what it says is no test's business."""

from __future__ import annotations

import math

import pytest

from tests.benchmarks.explorer import explorer

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_frames_are_timed() -> None:
    rows = list(explorer(quick=True))
    assert len(rows) == 5
    assert all(math.isfinite(row.value) and row.value > 0 for row in rows)
