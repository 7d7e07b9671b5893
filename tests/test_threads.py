"""Every method from eight threads at once gives the result of one, to the last bit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import pandas as pd
import pytest
from dask.callbacks import Callback

import genobit as gb
from tests.helpers.cases import everything, packed, sick, taxa

THREADS = 8


def same(found: Any, right: Any) -> bool:
    if isinstance(right, pd.DataFrame):
        return bool(found.equals(right))
    return bool(found.identical(right))


@contextmanager
def other_work() -> Iterator[None]:
    """Another thread that computes with a callback of its own."""
    stop = threading.Event()

    def work() -> None:
        ones = da.ones((40, 40), chunks=10)
        while not stop.is_set():
            with Callback(posttask=lambda *_: None):
                assert float((ones + 1).sum().compute()) == 3200

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        try:
            yield
        finally:
            stop.set()
            done.result()


def from_threads(work: Callable[[int], Any]) -> list[Any]:
    """What each thread gets; all begin at once."""
    begin = threading.Barrier(THREADS)

    def one(number: int) -> Any:
        begin.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_every_method__gives_the_result_of_one_thread() -> None:
    with dask.config.set(scheduler="synchronous"):
        right = {name: compute() for name, compute in everything().items()}

    def wrong(number: int) -> list[str]:
        del number
        found = everything().items()
        return [name for name, compute in found if not same(compute(), right[name])]

    with other_work():
        assert from_threads(wrong) == [[]] * THREADS


SEARCHES: dict[str, Callable[..., Any]] = {
    "epistasis": lambda **given: packed().genobit.epistasis(
        sick(1), order=3, top=9, limits=gb.EpistasisLimits(min_n=0), progress=False, **given
    ),
    "parsimony_search": lambda **given: taxa().genobit.parsimony_search(
        seed=1,
        effort=gb.SearchEffort(replicates=5, iterations=3, patience=2),
        bootstrap=2,
        progress=False,
        **given,
    ),
}


@pytest.mark.parametrize("method", list(SEARCHES))
def test_searches_with_a_checkpoint__keep_the_same_files(method: str, tmp_path: Path) -> None:
    search = SEARCHES[method]

    def kept(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(folder.glob("unit-*"))}

    with dask.config.set(scheduler="synchronous"):
        right = search(checkpoint=tmp_path / "one")
    files = kept(tmp_path / "one")
    assert files
    for turn in range(3):
        with other_work():
            found = from_threads(lambda k, turn=turn: search(checkpoint=tmp_path / f"{turn}-{k}"))
        for number, result in enumerate(found):
            assert result.identical(right)
            assert kept(tmp_path / f"{turn}-{number}") == files


@pytest.mark.parametrize("method", list(SEARCHES))
def test_searches_with_one_checkpoint__are_refused_or_whole(method: str, tmp_path: Path) -> None:
    search = SEARCHES[method]
    right = search()

    def refused(_: int) -> bool:
        try:
            assert search(checkpoint=tmp_path / "all").identical(right)
        except RuntimeError as error:
            assert "another run uses" in str(error)  # noqa: PT017 - either is right
            return True
        return False

    assert not all(from_threads(refused))
    assert search(checkpoint=tmp_path / "all").identical(right)
