"""Tables of pairs on disk: the same as in memory, and resumed after the process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

import genobit as gb
from genobit.data.pairs import parquet
from genobit.engine.schedule.checkpoints import Checkpoint
from tests.helpers.cohorts import cohort, random_calls

WINDOW = 9


def genotypes(seed: int = 3) -> xr.Dataset:
    calls = random_calls(seed, 60, 50, missing=0.05)
    return cohort(calls, contigs=2).genobit.pack().chunk(variants=8)


def written(folder: Path) -> pd.DataFrame:
    table = pd.read_parquet(folder)
    return table.sort_values(["variant_0", "variant_1"]).reset_index(drop=True)


def in_memory(ds: xr.Dataset, threshold: float = 0.01) -> pd.DataFrame:
    table = ds.genobit.ld_pairs(threshold=threshold, window=WINDOW).to_dataframe()
    return table.sort_values(["variant_0", "variant_1"]).reset_index(drop=True)


@pytest.mark.parametrize("threshold", [0.01, 1.0])
def test_files__hold_the_pairs(
    tmp_path: Path, threshold: float, capsys: pytest.CaptureFixture[str]
) -> None:
    ds = genotypes()
    folder = tmp_path / "pairs"
    with dask.config.set(scheduler="threads", num_workers=2):
        found = ds.genobit.ld_pairs(threshold=threshold, window=WINDOW).to_parquet(
            folder, progress=True
        )
    assert found == folder
    expected = in_memory(ds, threshold)
    assert (len(expected) > 100) == (threshold < 1)
    pd.testing.assert_frame_equal(written(folder), expected, check_dtype=False)
    numbers = ["variant_0", "variant_1", "variant_position_0", "variant_position_1", "r", "r2"]
    assert (written(folder).dtypes[numbers] == expected.dtypes[numbers]).all()
    # 8 chunks, each with itself and with those that a window of 9 reaches on its contig.
    parts = sorted(folder.glob("part-*.parquet"))
    assert f"{len(parts)}/{len(parts)}" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [object, np.dtypes.StringDType()], ids=["object", "text"])
def test_labels_of_a_reopened_store(tmp_path: Path, kind: np.dtype | type) -> None:
    # xarray of 2025.9 reads text as objects, one of 2026.9 as numpy's StringDType.
    ds = genotypes()
    gb.to_zarr(ds, tmp_path / "planes.gb")
    bits = xr.open_zarr(tmp_path / "planes.gb", consolidated=False)
    bits["variant_id"] = bits.variant_id.astype(kind)
    assert bits.variant_id.dtype == np.dtype(kind)
    found = bits.genobit.ld_pairs(threshold=0.5, window=WINDOW).to_parquet(tmp_path / "pairs")
    assert written(found).variant_id_0.tolist() == in_memory(ds, 0.5).variant_id_0.tolist()


def test_labels_of_every_kind__are_those_in_memory(tmp_path: Path) -> None:
    calls = random_calls(3, 30, 50)
    names = [f"rs{k}" for k in range(30)]
    missing = np.array([*names[:-1], None], object)
    kinds = {
        "text": np.array(names),
        "bytes": np.array(names).astype("S"),
        "objects of bytes": np.array([name.encode() for name in names], object),
        "None": missing,
        "NaN": np.array([*names[:-1], np.nan], object),
    }
    for kind, ids in kinds.items():
        ds = cohort(calls).genobit.pack().assign(variant_id=("variants", ids))
        # As netCDF 3 has them.
        ds["variant_position"] = ds.variant_position.astype(">i4")
        found = ds.genobit.ld_pairs(threshold=0.0, window=WINDOW).to_parquet(tmp_path / kind)
        table = written(found)
        for side in ("0", "1"):
            called = [*names[:-1], None if kind in {"None", "NaN"} else names[-1]]
            wanted = [called[k] for k in table[f"variant_{side}"]]
            listed = table[f"variant_id_{side}"].astype(object)
            assert listed.where(listed.notna(), None).tolist() == wanted, kind
            positions = ds.variant_position.values[table[f"variant_{side}"]]
            assert table[f"variant_position_{side}"].tolist() == positions.tolist()


def test_label_that_is_no_text__is_refused_by_place(tmp_path: Path) -> None:
    ds = genotypes()
    ids = np.array([b"rs1"] * 7 + [b"rs\xff"] + [b"rs2"] * (ds.sizes["variants"] - 8))
    ds = ds.assign(variant_id=("variants", ids))
    with pytest.raises(ValueError, match=r"variant_id\[7\] is b'rs\\xff', which is not UTF-8"):
        ds.genobit.ld_pairs(threshold=0.5, window=WINDOW).to_parquet(tmp_path / "pairs")


KILLED = """
import os, signal, sys
import dask
from genobit.engine.schedule import checkpoints
from genobit.data.pairs import parquet
from tests.data.pairs.test_parquet import WINDOW, genotypes

parquet.PASS = 2
dask.config.set(scheduler="synchronous")
write, written = checkpoints.Checkpoint.write, []

def killed(self, unit, arrays):
    if len(written) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(unit)
    write(self, unit, arrays)

