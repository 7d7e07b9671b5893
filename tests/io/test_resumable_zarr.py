"""Lazy results in Zarr stores: whole, or refused and resumed after a kill or a full disk."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr

import genobit as gb
from genobit.engine.schedule.graphs import Grid
from genobit.io import resumable_zarr
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.prints import prints, rows_of
from tests.helpers.stopping import stop_after

CHUNK = 64


def matrix(seed: int = 1, variants: int = 320) -> xr.DataArray:
    bits = cohort(random_calls(seed, variants, 40, missing=0.1)).genobit.pack()
    return bits.chunk(variants=CHUNK).genobit.ld("r2")


def opened(path: Path) -> xr.Dataset:
    return xr.open_zarr(path).load()


def refused(path: Path) -> None:
    """No reader opens a store that is not whole, and the message says how to resume."""
    for consolidated in (None, False):
        with pytest.raises(ValueError, match=r"is not complete: to resume, .*genobit\.to_zarr"):
            xr.open_zarr(path, consolidated=consolidated)
    with pytest.raises(ValueError, match="is not complete"):
        zarr.open_group(path, mode="r")


def test_a_result__comes_back_with_its_labels(tmp_path: Path) -> None:
    right = matrix()
    path = gb.to_zarr(right, tmp_path / "r2.zarr")
    xr.testing.assert_identical(opened(path).r2, right.compute())
    assert [p.name for p in tmp_path.iterdir()] == ["r2.zarr"]
    with pytest.raises(FileExistsError, match="no store of an interrupted run"):
        gb.to_zarr(right, path)


def test_tasks__are_made_of_the_chunks_under_way_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: set[Any] = set()
    genuine = Grid.task

    def noted(self: Any, key: Any) -> Any:
        made.add(key)
        return genuine(self, key)

    def stop(*_: Any) -> None:
        raise OSError("no more")

    monkeypatch.setattr(Grid, "task", noted)
    monkeypatch.setattr(resumable_zarr, "_store", stop)
    monkeypatch.setattr(resumable_zarr, "SIDE", 2)
    with dask.config.set(scheduler="synchronous"), pytest.raises(OSError, match="no more"):
        gb.to_zarr(matrix(), tmp_path / "r2.zarr")
    # Of 25: a block of two chunks a side.
    assert len([name for name, *_ in made if "square" in name]) == 4


def test_planes__are_written_from_one_reading_of_a_large_chunk(tmp_path: Path) -> None:
    calls = random_calls(1, 40 * CHUNK, 10)
    ds, reads = cohort(calls, chunks=(20 * CHUNK, 10)), []

    def counted(block: np.ndarray) -> np.ndarray:
        reads.append(block.shape)
        return block

    lazy = ds.call_genotype.data.map_blocks(counted, dtype=np.int8, meta=np.empty((0, 0, 0), "i1"))
    with gb.set_options(chunk_rows=CHUNK), dask.config.set(scheduler="synchronous"):
        bits = ds.assign(call_genotype=ds.call_genotype.copy(data=lazy)).genobit.pack()
        assert bits.chunks["variants"] == (CHUNK,) * 40
        opened(gb.to_zarr(bits, tmp_path / "bits.zarr"))
    assert reads == [(20 * CHUNK, 10, 2)] * 2


@pytest.mark.parametrize("side", [1, 2, 16])
def test_several_arrays_and_uneven_chunks(
    tmp_path: Path, side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resumable_zarr, "SIDE", side)
    near = prints(rows_of(1, 50, 90), (13, 90)).genobit.similarity(top=3)
    xr.testing.assert_identical(opened(gb.to_zarr(near, tmp_path / "near")), near.compute())
    ds = cohort(random_calls(1, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    with gb.set_options(chunk_rows=5):
        loco = ds.genobit.grm("gcta", loco=True)
    found = opened(gb.to_zarr(loco, tmp_path / "loco"))
    xr.testing.assert_equal(found[loco.name], loco.compute())


def test_a_full_disk__leaves_what_was_written_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, path = matrix(), tmp_path / "r2.zarr"
    written = stop_after(monkeypatch, 7, OSError(errno.ENOSPC, "No space left on device"))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(OSError, match=rf"No space left .*{path}"),
    ):
        gb.to_zarr(right, path)
    refused(path)
    part, values = zarr.open_array(path / "r2", mode="r")[:], right.values
    there = {at: part[_span(at[0]), _span(at[1])] for _, at in written}
    assert len(there) == 7
    for (i, j), chunk in there.items():
        np.testing.assert_array_equal(chunk, values[_span(i), _span(j)])
    monkeypatch.undo()
    again = stop_after(monkeypatch, 100)
    gb.to_zarr(right, path)
    assert sorted(at for _, at in [*written, *again]) == [
        (i, j) for i in range(5) for j in range(5)
    ]
    xr.testing.assert_identical(opened(path).r2, right.compute())


def _span(k: int) -> slice:
    return slice(k * CHUNK, (k + 1) * CHUNK)


def test_a_file_that_is_not_whole__is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full in the middle of a chunk's file, not between two."""
    from zarr.storage import _local

    right, path = matrix(), tmp_path / "r2.zarr"
    genuine, files = _local._put, []

    def full(place: Path, value: Any, exclusive: bool = False) -> int:
        if "/r2/c/" in str(place):
            files.append(place)
            if len(files) == 4:
                place.parent.mkdir(parents=True, exist_ok=True)
                with _local._atomic_write(place, "wb") as file:
                    file.write(b"half")
                    raise OSError(errno.ENOSPC, "No space left on device")
        return genuine(place, value, exclusive)

    monkeypatch.setattr(_local, "_put", full)
    with dask.config.set(scheduler="synchronous"), pytest.raises(OSError, match="No space left"):
        gb.to_zarr(right, path)
    monkeypatch.undo()
    assert not files[3].exists()
    # What a kill would have left in its place.
    (files[3].parent / f"0.abc{resumable_zarr.UNFINISHED}").write_bytes(b"half")
    gb.to_zarr(right, path)
    assert not list(path.rglob(f"*{resumable_zarr.UNFINISHED}"))
    xr.testing.assert_identical(opened(path).r2, right.compute())


