"""Formats of genotypes: a writer of each, and the reader of what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from hypothesis import strategies as st

import genobit as gb
from genobit.io import _text_tables


class Format(NamedTuple):
    """A writer ``write(ds, stem)`` that returns the path, and a reader ``read(path)``."""

    write: Callable[..., Path]
    read: Callable[..., xr.Dataset]

    def through(self, ds: xr.Dataset, stem: Path, **options: Any) -> xr.Dataset:
        """Write a Dataset, and read it again."""
        return self.read(self.write(ds, stem), **options)


def to_vcf_zarr(ds: Any, stem: Path) -> Path:
    return gb.to_vcf_zarr(ds, stem.with_suffix(".vcz"))


def to_vcf(ds: Any, stem: Path) -> Path:
    return gb.to_vcf(ds, stem.with_suffix(".vcf.gz"))


def open_vcf(path: Path, **options: Any) -> xr.Dataset:
    return gb.open_vcf(path, cache_dir=path.parent / "cache", **options)


FORMATS = {
    "plink": Format(gb.to_plink, gb.open_plink),
    "pgen": Format(gb.to_pgen, gb.open_pgen),
    "vcf_zarr": Format(to_vcf_zarr, gb.open_vcf_zarr),
    "vcf": Format(to_vcf, open_vcf),
}


ODD_TEXT = """1 X 0x10 0X1 rs1 é " 'a # NA -5 +5 1e5 0.25 .5 nan 1_0 ９ \ufeff1 a\0"""


FIELDS = st.sampled_from(["", "\v", "\f", "\xa0", *ODD_TEXT.split(" ")])


# Mostly as they are in plain columns, which are to be compared.
PARTS = st.sampled_from(["\t", " "] * 4 + ["\t\t", "  ", " \t"])


ENDS = st.sampled_from(["\n"] * 12 + ["\r\n", "\n\n", "\r", " \n", "\t\n", "\n "])


def require_same_if_plain(path: Path, read: Callable[[Path], dict[str, Any]]) -> None:
    """Compare what Arrow reads of a table with what pandas reads, or the lines of the faults."""

    def read_or_refuse() -> dict[str, Any]:
        try:
            return read(path)
        except ValueError as error:
            return {"fault": np.array(str(error))}

    found = read_or_refuse()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text_tables, "read_plain", lambda *_: None)
        right = read_or_refuse()
    assert list(found) == list(right)
    for name, values in right.items():
        assert found[name].dtype == values.dtype
        np.testing.assert_array_equal(found[name], values)


def matrix(
    n: int, seed: int = 1, *, chunk: int | None = None, counts: bool = True, dtype: str = "f8"
) -> xr.DataArray:
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(n, n))
    square = (square + square.T).astype(dtype)
    compared = rng.integers(1, 10_000, (n, n))
    compared = np.maximum(compared, compared.T)
    arrays = [square, compared]
    if chunk:
        arrays = [da.from_array(array, chunks=chunk) for array in arrays]
    names = np.array([f"s{i}" for i in range(n)], object)
    coords = {"sample_id_0": ("samples_0", names), "sample_id_1": ("samples_1", names)}
    dims = ("samples_0", "samples_1")
    if counts:
        coords["variants_compared"] = (dims, arrays[1])
    return xr.DataArray(arrays[0], coords, dims, attrs={"variants": 1234})
