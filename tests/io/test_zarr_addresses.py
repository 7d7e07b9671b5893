"""Zarr stores on an HTTP server that lists no folders, as most do."""

from __future__ import annotations

import asyncio
import shutil
import urllib.error
import urllib.request
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import xarray as xr
import zarr
from zarr.abc.store import Store

import genobit as gb
from tests.helpers.servers import Whole, serving
from tests.hostile.datasets import cohort

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class Url(Store):
    """A store of what an HTTP server has, which cannot say what that is."""

    supports_writes = supports_deletes = supports_partial_writes = False
    supports_listing = True  # as fsspec's and obstore's say of HTTP

    def __init__(self, address: str, *, complains: bool = False) -> None:
        super().__init__(read_only=True)
        self.address, self.complains = address, complains

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and other.address == self.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __str__(self) -> str:
        return self.address

    def with_read_only(self, read_only: bool = False) -> Url:
        return self

    def _read(self, key: str) -> bytes | None:
        try:
            with urllib.request.urlopen(f"{self.address}/{key}", timeout=30) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError:
            return None

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        data = await asyncio.to_thread(self._read, key)
        return None if data is None else prototype.buffer.from_bytes(data)

    async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
        return [await self.get(key, prototype) for key, _ in key_ranges]

    async def exists(self, key: str) -> bool:
        return await asyncio.to_thread(self._read, key) is not None

    async def set(self, key: str, value: Any) -> None:
        raise NotImplementedError

    async def delete(self, key: str) -> None:
        raise NotImplementedError

    async def list(self) -> AsyncIterator[str]:
        if self.complains:
            raise RuntimeError("501 PROPFIND is not known")
        for name in ():
            yield name

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        async for name in self.list():
            yield name

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        async for name in self.list():
            yield name


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    with serving(Whole, tmp_path) as address:
        yield address


def write(folder: Path, zarr_format: int, *, consolidated: bool = True) -> xr.Dataset:
    ds = cohort(40, 12).compute()
    chunks = {"variant_position": {"chunks": (10,)}}
    with pytest.warns() if consolidated and zarr_format == 3 else nullcontext():
        ds.to_zarr(folder, zarr_format=zarr_format, consolidated=consolidated, encoding=chunks)
    return ds


@pytest.mark.parametrize("complains", [False, True])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_server_that_lists_no_folders__is_read(
    tmp_path: Path, served: str, zarr_format: int, *, complains: bool
) -> None:
    ds = write(tmp_path / "a.zarr", zarr_format)
    found = gb.open_vcf_zarr(Url(f"{served}/a.zarr", complains=complains))
    np.testing.assert_array_equal(found.call_genotype, ds.call_genotype)
    np.testing.assert_array_equal(found.variant_position, ds.variant_position)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["variant_position", "sample_id"])
def test_labels_that_are_missing_there__are_refused(
    tmp_path: Path, served: str, zarr_format: int, name: str
) -> None:
    write(tmp_path / "a.zarr", zarr_format)
    number = "1" if name == "variant_position" else "0"
    chunk = number if zarr_format == 2 else f"c/{number}"
    (tmp_path / "a.zarr" / name / chunk).unlink()
    place = 10 if name == "variant_position" else 0
    with pytest.raises(ValueError, match=rf"{name} of .*a\.zarr is empty from number {place} on"):
        gb.open_vcf_zarr(Url(f"{served}/a.zarr"))


def test_without_consolidated_metadata__the_error_says_so(tmp_path: Path, served: str) -> None:
    write(tmp_path / "a.zarr", 3, consolidated=False)
    with pytest.raises(ValueError, match=r"has no variables.*zarr\.consolidate_metadata"):
        gb.open_vcf_zarr(Url(f"{served}/a.zarr"))
    packed = gb.open_vcf_zarr(tmp_path / "a.zarr").genobit.pack()
    packed.to_zarr(tmp_path / "a.gb", consolidated=False)
    bits = xr.open_zarr(Url(f"{served}/a.gb"), consolidated=False)
    with pytest.raises(ValueError, match=r"has no variables.*zarr\.consolidate_metadata"):
        bits.genobit.allele_frequency()


def test_planes_of_to_zarr__are_read_there(tmp_path: Path, served: str) -> None:
    ds = write(tmp_path / "a.zarr", 2)
    packed = ds.genobit.pack()
    gb.to_zarr(packed, tmp_path / "a.gb")
    bits = xr.open_zarr(Url(f"{served}/a.gb"))
    np.testing.assert_array_equal(
        bits.genobit.allele_frequency(), packed.genobit.allele_frequency()
    )
    # A copy that stopped in the middle.
    shutil.rmtree(tmp_path / "a.gb" / "plane_called" / "c")
    with pytest.raises(ValueError, match="plane_called at variants=0 was never written"):
        xr.open_zarr(Url(f"{served}/a.gb")).genobit.allele_frequency().compute()


def test_the_metadata_of_to_zarr__are_consolidated(tmp_path: Path) -> None:
    packed = cohort(40, 12).compute().genobit.pack()
    group = zarr.open_group(gb.to_zarr(packed, tmp_path / "a.gb"), mode="r")
    assert group.metadata.consolidated_metadata is not None
