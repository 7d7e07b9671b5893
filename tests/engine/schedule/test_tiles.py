from __future__ import annotations

import threading
from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.transpose import transposed
from genobit.engine.schedule import tiles
from genobit.engine.schedule.written_once import Place
from tests.helpers.laziness import raise_if_dask_computes


def written(tile: np.ndarray, place: Place) -> np.ndarray:
    """Write a tile to its place, and its transpose if the whole is symmetric."""
    view = place.view(*tile.shape)
    view[...] = tile
    if place.symmetric:
        place._replace(top=place.left, left=place.top).view(*tile.shape[::-1])[...] = tile.T
    return view


class Calls:
    """A tile function that remembers what it was called with."""

    def __init__(self) -> None:
        self.seen: Counter[tuple] = Counter()
        self.lock = threading.Lock()

    def __call__(
        self, a: list[np.ndarray], b: list[np.ndarray] | None, place: Place | None = None
    ) -> np.ndarray:
        left = a[0][:, 0].astype(int)
        right = left if b is None else b[0][:, 0].astype(int)
        with self.lock:
            self.seen[int(left[0]), int(right[0]), b is None] += 1
        assert len(a) == 2
        assert (a[0] == a[1]).all()
        tile = 1000 * np.minimum.outer(left, right) + np.maximum.outer(left, right)
        return tile if place is None else written(tile, place)

    def __dask_tokenize__(self) -> int:
        return id(self)


def planes(chunks: tuple[int, ...], words: tuple[int, ...] = (2, 1)) -> list[da.Array]:
    """Two planes whose words hold the number of the row."""
    n = sum(chunks)
    values = np.repeat(np.arange(n, dtype=np.uint64)[:, None], sum(words), axis=1)
    return [
        da.from_array(values, chunks=(chunks, words), name=False),
        da.from_array(values, chunks=(max(n, 1), 1), name=False),
    ]


def test_square__computes_only_tiles_on_and_above_the_diagonal() -> None:
    calls = Calls()
    chunks = (3, 3, 3, 2)
    matrix = tiles.square(calls, planes(chunks), None, np.int64)
    assert not calls.seen
    found = matrix.compute()
    i = np.arange(11)
    np.testing.assert_array_equal(found, 1000 * np.minimum.outer(i, i) + np.maximum.outer(i, i))
    starts = [0, 3, 6, 9]
    expected = {(a, b, a == b): 1 for a in starts for b in starts if a <= b}
    assert dict(calls.seen) == expected


def test_square__below_the_diagonal_takes_the_transpose_of_the_same_task() -> None:
    calls = Calls()
    matrix = tiles.square(calls, planes((3, 3)), None, np.int64)
    corner = matrix[3:, :3]
    np.testing.assert_array_equal(corner.compute(), matrix[:3, 3:].compute().T)
    assert set(calls.seen) == {(0, 3, False)}


def test_square__of_two_sets_computes_each_tile_once() -> None:
    calls = Calls()
    matrix = tiles.square(calls, planes((3, 2)), planes((2, 2, 2)), np.int64)
    assert matrix.shape == (5, 6)
    assert matrix.chunks == ((3, 2), (2, 2, 2))
    matrix.compute()
    assert dict(calls.seen) == {(a, b, False): 1 for a in (0, 3) for b in (0, 2, 4)}


class Both(Calls):
    """Of each tile two arrays: the left row's number, and the right one's."""

    def __call__(self, a: list[np.ndarray], b: list[np.ndarray] | None) -> np.ndarray:
        super().__call__(a, b)
        left = a[0][:, 0].astype(int)
        right = left if b is None else b[0][:, 0].astype(int)
        rows = np.repeat(left[:, None], right.size, axis=1)
        return np.stack([rows, np.repeat(right[None], left.size, axis=0)])


def test_squares__compute_each_tile_once_for_all_matrices() -> None:
    calls = Both()
    i, j = np.indices((8, 8))
    left, right = tiles.squares(calls, planes((3, 3, 2)), None, [np.int64, np.int32], [1, 0])
    assert (left.dtype, right.dtype) == (np.int64, np.int32)
    assert not calls.seen
    found = dask.compute(left, right)
    np.testing.assert_array_equal(found[0], i)
    np.testing.assert_array_equal(found[1], j)
    assert set(calls.seen.values()) == {1}
    assert len(calls.seen) == 6


def test_squares__mirror_themselves_by_default() -> None:
    i, j = np.indices((5, 5))
    left, _ = tiles.squares(Both(), planes((3, 2)), None, [np.int64, np.int64])
    below = (i >= 3) & (j < 3)
    np.testing.assert_array_equal(left, np.where(below, j, i))


def test_squares__of_two_sets() -> None:
    calls = Both()
    left, right = tiles.squares(calls, planes((3, 2)), planes((2, 4)), [np.int64, np.int64])
    np.testing.assert_array_equal(right[:, 2:], np.tile(np.arange(2, 6), (5, 1)))
    assert dict(calls.seen) == {(0, 2, False): 1, (3, 2, False): 1}
    assert left.chunks == ((3, 2), (2, 4))


