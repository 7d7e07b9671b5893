"""Kernels that other kernels call, and the private names of numba behind them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba import config

from genobit.engine.simd.jit import njit
from genobit.engine.simd.numba_private import NEEDED, lacking

pytestmark = pytest.mark.compiled("of compilation itself")


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test compile its kernels."""
    monkeypatch.setattr("genobit.engine.simd.jit.cache_folder", lambda: tmp_path)


def test_a_kernel_that_kernels_call__raises_exceptions_with_values() -> None:
    @njit
    def positive(x: int) -> int:
        if x < 0:
            raise ValueError("negative", x)
        return x

    @njit
    def half(x: int) -> int:
        return positive(x) // 2

    assert half(6) == 3
    with pytest.raises(ValueError, match="negative") as caught:
        half(-6)
    assert caught.value.args == ("negative", -6)


def halves() -> tuple[Any, Any]:
    """Return two new kernels: x / 2, and x / 4 by two calls of it."""

    @njit
    def half(x: float) -> float:
        return x / 2

    @njit
    def quarter(x: float) -> float:
        return half(half(x))

    return half, quarter


def test_a_kernel_that_kernels_call__is_compiled_for_python_when_python_calls_it() -> None:
    half, quarter = halves()
    assert (quarter(8.0), len(half.overloads)) == (2.0, 0)
    assert (half(8.0), len(half.overloads)) == (4.0, 1)
    assert (quarter(8), len(quarter.overloads)) == (2.0, 2)


def test_a_kernel_that_kernels_call__can_call_itself() -> None:
    @njit
    def factorial(n: int) -> int:
        return 1 if n < 2 else n * factorial(n - 1)

    @njit
    def next_to_factorial(n: int) -> int:
        return factorial(n) + 1

    assert (next_to_factorial(5), factorial(5)) == (121, 120)


def test_kernels__compile_if_numba_was_switched_off_after_the_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    half, quarter = halves()
    # numba reads NUMBA_DISABLE_JIT again when it compiles.
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert (half(2.0), quarter(2.0)) == (1.0, 0.5)


def test_the_names_of_numba__are_all_there() -> None:
    assert lacking(NEEDED) == []


def test_names_that_numba_lacks__are_found() -> None:
    class Half:
        there = 1

        def __init__(self) -> None:
            self.made = 2

    assert lacking({Half: ("there", "made", "gone")}) == ["Half.gone"]


@pytest.mark.slow
def test_plain_numba__gives_the_same_results_and_caches_them(tmp_path: Path) -> None:
    code = (
        "import numpy as np; from genobit.engine.bits.words import count_rows; "
        "from genobit.engine.simd.numba_private import PLAIN; "
        "words = np.random.default_rng(0).integers(0, 2**64, (5, 9), np.uint64); "
        "print(PLAIN, count_rows(words).tolist())"
    )
    found = []
    for plain in ("0", "1", "1"):
        environment = {"NUMBA_CACHE_DIR": str(tmp_path), "GENOBIT_PLAIN_NUMBA": plain}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.split(maxsplit=1))
        names = {file.suffix for file in tmp_path.rglob("*.nb?")}
        assert names == ({".nbc"} if plain == "0" else {".nbc", ".nbi"})
    assert [flag for flag, _ in found] == ["False", "True", "True"]
    assert len({counts for _, counts in found}) == 1
