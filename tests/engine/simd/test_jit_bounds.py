"""Kernels with GENOBIT_BOUNDSCHECK=1: what leaves an array is an IndexError, not a wrong number."""

from __future__ import annotations

import pytest

from tests.helpers.programs import run

pytestmark = pytest.mark.compiled("of compiled accesses; others are always checked")

# Each access is tried at the first and the last place that there is, and one beside either.
TRIED = """
import numpy as np
from genobit.engine.simd import jit as _jit, registers, vector as simd
from genobit.engine.bits import words as bits
from genobit.engine.simd import lane_moves
from genobit.kendall.kernels import bitonic_sort as rank_lanes
from genobit.engine.simd.jit import njit

@njit
def plain(a, i):
    return a[i]

@njit
def load(a, i):
    return simd.reduce_add(registers.load_register(a, i))

@njit
def store(a, i):
    simd.store(a, i, registers.zero_bytes())

@njit
def add(a, i):
    simd.add_to(a, i, registers.zero_words())

@njit
def mask(a, i):
    return registers.equal_mask(a, i, np.int8(0))

@njit
def sort(a, i):
    return rank_lanes.sort_block(a, i)

@njit
def prefetch(a, i):
    lane_moves.prefetch(a, i)

def refused(kernel, array, index):
    try:
        kernel(array, index)
    except IndexError:
        return True
    return False

lanes = registers.REGISTER_WORDS, registers.BYTE_LANES, registers.WORD_LANES
cases = (
    (plain, np.ones(5), 1),
    (load, np.ones(20, np.uint64), lanes[0]),
    (store, np.ones(80, np.uint8), lanes[1]),
    (add, np.ones(20, np.int32), lanes[2]),
    (mask, np.ones(70, np.int8), 64),
    (sort, np.arange(130, dtype=np.int32), 128),
)
for kernel, array, width in cases:
    last = array.size - width
    below = -array.size - 1 if kernel is plain else -1
    found = [refused(kernel, array, i) for i in (0, last, last + 1, 2**40, below)]
    assert found == [False, False, *[_jit.BOUNDS_CHECKED] * 3], (kernel, found)
prefetch(np.ones(3), 2**20)
print("checked" if _jit.BOUNDS_CHECKED else "not checked", _jit.cache_folder())
"""


def _folder(code: str, **environment: str) -> tuple[str, str]:
    words = run("-W", "error", "-c", code, **environment).split()
    return " ".join(words[:-1]), words[-1]


@pytest.mark.slow
def test_bounds_check__finds_every_access_beside_an_array() -> None:
    said, checked = _folder(TRIED, GENOBIT_BOUNDSCHECK="1")
    assert said == "checked"
    where = "from genobit.engine.simd import jit as _jit; print('-', _jit.cache_folder())"
    assert _folder(where, GENOBIT_BOUNDSCHECK="1")[1] == checked
    assert _folder(where, GENOBIT_BOUNDSCHECK="0")[1] != checked
