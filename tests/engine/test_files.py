"""Local paths, files that are replaced when complete, and full disks that are named."""

from __future__ import annotations

import builtins
import errno
import io
import os
import re
import stat
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from networkx.utils import decorators

import genobit as gb
from genobit.data.pairs.network import Network
from genobit.engine.files import disk_full_named, is_address, local_path, replacing
from genobit.engine.schedule.checkpoints import Checkpoint
from genobit.io.genes import read_genes
from genobit.io.trees import read_trees
from genobit.io.vcf_files import cache, opened
from genobit.visual.explorer.files import write_new
from tests.helpers.cohorts import cohort, random_calls

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESSES = ["s3://bucket/x", "http://127.0.0.1:9/x", "memory://x", Path("gs://bucket/x")]


def grm() -> xr.DataArray:
    ids = {"sample_id_0": ("samples_0", ["a", "b"])}
    dims = ("samples_0", "samples_1")
    return xr.DataArray(np.eye(2), ids, dims, attrs={"variants": 5})


def pairs() -> Network:
    edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
    return Network(edges, ["MYC", "MAX", "MXD1", "TP53"], "gene")


def expression() -> xr.DataArray:
    values = np.random.default_rng(1).random((30, 12))
    return xr.DataArray(values, dims=("gene", "sample"))


def calls() -> xr.Dataset:
    return cohort(random_calls(1, 30, 20))


def packed() -> xr.Dataset:
    return calls().genobit.pack()


