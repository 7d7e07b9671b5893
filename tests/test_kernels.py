"""Every analysis gives the same bits with every family of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import pytest

import genobit as gb
from tests.helpers.cases import assert_same, everything, small_tiles
from tests.helpers.sized import KERNELS

pytestmark = [pytest.mark.slow, pytest.mark.compiled("takes minutes as plain Python")]


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Any]]:
    with dask.config.set(scheduler="synchronous"), small_tiles(), gb.set_options(kernel="scalar"):
        yield {name: work() for name, work in everything().items()}


@pytest.mark.parametrize("kernel", [kernel for kernel in ("auto", *KERNELS) if kernel != "scalar"])
def test_every_analysis__gives_the_same_bits(kernel: str, results: dict[str, Any]) -> None:
    with dask.config.set(scheduler="synchronous"), small_tiles(), gb.set_options(kernel=kernel):
        for name, work in everything().items():
            assert_same(work(), results[name])
