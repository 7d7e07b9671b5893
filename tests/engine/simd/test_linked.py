"""Kernels that other kernels call, compiled without machine code of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from numba import config

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from pathlib import Path

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
