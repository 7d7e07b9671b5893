from __future__ import annotations

from pathlib import Path

import dask
import numpy as np
import pytest

from genobit.epistasis.kernels.search import Best
from genobit.epistasis.kernels.tables import Classes
from genobit.epistasis.schedule.search import CombinationSearch
from genobit.epistasis.schedule.units import Work, search_unit
from genobit.epistasis.schedule.waves import BATCH, batches, largest_wave
from tests.epistasis.schedule.combinations import check, cohort, divided, every, same

VARIANTS, SAMPLES = 12, 150


@pytest.mark.parametrize("units", [22, 110])
def test_schedulers__give_the_same_bits(units: int) -> None:
    work = divided(CombinationSearch(cohort(1, VARIANTS, SAMPLES, 0.05), 3, 20), 220 // units)
    assert work.work.cut.units == units
    with dask.config.set(scheduler="sync"):
        expected = work.run()
    check(expected, every(1, VARIANTS, SAMPLES, 0.05, 3), 20)
    for _ in range(3):
        with dask.config.set(scheduler="threads", num_workers=3):
            same(work.run(), expected)


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("unit-*")}


@pytest.mark.distributed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster's own, at start and at the end
def test_processes_and_a_cluster__give_the_same_bits_and_files(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    work = divided(CombinationSearch(cohort(1, VARIANTS, SAMPLES, 0.05), 3, 20), 10)
    expected = work.run(checkpoint=tmp_path / "threads")
    with dask.config.set(scheduler="processes", num_workers=2):
        same(work.run(checkpoint=tmp_path / "processes"), expected)
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster):
        same(work.run(), expected)
        # What one scheduler left, another takes up.
        files = kept(tmp_path / "threads")
        for number in (0, 5, 6, 20):
            (tmp_path / "threads" / f"unit-{number:09d}.npz").unlink()
        same(work.run(checkpoint=tmp_path / "threads"), expected)
        same(work.run(checkpoint=tmp_path / "cluster"), expected)
        assert work.estimate().workers == 2
    assert len(files) == 22
    for folder in ("threads", "processes", "cluster"):
        assert kept(tmp_path / folder) == files


@pytest.mark.parametrize("units", [1, 3, 4, 5, 28, 29, 1000, 5000, 10**6])
def test_waves__hold_each_unit_once_and_graphs_are_bounded(units: int) -> None:
    found = list(batches(units))
    assert [unit for batch in found for wave in batch for unit in wave] == list(range(units))
    *waves, last = (len(wave) for batch in found for wave in batch)
    assert max(waves, default=0) <= largest_wave(units)
    assert last <= 1.5 * largest_wave(units)
    # Where there is more than one, the last keeps workers at work for a while.
    assert not waves or last > min(waves[-1], largest_wave(units) // 2) / 2
    assert all(len(batch) <= BATCH for batch in found)


def test_waves__of_a_long_run_are_a_256th_of_it() -> None:
    assert [largest_wave(n) for n in (1, 16_384, 40_000, 10**9)] == [64, 64, 156, 2048]


def test_units__are_handed_what_was_found_two_waves_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handed = {}

    def noted(classes: Classes, work: Work, unit: int, threshold: float) -> Best:
        handed[unit] = threshold
        return search_unit(classes, work, unit, threshold)

    monkeypatch.setattr("genobit.epistasis.schedule.waves.search_unit", noted)
    work = divided(CombinationSearch(cohort(1, VARIANTS, SAMPLES), 3, 5), 2)
    with dask.config.set(scheduler="threads", num_workers=3):
        work.run()
    (waves,) = batches(110)
    first = [search_unit(work.classes, work.work, unit, 0.0) for unit in waves[0]]
    scores = np.sort(np.concatenate([found.scores for found in first]))
    assert {handed[unit] for wave in waves[:2] for unit in wave} == {0.0}
    assert {handed[unit] for unit in waves[2]} == {scores[-5]}
    assert len({handed[unit] for unit in waves[3]}) == 1
