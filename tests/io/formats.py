"""Formats of genotypes: a writer of each, and the reader of what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

import genobit as gb


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
