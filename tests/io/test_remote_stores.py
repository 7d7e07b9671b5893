"""Stores of calls, planes and results elsewhere: zip over HTTP, Google's storage and obstore."""

from __future__ import annotations

import shutil
import urllib.request
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import fsspec
import numpy as np
import pytest
import xarray as xr
from zarr.storage import ObjectStore

import genobit as gb
from genobit.io._zarr import _ZIP_FSSPEC, _version
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.plink_files import random_dosages, write_fileset
from tests.helpers.servers import Ranges, Whole, close_sessions, s3, serving
from tests.io.google import Google

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# s3fs, gcsfs and aiohttp give their sessions a tenth of a second to close.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed client session:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning"),
]

CALLS = cohort(random_calls(1, 60, 13, missing=0.1), chunks=(20, 13))
SCHEDULERS = ("threads", "processes")
schedulers = pytest.mark.parametrize(
    "scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)]
)


class Seen(Ranges):
    """Sends parts of files, with the headers that obstore asks for."""

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")


@pytest.fixture(autouse=True)
def sessions() -> Iterator[None]:
    yield
    close_sessions()


@pytest.fixture
def vcz(tmp_path: Path) -> Path:
    return gb.to_vcf_zarr(CALLS, tmp_path / "a.vcz")


@pytest.fixture(params=[Seen, Whole])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("aiohttp", reason="the extra remote is not installed")
    Ranges.sent = []
    with serving(request.param, tmp_path) as address:
        yield address


ranges = pytest.mark.parametrize("server", [Seen], indirect=True)
of_fsspec = pytest.mark.skipif(
    _version(fsspec.__version__) < _ZIP_FSSPEC,
    reason="zarr reads no zips at addresses with this fsspec",
)


def calls_equal(store: Any, scheduler: str = "threads") -> None:
    with dask.config.set(scheduler=scheduler, num_workers=2):
        found = gb.open_vcf_zarr(store).compute()
    np.testing.assert_array_equal(found.call_genotype, CALLS.call_genotype)
    np.testing.assert_array_equal(found.variant_position, CALLS.variant_position)


def come_back(new: Callable[[], Any], **reading: Any) -> None:
    """Planes, squares, bands and tables of results that are written come back."""
    planes = CALLS.genobit.pack()
    for name, result in {
        "r2": planes.genobit.ld("r2"),
        "grm": planes.genobit.grm("gcta"),
        "frequency": planes.genobit.allele_frequency(),
    }.items():
        place = new()
        result.to_dataset(name=name).to_zarr(place, zarr_format=2)
        np.testing.assert_array_equal(xr.open_zarr(place, **reading)[name], result)
    place = new()
    planes.to_zarr(place, zarr_format=2)
    found = xr.open_zarr(place, **reading)
    np.testing.assert_array_equal(found.genobit.ld("r2").values, planes.genobit.ld("r2").values)


# Zip over HTTP


@of_fsspec
@ranges
@schedulers
def test_zip_over_http(server: str, vcz: Path, scheduler: str) -> None:
    shutil.make_archive(str(vcz), "zip", vcz)
    calls_equal(f"zip::{server}/a.vcz.zip", scheduler)
    # As with a local path, the ending says what it is.
    calls_equal(f"{server}/a.vcz.zip", scheduler)


@of_fsspec
@ranges
def test_zip_over_http__holds_planes(server: str, tmp_path: Path) -> None:
    path = gb.to_zarr(CALLS.genobit.pack(), tmp_path / "a.gb")
    shutil.make_archive(str(path), "zip", path)
    found = xr.open_zarr(f"zip::{server}/a.gb.zip").genobit.ld("r2")
    np.testing.assert_array_equal(found, CALLS.genobit.pack().genobit.ld("r2"))


def test_zip_at_an_address__needs_a_new_fsspec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.make_archive(str(tmp_path / "empty"), "zip", tmp_path)
    monkeypatch.setattr(fsspec, "__version__", "2026.7.0")
    with pytest.raises(ValueError, match=r"needs fsspec 2026.9 or later, and 2026.7.0 is"):
        gb.open_vcf_zarr(f"zip::file://{tmp_path}/empty.zip")


