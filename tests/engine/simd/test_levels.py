from __future__ import annotations

import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.simd.jit import target_description
from genobit.engine.simd.levels import LEVELS, buildable, level_in_use, level_of
from tests.helpers.programs import run

needs_level = pytest.mark.skipif(
    not level_in_use(*target_description()[1:]), reason="this CPU has no level of its own"
)
# Little work; prints the target, a result, and how many kernels were compiled.
WORK = """
import sys
from pathlib import Path
import numpy as np
from genobit.engine.simd import jit
if len(sys.argv) > 1:
    jit.SHIPPED = Path(sys.argv[1])
from genobit.engine.bits.words import count_rows, even_bits
found = count_rows(np.array([[7, 2**63]], np.uint64)).tolist(), int(even_bits(np.uint64(5)))
compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in (count_rows, even_bits))
print(jit.target_description()[1], found, compiled)
"""
EVERY = sorted(set().union(*(level.needs for level in LEVELS)))


@given(st.sets(st.sampled_from(EVERY)), st.sampled_from(["znver4", "znver5", "haswell"]))
def test_a_cpu__gets_no_code_that_it_cannot_run(features: set[str], model: str) -> None:
    level = level_of(model, features)
    if level is None:
        assert not any(x.needs <= features and x.model in {"", model} for x in LEVELS)
    else:
        assert level.needs <= features
        assert level.model in {"", model}


def test_cpus_of_each_kind__get_their_level() -> None:
    every, tiles = set(EVERY), {"amx-tile", "amx-int8"}
    assert level_of("znver4", every - tiles).name == "AVX-512 of Zen 4"
    assert level_of("znver5", every - tiles).name == "AVX-512"
    assert level_of("sapphirerapids", every).name == "AVX-512 with AMX"
    assert level_of("skylake-avx512", every - tiles - {"avx512vpopcntdq"}).name == (
        "AVX-512 without VPOPCNTDQ"
    )
    assert (
        level_of("haswell", {name for name in every if not name.startswith("avx512")}).name
        == "AVX2"
    )
    assert level_of("sandybridge", {"avx", "popcnt"}) is None


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level__needs_all_that_it_adds(level) -> None:
    added = {name[1:] for name in level.features.split(",") if name.startswith("+")}
    assert added <= level.needs


@pytest.mark.compiled("of compilation itself")
@needs_level
def test_a_target_of_the_user__is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)
    before = "import numba; numba.njit(lambda x: x + 1)(1)\n"
    here = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run("-c", before + WORK, **here).split()[0] == llvm.get_host_cpu_name()
    named = run("-c", WORK, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="", **here)
    assert named.split()[0] == "x86-64"


@pytest.mark.compiled("of compilation itself")
@pytest.mark.parametrize("level", buildable(), ids=lambda level: level.name)
def test_code_of_a_wheel__is_loaded_for_its_level_alone(level, tmp_path: Path) -> None:
    target = {"NUMBA_CPU_NAME": level.target, "NUMBA_CPU_FEATURES": level.features}

    def work(cache: str, *shipped: str, **environment: str) -> tuple[str, int]:
        out = run(
            "-c", WORK, *shipped, NUMBA_CACHE_DIR=str(tmp_path / cache), **(target | environment)
        )
        _, rest = out.split(maxsplit=1)
        found, compiled = rest.rsplit(maxsplit=1)
        return found, int(compiled)

    right, compiled = work("built")
    wheel = str(tmp_path / "built" / "kernels")
    assert compiled == 2
    assert work("empty", wheel) == (right, 0)
    assert not list((tmp_path / "empty").rglob("*.nbc"))
    assert work("other", wheel, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="") == (right, 2)


@pytest.mark.compiled("of compilation itself")
def test_damaged_code_of_a_wheel__is_compiled_again(tmp_path: Path) -> None:
    right = run("-c", WORK, NUMBA_CACHE_DIR=str(tmp_path / "built"))
    for file in (tmp_path / "built").rglob("*.nbc"):
        code = bytearray(file.read_bytes())
        code[-9] ^= 1
        file.write_bytes(code)
    wheel = str(tmp_path / "built" / "kernels")
    assert run("-c", WORK, wheel, NUMBA_CACHE_DIR=str(tmp_path / "empty")) == right


@pytest.mark.compiled("of compilation itself")
@pytest.mark.skipif(sys.platform != "linux", reason="names folders of Linux")
def test_a_wheel__serves_where_no_cache_can_be_written(tmp_path: Path) -> None:
    run("-c", WORK, NUMBA_CACHE_DIR=str(tmp_path / "built"))
    wheel = str(tmp_path / "built" / "kernels")
    assert run("-c", WORK, wheel, NUMBA_CACHE_DIR="/proc/none").split()[-1] == "0"
