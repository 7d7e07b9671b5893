"""Files at addresses: a server of ranges and one without, and S3 on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import dask
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.io import _remote
from tests.helpers.plink_files import random_dosages
from tests.helpers.plink_files import write_fileset as write_bed
from tests.helpers.servers import Ranges, Whole, close_sessions, s3, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

for package in ("aiohttp", "s3fs"):
    pytest.importorskip(package, reason="the extra remote is not installed")

# s3fs gives its session a tenth of a second to close.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed client session:ResourceWarning")

SAMPLES, VARIANTS = 7, 300


@pytest.fixture(autouse=True)
def sessions() -> Iterator[None]:
    yield
    close_sessions()


def write_fileset(folder: Path, seed: int = 0) -> Path:
    return write_bed(folder, random_dosages(VARIANTS, SAMPLES, seed))


@pytest.fixture
def bed(tmp_path: Path) -> Path:
    return write_fileset(tmp_path)


@pytest.fixture
def served(bed: Path) -> Iterator[str]:
    Ranges.sent = []
    with serving(Ranges, bed.parent) as address:
        yield address


@pytest.fixture
def served_whole(bed: Path) -> Iterator[str]:
    with serving(Whole, bed.parent) as address:
        yield address


def sent() -> list[int]:
    """Sizes of what was sent of the .bed."""
    return [size for name, size in Ranges.sent if name.endswith(".bed")]


def equal(found: xr.Dataset, local: xr.Dataset) -> None:
    xr.testing.assert_equal(found.compute(), local.compute())


@pytest.mark.parametrize("ending", [".bed", ""])
def test_bed__is_read_by_ranges(served: str, bed: Path, ending: str) -> None:
    found = gb.open_plink(f"{served}/cohort{ending}", chunks=64)
    assert max(sent()) == 3
    assert found.attrs["source"] == f"{served}/cohort.bed"
    part = found.isel(variants=slice(70, 80))
    equal(part, gb.open_plink(bed, chunks=64).isel(variants=slice(70, 80)))
    assert max(sent()) <= 64 * 2
    equal(found, gb.open_plink(bed, chunks=64))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_packing__takes_the_rows_of_the_file(served: str, bed: Path, scheduler: str) -> None:
    found = gb.open_plink(f"{served}/cohort.bed", chunks=64).genobit.pack()
    with dask.config.set(scheduler=scheduler, num_workers=2):
        equal(found, gb.open_plink(bed, chunks=64).genobit.pack())
    # Two bits a call, not bytes: no task asked for calls.
    assert sum(size for size in sent() if size > 3) == VARIANTS * 2


def test_names__are_equal_for_the_same_file_and_change_with_it(served: str, bed: Path) -> None:
    names = [gb.open_plink(f"{served}/cohort.bed").call_genotype.data.name for _ in range(2)]
    assert names[0] == names[1]
    local = gb.open_plink(bed).call_genotype.data.name
    assert local not in names


def test_a_server_without_ranges__is_named(served_whole: str) -> None:
    with pytest.raises(OSError, match=r"cohort.bed cannot be read: the server sends no parts"):
        gb.open_plink(f"{served_whole}/cohort.bed")


def test_faults__name_the_address(served: str, bed: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{served}/other.bim does not exist"):
        gb.open_plink(f"{served}/other.bed")
    opened = gb.open_plink(f"{served}/cohort.bed")
    whole = bed.read_bytes()
    bed.write_bytes(whole[:-5])
    with pytest.raises(ValueError, match=f"{served}/cohort.bed is truncated"):
        gb.open_plink(f"{served}/cohort.bed")
    with pytest.raises(OSError, match="was changed while in use"):
        opened.compute()
    bed.write_bytes(b"PK" + whole[2:])
    with pytest.raises(ValueError, match=f"{served}/cohort.bed is not a PLINK 1 .bed file"):
        gb.open_plink(f"{served}/cohort.bed")
    bed.with_suffix(".bim").write_text("1 rs1 0 x A G\n")
    with pytest.raises(ValueError, match=f"{served}/cohort.bim"):
        gb.open_plink(f"{served}/cohort.bed")
    with pytest.raises(ValueError, match=r"no address with a query, .*cohort.bed\?token=abc'"):
        gb.open_plink(f"{served}/cohort.bed?token=abc")
    with pytest.raises(OSError, match=r"nowhere://cohort.bim cannot be read: Protocol not known"):
        gb.open_plink("nowhere://cohort.bed")


def test_an_address__is_never_taken_for_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("memory://x", Path("memory://x")):
        with pytest.raises(FileNotFoundError, match=r"memory://x.bim does not exist"):
            gb.open_plink(path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(OSError, match=r"gs://b/x.bim cannot be read: Please install gcsfs"):
        gb.open_plink("gs://b/x")


def test_memory__is_an_address_too(bed: Path) -> None:
    import fsspec

    files = fsspec.filesystem("memory")
    for ending in (".bed", ".bim", ".fam"):
        files.pipe(f"/here/cohort{ending}", bed.with_suffix(ending).read_bytes())
    equal(gb.open_plink("memory://here/cohort.bed"), gb.open_plink(bed))
    before = _remote.info_of("memory://here/cohort.bed")
    assert before[0] == bed.stat().st_size


@pytest.fixture
def bucket(bed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import fsspec

    for name, value in {
        "AWS_ACCESS_KEY_ID": "of-nobody",
        "AWS_SECRET_ACCESS_KEY": "of-nobody",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    with s3() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        fsspec.filesystem("s3").clear_instance_cache()
        files = fsspec.filesystem("s3")
        files.mkdir("cohorts")
        for ending in (".bed", ".bim", ".fam"):
            files.pipe(f"cohorts/cohort{ending}", bed.with_suffix(ending).read_bytes())
        yield "s3://cohorts"


@pytest.mark.slow
def test_s3__bed_planes_and_results(bucket: str, bed: Path) -> None:
    found = gb.open_plink(f"{bucket}/cohort.bed", chunks=64)
    local = gb.open_plink(bed, chunks=64)
    equal(found, local)
    name = found.call_genotype.data.name
    planes = found.genobit.pack()
    with dask.config.set(scheduler="processes", num_workers=2):
        equal(planes, local.genobit.pack())
    planes.to_zarr(f"{bucket}/planes.zarr", consolidated=True, zarr_format=2)
    again = xr.open_zarr(f"{bucket}/planes.zarr")
    np.testing.assert_array_equal(again.genobit.ld().values, local.genobit.ld().values)
    local.genobit.ld().to_zarr(f"{bucket}/r2.zarr", consolidated=True, zarr_format=2)
    stored = xr.open_zarr(f"{bucket}/r2.zarr")
    np.testing.assert_array_equal(stored["r2"].values, local.genobit.ld().values)
    # Another file under the same name has other names of arrays.
    import fsspec

    other = write_fileset(bed.parent, seed=1)
    fsspec.filesystem("s3").pipe("cohorts/cohort.bed", other.read_bytes())
    assert gb.open_plink(f"{bucket}/cohort.bed", chunks=64).call_genotype.data.name != name
    assert os.environ["AWS_ENDPOINT_URL"].startswith("http://127.0.0.1:")
