"""`genobit warm` and `gb.warm` compile what later calls load."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import pytest

import genobit as gb
from genobit.launcher import warm
from tests.benchmarks.cold import WORK


# tests/engine/simd/test_jit_number_types.py runs all analyses.
def test_warm__restores_the_options() -> None:
    before = gb.get_options()
    gb.warm("similarity")
    assert gb.get_options() == before


def test_named__are_all_by_default_and_the_longest_first() -> None:
    assert warm.named(()) == list(warm.ANALYSES)
    assert warm.named(("ld", "epistasis")) == ["epistasis", "ld"]


def test_unknown_analysis__is_an_error_that_names_the_closest() -> None:
    with pytest.raises(ValueError, match=r"no analysis 'kendal'.* did you mean 'kendall'"):
        gb.warm("ld", "kendal")


def test_calls_of_two_threads__restore_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    second_began, first_ended = threading.Event(), threading.Event()

    def second(_cohorts: object) -> None:
        second_began.set()
        first_ended.wait(0.5)

    # Without a lock, the second call begins within the first and ends after it.
    monkeypatch.setitem(warm.ANALYSES, "similarity", lambda _: second_began.wait(0.5))
    monkeypatch.setitem(warm.ANALYSES, "quality", second)
    before = gb.get_options(), dask.config.get("scheduler", None)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(gb.warm, "similarity")
        first.add_done_callback(lambda _: first_ended.set())
        pool.submit(gb.warm, "quality").result()
        first.result()
    assert (gb.get_options(), dask.config.get("scheduler", None)) == before


def run(cache: Path, *command: str) -> str:
    """Output of Python with a compile cache of its own."""
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        cwd=Path(__file__).parents[2],
        check=True,
        capture_output=True,
        text=True,
        timeout=1500,
    ).stdout


def entries(cache: Path) -> dict[str, int]:
    """Files of compiled kernels, with the time of their last change."""
    return {file.name: file.stat().st_mtime_ns for file in cache.rglob("*.nbc")}


@pytest.mark.slow
def test_command__compiles_what_the_next_process_loads(tmp_path: Path) -> None:
    found = run(tmp_path, "-m", "genobit", "warm", "similarity", "quality")
    assert sorted(found.splitlines()) == ["quality: compiled", "similarity: compiled"]
    compiled = entries(tmp_path)
    assert any("similarity.kernels" in name for name in compiled)
    assert any("quality.kernels" in name for name in compiled)
    run(tmp_path, "-c", "import genobit as gb; gb.warm('similarity', 'quality')")
    assert entries(tmp_path) == compiled


@pytest.mark.slow
@pytest.mark.compiled("of compilation itself")
@pytest.mark.parametrize(
    ("analysis", "call"),
    [
        pytest.param("ld", "ld", marks=pytest.mark.long),
        ("grm", "grm"),
        pytest.param("kendall", "kendall", marks=pytest.mark.long),
        pytest.param("epistasis", "epistasis of pairs", marks=pytest.mark.long),
        pytest.param("parsimony", "parsimony_search", marks=pytest.mark.long),
    ],
)
def test_first_call_on_other_data__compiles_nothing_after_warm(
    tmp_path: Path, analysis: str, call: str
) -> None:
    run(tmp_path, "-c", f"import genobit as gb; gb.warm({analysis!r})")
    compiled = entries(tmp_path)
    assert any(f".{analysis}.kernels" in name for name in compiled)
    run(tmp_path, "-c", WORK, call)
    assert entries(tmp_path) == compiled
