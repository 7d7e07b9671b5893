"""Searches past ``longest_search`` are refused by an estimate that is about right."""

from __future__ import annotations

import math
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.engine.schedule.computing import threads
from genobit.engine.schedule.costs import check_time
from genobit.epistasis.kernels.search import Best, search
from genobit.epistasis.schedule import estimates
from genobit.epistasis.schedule.estimates import _pairs
from genobit.epistasis.schedule.search import CombinationSearch
from genobit.epistasis.schedule.variants import Scope
from tests.epistasis.schedule.combinations import cohort, divided

VARIANTS = 40


class Clock:
    """Time that passes where a score is computed, and nowhere else."""

    EACH = 1e-3

    def __init__(self) -> None:
        self.spent = 0.0
        self.calls_left = math.inf
        self._lock = threading.Lock()
        self._thread = threading.local()

    def now(self) -> float:
        """Seconds that this thread has spent."""
        return getattr(self._thread, "now", 0.0)

    def spend(self, seconds: float) -> None:
        """Let this thread spend some time."""
        self._thread.now = self.now() + seconds
        with self._lock:
            self.spent += seconds
            self.calls_left -= 1
            if self.calls_left < 0:
                raise KeyboardInterrupt


clock = Clock()


@pytest.fixture(autouse=True)
def _a_new_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.epistasis.schedule.test_estimates.clock", Clock())


def slow(*args: Any) -> Best:
    """Score as usual, and spend a known time on each combination."""
    clock.spend(clock.EACH * _pairs(args[1], args[2]))
    return search(*args)


def without_links(variants: int, share: float) -> Scope:
    """Limits that leave out a share of the pairs of variants."""
    rng = np.random.default_rng(5)
    linked = np.triu(rng.random((variants, variants)) < share, 1)
    bits = np.packbits(linked | linked.T, axis=1, bitorder="little")
    none = np.empty(0, np.uint8)
    places = np.arange(variants)
    return Scope(places, 0, 0, none, np.zeros(variants, int), places * 1.0, 0.0, bits)


def test_hopeless_search__is_refused_within_seconds() -> None:
    rng = np.random.default_rng(0)
    calls = rng.integers(0, 2, (9000, 64, 2)).astype("int8")
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    with pytest.raises(ValueError, match=rf"{math.comb(9000, 4):,} combinations of order 4") as e:
        ds.genobit.epistasis(rng.integers(0, 2, 64), order=4, top=10)
    for words in ("years on", "longest_search (1.0 h)", "prefilter=", "variants_0=", "checkpoint="):
        assert words in str(e.value)


@pytest.mark.parametrize("permutations", [0, 5])
def test_limit__is_that_of_the_option(permutations: int) -> None:
    calls = np.random.default_rng(0).integers(0, 2, (30, 64, 2)).astype("int8")
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    run = partial(ds.genobit.epistasis, np.arange(64) % 2, order=2, permutations=permutations)
    with gb.set_options(longest_search=1e-9), pytest.raises(ValueError, match="435 combinations"):
        run()
    with gb.set_options(longest_search=None):
        assert run().attrs["combinations"] == 435


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_estimate__is_about_what_the_search_takes(
    workers: int, order: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "time", SimpleNamespace(perf_counter=clock.now))
    variants = {2: 80, 3: 30, 4: 20}[order]
    scope = without_links(variants, share) if share else None
    classes = cohort(1, variants, 150)
    work = divided(CombinationSearch(classes, order, 10, score=slow, scope=scope), 100)
    with dask.config.set(num_workers=workers):
        found = work.estimate()
        clock.spent = 0.0
        work.run()
    assert found.workers == workers
    assert 0.6 < found.seconds * workers / clock.spent < 1.6


def test_estimate__of_a_checkpoint_is_of_what_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "time", SimpleNamespace(perf_counter=clock.now))
    folder = tmp_path / "run"
    work = divided(CombinationSearch(cohort(1, VARIANTS, 150), 2, 10, score=slow), 20, p=1)
    with dask.config.set(scheduler="sync"):
        whole = work.estimate(checkpoint=folder)
        assert whole.seconds == pytest.approx(780 * clock.EACH)
        assert not folder.exists()
        clock.calls_left = 12
        done = work.run(checkpoint=folder).fraction
        assert 0.2 < done < 0.8
        clock.calls_left = math.inf
        rest = work.estimate(checkpoint=folder)
        assert rest.seconds == pytest.approx((1 - done) * whole.seconds)
        with gb.set_options(longest_search=rest.seconds / 2):
            finished = rf"780 combinations of order 2, \d+ of {rest.tasks} units finished, would"
            with pytest.raises(ValueError, match=finished):
                work.run(checkpoint=folder)
        with gb.set_options(longest_search=(whole.seconds + rest.seconds) / 2):
            with pytest.raises(ValueError, match="780 combinations of order 2 would"):
                work.run()
            assert work.run(checkpoint=folder).searched == 780


def test_threads__are_those_of_the_scheduler() -> None:
    with dask.config.set(num_workers=7):
        assert threads() == 7
    with dask.config.set(scheduler="sync"):
        assert threads() == 1

    class Client:
        """What the scheduler of a cluster belongs to."""

        def nthreads(self) -> dict[str, int]:
            return {"a": 16, "b": 16}

        def get(self) -> None:
            """Stand for the scheduler."""

    with dask.config.set(scheduler=Client().get):
        assert threads() == 32


def test_check_time__says_how_to_go_on() -> None:
    check_time("a search", 3600, 1, "none")
    with pytest.raises(ValueError, match=r"about 2\.0 h on 1 thread, .* none\. To run it anyway"):
        check_time("a search", 7200, 1, "none")
    with gb.set_options(longest_search="3h"):
        check_time("a search", 7200, 1, "none")