WRITERS: dict[str, Callable[[Any], Any]] = {
    "to_trees": lambda path, **more: gb.to_trees("((a,b),c,d);", path, **more),
    "to_trees of NEXUS": lambda path, **more: gb.to_trees("((a,b),c,d);", f"{path}.nex", **more),
    "to_graphml": lambda path, **more: pairs().to_graphml(path, **more),
    "to_cytoscape": lambda path, **more: pairs().to_cytoscape(path, **more),
    "kendall_pairs": lambda path: expression().genobit.kendall_pairs(0.1, None).to_parquet(path),
    "to_gcta": lambda path, **more: gb.to_gcta(grm(), path, **more),
    "to_plink_rel": lambda path, **more: gb.to_plink_rel(grm(), path, **more),
    "to_plink": lambda path, **more: gb.to_plink(calls(), path, **more),
    "to_pgen": lambda path, **more: gb.to_pgen(calls(), path, **more),
    "to_vcf": lambda path, **more: gb.to_vcf(calls(), f"{path}.vcf", **more),
    "to_vcf of BGZF": lambda path, **more: gb.to_vcf(calls(), f"{path}.vcf.gz", **more),
    "to_vcf_zarr": lambda path: gb.to_vcf_zarr(calls(), path),
    "an explorer": lambda path: write_new(
        f"{path}.csv", {".csv": lambda new: pairs().to_dataframe().to_csv(new)}
    ),
    "to_zarr": lambda path: gb.to_zarr(packed(), path),
    "ld_pairs": lambda path: packed().genobit.ld_pairs(threshold=0).to_parquet(path),
    "a checkpoint": lambda path: Checkpoint(path, {}).__enter__(),
}
READERS: dict[str, Callable[[Any], Any]] = {
    "open_bgen": gb.open_bgen,
    "open_alignment": gb.open_alignment,
    "open_gcta": gb.open_gcta,
    "open_plink_rel": gb.open_plink_rel,
    "read_genes": read_genes,
    "read_trees": lambda path: read_trees(path, ["a", "b", "c", "d"]),
    "open_pairs": gb.open_pairs,
    "open_tskit": gb.open_tskit,
}


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("name", [*WRITERS, *READERS])
def test_an_address__is_never_taken_for_a_folder(
    name: str, address: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    remedy = "xarray" if name == "to_zarr" else "Zarr" if name in READERS else "local path"
    shown = re.escape(str(address).replace(":/", "://").replace(":///", "://"))
    with pytest.raises(ValueError, match=rf"path on this machine, not '{shown}.*{remedy}"):
        (WRITERS | READERS)[name](address)
    assert list(tmp_path.iterdir()) == []


def test_what_is_an_address() -> None:
    assert all(map(is_address, ADDRESSES))
    assert all(map(is_address, ("zip::https://x/a.zip", "zip::simplecache::http://x/a.zip")))
    for local in ("C:/x", "C:\\x", "a/b", "/a:b/c", "x.bed", "./s3:/x", Path("a:b"), None, 3):
        assert not is_address(local)
    assert local_path("~/x", "f").is_absolute()


class _Full(io.RawIOBase):
    """A file on a disk that is full after some bytes."""

    def __init__(self, path: Any) -> None:
        self._file = builtins_open(path, "wb", buffering=0)
        self.left = 3

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if size > self.left:
            self._file.write(memoryview(data).cast("B")[: self.left])
            raise OSError(errno.ENOSPC, "No space left on device")
        self.left -= size
        return int(self._file.write(data))

    def close(self) -> None:
        self._file.close()
        super().close()


builtins_open = builtins.open


def _fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files opened for writing take three bytes: what a full disk does to each writer."""
    genuine = os.write

    def opened(path: Any, mode: str = "r", *arguments: Any, **keywords: Any) -> Any:
        if isinstance(path, int) or not set(mode) & set("wx") or f"{path}"[:4] == "/dev":
            return builtins_open(path, mode, *arguments, **keywords)
        raw = _Full(path)
        return raw if "b" in mode else io.TextIOWrapper(raw, "utf-8", write_through=True)

    monkeypatch.setattr(builtins, "open", opened)
    monkeypatch.setattr(io, "open", opened)
    # networkx keeps the function that opened the first file of each ending.
    openers = defaultdict(lambda: opened, decorators.fopeners)
    monkeypatch.setattr(decorators, "_dispatch_dict", openers)
    monkeypatch.setattr(os, "write", genuine)


FILES = {
    "to_trees": "x",
    "to_trees of NEXUS": "x.nex",
    "to_graphml": "x",
    "to_cytoscape": "x",
    "to_gcta": "x.grm.bin",
    "to_plink_rel": "x.rel",
    "to_vcf": "x.vcf",
    "to_vcf of BGZF": "x.vcf.gz",
    "an explorer": "x.csv",
}


@pytest.mark.parametrize("name", FILES)
def test_a_full_disk__leaves_the_old_file_and_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / FILES[name]
    options = {}
    if name != "an explorer":
        target.write_text("old")
        options["overwrite"] = True
    before = sorted(tmp_path.iterdir())
    _fill_the_disk(monkeypatch)
    with pytest.raises(OSError, match="No space left on device") as full:
        WRITERS[name](tmp_path / "x", **options)
    monkeypatch.undo()
    assert full.value.errno == errno.ENOSPC
    assert str(target) in str(full.value)
    assert sorted(tmp_path.iterdir()) == before
    if before:
        assert target.read_text() == "old"


EXISTING = {
    **FILES,
    "to_plink": "x.bed",
    "to_pgen": "x.pvar",
    "to_vcf_zarr": "x",
    "to_zarr": "x",
}


@pytest.mark.parametrize("name", EXISTING)
def test_an_existing_file__is_an_error_unless_it_is_to_be_replaced(
    name: str, tmp_path: Path
) -> None:
    target = tmp_path / EXISTING[name]
    target.write_text("old")
    with pytest.raises(FileExistsError, match=target.name) as told:
        WRITERS[name](tmp_path / "x")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    if "overwrite=True" in str(told.value):
        WRITERS[name](tmp_path / "x", overwrite=True)
        assert target.read_bytes() != b"old"


@pytest.mark.parametrize("name", ["ld_pairs", "kendall_pairs"])
def test_a_full_disk__leaves_no_part_of_a_table_and_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    def full(_: Any, file: Any, **__: Any) -> None:
        file.write(b"PAR1")
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match=rf"No space left on device .*{tmp_path}/x/part-000000"):
        WRITERS[name](tmp_path / "x")
    assert not list(tmp_path.glob("**/*.parquet"))
    monkeypatch.undo()
    WRITERS[name](tmp_path / "x")
    assert len(gb.open_pairs(tmp_path / "x").to_dataframe())
    assert not list(tmp_path.glob("**/*.unfinished"))


def test_a_full_disk_of_the_cache__is_no_damaged_vcf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "S1"]
    record = ["22", "1000", "rs1", "A", "G", ".", "PASS", ".", "GT", "0|1"]
    lines = ["##fileformat=VCFv4.3", "\t".join(columns), "\t".join(record)]
    (tmp_path / "a.vcf").write_text("\n".join(lines) + "\n")

    def full(*_: Any, **__: Any) -> None:
        raise RuntimeError("failed to write chunk") from OSError(errno.ENOSPC, "No space left")

    def early(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for place, name, how in ((cache.CallWriter, "_put", full), (opened, "write_labels", early)):
        monkeypatch.setattr(place, name, how)
        with pytest.raises(OSError, match=r"No space left .*cache_dir=.*cache") as found:
            gb.open_vcf(tmp_path / "a.vcf", cache_dir=tmp_path / "cache")
        monkeypatch.undo()
        assert found.value.errno == errno.ENOSPC
        assert list((tmp_path / "cache" / "vcf").iterdir()) == []


def test_replacing__keeps_links_modes_and_devices(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link, overwrite=True) as (new,):
        assert new.parent == tmp_path
        new.write_text("new")
        assert target.read_text() == "old"
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with replacing(os.devnull) as (new,):
        assert new == Path(os.devnull)
    with pytest.raises(IsADirectoryError, match="is a folder"), replacing(tmp_path):
        pass
    with pytest.raises(FileNotFoundError, match="there is no folder"), replacing(target / "x"):
        pass
    with replacing(tmp_path / ("n" * 250)) as (new,):
        new.write_text("a long name")


def test_several_files__appear_together_or_not_at_all(tmp_path: Path) -> None:
    def both(*, fail: bool) -> None:
        with replacing(tmp_path / "a", tmp_path / "b") as (first, second):
            first.write_text("a")
            if fail:
                raise KeyboardInterrupt
            second.write_text("b")

    with pytest.raises(KeyboardInterrupt):
        both(fail=True)
    assert list(tmp_path.iterdir()) == []
    both(fail=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_other_errors__pass_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), disk_full_named(tmp_path):
        raise PermissionError(errno.EACCES, "no")
    with pytest.raises(OSError, match="mine") as found, disk_full_named(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device", "mine")
    assert str(tmp_path) not in str(found.value)