@of_fsspec
@pytest.mark.parametrize("server", [Whole], indirect=True)
def test_zip_of_a_server_without_ranges(server: str, vcz: Path) -> None:
    shutil.make_archive(str(vcz), "zip", vcz)
    with pytest.raises(ValueError, match=r"zip::simplecache::http.*a.vcz.zip, which copies"):
        gb.open_vcf_zarr(f"{server}/a.vcz.zip")
    calls_equal(f"zip::simplecache::{server}/a.vcz.zip")


# Google's storage

# gcsfs closes the sessions of its instances from the loop of zarr in that of fsspec.
closing = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <finalize object:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    core = pytest.importorskip("gcsfs.core", reason="gcsfs is not installed")
    from fsspec.registry import _registry

    # The default class asks for the kind of the bucket by gRPC, which the server does not speak.
    monkeypatch.setitem(_registry, "gs", core.GCSFileSystem)
    Google.objects = {}
    with serving(Google) as address:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
        monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
        core.GCSFileSystem.clear_instance_cache()
        yield "gs://cohorts"
        core.GCSFileSystem.clear_instance_cache()


@pytest.mark.slow
@closing
def test_google__calls_and_bed(google: str, vcz: Path, tmp_path: Path) -> None:
    import fsspec

    files = fsspec.filesystem("gs")
    names = [path for path in vcz.rglob("*") if path.is_file()]
    files.pipe({f"cohorts/{x.relative_to(tmp_path).as_posix()}": x.read_bytes() for x in names})
    for scheduler in SCHEDULERS:
        calls_equal(f"{google}/a.vcz", scheduler)
    shutil.make_archive(str(vcz), "zip", vcz)
    files.pipe("cohorts/a.vcz.zip", vcz.with_name("a.vcz.zip").read_bytes())
    calls_equal(f"{google}/a.vcz.zip")
    bed = write_fileset(tmp_path, random_dosages(300, 7))
    for ending in (".bed", ".bim", ".fam"):
        files.pipe(f"cohorts/a{ending}", bed.with_suffix(ending).read_bytes())
    found, local = gb.open_plink(f"{google}/a.bed", chunks=64), gb.open_plink(bed)
    xr.testing.assert_equal(found.compute(), local.compute())


@pytest.mark.slow
@closing
def test_google__planes_and_results(google: str) -> None:
    come_back(lambda: f"{google}/{uuid.uuid4().hex}")


# obstore


@pytest.fixture
def obstore() -> Any:
    return pytest.importorskip("obstore.store", reason="obstore is not installed")


@schedulers
def test_obstore__reads_folders(obstore: Any, vcz: Path, scheduler: str) -> None:
    calls_equal(ObjectStore(obstore.LocalStore(str(vcz)), read_only=True), scheduler)


@ranges
@schedulers
def test_obstore__reads_http(obstore: Any, server: str, vcz: Path, scheduler: str) -> None:
    # A server that lists no folders is asked once.
    options = {"client_options": {"allow_http": True}, "retry_config": {"max_retries": 0}}
    store = obstore.HTTPStore.from_url(f"{server}/a.vcz", **options)
    calls_equal(ObjectStore(store, read_only=True), scheduler)


def test_obstore__planes_and_results_in_memory_and_folders(obstore: Any, tmp_path: Path) -> None:
    come_back(lambda: ObjectStore(obstore.MemoryStore()))

    def folder() -> ObjectStore[Any]:
        return ObjectStore(obstore.LocalStore(str(tmp_path / uuid.uuid4().hex), mkdir=True))

    come_back(folder)


@pytest.mark.slow
def test_obstore__s3(obstore: Any, vcz: Path) -> None:
    def bucket(prefix: str) -> ObjectStore[Any]:
        store = obstore.S3Store(
            "obstore",
            prefix=prefix,
            endpoint=address,
            region="us-east-1",
            access_key_id="of-nobody",
            secret_access_key="of-nobody",
            client_options={"allow_http": True},
        )
        return ObjectStore(store)

    with s3() as address:
        new = urllib.request.Request(f"{address}/obstore", method="PUT")
        urllib.request.urlopen(new, timeout=60).close()
        CALLS.to_zarr(bucket("a.vcz"), zarr_format=2, consolidated=True)
        for scheduler in SCHEDULERS:
            calls_equal(bucket("a.vcz"), scheduler)
        come_back(lambda: bucket(uuid.uuid4().hex))


def test_memory__planes_and_results() -> None:
    come_back(lambda: f"memory://{uuid.uuid4().hex}")
