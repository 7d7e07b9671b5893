"""The levels of CPUs that kernels are compiled for.

Code for a level runs on each CPU that has its features, about as fast as code for that CPU. So
machines of a cluster share a cache, and a wheel carries code that was compiled elsewhere.

numba has one target for a process. `use_level` chooses it when genobit is imported, unless the user
has chosen one (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES) or numba has compiled before. Other kernels of
the process are then compiled for the level too. `_toplevel_target_context` is set when numba
first compiles.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, NamedTuple

import llvmlite.binding as llvm
from numba import config

from genobit.engine.simd.numba_private import cpu_target

if TYPE_CHECKING:
    from collections.abc import Collection

_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_COUNTS = (
    "avx512vpopcntdq",
    "avx512bitalg",
    "avx512vbmi",
    "avx512vbmi2",
    "avx512vnni",
    "avx512ifma",
)
_TILES = ("amx-tile", "amx-int8")
_ZEN = ("avx512bf16", "adx", "gfni", "sha", "sse4a", "vaes", "vpclmulqdq")


class Level(NamedTuple):
    """A target of LLVM, and the CPUs that run its code."""

    name: str
    target: str
    """A CPU or level that LLVM knows."""
    features: str
    """Features to add to the target's own, and to leave out."""
    needs: frozenset[str]
    """Features that a CPU must have."""
    model: str = ""
    """The one model of CPU that it is for, or "" for all."""


def _added(*features: str) -> str:
    # Registers of 512 bits are used where the kernels ask for them, not avoided.
    return ",".join([*(f"+{feature}" for feature in features), "-prefer-256-bit"])


LEVELS = (
    # An instruction of three registers is slow there: kernels do without (`cpu.slow_ternary`).
    Level("AVX-512 of Zen 4", "znver4", "", frozenset((*_V4, *_COUNTS, *_ZEN)), "znver4"),
    Level(
        "AVX-512 with AMX",
        "x86-64-v4",
        _added(*_COUNTS, *_TILES),
        frozenset((*_V4, *_COUNTS, *_TILES)),
    ),
    Level("AVX-512", "x86-64-v4", _added(*_COUNTS), frozenset((*_V4, *_COUNTS))),
    Level("AVX-512 without VPOPCNTDQ", "x86-64-v4", _added(), frozenset(_V4)),
    Level("AVX2", "x86-64-v3", "", frozenset(_V3)),
)
"""The levels, those that are preferred first."""


def level_of(model: str, features: Collection[str]) -> Level | None:
    """Return the first level whose code a CPU runs, or None."""
    for level in LEVELS:
        if level.needs <= set(features) and level.model in {"", model}:
            return level
    return None


def _features() -> set[str]:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return set()
    return {name for name, there in llvm.get_host_cpu_features().items() if there}


def use_level() -> None:
    """Let numba compile for the level of this CPU; a CPU without one keeps its own code."""
    chosen = config.CPU_NAME is not None or config.CPU_FEATURES is not None
    if chosen or "_toplevel_target_context" in vars(cpu_target):
        return
    level = level_of(llvm.get_host_cpu_name(), _features())
    if level:
        config.CPU_NAME, config.CPU_FEATURES = level.target, level.features


def level_in_use(target: str, features: str) -> str:
    """Return the name of the level that a target of LLVM is, or "" if it is none."""
    return next((x.name for x in LEVELS if (x.target, x.features) == (target, features)), "")


def buildable() -> list[Level]:
    """Return the levels whose code this CPU runs, but for tiles, which only their kernel uses."""
    return [level for level in LEVELS if level.needs - set(_TILES) <= _features()]
