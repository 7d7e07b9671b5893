"""Squares are the same on every scheduler, and on threads their tiles are in the result."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterator
from functools import partial

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from dask.callbacks import Callback
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.engine.schedule import tiles, written_once
from genobit.engine.schedule.dask_private import DataNode
from genobit.engine.schedule.written_once import Place, Result, is_square

Chunks = tuple[int, ...]


@pytest.fixture(autouse=True, scope="module")
def _no_lucky_memory() -> Iterator[None]:
    """Fill new memory with a value that no tile has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written_once, "memory", lambda shape, dtype: np.full(shape, -7, dtype))
        yield


def rows(chunks: Chunks, first: int = 0) -> list[da.Array]:
    numbers = np.arange(first, first + sum(chunks), dtype=np.uint64)[:, None]
    return [da.from_array(numbers, chunks=(chunks, 1), name=False)]


def tile_of(
    a: list[np.ndarray],
    b: list[np.ndarray] | None,
    place: Place | None = None,
    *,
    seen: list[bool] | None = None,
) -> np.ndarray:
    """Return first row + 1,000 x second row of each pair, smaller row first."""
    left = a[0][:, 0].astype(np.int64)
    right = left if b is None else b[0][:, 0].astype(np.int64)
    tile = np.minimum.outer(left, right) + 1000 * np.maximum.outer(left, right)
    if seen is not None:
        seen.append(place is not None)
    if place is None:
        return tile
    view = place.view(*tile.shape)
    view[...] = tile
    if place.symmetric:
        place._replace(top=place.left, left=place.top).view(*tile.shape[::-1])[...] = tile.T
    return view


def expected(n: int, others: np.ndarray | None = None) -> np.ndarray:
    i = np.arange(n)
    j = i if others is None else others
    return np.minimum.outer(i, j) + 1000 * np.maximum.outer(i, j)


sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple)


@given(sizes, sizes, st.booleans())
def test_square__is_the_same_for_all_chunks(first: Chunks, second: Chunks, symmetric: bool) -> None:
    n = sum(first)
    other = None if symmetric else rows(second, 7)
    found = tiles.square(tile_of, rows(first), other, np.int64).compute(scheduler="threads")
    against = None if symmetric else np.arange(7, 7 + sum(second))
    np.testing.assert_array_equal(found, expected(n, against))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_square__has_its_tiles_in_the_result(scheduler: str) -> None:
    seen: list[bool] = []
    matrix = tiles.square(partial(tile_of, seen=seen), rows((3, 2, 2)), None, np.int64)
    found = matrix.compute(scheduler=scheduler)
    assert seen == [True] * 6
    assert found.base is None
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, expected(7))


def test_square__in_another_process_is_joined_by_dask() -> None:
    matrix = tiles.square(tile_of, rows((3, 2, 2)), None, np.int64)
    np.testing.assert_array_equal(matrix.compute(scheduler="processes"), expected(7))


def test_result__goes_to_another_process_without_memory() -> None:
    result = Result(((2, 1), (3,)), np.int64)
    assert result.place(1, 0)[1:3] == (2, 0)
    sent = pickle.loads(pickle.dumps(result))
    assert sent.place(1, 0) is None
    assert sent.array is None


def test_square__computed_twice_has_two_results() -> None:
    matrix = tiles.square(tile_of, rows((3, 2)), None, np.int64)
    first, second = matrix.compute(), matrix.compute()
    first[:] = 0
    np.testing.assert_array_equal(second, expected(5))


def test_square__is_freed_without_the_garbage_collector() -> None:
    matrix = tiles.square(tile_of, rows((3, 2)), None, np.int64)
    matrix.compute()
    gone = weakref.ref(matrix)
    del matrix
    assert gone() is None


