"""The matrix unit: its loop over tiles by a model of the unit, and its choice."""

from __future__ import annotations

import multiprocessing
import warnings
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.gemm import matrix_unit
from genobit.engine.gemm.matrix_unit import Memory, add_on_unit, add_plainly, usable
from genobit.engine.gemm.products import chosen_kernel, products
from genobit.engine.options import set_options
from genobit.engine.simd import amx, plain
from genobit.engine.simd.cpu import host
from tests.helpers.reference import and_counts, ternary_products, words_of


class Unit:
    """Eight tiles as Intel's manual defines them: rows of bytes, and of int32 for sums."""

    def __init__(self) -> None:
        self.tiles = np.zeros((8, 16, 64), np.int8)

    def zero_tile(self, tile: int) -> None:
        self.tiles[tile] = 0

    def load_tile(self, tile: int, array: np.ndarray, index: int, step: int) -> None:
        size = 64 // array.itemsize
        for row in range(16):
            first = index + row * step
            self.tiles[tile, row] = np.asarray(array)[first : first + size].view(np.int8)

    def store_tile(self, tile: int, array: np.ndarray, index: int, step: int) -> None:
        for row in range(16):
            first = index + row * step
            array[first : first + 16] = self.tiles[tile, row].view(np.int32)

    def multiply_tiles(self, c: int, a: int, b: int) -> None:
        left, right = self.tiles[a].astype(np.int32), self.tiles[b].reshape(16, 16, 4)
        sums = self.tiles[c].view(np.int32)
        for k in range(16):
            for n in range(16):
                sums[:, n] += left[:, 4 * k : 4 * k + 4] @ right[k, n]


def modelled() -> Any:
    """`add_on_unit` with each tile instruction by the model."""
    unit = Unit()
    function = getattr(add_on_unit, "py_func", None) or add_on_unit.__wrapped__
    names = ("zero_tile", "load_tile", "store_tile", "multiply_tiles")
    model = {name: getattr(unit, name) for name in names} | {"stream_tile": unit.load_tile}
    return plain.kernel(FunctionType(function.__code__, function.__globals__ | model))


@given(
    words=st.integers(1, 3),
    other=st.booleans(),
    fresh=st.booleans(),
    width=st.sampled_from([32, 64, 96]),
    seed=st.integers(0, 2**32),
)
def test_add_on_unit__equals_its_twin(
    words: int, other: bool, fresh: bool, width: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-1, 2, (2, 3 * 16 * words * 64), np.int8)
    half, start = 16 * words * 64, 16 * words * 64 * other
    memory = Memory(a, b, np.empty(0, np.uint64), amx.tile_shapes())
    counts = rng.integers(-(2**20), 2**20, 40 * width, np.int32)
    found, right = counts.copy(), counts.copy()
    modelled()(memory, start, half, found, width - 32, width, fresh)
    add_plainly(memory, start, half, right, width - 32, width, fresh)
    np.testing.assert_array_equal(found, right)
    assert (found != counts).any()


TERNARY = [np.random.default_rng(5).random((70, 90)) < p for p in (0.8, 0.5)]


def ternary(kernel: str) -> np.ndarray:
    """The ternary product of `TERNARY` with itself."""
    out = np.full((70, 70), -999)
    with set_options(kernel=kernel):
        for block in products("ternary", tuple(map(words_of, TERNARY))):
            out[block.rows, block.columns] = block.counts
    return out


@pytest.mark.usefixtures("unit_by_twin")
@pytest.mark.parametrize(("product", "rows"), matrix_unit.FEWEST_ROWS.items())
def test_auto__takes_the_unit_for_products_of_many_rows(product: str, rows: int) -> None:
    assert chosen_kernel(product, rows) == "matrix"
    assert chosen_kernel(product, rows - 1) != "matrix"


@pytest.mark.usefixtures("unit_by_twin")
def test_auto__takes_popcounts_for_counts_of_16_bits() -> None:
    assert chosen_kernel("and", kind=np.int16) != "matrix"


@pytest.mark.usefixtures("unit_by_twin")
def test_auto__gives_the_sums_of_signs() -> None:
    np.testing.assert_array_equal(ternary("auto"), ternary_products(*TERNARY, *TERNARY))


@pytest.mark.parametrize("product", ["and", "ternary", "digits"])
def test_a_unit_with_wrong_sums__warns_once_and_is_not_used(
    unit_by_twin: pytest.MonkeyPatch, product: str
) -> None:
    right, by_unit = matrix_unit.multiply, []

    def wrong(*arguments: Any) -> None:
        right(*arguments)
        if arguments[2]:
            by_unit.append(arguments)
            arguments[-1][31, 31] += 1

    unit_by_twin.setattr(matrix_unit, "multiply", wrong)
    with pytest.warns(RuntimeWarning, match="the matrix unit of this CPU gives wrong sums"):
        assert not usable(product)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not usable(product)
        if product != "digits":
            assert chosen_kernel(product) != "matrix"
        if product == "ternary":
            np.testing.assert_array_equal(ternary("matrix"), ternary_products(*TERNARY, *TERNARY))
    assert len(by_unit) == 1


@pytest.mark.parametrize(("answer", "tiles"), [(0, True), (-1, True), (0, False)])
def test_permitted__asks_linux_once_a_process(
    monkeypatch: pytest.MonkeyPatch, answer: int, tiles: bool
) -> None:
    asked = []

    class Library:
        def syscall(self, *numbers: Any) -> int:
            asked.append([number.value for number in numbers])
            return answer

    monkeypatch.setattr(amx, "COMPILED", True)
    monkeypatch.setattr(amx, "host", lambda: host()._replace(tiles=tiles))
    monkeypatch.setattr(amx.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(amx.sys, "platform", "linux")
    monkeypatch.setattr(amx.ctypes, "CDLL", lambda name: Library())
    amx.permitted.cache_clear()
    try:
        found = [amx.permitted() for _ in range(2)]
    finally:
        amx.permitted.cache_clear()
    assert found == [tiles and answer == 0] * 2
    # The numbers of arch_prctl, of ARCH_REQ_XCOMP_PERM and of XTILEDATA.
    assert asked == [[158, 0x1023, 18]] * tiles


@pytest.mark.distributed
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_children__multiply_as_their_parent(start: str) -> None:
    here = ternary("matrix")
    np.testing.assert_array_equal(here, ternary_products(*TERNARY, *TERNARY))
    with multiprocessing.get_context(start).Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(ternary, ("matrix",)), here)


def test_rows_and_columns__of_several_parts() -> None:
    a = np.random.default_rng(1).random((1030, 1100)) < 0.5
    words = words_of(a)
    counts = np.full((1056, 1056), -9, np.int32)
    tops = np.sort(np.random.default_rng(2).integers(0, 1100, 33))
    matrix_unit.multiply_and(words, words, 0, tops, counts)
    row, column = np.indices((1030, 1030))
    wanted = (row <= column) & (row >= tops[column // 32])
    np.testing.assert_array_equal(counts[:1030, :1030][wanted], and_counts(a, a)[wanted])
