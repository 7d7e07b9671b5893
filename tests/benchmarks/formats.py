"""Packing of .pgen files, against that of a .bed."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import dask
import numpy as np
import xarray as xr

import genobit as gb

from .filesets import genotypes
from .measure import Row, compared

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = 2_000


def formats(*, quick: bool) -> Iterator[Row]:
    """Pack 2,000 samples from each kind of file, on one core."""
    variants = 5_000 if quick else 50_000
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        stem = Path(folder) / "random"
        calls = np.random.default_rng(1).random((variants, SAMPLES, 2), np.float32)
        rare = np.random.default_rng(2).uniform(0.02, 0.5, (variants, 1, 1))
        ds = genotypes((calls < rare).astype(np.int8))
        ds["call_genotype"] = ds.call_genotype.chunk(variants=2_048)
        gb.to_plink(ds, stem)
        gb.to_pgen(ds, stem)
        shape = f"{variants:,} variants x {SAMPLES:,} samples"
        bed, pgen = gb.open_plink(f"{stem}.bed"), gb.open_pgen(f"{stem}.pgen")
        ours, theirs = partial(_pack, pgen), partial(_pack, bed)
        what, at = f"pack(), .pgen, {shape}", "packing the .bed"
        yield compared("formats", what, "variants/s", at, ours, theirs, variants, 1 / 3)


def _pack(ds: xr.Dataset) -> None:
    ds.genobit.pack().compute()