FOLLOWERS = {
    "sum": lambda m: m.sum(),
    "largest of a row": lambda m: m.max(axis=1),
    "twice as much": lambda m: 2 * m,
    "transpose": lambda m: m.T,
    "absolute": abs,
    "slice": lambda m: m[1:4, 2:6],
    "itself": lambda m: m,
    "a copy": lambda m: m.copy(),
    "other chunks": lambda m: m.rechunk(4),
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", FOLLOWERS)
def test_square__with_what_is_computed_from_it(name: str, first: bool, symmetric: bool) -> None:
    seen: list[bool] = []
    other = None if symmetric else rows((4, 3))
    matrix = tiles.square(partial(tile_of, seen=seen), rows((3, 2, 2)), other, np.int64)
    follower = FOLLOWERS[name]
    both = (matrix, follower(matrix)) if first else (follower(matrix), matrix)
    found, more = dask.compute(*both)[:: 1 if first else -1]
    np.testing.assert_array_equal(found, expected(7))
    right = expected(7) if name == "other chunks" else follower(expected(7))
    np.testing.assert_array_equal(more, right)
    # Each tile is computed once for both.
    assert len(seen) == 6


def test_square__that_is_changed_in_place() -> None:
    matrix = tiles.square(tile_of, rows((3, 2, 2)), None, np.int64)
    matrix[0, 0] = 77
    right = expected(7)
    right[0, 0] = 77
    np.testing.assert_array_equal(matrix.compute(), right)
    ones = da.ones((7, 7), chunks=3, dtype=np.int64)
    matrix = tiles.square(tile_of, rows((3, 2, 2)), None, np.int64)
    da.add(ones, ones, out=matrix)
    assert (matrix.compute() == 2).all()


def test_square__of_tasks_that_are_replaced() -> None:
    """As a cache of results does."""
    matrix = tiles.square(tile_of, rows((3, 2, 2)), None, np.int64)

    class Replace(Callback):
        def _start(self, graph: dict) -> None:
            key = (matrix.name, 0, 1)
            graph[key] = DataNode(key, expected(7)[:3, 3:5])

    with Replace():
        found = matrix.compute(scheduler="synchronous")
    np.testing.assert_array_equal(found, expected(7))


def test_ld__with_what_is_computed_from_it() -> None:
    calls = np.random.default_rng(0).integers(0, 2, (90, 20, 2), dtype=np.int8)
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    with gb.set_options(chunk_rows=32):
        r2 = ds.genobit.ld("r2")
        alone = r2.compute()
        both = xr.Dataset({"r2": r2, "unlinked": 1 - r2, "again": r2}).compute()
    np.testing.assert_array_equal(both.r2, alone)
    np.testing.assert_array_equal(both.again, alone)
    np.testing.assert_array_equal(both.unlinked, 1 - alone)


def test_slices_and_sums__hold_no_memory_of_the_whole() -> None:
    seen: list[bool] = []
    matrix = tiles.square(partial(tile_of, seen=seen), rows((3, 2, 2)), None, np.int64)
    np.testing.assert_array_equal(matrix[:2, 5:].compute(), expected(7)[:2, 5:])
    assert matrix.max().compute() == expected(7).max()
    np.testing.assert_array_equal(matrix.rechunk(4).compute(), expected(7))
    assert seen
    assert not any(seen)


@pytest.mark.parametrize("change", [dask.optimize, dask.persist])
def test_square__after_dask_has_changed_its_graph(change: object) -> None:
    (matrix,) = change(tiles.square(tile_of, rows((3, 2, 2)), None, np.int64))
    np.testing.assert_array_equal(matrix.compute(), expected(7))
    np.testing.assert_array_equal(matrix[2:5].compute(), expected(7)[2:5])


def test_square__without_optimization() -> None:
    matrix = tiles.square(tile_of, rows((3, 2, 2)), None, np.int64)
    np.testing.assert_array_equal(matrix.compute(optimize_graph=False), expected(7))


def test_square__in_xarray() -> None:
    seen: list[bool] = []
    matrix = tiles.square(partial(tile_of, seen=seen), rows((3, 2, 2)), None, np.int64)
    lazy = xr.DataArray(matrix, dims=("x", "y"))
    np.testing.assert_array_equal(lazy.compute().values, expected(7))
    assert all(seen)
    # dask takes the optimizer of the first array, here of the label.
    labelled = lazy.assign_coords(far=("x", da.arange(7, chunks=2))).compute()
    np.testing.assert_array_equal(labelled.values, expected(7))
    assert labelled.far.values.tolist() == list(range(7))
    assert is_square(lazy.data)
    both = lazy + xr.DataArray(da.ones((7, 7), chunks=3), dims=("x", "y"))
    np.testing.assert_array_equal(both.compute(), expected(7) + 1)


def test_a_tile_that_fails__leaves_nothing() -> None:
    failing = iter([True])

    def once(a: list, b: list | None, place: Place | None = None) -> np.ndarray:
        if b is not None and next(failing, False):
            raise RuntimeError("no memory")
        return tile_of(a, b, place)

    matrix = tiles.square(once, rows((3, 2)), None, np.int64)
    with pytest.raises(RuntimeError, match="no memory"):
        matrix.compute()
    np.testing.assert_array_equal(matrix.compute(), expected(5))


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("processes", [True, False])
def test_square__on_a_cluster(processes: bool) -> None:
    from distributed import Client

    matrix = tiles.square(tile_of, rows((3, 2, 2)), None, np.int64)
    with Client(n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None):
        np.testing.assert_array_equal(matrix.compute(), expected(7))
        np.testing.assert_array_equal(matrix.persist().compute(), expected(7))
