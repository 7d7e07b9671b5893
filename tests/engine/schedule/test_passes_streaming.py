"""Chunks that the graph holds are taken from it, without a task of dask."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
import pytest

from genobit.data import packed
from genobit.engine.schedule.passes import row_chunks
from tests.helpers.cohorts import cohort, random_calls


def forbidden(*_: Any, **__: Any) -> None:
    msg = "a task of dask for what is in memory"
    raise AssertionError(msg)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("hold", ["load", "persist"])
def test_planes_in_memory__are_read_without_dask(hold: str, missing: float) -> None:
    lazy = cohort(random_calls(1, 300, 70, missing=missing), chunks=(100, 70)).genobit.pack()
    _, layout, planes = packed.by_variants(lazy, phased=None)
    expected = list(row_chunks(planes, layout))
    held = lazy.load() if hold == "load" else lazy.persist()
    _, layout, planes = packed.by_variants(held, phased=None)
    with dask.config.set(scheduler=forbidden):
        found = list(row_chunks(planes, layout))
    for kind in (found, expected):
        assert sum(rows.planes[0].shape[0] for _, rows in kind) == 300
    joined = [
        np.concatenate([rows.planes[0] for _, rows in sorted(kind, key=lambda chunk: chunk[0])])
        for kind in (found, expected)
    ]
    np.testing.assert_array_equal(*joined)