def test_whole_rows__of_an_unknown_number_of_columns_stay() -> None:
    known = planes((3, 2))[0].rechunk((3, -1))
    unknown = known.map_blocks(lambda x: x, chunks=(known.chunks[0], (np.nan,)), dtype=known.dtype)
    assert tiles.whole_rows([unknown])[0] is unknown


def test_tiles__are_lazy() -> None:
    with raise_if_dask_computes():
        matrix = tiles.square(Calls(), planes((3, 3)), None, np.int64)
        matrix[0, 5] + 1
        tiles.band(Calls(), planes((3, 3)), np.arange(6), 0, np.int64)


def test_names__are_the_same_for_the_same_work() -> None:
    first, calls = planes((3, 3)), Calls()
    one, two = (tiles.square(calls, first, None, np.int64) for _ in range(2))
    assert one.name == two.name
    assert tiles.square(Calls(), first, None, np.int64).name != one.name
    assert tiles.square(calls, planes((2, 4)), None, np.int64).name != one.name


@given(
    rows=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    data=st.data(),
)
def test_band__gives_each_chunk_the_rows_its_windows_reach(
    rows: list[int], data: st.DataObject
) -> None:
    n = sum(rows)
    reach = data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    last = np.minimum(np.maximum.accumulate(np.arange(n) + np.array(reach)), n - 1)

    def function(
        blocks: list[list[np.ndarray]], ends: np.ndarray, reach: int, width: int
    ) -> np.ndarray:
        given_rows = np.concatenate([block[0][:, 0] for block in blocks]).astype(int)
        first = given_rows[0]
        np.testing.assert_array_equal(given_rows, first + np.arange(given_rows.size))
        np.testing.assert_array_equal(ends + first, last[first : first + ends.size])
        # Enough rows, and no chunk more than the window reaches into.
        assert ends[-1] + 1 == reach <= given_rows.size
        assert given_rows.size - len(blocks[-1][0]) < reach
        return np.repeat(given_rows[: len(ends), None], width, axis=1)

    band = tiles.band(function, planes(tuple(rows)), last, 2, np.int64)
    np.testing.assert_array_equal(band.compute(scheduler="sync")[:, 0], np.arange(n))

    def tile(
        a: list[np.ndarray],
        b: list[np.ndarray] | None,
        ends: np.ndarray,
        shift: int,
        left: dict[str, np.ndarray],
        right: dict[str, np.ndarray],
    ) -> list[tuple[int, int]]:
        x = a[0][:, 0].astype(int)
        y = x if b is None else b[0][:, 0].astype(int)
        np.testing.assert_array_equal(x, left["row"])
        np.testing.assert_array_equal(y, right["row"])
        assert y[0] - x[0] == shift
        np.testing.assert_array_equal(ends, last[x] - y[0])
        return [
            (int(x[i]), int(y[j]))
            for i in range(len(x))
            for j in range(len(y))
            if i < shift + j and j <= ends[i]
        ]

    keys, graph = tiles.band_tiles(tile, planes(tuple(rows)), last, {"row": np.arange(n)})
    found = [pair for part in dask.get(graph, keys) for pair in part]
    wanted = [(i, j) for i in range(n) for j in range(i + 1, last[i] + 1)]
    assert sorted(found) == wanted


def test_band__computes_no_tile_outside_the_window() -> None:
    last = np.minimum(np.arange(40) + 3, 39)
    keys, _ = tiles.band_tiles(Calls(), planes((4,) * 10), last, {})
    assert len(keys) == 10 + 9


@pytest.mark.parametrize("chunks", [(0, 5), (5, 0), (2, 0, 3), (0,), (0, 0)])
def test_chunks_without_rows_do_no_harm(chunks: tuple[int, ...]) -> None:
    n = sum(chunks)
    last = np.minimum(np.arange(n) + 2, n - 1)

    def function(blocks: list, ends: np.ndarray, reach: int, width: int) -> np.ndarray:
        assert len(ends) == len(blocks[0][0])
        return np.zeros((len(ends), width), np.int64)

    assert tiles.band(function, planes(chunks), last, 2, np.int64).compute().shape == (n, 2)
    keys, _ = tiles.band_tiles(function, planes(chunks), last, lambda s: s)
    assert len(keys) >= len(chunks)


@pytest.mark.parametrize("shape", [(1, 1), (63, 65), (64, 64), (130, 1), (200, 257)])
def test_transposed__is_the_transpose(shape: tuple[int, int]) -> None:
    tile = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(transposed(tile), tile.T)


def test_in_memory__takes_an_array_twice() -> None:
    array = da.arange(6, chunks=2)
    once, again = tiles.in_memory(array, array)
    assert once.tolist() == again.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_in_memory__is_what_compute_gives(scheduler: str) -> None:
    array = da.from_array(np.arange(35.0).reshape(5, 7), chunks=(2, 3))
    with dask.config.set(scheduler=scheduler):
        once, twice = tiles.in_memory(array, 2 * array)
    np.testing.assert_array_equal(once, array.compute())
    np.testing.assert_array_equal(twice, 2 * once)
