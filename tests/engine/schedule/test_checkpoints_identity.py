"""Digests of what results are computed from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.engine.schedule.checkpoints import digest_of_inputs
from tests.helpers.cohorts import cohort, random_calls

FREQUENCY = np.full(200, 0.3)


def results(ds: xr.Dataset) -> dict[str, xr.DataArray]:
    given: dict[str, Any] = {"allele_frequency": FREQUENCY}
    own = {name: ds.genobit.grm(name) for name in ("vanraden1", "vanraden2", "gcta", "king")}
    return own | {
        "gcta, given": ds.genobit.grm("gcta", **given),
        "loco": ds.genobit.grm("vanraden2", loco=True),
        "ld": ds.genobit.ld(),
        "window": ds.genobit.ld(window=9),
        "kendall": ds.genobit.kendall(),
    }


def digests(calls: np.ndarray, *, rows: int) -> dict[str, str | None]:
    with gb.set_options(chunk_rows=rows):
        found = results(cohort(calls, contigs=2, chunks=(70, 30)))
        return {name: digest_of_inputs([result.data]) for name, result in found.items()}


@pytest.mark.parametrize("rows", [30, 2048])
def test_digests__cover_every_call(rows: int) -> None:
    calls = np.abs(random_calls(1, 200, 60))
    # The same calls of each variant, in other samples: frequencies and numbers of calls are equal.
    other = np.random.default_rng(2).permuted(calls, axis=1)
    here, there = digests(calls, rows=rows), digests(other, rows=rows)
    assert here == digests(calls.copy(), rows=rows)
    assert None not in here.values()
    assert [name for name in here if here[name] == there[name]] == []
