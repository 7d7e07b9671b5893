"""Quality control: one pass of statistics, against reading the planes that it needs."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import xarray as xr

import genobit as gb
from genobit.engine.bits.layout import CALLED, PREFIX

from .filesets import SAMPLES, tiled
from .measure import Row, rates, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

GIGA = 1e9
PLANES = [PREFIX + name for name in ("carrier", "hom_alt", CALLED)]


def quality(*, quick: bool) -> Iterator[Row]:
    """variant_stats, sample_stats and filter, on one core, with reading in the time of both."""
    variants = 50_000 if quick else 400_000
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        prefix, what = tiled(Path(folder), variants)
        bits = gb.open_plink(prefix).genobit.pack()
        gb.to_zarr(bits, Path(folder) / "planes.zarr", progress=False)
        sources = {".bed": bits, "Zarr": xr.open_zarr(Path(folder) / "planes.zarr")}
        work = sum(int(bits[name].nbytes) for name in PLANES)
        shape = f"{what}, {variants:,} variants x {SAMPLES:,} samples"
        for place, ds in sources.items():
            calls = {
                "reading": lambda ds=ds: read(ds),
                "variant_stats()": lambda ds=ds: ds.genobit.variant_stats().compute(),
                "sample_stats()": lambda ds=ds: ds.genobit.sample_stats().compute(),
                "filter(min_maf, max_missing, min_hwe)": lambda ds=ds: ds.genobit.filter(
                    min_maf=0.01, max_missing=0.02, min_hwe=1e-6
                ),
            }
            found = rates({name: (call, work) for name, call in calls.items()}, 5)
            for name in list(calls)[1:]:
                rate = statistics.median(found[name]) / GIGA
                share = ratio(found[name], found["reading"])
                at = f"reading the planes from {place}"
                # filter also selects from the planes, which is no part of the pass.
                wanted = None if name.startswith("filter") else 0.5
                yield Row("quality", f"{name}, {shape}", rate, "GB/s", at, share, wanted)


def read(ds: xr.Dataset) -> Any:
    """Read all planes, and keep a word of each chunk."""
    return dask.compute(
        [ds[name].data.map_blocks(_first, dtype=np.uint64, chunks=(1, 1)) for name in PLANES]
    )


def _first(block: np.ndarray) -> np.ndarray:
    return block[:1, :1]
