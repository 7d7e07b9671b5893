"""No kernel turns whole numbers of 64 bits into floats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

from tests.engine.simd.number_types import infer_only, mixtures
from tests.engine.simd.processes import run

pytestmark = pytest.mark.compiled("of compilation itself")

WORDS = types.Array(types.uint64, 1, "C")


def choice(words: Any, k: int) -> Any:
    return words[k] if k < words.size else 0


def branches(words: Any, k: int) -> Any:
    word = words[0]
    if k < words.size:
        word = k
    return word + 1.0


def returns(words: Any, k: int) -> Any:
    if k < words.size:
        return words[k]
    return k


def largest(words: Any, k: int) -> float:
    return max(words[0], k) + 1.0


def pairs(words: Any, k: int) -> Any:
    pair = (k, words[k]) if k < words.size else (k, 0)
    return pair[1]


def stored(words: Any, k: int) -> None:
    words[k] = k + 0.5


def of_other(words: Any, k: int) -> Any:
    return inner(words, k)


inner = numba.njit(choice)


@pytest.mark.parametrize("kernel", [choice, branches, returns, largest, pairs, stored, of_other])
def test_a_mixture__is_found(kernel: Callable[..., Any]) -> None:
    infer_only(inner)
    (place,) = mixtures(numba.njit(kernel), (WORDS, types.int64))
    assert place.endswith(choice.__name__ if kernel is of_other else kernel.__name__)
    assert Path(__file__).name in place


def sound(words: Any, k: int) -> Any:
    word = words[k] if k < words.size else np.uint64(0)
    share = words[0] / k
    return (word ^ words[0]) + words.dtype.type(1), np.float64(word) + k, share, words[0] < k


def test_whole_numbers_of_one_type_and_divisions_are_no_mixture() -> None:
    assert mixtures(numba.njit(sound), (WORDS, types.int64)) == []


# In a process of its own: no kernel can be compiled after the scan. The cache also has types that
# `warm` does not use, and families of kernels for other CPUs.
SCAN = """
import gc, pickle
from numba.core.dispatcher import Dispatcher
import genobit as gb
from genobit.engine.simd import jit
from tests.engine.simd.number_types import infer_only, mixtures

gb.warm()
kernels = {
    kernel: set(kernel.overloads)
    for kernel in gc.get_objects()
    if isinstance(kernel, Dispatcher) and isinstance(kernel._cache, jit._LockedCache)
}
places = {}
for kernel, signatures in kernels.items():
    infer_only(kernel)
    entries = kernel._cache._cache_file
    for file in entries._folder.glob(f"{entries._name}.*.nbc"):
        _, _, key, _ = pickle.loads(file.read_bytes()[jit._DIGEST:])
        signatures.add(key[0])
for kernel, signatures in kernels.items():
    for arguments in signatures:
        places |= dict.fromkeys(mixtures(kernel, arguments))
print(sum(map(len, kernels.values())), *places, sep="\\n")
"""


@pytest.mark.slow
def test_no_kernel__mixes_numbers() -> None:
    count, *places = run(SCAN).stdout.splitlines()
    assert int(count) > 100
    assert places == []
