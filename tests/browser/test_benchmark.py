"""The benchmark of the LD explorer's frames runs: what it says is no test's business."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.benchmarks.explorer import explorer

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_frames_are_timed() -> None:
    # In a thread of its own, as the browser of other tests has the loop of this one.
    with ThreadPoolExecutor(1) as thread:
        rows = thread.submit(lambda: list(explorer(quick=True))).result()
    assert len(rows) == 5
    assert all(math.isfinite(row.value) and row.value > 0 for row in rows)
