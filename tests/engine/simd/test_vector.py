from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

from genobit.engine.simd import cpu, lane_moves, vector
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    BYTE_LANES,
    WORD_LANES,
    add_bytes,
    aligned,
    broadcast,
    equal_mask,
    less_mask,
    load_bytes,
    load_table,
    load_words,
    lookup,
    unowned,
    zero_bytes,
    zero_words,
)
from genobit.engine.simd.vector import add_to, andnot, popcount

words = st.lists(st.integers(0, 2**64 - 1), min_size=WORD_LANES, max_size=WORD_LANES)
octets = st.lists(st.integers(-128, 127), min_size=64, max_size=64)
needs_lookup = pytest.mark.skipif(
    not cpu.host().byte_lanes, reason="this CPU has no byte lookup (SSSE3, NEON)"
)


@njit
def _combine(x, y, start, out):
    """Each lane operation on the words from `start`, its low 32 bits into a row of `out`."""
    a, b = load_words(x, start), load_words(y, start)
    add_to(out, 0, a & b)
    add_to(out, WORD_LANES, a | b)
    add_to(out, 2 * WORD_LANES, a ^ b)
    add_to(out, 3 * WORD_LANES, a + b)
    add_to(out, 4 * WORD_LANES, andnot(a, b))
    add_to(out, 5 * WORD_LANES, popcount(a))
    add_to(out, 6 * WORD_LANES, broadcast(x[start]))
    add_to(out, 7 * WORD_LANES, zero_words())


@given(words, words, st.integers(0, 3))
def test_lanes_of_words__do_what_numpy_does(x: list[int], y: list[int], start: int) -> None:
    pad = [0] * start
    a, b = np.array(pad + x, np.uint64), np.array(pad + y, np.uint64)
    out = np.full(8 * WORD_LANES, 5, np.int32)
    _combine(a, b, start, out)
    a, b = a[start:], b[start:]
    right = [a & b, a | b, a ^ b, a + b, a & ~b, np.bitwise_count(a), a[:1].repeat(WORD_LANES)]
    low = [v.astype(np.uint64).astype(np.uint32).view(np.int32) for v in right]
    expected = np.stack([*low, np.zeros(WORD_LANES, np.int32)]) + np.int32(5)
    np.testing.assert_array_equal(out.reshape(8, WORD_LANES), expected)


@njit
def _move(x, distance, out):
    a = load_words(x, 0)
    vector.store(out, 0, lane_moves.shift_left(a, distance))
    vector.store(out, WORD_LANES, lane_moves.shift_right(a, distance))


@given(words, st.integers(0, 63))
def test_shifts(x: list[int], distance: int) -> None:
    a, out = np.array(x, np.uint64), np.zeros((2, WORD_LANES), np.uint64)
    _move(a, np.uint64(distance), out.reshape(-1))
    np.testing.assert_array_equal(out[0], a << np.uint64(distance))
    np.testing.assert_array_equal(out[1], a >> np.uint64(distance))


@njit
def _count(x):
    return popcount(x)


@given(st.integers(0, 2**64 - 1))
def test_popcount__of_one_word(x: int) -> None:
    assert int(_count(np.uint64(x))) == x.bit_count()


@njit
def _masks(x, start, value):
    return equal_mask(x, start, value), less_mask(x, start, value)


@given(octets, st.integers(-128, 127), st.integers(0, 5))
def test_masks__compare_64_signed_bytes(x: list[int], value: int, start: int) -> None:
    array = np.array([0] * start + x, np.int8)
    equal, less = _masks(array, start, np.int8(value))
    assert int(equal) == sum((v == value) << k for k, v in enumerate(x))
    assert int(less) == sum((v < value) << k for k, v in enumerate(x))


@needs_lookup
def test_lookup__reads_a_table_of_sixteen_bytes_in_each_lane() -> None:
    @njit
    def run(tables, offsets, index, which, out):
        zero = zero_bytes()
        found = lookup(load_table(tables, offsets, which), load_bytes(index, 0))
        add_bytes(out, 0, found + zero)
        add_bytes(out, 0, found)

    rng = np.random.default_rng(1)
    tables = rng.integers(0, 256, 256).astype(np.uint8)
    index = rng.integers(0, 16, BYTE_LANES).astype(np.uint8)
    offsets = np.array([0, 16, 240], np.uint8)
    for which in range(3):
        out = np.full(BYTE_LANES, 7, np.uint16)
        run(tables, offsets, index, which, out)
        expected = 7 + 2 * tables[int(offsets[which]) + index.astype(int)].astype(np.uint16)
        np.testing.assert_array_equal(out, np.concatenate([expected[::2], expected[1::2]]))


def test_host__is_a_machine_that_the_lanes_fit() -> None:
    host = cpu.host()
    assert host.byte_lanes in {0, 16, 32}
    assert host.byte_lanes in {0, BYTE_LANES}


@njit
def _second(array):
    return unowned(array)[1]


@njit
def _of_two_dimensions(array):
    return unowned(array)[0]


def test_borrowed__is_of_arrays_that_are_read_in_one_go() -> None:
    assert _second(np.array([3, 5, 8], np.int16)) == 5
    for array in (np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises((TypingError, TypeError), match="one dimension without gaps"):
            _of_two_dimensions(array)


def test_aligned__starts_on_a_cache_line() -> None:
    for size in (1, 7, 64, 1000):
        for dtype in (np.uint8, np.int32, np.uint64):
            array = aligned((size, 3), dtype)
            assert array.ctypes.data % 64 == 0
            assert array.shape == (size, 3)
            array[:] = 1