checkpoints.Checkpoint.write = killed
genotypes().genobit.ld_pairs(threshold=0.01, window=WINDOW).to_parquet(sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_run__goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", KILLED, str(folder)]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("part-*.parquet")}
    # Three passes of two are finished; the fourth is written and not known to be.
    assert len(before) == 8
    (folder / ".genobit/left.unfinished").write_bytes(b"half a file")
    with pytest.raises(pa.ArrowInvalid, match="INCOMPLETE-repeat-the-call-of-to_parquet"):
        pd.read_parquet(folder)

    ds = genotypes()
    for _ in range(2):
        ds.genobit.ld_pairs(threshold=0.01, window=WINDOW).to_parquet(folder)
        pd.testing.assert_frame_equal(written(folder), in_memory(ds), check_dtype=False)
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob("part-*.parquet")}
    assert len(after) > 8
    first = sorted(before)[:6]
    assert [after[name] for name in first] == [before[name] for name in first]
    assert not list(folder.glob("**/*.unfinished"))
    assert {path.name for path in folder.glob("*.parquet")} == set(after)


def test_lost_file__is_written_again(tmp_path: Path) -> None:
    ds = genotypes()
    ds.genobit.ld_pairs(threshold=0.01, window=WINDOW).to_parquet(tmp_path)
    (tmp_path / "part-000002.parquet").unlink()
    ds.genobit.ld_pairs(threshold=0.01, window=WINDOW).to_parquet(tmp_path)
    pd.testing.assert_frame_equal(written(tmp_path), in_memory(ds), check_dtype=False)


def test_another_question__is_refused(tmp_path: Path) -> None:
    ds = genotypes()
    ds.genobit.ld_pairs(threshold=0.5, window=WINDOW).to_parquet(tmp_path)
    others = {
        "threshold": (ds, 0.4, WINDOW),
        "windows": (ds, 0.5, 4),
        "values": (genotypes(4), 0.5, WINDOW),
        "chunks": (ds.chunk(variants=5), 0.5, WINDOW),
    }
    for key, (genotype, threshold, window) in others.items():
        with pytest.raises(ValueError, match=f"holds another run: its {key} (is|differ)"):
            genotype.genobit.ld_pairs(threshold=threshold, window=window).to_parquet(tmp_path)


def corrected() -> xr.Dataset:
    """The same cohort with one variant in the middle changed."""
    calls = random_calls(3, 60, 50, missing=0.05)
    calls[29] = calls[31]
    return cohort(calls, contigs=2).genobit.pack().chunk(variants=8)


TABLES = {
    "ld_pairs": lambda ds: ds.genobit.ld_pairs(threshold=0.01, window=WINDOW),
    "grm_pairs": lambda ds: ds.genobit.grm_pairs("ibs", threshold=0.0),
    "kendall_pairs": lambda ds: ds.genobit.kendall_pairs(0.1, None),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_finished_folder__is_of_these_data_or_refused(
    tmp_path: Path, table: Callable[[xr.Dataset], gb.PairTable], capsys: pytest.CaptureFixture[str]
) -> None:
    table(genotypes()).to_parquet(tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.parquet")}
    with pytest.raises(ValueError, match="holds another run: its values differ"):
        table(corrected()).to_parquet(tmp_path)
    # In other chunks of samples or words, from another place: equal data.
    table(genotypes().compute().chunk(variants=8)).to_parquet(tmp_path, progress=True)
    assert "is complete: nothing is computed" in capsys.readouterr().err
    assert before == {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.parquet")}


@pytest.mark.parametrize("killed", [True, False])
def test_a_first_attempt_that_failed__blocks_nothing(
    tmp_path: Path, killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, folder = TABLES["ld_pairs"], tmp_path / "pairs"

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", fail)
        if killed:
            # A killed process removes nothing.
            patch.setattr(Checkpoint, "__exit__", lambda self, *_: self._lock.release())
            patch.setattr(parquet, "_remove", lambda _: None)
        with pytest.raises(OSError, match="No space left"):
            table(genotypes()).to_parquet(folder)
    assert folder.exists() == killed
    right = table(corrected().isel(variants=slice(16)))
    pd.testing.assert_frame_equal(
        written(right.to_parquet(folder)), right.to_dataframe(), check_dtype=False
    )


def test_folder_of_something_else__is_refused(tmp_path: Path) -> None:
    ds = genotypes()
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match=r"folder of something else: it holds 'thesis.txt'"):
        ds.genobit.ld_pairs(threshold=0.5, window=WINDOW).to_parquet(tmp_path)
    with pytest.raises(ValueError, match="names a file: name a folder"):
        ds.genobit.ld_pairs(threshold=0.5, window=WINDOW).to_parquet(tmp_path / "thesis.txt")
    with pytest.raises(ValueError, match="names no folder"):
        ds.genobit.ld_pairs(threshold=0.5, window=WINDOW).to_parquet("")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_variants_without_labels(tmp_path: Path) -> None:
    calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    ds.genobit.ld_pairs(threshold=0.5).to_parquet(tmp_path)
    assert written(tmp_path).columns.tolist() == ["variant_0", "variant_1", "r", "r2"]
    assert written(tmp_path).r2.tolist() == [0.75]
