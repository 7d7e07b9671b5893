"""Compile only the kernels that a call needs, and note once that kernels compile."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import genobit as gb
from genobit.engine import progress
from genobit.engine.simd import jit

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.compiled("of compilation itself")

NOTE = "compiling kernels for this CPU, once; later runs load them\n"

# Kernels that only other kernels call leave no file in the cache.
NAMES = """
from numba.core import event

class Compiled(event.Listener):
    def on_start(self, event):
        kernel = event.data["dispatcher"]
        if kernel.__module__.startswith("genobit"):
            print(f"{kernel.__module__}.{kernel.__name__}".removeprefix("genobit."))
    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
"""

SCORES = """
import numpy as np
from genobit.epistasis.kernels.mutual_information import x_log_x
from genobit.epistasis.kernels import statistics
tables = np.arange(18, dtype=np.int32).reshape(2, 9, 1)
statistics.scores_of(tables, statistics.MUTUAL_INFORMATION, x_log_x(int(tables.sum())))
"""

SEARCH = """
import numpy as np
import xarray as xr
import genobit as gb
calls = np.random.default_rng(1).integers(0, 2, (30, 40, 2)).astype(np.int8)
ds = xr.Dataset({
    "call_genotype": (("variants", "samples", "ploidy"), calls),
    "sample_case": ("samples", np.arange(40) % 2),
})
ds.genobit.epistasis("sample_case")
"""


def kernels_compiled(code: str, cache: Path) -> set[str]:
    """Names of the kernels that a new process compiles, with their modules."""
    done = subprocess.run(
        [sys.executable, "-c", NAMES + code],
        cwd=Path(__file__).parents[3],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=1500,
    )
    return set(done.stdout.split())


def test_score_of_mutual_information__compiles_no_other_statistic(tmp_path: Path) -> None:
    folder = "epistasis.kernels."
    assert kernels_compiled(SCORES, tmp_path) == {
        f"{folder}mutual_information.mutual_information",
        f"{folder}mutual_information._information_of_two",
        *(f"{folder}statistics.{name}" for name in ("_scores", "score", "ranked")),
    }


@pytest.mark.long
def test_search_by_mutual_information__compiles_no_logistic_regression(tmp_path: Path) -> None:
    found = kernels_compiled(SEARCH, tmp_path)
    assert "epistasis.kernels.search.best_of_block" in found
    others = ("interaction", "canonical", "pearson", "best_subset", "relative_chi2")
    assert not {name for name in found if "logistic" in name or name.endswith(others)}


@pytest.fixture
def new_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compilation as in a process with an empty cache, whose first second is over."""
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(jit, "_compilation", jit._Compilation())
    monkeypatch.setattr(jit, "DELAY", 0.0)


def compile_two(first: int = 1) -> None:
    def kernel_of(added: int) -> Callable[[int], int]:
        @jit.njit
        def kernel(x: int) -> int:
            return x + added

        return kernel

    assert [kernel_of(added)(0) for added in (first, first + 1)] == [first, first + 1]


@pytest.mark.usefixtures("new_process")
@pytest.mark.parametrize("thread", [False, True])
def test_note__is_written_once(capsys: pytest.CaptureFixture[str], thread: bool) -> None:
    with gb.set_options(progress=True):
        if thread:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(compile_two).result()
        else:
            compile_two()
    assert capsys.readouterr().err == NOTE


@pytest.mark.usefixtures("new_process")
def test_note__is_written_while_a_single_kernel_compiles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @jit.njit
    def half(x: int) -> int:
        return x // 2

    @jit.njit
    def quarter(x: int) -> int:
        return half(half(x))

    # A second passes at each look at the clock: one until `quarter` starts, two until `half` does.
    monkeypatch.setattr(jit, "time", SimpleNamespace(perf_counter=itertools.count().__next__))
    monkeypatch.setattr(jit, "DELAY", 2)
    with gb.set_options(progress=True):
        assert quarter(8) == 2
    assert capsys.readouterr().err == NOTE


@pytest.mark.usefixtures("new_process")
@pytest.mark.parametrize("option", [False, None])
def test_note__is_not_written_without_progress(
    capsys: pytest.CaptureFixture[str], option: bool | None
) -> None:
    # Standard error is no terminal here.
    with gb.set_options(progress=option):
        compile_two()
    assert not capsys.readouterr().err


@pytest.mark.usefixtures("new_process")
def test_note__is_not_written_in_a_call_without_progress(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with gb.set_options(progress=True), progress.bar(progress=False):
        compile_two()
    assert not capsys.readouterr().err


@pytest.mark.usefixtures("new_process")
def test_note__is_not_written_within_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jit, "DELAY", 600.0)
    with gb.set_options(progress=True):
        compile_two()
    assert not capsys.readouterr().err


@pytest.mark.usefixtures("new_process")
def test_note__is_written_later_if_progress_was_off_at_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with gb.set_options(progress=False):
        compile_two()
    with gb.set_options(progress=True):
        compile_two(first=3)
    assert capsys.readouterr().err == NOTE


@pytest.mark.usefixtures("new_process")
@pytest.mark.parametrize("closed", [True, False])
def test_note__that_cannot_be_written_stops_no_compilation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], closed: bool
) -> None:
    stderr = io.StringIO()
    stderr.close()
    monkeypatch.setattr(sys, "stderr", stderr if closed else None)
    with gb.set_options(progress=True):
        compile_two()
    assert gc.isenabled()
    assert not capsys.readouterr().out


@pytest.mark.usefixtures("new_process")
def test_garbage_collection__goes_on_after_an_interrupted_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_text: str) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(jit, "note", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compile_two()
    assert gc.isenabled()
    assert jit._compilation.depth == 0


def test_garbage_collection__pauses_until_the_outermost_kernel_is_compiled() -> None:
    compilation = jit._Compilation()
    with contextlib.suppress(ValueError), compilation.running():
        with compilation.running():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()


@pytest.mark.usefixtures("new_process")
def test_garbage_collection__stays_off_if_it_was_off() -> None:
    gc.disable()
    try:
        compile_two()
        assert not gc.isenabled()
    finally:
        gc.enable()
