"""Stores of planes and results are whole or refused, whenever and however writing was stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import pytest
import xarray as xr
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.engine.bits.layout import UNWRITTEN, Layout, require_sound, tail_mask, words_for
from genobit.io import resumable_zarr
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.stopping import stop_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIANTS, CHUNK = 192, 64
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}

_watchers: list[Callable[[], None]] = []
# Zarr writes metadata from several threads: one copies, the others wait.
_watching = threading.Lock()
_inside = threading.local()


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    writing = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
    if not _watchers or not (event in CHANGES or writing) or getattr(_inside, "watcher", False):
        return
    with _watching:
        _inside.watcher = True
        try:
            for watcher in _watchers:
                watcher()
        finally:
            _inside.watcher = False


def _copy_if_there(source: str, target: str) -> None:
    """Another thread may rename a file in the middle of its change while this one copies."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


sys.addaudithook(_watch)


def bits(samples: int = 40) -> xr.Dataset:
    return chunked(cohort(random_calls(3, VARIANTS, samples, missing=0.1)).genobit.pack())


def chunked(packed: xr.Dataset, **sizes: int) -> xr.Dataset:
    """Planes in chunks; labels stay in memory, as xarray writes no text of dask."""
    return packed.assign(
        {name: x.chunk(sizes or {"variants": CHUNK}) for name, x in packed.data_vars.items()}
    )


def result() -> xr.DataArray:
    return bits().genobit.ld("r2")


@pytest.fixture
def moments(tmp_path: Path) -> Iterator[list[Path]]:
    """Copies of a folder before each change of a file in it, which is what a kill would leave."""
    copies: list[Path] = []

    def copy() -> None:
        target = tmp_path / "copies" / f"{len(copies):04d}"
        shutil.copytree(tmp_path / "work", target, copy_function=_copy_if_there)
        copies.append(target)

    (tmp_path / "work").mkdir()
    _watchers.append(copy)
    yield copies
    _watchers.clear()


