"""`genobit warm` and `gb.warm` compile what later calls load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import genobit as gb
from genobit.launcher import warm


@pytest.mark.slow
@pytest.mark.parametrize("name", warm.ANALYSES)
def test_warm__runs_each_analysis(name: str) -> None:
    before = gb.get_options()
    gb.warm(name)
    assert gb.get_options() == before


def test_named__are_all_by_default_and_the_longest_first() -> None:
    assert warm.named(()) == list(warm.ANALYSES)
    assert warm.named(("ld", "epistasis")) == ["epistasis", "ld"]


def test_unknown_analysis__is_an_error_that_names_the_closest() -> None:
    with pytest.raises(ValueError, match=r"no analysis 'kendal'.* did you mean 'kendall'"):
        gb.warm("ld", "kendal")


@pytest.mark.slow
def test_command__compiles_what_the_next_process_loads(tmp_path: Path) -> None:
    def run(*command: str) -> str:
        return subprocess.run(
            [sys.executable, *command],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
            timeout=1500,
        ).stdout

    def entries() -> dict[str, int]:
        return {file.name: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nbc")}

    found = run("-m", "genobit", "warm", "similarity", "quality")
    assert sorted(found.splitlines()) == ["quality: compiled", "similarity: compiled"]
    compiled = entries()
    assert any("similarity.kernels" in name for name in compiled)
    assert any("quality.kernels" in name for name in compiled)
    run("-c", "import genobit as gb; gb.warm('similarity', 'quality')")
    assert entries() == compiled
