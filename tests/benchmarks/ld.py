"""Decay of LD and sites of several states, against the registers of this core.

The bits counted are those that the formula needs: one AND for r2 of two variants, and the sixteen
ANDs of their states for two sites of four states without gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from .filesets import haplotypes
from .measure import against_registers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .measure import Row


def decay(*, quick: bool) -> Iterator[Row]:
    """The decay of r2 with distance: all pairs of a window, by bin, with its curve."""
    variants, bits, window = (5_000, 2_000, 500) if quick else (50_000, 2_000, 1_000)
    positions = ("variants", 100 * np.arange(variants))
    ds = haplotypes(variants, bits).assign(variant_position=positions)
    pairs = window * variants - window * (window + 1) // 2
    what = f"ld_decay of windows of {window:,}, {variants:,} variants x {bits:,} haplotypes"
    yield against_registers(
        "decay", what, lambda: ds.genobit.ld_decay(f"{100 * window}bp"), pairs * bits
    )


def sites(*, quick: bool) -> Iterator[Row]:
    """T between sites of an alignment of four states."""
    taxa, columns = (512, 500) if quick else (2048, 2000)
    states = np.random.default_rng(0).integers(0, 4, (taxa, columns))
    da = xr.DataArray(np.array(list("ACGT"))[states], dims=("taxa", "sites"))
    matrix = da.genobit.ld("T")
    what = f'ld("T"), {columns:,} sites of 4 states x {taxa:,} taxa'
    work = columns * (columns + 1) / 2 * taxa * 16
    yield against_registers("sites", what, matrix.compute, work)