@pytest.mark.parametrize("make", [bits, result])
def test_any_prefix_of_the_files__is_refused_or_whole(
    moments: list[Path], tmp_path: Path, make: Callable[[], Any]
) -> None:
    with dask.config.set(scheduler="synchronous"):
        path = gb.to_zarr(make(), tmp_path / "work" / "x.zarr")
    _watchers.clear()
    right = xr.open_zarr(path).load()
    # Before and after the folder, the labels, the chunks and the rename of the root.
    assert len(moments) > 40
    outcomes = []
    for moment in moments:
        try:
            found = xr.open_zarr(moment / "x.zarr").load()
        except (ValueError, FileNotFoundError):
            outcomes.append("refused")
        else:
            xr.testing.assert_identical(found, right)
            outcomes.append("whole")
    assert outcomes[0] == "refused"
    assert outcomes[-1] == "whole"
    for moment in moments[:: max(1, len(moments) // 6)]:
        begun = (moment / "x.zarr.progress").exists()
        if (moment / "x.zarr").exists() and not resumable_zarr.unfinished(moment / "x.zarr"):
            continue
        assert begun or not (moment / "x.zarr").exists()
        again = gb.to_zarr(make(), moment / "x.zarr")
        xr.testing.assert_identical(xr.open_zarr(again).load(), right)
        assert [p.name for p in moment.iterdir()] == ["x.zarr"]


KILLED = """
import os, signal, sys
import dask
import genobit as gb
from tests.io import test_resumable_zarr_stopped as t

left = [int(sys.argv[2])]

def die():
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

result = t.result()
t._watchers.append(die)
with dask.config.set(scheduler=sys.argv[3]):
    gb.to_zarr(result, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "scheduler"), [*((k, "synchronous") for k in (1, 15, 45)), (40, "threads")]
)
def test_killed_at_a_change_of_a_file__is_refused_and_resumed(
    tmp_path: Path, change: int, scheduler: str
) -> None:
    path = tmp_path / "x.zarr"
    command = [sys.executable, "-c", KILLED, str(path), str(change), scheduler]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False, timeout=600)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises((ValueError, FileNotFoundError)):
        xr.open_zarr(path)
    xr.testing.assert_identical(
        xr.open_zarr(gb.to_zarr(result(), path)).r2.load(), result().compute()
    )


def test_a_run_killed_after_its_last_rename__is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(resumable_zarr, "_remove", killed)
    with pytest.raises(KeyboardInterrupt):
        gb.to_zarr(result(), tmp_path / "x.zarr")
    monkeypatch.undo()
    before = (tmp_path / "x.zarr" / "zarr.json").stat().st_mtime_ns
    path = gb.to_zarr(result(), tmp_path / "x.zarr")
    assert (path / "zarr.json").stat().st_mtime_ns == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.zarr"]


def test_another_store_in_the_place_of_an_interrupted_one__stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.zarr"
    stop_after(monkeypatch, 3)
    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyboardInterrupt):
        gb.to_zarr(result(), path)
    monkeypatch.undo()
    shutil.rmtree(path)
    mine = xr.Dataset({"mine": ("x", [1, 2])})
    mine.to_zarr(path, consolidated=False)
    with pytest.raises(FileExistsError, match="no store of an interrupted run"):
        gb.to_zarr(result(), path)
    xr.testing.assert_identical(xr.open_zarr(path, consolidated=False).load(), mine)


class Shuffled(zarr.storage.MemoryStore):
    """A store that lists what it has in another order each time, as file systems may."""

    turn = 0

    async def list_dir(self, prefix: str) -> Any:
        found = sorted([name async for name in super().list_dir(prefix)])
        Shuffled.turn += 1
        for name in np.random.default_rng(Shuffled.turn).permutation(found).tolist():
            yield name


def _sources(folder: Path) -> dict[str, Any]:
    packed = bits().assign_coords(sample_sex=("samples", np.arange(40) % 2))
    memory = Shuffled()
    packed.to_zarr(memory, consolidated=False)
    packed.to_zarr(folder / "folder.zarr", consolidated=False)
    shutil.make_archive(str(folder / "archive"), "zip", folder / "folder.zarr")
    return {
        "memory": lambda: memory,
        "zip": lambda: zarr.storage.ZipStore(folder / "archive.zip", mode="r"),
        "folder": lambda: folder / "folder.zarr",
    }


@pytest.mark.parametrize("kind", ["memory", "zip", "folder"])
def test_it_resumes__in_whatever_order_the_source_lists_its_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source = _sources(tmp_path)[kind]

    def again(seed: int) -> xr.Dataset:
        ds = xr.open_zarr(source(), consolidated=False)
        names = np.random.default_rng(seed).permutation(sorted(map(str, ds.variables)))
        return ds[names.tolist()]

    orders = {tuple(again(seed).variables) for seed in range(4)}
    assert len(orders) > 1
    written = stop_after(monkeypatch, 4)
    path = tmp_path / "copy.gb"
    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyboardInterrupt):
        gb.to_zarr(again(0), path)
    monkeypatch.undo()
    resumed = stop_after(monkeypatch, 1000)
    gb.to_zarr(again(1), path)
    assert len(written) == 4
    assert not set(written) & set(resumed)
    xr.testing.assert_equal(xr.open_zarr(path).load(), again(2).load())


def test_a_store_of_planes_by_xarray__that_lacks_a_chunk_is_refused(tmp_path: Path) -> None:
    """xarray writes no mark; a chunk that was never written reads as a word that says so."""
    packed = bits(samples=128)  # no padding
    packed.to_zarr(tmp_path / "x.gb", consolidated=False)
    whole = xr.open_zarr(tmp_path / "x.gb", consolidated=False)
    right = packed.genobit.allele_frequency().values
    np.testing.assert_array_equal(whole.genobit.allele_frequency().values, right)
    (tmp_path / "x.gb" / "plane_hom_alt" / "c" / "1" / "0").unlink()
    lacking = xr.open_zarr(tmp_path / "x.gb", consolidated=False)
    message = f"plane_hom_alt at variants={CHUNK} was never written"
    for ds in (lacking, lacking.load(), lacking.chunk(), lacking.persist()):
        for use in (
            lambda ds: ds.genobit.allele_frequency().compute(),
            lambda ds: ds.genobit.grm().compute(),
            lambda ds: ds.genobit.ld_prune(10, 2, 0.5),
            lambda ds: ds.genobit.isel(samples=[1, 5]).compute(),
        ):
            with pytest.raises(ValueError, match=message):
                use(ds)


def test_planes_of_samples__that_lack_a_chunk_are_refused(tmp_path: Path) -> None:
    packed = cohort(random_calls(3, 256, 64), chunks=(64, 64)).genobit.pack(rows="samples")
    chunked(packed, words=1).to_zarr(tmp_path / "x.gb", consolidated=False)
    first = tmp_path / "x.gb" / "plane_carrier" / "c" / "0" / "0"
    first.unlink()
    lacking = xr.open_zarr(tmp_path / "x.gb", consolidated=False)
    with pytest.raises(ValueError, match="plane_carrier at samples=0 was never written"):
        lacking.genobit.grm().compute()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("plane", ["carrier", "hom_alt", "called"])
def test_set_padding__is_refused_by_plane_and_row(plane: str, *, lazy: bool) -> None:
    packed = bits().load().copy(deep=True)
    packed[f"plane_{plane}"].values[70, -1] |= np.uint64(1 << 40)
    packed = chunked(packed) if lazy else packed
    message = f"plane_{plane} at variants=70 has bits set past the 40 of a row"
    methods: list[Callable[[xr.Dataset], Any]] = [
        lambda ds: ds.genobit.grm().compute(),
        lambda ds: ds.genobit.kendall().compute(),
        lambda ds: ds.genobit.ld().compute(),
        lambda ds: ds.genobit.isel(samples=slice(0, 20)).compute(),
    ]
    for method in methods:
        with pytest.raises(ValueError, match=message):
            method(packed)


@settings(deadline=None, max_examples=60)
@given(bits=st.integers(1, 200), seed=st.integers(0, 2**32 - 1))
def test_only_padding_and_unwritten_rows_are_refused(bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = Layout("dosage", "variants", bits, 1)
    words = rng.integers(0, 2**64, (5, words_for(bits)), np.uint64)
    words[:, -1] &= tail_mask(bits)
    require_sound(words, layout, "plane_carrier")
    row = int(rng.integers(5))
    lost = words.copy()
    lost[row] = UNWRITTEN
    with pytest.raises(ValueError, match=f"variants={row} was never written"):
        require_sound(lost, layout, "plane_carrier")
    if bits % 64:
        words[row, -1] |= np.uint64(1) << np.uint64(rng.integers(bits % 64, 64))
        with pytest.raises(ValueError, match=f"variants={row} has bits set"):
            require_sound(words, layout, "plane_carrier")
    elif bits > 64:
        # The last word may happen to be that of an unwritten row.
        words[row, -1] = UNWRITTEN
        require_sound(words, layout, "plane_carrier")
