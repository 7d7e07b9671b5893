"""Every analysis on a cluster of spawned processes whose memory is too small for what they hold.

Workers are killed, restarted and made to fail; what comes back is what one thread computes, to the
last bit.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.epistasis.schedule.search import CombinationSearch
from genobit.epistasis.schedule.variants import gathered
from tests.epistasis.schedule.combinations import divided, dosages, groups, planes_of
from tests.helpers.cases import assert_same, everything, small_tiles
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.trees import simulated

distributed = pytest.importorskip("distributed")

from tests.distributed.faults import Fault, sometimes  # noqa: E402  # needs distributed

pytestmark = [
    pytest.mark.distributed,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # the cluster's own, at start and at the end
]

KILLED = [
    "ld of packed",
    "ld_pairs of packed",
    "ld_prune of",
    "ld_decay of",
    "ld_blocks of",
    "similarity of bits top=3",
    "grm of packed method=gcta loco=True",
    "pca of packed components=3 method=randomized",
    "kendall_pairs of genes",
    "epistasis of few phenotype order=3",
    "parsimony of",
    "parsimony_search of taxa bootstrap=2",
]
"""Begins of names, one for each way in which analyses use dask: squares, bands, streams, windows,
walks, trees of sums, products, passes, waves, chunks of sites, chains."""
HELD = 2**20
"""Bytes of results that a worker holds before it writes others to disk."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    limit = 2**31
    settings = {
        "distributed.worker.memory.target": HELD / limit,
        # What the process has beside results is not to count.
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.scheduler.allowed-failures": 5,
        # How long a worker looks for one that is gone; 30 s by default.
        "distributed.comm.timeouts.connect": "5s",
        # After 15 s the cluster takes leave of a worker that is not there, which one that was
        # killed before, and has come back since, may be a second time.
        "distributed.deploy.lost-worker-timeout": "10 minutes",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=limit,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@cache
def expected() -> dict[str, Any]:
    with small_tiles(), dask.config.set(scheduler="synchronous"):
        return {name: compute() for name, compute in everything().items()}


def test_workers__are_spawned(client: Any) -> None:
    assert dask.config.get("distributed.worker.multiprocessing-method") == "spawn"
    assert os.getpid() not in client.run(os.getpid).values()


@pytest.mark.parametrize("name", list(everything()))
def test_every_analysis__is_the_same_to_the_last_bit(client: Any, name: str) -> None:
    with small_tiles():
        assert_same(everything()[name](), expected()[name])


@pytest.mark.parametrize("name", ["ld_decay", "ld_blocks", "ld_pairs", "parquet"])
def test_datasets_of_the_same_planes__at_once_get_their_own(
    client: Any, name: str, tmp_path: Path
) -> None:
    """Two threads of one client, whose Datasets have the same calls and other positions."""
    bits = cohort(random_calls(1, 600, 50), chunks=(100, 50)).genobit.pack()
    near = bits.assign_coords(variant_position=("variants", np.arange(600) * 10))
    far = bits.assign_coords(variant_position=("variants", np.arange(600) * 20))
    number = iter(range(99))
    ask: dict[str, Callable[[xr.Dataset], Any]] = {
        "ld_decay": lambda ds: ds.genobit.ld_decay("4kb", bins=4, parts=3, resamples=2),
        "ld_blocks": lambda ds: ds.genobit.ld_blocks("2kb"),
        "ld_pairs": lambda ds: ds.genobit.ld_pairs(threshold=0.05, window=50).to_dataframe(),
        "parquet": lambda ds: pd.read_parquet(
            ds.genobit.ld_pairs(threshold=0.05, window=50).to_parquet(tmp_path / str(next(number)))
        ),
    }
    with small_tiles():
        with dask.config.set(scheduler="synchronous"):
            right = [ask[name](ds) for ds in (near, far)]
        with ThreadPoolExecutor(8) as pool:
            # Equal ones too: what one writes, the other must write as well.
            found = list(pool.map(ask[name], [near, far] * 4))
    for number_of, result in enumerate(found):
        assert_same(result, right[number_of % 2])


@pytest.mark.parametrize("begin", KILLED)
def test_a_worker_that_is_killed__changes_nothing(client: Any, begin: str, tmp_path: Path) -> None:
    name = next(name for name in everything() if name.startswith(begin))
    client.wait_for_workers(2, timeout=120)
    before = set(client.run(os.getpid).values())
    client.register_plugin(Fault(tmp_path, 3), name="fault")
    try:
        with small_tiles():
            found = everything()[name]()
    finally:
        client.unregister_worker_plugin("fault", nanny=False)
    assert_same(found, expected()[name])
    assert (tmp_path / "killed").exists()
    client.wait_for_workers(2, timeout=120)
    assert len(before - set(client.run(os.getpid).values())) == 1


def paths() -> dict[str, Callable[[Path], Any]]:
    """One for each way in which results arrive, of about a second; each takes a new path."""
    bits = cohort(random_calls(8, 500, 120), chunks=(100, 120)).genobit.pack()
    sick, aligned = np.arange(120) % 2, simulated(20, 300)
    effort = gb.SearchEffort(replicates=4, iterations=300)
    return {
        "table": lambda path: pd.read_parquet(
            bits.genobit.ld_pairs(threshold=0.03, window=300).to_parquet(path)
        ),
        "store": lambda path: xr.open_zarr(gb.to_zarr(bits.genobit.grm(), path)).load(),
        "epistasis": lambda _: bits.genobit.epistasis(sick, top=20, permutations=50),
        "epistasis that is kept": lambda path: bits.genobit.epistasis(
            sick, top=20, permutations=20, checkpoint=path
        ),
        "parsimony_search": lambda _: aligned.genobit.parsimony_search(seed=1, effort=effort),
    }


@pytest.mark.long
@pytest.mark.parametrize("name", list(paths()))
def test_workers_killed_at_random_times__change_nothing(
    client: Any, name: str, tmp_path: Path
) -> None:
    """10 kills on each of 5 paths, each at any time between a run's begin and its usual end."""
    ask, random = paths()[name], np.random.default_rng()

    def kill() -> None:
        pids = [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]
        os.kill(random.choice(pids), signal.SIGKILL)

    with small_tiles():
        with dask.config.set(scheduler="synchronous"):
            right = ask(tmp_path / "right")
        client.wait_for_workers(2, timeout=120)
        begun = time.monotonic()
        assert_same(ask(tmp_path / "first"), right)
        usual = time.monotonic() - begun
        for number in range(10):
            client.wait_for_workers(2, timeout=120)
            killer = threading.Timer(random.uniform(0, usual), kill)
            killer.start()
            assert_same(ask(tmp_path / str(number)), right)
            killer.join()


def test_a_worker_that_is_restarted__changes_nothing(client: Any) -> None:
    client.wait_for_workers(2, timeout=120)
    begun = threading.Event()

    def slow(block: np.ndarray) -> np.ndarray:
        time.sleep(0.3)
        return block

    calls = random_calls(5, 512, 40)
    ds = cohort(calls, chunks=(64, 40))
    right = ds.genobit.grm().compute(scheduler="synchronous")
    ds["call_genotype"] = ds.call_genotype.copy(data=ds.call_genotype.data.map_blocks(slow))
    first = next(iter(client.scheduler_info(n_workers=-1)["workers"]))

    def restart() -> None:
        begun.wait()
        client.restart_workers([first], timeout=120)

    thread = threading.Thread(target=restart)
    thread.start()
    future = client.compute(ds.genobit.grm())
    begun.set()
    assert_same(future.result(), right)
    thread.join()


def test_tasks_that_fail_twice__are_tried_again(client: Any, tmp_path: Path) -> None:
    calls = random_calls(6, 256, 40)
    right = cohort(calls).genobit.ld().compute(scheduler="synchronous")
    source = da.from_array(calls, chunks=(64, 40, 2))
    ds = cohort(calls, chunks=(64, 40))

    def unsure(name: str) -> xr.Dataset:
        # Tasks of a failed run keep their keys on the scheduler for a while.
        (tmp_path / name).mkdir()
        blocks = source.map_blocks(sometimes, str(tmp_path / name), dtype=np.int8)
        return ds.assign(call_genotype=ds.call_genotype.copy(data=blocks))

    with pytest.raises(OSError, match="does not answer"):
        unsure("first").genobit.ld().compute()
    result = client.compute(unsure("again").genobit.ld(), retries=5).result()
    assert_same(result, right)
    assert len(list((tmp_path / "again").iterdir())) == 2 * source.numblocks[0]


def test_results_past_the_memory_of_workers__are_on_disk(client: Any) -> None:
    ds = cohort(random_calls(7, 1536, 40), chunks=(128, 40))
    right = ds.genobit.ld().compute(scheduler="synchronous")
    held = ds.genobit.pack().chunk(variants=128).genobit.ld().persist()
    distributed.wait(held)

    def on_disk(dask_worker: Any) -> int:
        return int(dask_worker.data.spilled_total.disk)

    assert sum(client.run(on_disk).values()) > right.nbytes - 3 * HELD > HELD
    assert_same(held.compute(), right)


def test_planes_past_the_limit__are_read_by_workers_from_their_folder(
    client: Any, tmp_path: Path
) -> None:
    planes, layout = planes_of(dosages(1, 60, 200, 0.02), 20)
    classes = groups(1, 200)
    with dask.config.set(scheduler="synchronous"):
        right = divided(CombinationSearch(gathered(planes, layout, classes, 2), 2, 20), 200).run()
    with gb.set_options(eager_limit=1, spill_to=tmp_path):
        spilled = gathered(planes, layout, classes, 2)
    found = divided(CombinationSearch(spilled, 2, 20), 200).run()
    np.testing.assert_array_equal(found.members, right.members)
    np.testing.assert_array_equal(found.scores, right.scores)
    opened = client.run(lambda: Path("/proc/self/maps").read_text().count(str(tmp_path)))
    assert any(opened.values())  # not all: one worker may have taken every unit
