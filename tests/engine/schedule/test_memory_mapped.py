"""Planes in a file are the words of those in memory, for any reader, and no file is left."""

from __future__ import annotations

import gc
import pickle
import resource
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit import EpistasisLimits
from genobit.engine.schedule import passes
from genobit.engine.schedule.memory_mapped import Mapped, PlaneFile, in_memory, opened, taken
from genobit.epistasis.schedule import units
from genobit.epistasis.schedule.search import CombinationSearch
from genobit.epistasis.schedule.variants import gathered
from tests.epistasis.schedule.combinations import divided, dosages, groups, planes_of
from tests.helpers.leftovers import left

VARIANTS, SAMPLES = 30, 150


@given(
    samples=st.sampled_from([40, 64, 65, 128, 300]),
    chunk=st.integers(1, 31),
    incomplete=st.sampled_from(["none", "some chunks", "left out", "all"]),
    group=st.sampled_from([1, 2**12, 2**26]),
)
@settings(max_examples=25, deadline=None)
def test_planes_of_a_file__are_those_of_memory(
    tmp_path_factory: pytest.TempPathFactory, samples: int, chunk: int, incomplete: str, group: int
) -> None:
    folder = tmp_path_factory.mktemp("spilled")
    dosage, classes = dosages(1, VARIANTS, samples, 0.0), groups(1, samples)
    rng = np.random.default_rng(2)
    if incomplete == "some chunks":
        dosage[5, np.flatnonzero(classes == 1)[0]] = -1
    elif incomplete == "left out":
        dosage[:, classes == -1] = -1
    elif incomplete == "all":
        dosage[rng.random(dosage.shape) < 0.1] = -1
    planes, layout = planes_of(dosage, chunk)
    expected = gathered(planes, layout, classes, 2)
    with pytest.MonkeyPatch.context() as patch, gb.set_options(eager_limit=1, spill_to=folder):
        patch.setattr(passes, "GROUP_BYTES", group)
        found = gathered(planes, layout, classes, 2)
    assert found.sizes == expected.sizes
    assert found.complete == (incomplete in {"none", "left out"})
    for ours, right in zip(found.planes, expected.planes, strict=True):
        assert isinstance(ours, Mapped)
        assert in_memory(ours) == 0
        np.testing.assert_array_equal(ours, right)
    assert len(left(folder, 2)) == 2
    del ours, found
    assert not left(folder)


def written(folder: Path) -> Mapped:
    with PlaneFile(folder, (2, 3, 4)) as file:
        file.write(0, 0, np.arange(12, dtype=np.uint64).reshape(3, 4))
        file.write(1, 1, np.arange(8, dtype=np.uint64).reshape(2, 4))
        return file.mapped()


def test_a_file__is_pickled_by_its_name_and_a_part_by_its_words(tmp_path: Path) -> None:
    words = written(tmp_path)
    sent = pickle.dumps(words)
    assert str(tmp_path).encode() in sent
    again, part = pickle.loads(sent), pickle.loads(pickle.dumps(words[1]))
    np.testing.assert_array_equal(again, words)
    np.testing.assert_array_equal(part, [[0] * 4, [0, 1, 2, 3], [4, 5, 6, 7]])
    assert not again.flags.writeable
    del words
    gc.collect()
    with pytest.raises(FileNotFoundError, match=r"spill_to=.*every worker has to see"):
        pickle.loads(sent)


def test_rows_of_a_file__are_in_another_file_beside_it(tmp_path: Path) -> None:
    words = written(tmp_path)
    order = np.array([2, 0])
    found = taken(words, order)
    assert isinstance(found, Mapped)
    assert found.filename != words.filename
    np.testing.assert_array_equal(found, np.array(words)[:, order])
    assert not isinstance(taken(np.array(words), order), Mapped)