def test_another_result__is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r2.zarr"
    stop_after(monkeypatch, 5)
    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyboardInterrupt):
        gb.to_zarr(matrix(), path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="holds another run: its inputs differ"):
        gb.to_zarr(matrix(seed=2), path)
    with pytest.raises(ValueError, match="holds another run: its labels"):
        gb.to_zarr(matrix().assign_coords(note=("variants_0", np.arange(320))), path)
    xr.testing.assert_identical(opened(gb.to_zarr(matrix(), path)).r2, matrix().compute())


def made(calls: np.ndarray) -> dict[str, Any]:
    """Lazy results of products, of passes, and of a single pass over the calls."""
    ds = cohort(calls, chunks=(CHUNK, 40))
    rows = xr.DataArray(calls.reshape(len(calls), -1) == 1, dims=("row", "bit")).chunk(row=CHUNK)
    with gb.set_options(chunk_rows=8):
        grm = ds.genobit.grm()
    with gb.set_options(chunk_rows=CHUNK):
        return {
            "ld": ds.genobit.ld(),
            "window": ds.genobit.ld(window=20),
            "ld_score": ds.genobit.ld_score(20),
            "kendall": ds.genobit.kendall(),
            "grm": grm,
            "similarity": rows.genobit.similarity(),
            "neighbours": rows.genobit.similarity(top=3),
            "variant_stats": ds.genobit.variant_stats(),
            "pack": ds.genobit.pack(),
        }


RESULTS = list(made(random_calls(1, 2, 40)))


@pytest.mark.parametrize("name", RESULTS)
def test_a_resumed_run__is_of_these_data_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls = random_calls(1, 4 * CHUNK, 40, missing=0.1)
    corrected = calls.copy()
    # Chunks may be written in any order.
    corrected[5::CHUNK] = corrected[6::CHUNK]
    path = tmp_path / "x.zarr"
    first, again, other = (made(x)[name] for x in (calls, calls.copy(), corrected))
    with monkeypatch.context() as patch, dask.config.set(scheduler="synchronous"):
        stop_after(patch, 2, OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(OSError, match="No space left"):
            gb.to_zarr(first, path)
    if path.exists():
        with pytest.raises(ValueError, match=r"holds another (run: its inputs differ|\w+: its)"):
            gb.to_zarr(other, path)
    found = opened(gb.to_zarr(again, path))
    right = again if isinstance(again, xr.Dataset) else again.to_dataset(name="result")
    for variable, array in right.data_vars.items():
        wanted = found[again.name if variable == "result" else variable]
        np.testing.assert_array_equal(wanted.values, array.values)


def test_a_first_attempt_that_failed__leaves_nothing(tmp_path: Path) -> None:
    bits = cohort(random_calls(1, 30, 40)).genobit.pack()
    with pytest.raises(TypeError, match="Invalid attribute"):
        gb.to_zarr(bits.assign_attrs(note={1, 2}), tmp_path / "bits")
    assert not list(tmp_path.iterdir())
    gb.to_zarr(bits, tmp_path / "bits")
    with pytest.raises(FileExistsError, match=r"exists, complete.*nothing is computed"):
        gb.to_zarr(bits, tmp_path / "bits")


@pytest.mark.parametrize("wrong", [np.eye(3), pd.DataFrame({"a": [1]}), [1, 2], None])
def test_what_is_no_xarray_object__is_refused(tmp_path: Path, wrong: object) -> None:
    name = type(wrong).__name__
    with pytest.raises(TypeError, match=f"takes a DataArray or Dataset, not {name}"):
        gb.to_zarr(wrong, tmp_path / "a.zarr")
    assert list(tmp_path.iterdir()) == []


def test_settings_of_zarr__are_the_users(tmp_path: Path) -> None:
    before = zarr.config.get("array.write_empty_chunks")
    with dask.config.set(scheduler="threads", num_workers=4):
        for k in range(5):
            gb.to_zarr(matrix(), tmp_path / f"{k}.zarr")
    assert zarr.config.get("array.write_empty_chunks") == before


def test_the_home_folder__may_be_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    bits = cohort(random_calls(1, 30, 40)).genobit.pack()
    assert gb.to_zarr(bits.genobit.ld("r2"), "~/r2.zarr") == tmp_path / "r2.zarr"
    bits.genobit.ld_pairs(threshold=0.1).to_parquet("~/pairs")
    bits.genobit.epistasis(np.arange(40) % 2, checkpoint="~/run")
    assert {"r2.zarr", "pairs", "run"} <= {path.name for path in tmp_path.iterdir()}
    assert not Path("~").exists()
