"""Kernels without compilation: they compute what compiled ones do, within their arrays."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genobit.engine.gemm import matrix_unit
from genobit.engine.simd import plain
from genobit.engine.simd.plain_lanes import (
    Register,
    load_octets,
    load_table,
    loader,
    lookup,
    store,
    unowned,
    word,
    zeros,
)
from tests.helpers import programs
from tests.helpers.cases import assert_same, everything

SMALL = np.array([100, 100], np.int8)


@plain.kernel
def add_up(numbers):
    own = np.full(2, 100, np.uint8)
    total = 0
    for k in range(2):
        total += numbers[k] + numbers[k] + own[k] + own[k] + SMALL[k] + SMALL[k]
    return total


@plain.kernel
def double(array, by):
    array[0] = array[0] * by
    return array, (array, by)


@plain.kernel
def nest(array, by):
    assert type(double(array, by)[0]) is plain.Elements
    return double(array, by)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32])
def test_small_numbers__widen_wherever_they_come_from(dtype: Any) -> None:
    most = np.iinfo(dtype).max
    assert add_up(np.full(2, most, dtype)) == 4 * (int(most) + 200)


def test_numbers__do_as_compiled() -> None:
    nought = np.zeros(2)
    assert np.isnan(plain.kernel(lambda x: x[0] / x[1])(nought))
    assert plain.kernel(lambda x: x[0] + x[1])(np.array([True, True])) == 2
    largest = np.full(2, 2**64 - 1, np.uint64)
    assert plain.kernel(lambda x: x[0] + x[1])(largest) == 2**64 - 2
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        double(np.array([100], np.int8), 2)


def test_what_a_kernel_returns__are_arrays_as_ever() -> None:
    for kernel in (double, nest):
        array, (again, by) = kernel(np.ones(3), by=3)
        assert type(array) is type(again) is np.ndarray
        assert by == 3


def test_kernels__from_threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        assert {*pool.map(lambda _: add_up(np.full(2, 9, np.int8)), range(40))} == {4 * 209}
    with pytest.raises(OverflowError):
        double(np.array([100], np.int8), 2)
    # After an error, too, the next one is the outermost.
    assert type(double(np.ones(1), 2)[0]) is np.ndarray


def test_registers__are_values() -> None:
    array = np.arange(8, dtype=np.uint64)
    a = b = loader(np.uint64, 8)(array, 0)
    a += b
    array[:] = 0
    assert a.lanes.tolist() == [2 * k for k in range(8)]
    assert b.lanes.tolist() == [*range(8)]


@pytest.mark.parametrize(
    "other",
    [
        zeros(np.uint64, 4)(),
        zeros(np.uint32, 8)(),
        Register(np.zeros(8)),
        1,
        np.zeros(8, np.uint64),
    ],
)
def test_registers__go_with_their_like(other: Any) -> None:
    with pytest.raises(TypeError):
        zeros(np.uint64, 8)() + other
    with pytest.raises(TypeError):
        operator.mul(zeros(np.uint64, 8)(), zeros(np.uint64, 8)())


@pytest.mark.parametrize("index", [-1, 3, 2**40])
def test_loads_and_stores__stay_within_the_array(index: int) -> None:
    array = np.zeros(10, np.uint64)
    for take in (
        lambda i: loader(np.uint64, 8)(array, i),
        lambda i: store(array, i, zeros(np.uint64, 8)()),
    ):
        take(0)
        take(2)
        with pytest.raises(IndexError, match=rf"8 of uint64 from element {index} .* 10 of uint64"):
            take(index)


def test_bytes__are_counted_from_elements() -> None:
    pairs = np.array([0x0201, 0x0403, 0x0605, 0x0807, 0x0A09], np.uint16)
    assert load_octets(pairs, 1) == 0x0A09080706050403
    with pytest.raises(IndexError):
        load_octets(pairs, 2)


def test_lookup__is_of_sixteen_places() -> None:
    table = load_table(32)(np.arange(40, dtype=np.uint8), np.array([7], np.uint8), 0)
    index = Register(np.full(32, 15, np.uint8))
    assert lookup(table, index).lanes.tolist() == [22] * 32
    index.lanes[5] = 16
    with pytest.raises(IndexError, match="byte 5 of a lookup is 16"):
        lookup(table, index)


def test_words_and_borrowed_arrays() -> None:
    assert word(-1) == word(2**64 - 1) == np.uint64(2**64 - 1)
    for array in (np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises(TypeError, match="one dimension without gaps"):
            unowned(array)


def run(*arguments: str) -> None:
    programs.run(*arguments, NUMBA_DISABLE_JIT="1")


def compute(path: str) -> None:
    """Every analysis on small data, to a file."""
    found = {name: analysis() for name, analysis in everything().items()}
    Path(path).write_bytes(pickle.dumps(found))


@pytest.fixture
def without_unit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No matrix unit, as in plain Python: on it, weighted sums are exact integers."""
    matrix_unit.usable.cache_clear()
    monkeypatch.setattr(matrix_unit, "permitted", lambda: False)
    yield
    matrix_unit.usable.cache_clear()


@pytest.mark.long
@pytest.mark.usefixtures("without_unit")
@pytest.mark.compiled("compares with what is compiled")
def test_every_analysis__is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    path = str(tmp_path / "found")
    run("-c", f"from tests.engine.simd import test_plain; test_plain.compute({path!r})")
    found = pickle.loads(Path(path).read_bytes())
    for name, analysis in everything().items():
        assert_same(found[name], analysis())


@pytest.mark.slow
@pytest.mark.compiled("runs itself so")
def test_some_tests_of_kernels__pass() -> None:
    files = [
        f"tests/{name}.py"
        for name in (
            "engine/simd/test_vector",
            "engine/bits/test_pack",
            "parsimony/kernels/test_fitch",
        )
    ]
    run("-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:nbmake", *files)