def test_a_disk_without_room__is_an_error_with_a_remedy_and_leaves_no_file(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, limits[1]))
    try:
        with pytest.raises(OSError, match=r"needs 1 MiB; name a folder with room.*spill_to"):
            PlaneFile(tmp_path, (2, 2**8, 2**8))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not left(tmp_path)


def test_a_file_that_is_not_written_to_its_end__is_removed(tmp_path: Path) -> None:
    def fail(_: Any) -> Any:
        raise ValueError("no such chunk")

    planes, layout = planes_of(dosages(1, VARIANTS, SAMPLES, 0.0), 10)
    planes["hom_alt"] = planes["hom_alt"].map_blocks(fail, dtype=np.uint64, meta=np.empty((0, 0)))
    with gb.set_options(eager_limit=1, spill_to=tmp_path), pytest.raises(ValueError, match="chunk"):
        gathered(planes, layout, groups(1, SAMPLES), 2)
    assert not left(tmp_path)
    with pytest.raises(FileNotFoundError, match="is not there"):
        opened(str(tmp_path / "none"), (1, 1, 1), 0)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_ranking__of_planes_in_files_is_that_of_memory(tmp_path: Path, scheduler: str) -> None:
    planes, layout = planes_of(dosages(1, VARIANTS, SAMPLES, 0.03), 7)
    classes = groups(1, SAMPLES)
    with gb.set_options(eager_limit=1, spill_to=tmp_path):
        spilled = gathered(planes, layout, classes, 2)
    expected = divided(CombinationSearch(gathered(planes, layout, classes, 2), 3, 20), 500).run()
    with dask.config.set(scheduler=scheduler, num_workers=2):
        found = divided(CombinationSearch(spilled, 3, 20), 500).run()
    np.testing.assert_array_equal(found.members, expected.members)
    np.testing.assert_array_equal(found.scores, expected.scores)


CALLS: list[dict[str, Any]] = [
    {"order": 2, "top": 30},
    {"order": 2, "top": 10, "statistic": "boost", "permutations": 3},
    {
        "order": 3,
        "top": 10,
        "limits": EpistasisLimits(variants_0=[20, 3], variants_1=[7, 8, 25], min_gap=2),
    },
    {"order": 2, "top": 10, "limits": EpistasisLimits(prefilter=12, max_r2=0.9)},
    {"order": 1, "top": 5},
]


@pytest.mark.parametrize("asked", CALLS, ids=str)
def test_epistasis__past_the_limit_gives_the_same_from_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    # Blocks of as little memory as the planes.
    monkeypatch.setattr(units, "COUNTS", 2**9)
    dosage = dosages(3, VARIANTS, 2000, 0.02)
    calls = np.stack([dosage >= 1, dosage == 2], axis=-1).astype(np.int8)
    calls[dosage < 0] = -1
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)}).chunk(variants=9)
    case = np.arange(2000) % 3 == 0
    expected = ds.genobit.epistasis(case, **asked)
    with gb.set_options(eager_limit=18_000, chunk_rows=9):
        with pytest.raises(MemoryError, match=r"name a folder for them, gb.set_options\(spill_to"):
            ds.genobit.epistasis(case, **asked)
        with gb.set_options(spill_to=tmp_path):
            monkeypatch.setattr("genobit.epistasis.schedule.search.check_memory", lambda *_: 0)
            found = ds.genobit.epistasis(case, **asked)
    xr.testing.assert_identical(found, expected)
    assert not left(tmp_path)


def test_estimate__says_what_stands_on_disk(tmp_path: Path) -> None:
    planes, layout = planes_of(dosages(1, VARIANTS, SAMPLES, 0.0), 7)
    with gb.set_options(eager_limit=1, spill_to=tmp_path):
        classes = gathered(planes, layout, groups(1, SAMPLES), 2)
    estimate = CombinationSearch(classes, 2, 5).estimate()
    assert estimate.disk == sum(plane.nbytes for plane in classes.planes)
    assert "disk" in repr(estimate)
