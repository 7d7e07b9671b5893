"""Bars: shown when asked for, or by the options once work takes a while."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import numpy as np
import pytest
import tqdm.auto
import xarray as xr

import genobit as gb
from genobit.engine import progress
from genobit.engine.schedule.computing import compute
from tests.helpers.cohorts import cohort, random_calls

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bars(monkeypatch) -> list:
    """Bars that were closed: whether shown, how far they came, and their totals."""
    closed = []

    class Recorded(tqdm.std.tqdm):
        def close(self):
            if not self.disable and hasattr(self, "last_print_t"):
                closed.append((self.n, self.total))
            super().close()

    monkeypatch.setattr(tqdm.auto, "tqdm", Recorded)
    return closed


@pytest.mark.parametrize(
    ("asked", "option", "terminal", "delay", "shown"),
    [
        (True, False, False, 60.0, True),
        (False, True, True, 0.0, False),
        (None, False, True, 0.0, False),
        (None, True, False, 0.0, True),
        (None, True, False, 60.0, False),
        (None, None, True, 0.0, True),
        (None, None, True, 60.0, False),
        (None, None, False, 0.0, False),
    ],
)
def test_bar__by_argument_option_and_who_sees_it(
    monkeypatch, capsys, asked, option, terminal, delay, shown
) -> None:
    monkeypatch.setattr(progress, "DELAY", delay)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with gb.set_options(progress=option), progress.bar(progress=asked, total=2, desc="x") as steps:
        assert progress.within()
        steps.update(2)
    assert not progress.within()
    assert ("x: 100%" in capsys.readouterr().err) is shown


def test_bar__of_another_thread_is_not_of_this_one() -> None:
    seen = []
    with progress.bar(progress=True, total=1), ThreadPoolExecutor(1) as pool:
        seen.append(pool.submit(progress.within).result())
        # Nobody asked for a bar, and what a thread computes shows elsewhere.
        with gb.set_options(progress=None):
            seen.append(pool.submit(progress.wanted).result())
    assert seen == [False, False]


def test_bar__that_is_short_of_its_total_by_a_rounding_ends_whole(bars) -> None:
    with progress.bar(progress=True, total=3) as steps:
        steps.update(2.9999999)
    with progress.bar(progress=True, total=3) as steps:
        steps.update(2)
    assert bars == [(3, 3), (2, 3)]


def test_bar__is_over_after_an_error() -> None:
    with pytest.raises(RuntimeError), progress.bar(progress=True, total=2):
        raise RuntimeError
    assert not progress.within()


def test_methods__follow_the_option(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    expr = xr.DataArray(np.random.default_rng(1).normal(size=(20, 12)), dims=("gene", "sample"))
    with gb.set_options(progress=True):
        expr.genobit.kendall_pairs(0.3).head()
        assert "1/1" in capsys.readouterr().err
        expr.genobit.kendall_pairs(0.3, progress=False).head()
    assert not capsys.readouterr().err


def data() -> xr.Dataset:
    ds = cohort(random_calls(1, 60, 40), chunks=(20, 40))
    ds["variant_p"] = ("variants", np.linspace(1e-9, 1, 60))
    return ds


def rows() -> xr.DataArray:
    values = np.random.default_rng(1).normal(size=(20, 12))
    return xr.DataArray(values, dims=("gene", "sample")).chunk(gene=10)


def alignment() -> xr.DataArray:
    values = np.random.default_rng(1).choice(list("ACGT"), (8, 30))
    return xr.DataArray(values, dims=("taxa", "sites"))


CALLS = {
    "ld": lambda: data().genobit.ld(compute=True),
    "grm": lambda: data().genobit.grm(compute=True),
    "kendall": lambda: rows().genobit.kendall(compute=True),
    "kendall_pairs": lambda: rows().genobit.kendall_pairs(0.1).to_dataframe(),
    "pca": lambda: data().genobit.pca(2),
    "unrelated": lambda: data().genobit.unrelated(threshold=0.1),
    "ld_prune": lambda: data().genobit.ld_prune(10, 1),
    "ld_decay": lambda: data().genobit.ld_decay("10kb"),
    "epistasis": lambda: data().genobit.epistasis(np.arange(40) % 2),
    "epistasis max_r2": lambda: data().genobit.epistasis(
        np.arange(40) % 2, limits=gb.EpistasisLimits(max_r2=0.5)
    ),
    "parsimony_search": lambda: alignment().genobit.parsimony_search("ratchet"),
    "bootstrap": lambda: alignment().genobit.parsimony_search(bootstrap=3),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_that_computes__shows_bars_that_end_whole(monkeypatch, bars, name) -> None:
    with gb.set_options(progress=False):
        CALLS[name]()
    assert not bars
    monkeypatch.setattr(progress, "DELAY", 0)
    with gb.set_options(progress=True):
        CALLS[name]()
    assert bars
    for done, total in bars:
        assert done == total


def test_bar__counts_the_tasks_of_its_own_call_and_no_others(monkeypatch, bars) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    begun, over = threading.Event(), threading.Event()

    def waits(_):
        begun.set()
        over.wait(60)

    def meanwhile():
        begun.wait(60)
        dask.compute(*[dask.delayed(abs)(k) for k in range(50)], scheduler="threads")
        over.set()

    other = threading.Thread(target=meanwhile)
    other.start()
    with gb.set_options(progress=True):
        compute(*[dask.delayed(waits, pure=False)(k) for k in range(3)])
    other.join()
    assert bars == [(3, 3)]


def test_a_computation_that_fails__ends_its_bar(monkeypatch, bars) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    with gb.set_options(progress=True), pytest.raises(ZeroDivisionError):
        compute(dask.delayed(divmod)(1, 0))
    assert bars == [(0, 1)]
    assert not progress.within()


@pytest.mark.skipif(sys.platform != "linux", reason="opens a terminal of Linux")
def test_bar__is_seen_in_a_terminal_that_does_not_say_its_width() -> None:
    import pty

    code = (
        "from genobit.engine.progress import bar\n"
        "with bar(progress=True, total=2, desc='steps') as shown: shown.update(2)"
    )
    reader, terminal = pty.openpty()
    try:
        assert os.get_terminal_size(terminal).columns == 0
        command = [sys.executable, "-c", code]
        subprocess.run(command, stderr=terminal, check=True, timeout=300, cwd=ROOT)
        assert b"steps: 100%" in os.read(reader, 10_000)
    finally:
        os.close(reader)
        os.close(terminal)
