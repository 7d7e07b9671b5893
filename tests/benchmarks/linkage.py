"""Similarity, decay and sites of several states, against the registers of this core.

Bits are those of the counts that the formula needs: one AND of a pair of rows for Tanimoto and for
r2 of haplotypes, and for a pair of sites of four states without gaps the sixteen of its states.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import xarray as xr

from . import limits
from .measure import Row, rates, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GIGA = 1e9


def similarity(*, quick: bool) -> Iterator[Row]:
    """Tanimoto's coefficient of all pairs of binary rows."""
    rows, bits = (2048, 1024) if quick else (8192, 2048)
    generator = np.random.default_rng(0)
    values = generator.integers(0, 2, (rows, bits)).astype(bool)
    da = xr.DataArray(values, dims=("molecules", "bits"))

    def compute() -> None:
        da.genobit.similarity("tanimoto", dtype="float32").compute()

    what = f'similarity("tanimoto"), {rows:,} rows x {bits:,} bits, with packing'
    yield _against("similarity", what, compute, rows * (rows + 1) / 2 * bits)


def decay(*, quick: bool) -> Iterator[Row]:
    """The decay of r2 with distance: all pairs of a window, by bin, with its curve."""
    from .rows import haplotypes

    variants, bits, window = (5_000, 2_000, 500) if quick else (50_000, 2_000, 1_000)
    positions = ("variants", 100 * np.arange(variants))
    ds = haplotypes(variants, bits).assign(variant_position=positions)
    pairs = window * variants - window * (window + 1) // 2
    what = f"ld_decay of windows of {window:,}, {variants:,} variants x {bits:,} haplotypes"
    yield _against("decay", what, lambda: ds.genobit.ld_decay(f"{100 * window}bp"), pairs * bits)


def sites(*, quick: bool) -> Iterator[Row]:
    """T between sites of an alignment of four states."""
    taxa, columns = (512, 500) if quick else (2048, 2000)
    states = np.random.default_rng(0).integers(0, 4, (taxa, columns))
    da = xr.DataArray(np.array(list("ACGT"))[states], dims=("taxa", "sites"))
    matrix = da.genobit.ld("T")
    what = f'ld("T"), {columns:,} sites of 4 states x {taxa:,} taxa'
    work = columns * (columns + 1) / 2 * taxa * 16
    yield _against("sites", what, matrix.compute, work)


def _against(table: str, what: str, call: Callable[[], Any], work: float) -> Row:
    """A row of one calculation and the fastest AND and count of this core, in turn."""
    calls = {name: probe for name, probe in limits.work().items() if name.endswith("and")}
    calls["ours"] = (call, work)
    with dask.config.set(scheduler="synchronous"):
        found = rates(calls, 5)
    name = max((n for n in found if n != "ours"), key=lambda n: statistics.median(found[n]))
    rate, limit = statistics.median(found["ours"]) / GIGA, statistics.median(found[name]) / GIGA
    at = f"register limit, {name} ({limit:.0f} Gbit/s)"
    return Row(table, what, rate, "Gbit/s", at, ratio(found["ours"], found[name]))
