"""Similarity of binary rows, against the registers of this core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from .measure import against_registers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .measure import Row


def similarity(*, quick: bool) -> Iterator[Row]:
    """Tanimoto's coefficient of all pairs of binary rows."""
    rows, bits = (2048, 1024) if quick else (8192, 2048)
    generator = np.random.default_rng(0)
    values = generator.integers(0, 2, (rows, bits)).astype(bool)
    da = xr.DataArray(values, dims=("molecules", "bits"))

    def compute() -> None:
        da.genobit.similarity("tanimoto", dtype="float32").compute()

    what = f'similarity("tanimoto"), {rows:,} rows x {bits:,} bits, with packing'
    yield against_registers("similarity", what, compute, rows * (rows + 1) / 2 * bits)
