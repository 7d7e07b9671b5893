"""Opening files of many variants again, against making a str object of each name."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

import genobit as gb

from .filesets import genotypes
from .measure import Row, rates, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLES = 20


def openings(*, quick: bool) -> Iterator[Row]:
    """Open one million variants of 20 samples of each format, on one core."""
    variants = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        for name, call in _openings(Path(folder), variants).items():
            names = "\t".join(call().variant_id.values)
            calls: dict[str, tuple[Callable[[], object], float]] = {
                "ours": (call, 1.0),
                "names": (lambda names=names: names.split("\t"), 1.0),
            }
            found = rates(calls, 5)
            what = f"opening {variants:,} variants again, {name}"
            value, times = 1 / float(np.median(found["ours"])), (found["names"], found["ours"])
            yield Row("readers", what, value, "s", "a str object of each name", ratio(*times))


def _openings(folder: Path, variants: int) -> dict[str, Callable[[], xr.Dataset]]:
    """Write random genotypes in each format, and return how each is opened."""
    rng = np.random.default_rng(1)
    calls = rng.integers(0, 2, (variants, SAMPLES, 2), np.int8)
    alleles = np.array(list("ACGT"), object)
    first = rng.integers(0, 4, variants)
    names = [f"rs{k}" for k in rng.permutation(variants) + 10**7]
    ds = genotypes(calls, contigs=22).assign(
        variant_id=("variants", np.array(names, object)),
        variant_allele=(
            ("variants", "alleles"),
            alleles[np.stack([first, (first + 1) % 4], axis=1)],
        ),
    )
    ds["call_genotype"] = ds.call_genotype.chunk(variants=10_000)
    gb.to_plink(ds, folder / "a")
    gb.to_pgen(ds, folder / "a")
    gb.to_vcf_zarr(ds, folder / "a.vcz")
    gb.to_zarr(ds.genobit.pack(), folder / "planes.zarr", progress=False)
    _write_bgen(ds, folder / "a.bgen")
    return {
        ".bed": lambda: gb.open_plink(folder / "a.bed"),
        ".pgen": lambda: gb.open_pgen(folder / "a.pgen"),
        ".bgen": lambda: gb.open_bgen(folder / "a.bgen"),
        "VCF Zarr": lambda: gb.open_vcf_zarr(folder / "a.vcz"),
        "planes": lambda: xr.open_zarr(folder / "planes.zarr"),
    }


def _write_bgen(ds: xr.Dataset, path: Path) -> None:
    from bgen import BgenWriter

    certain = np.eye(3)[np.arange(SAMPLES) % 3]
    contigs = ds.contig_id.values[ds.variant_contig.values]
    columns = (ds.variant_id, contigs, ds.variant_position, ds.variant_allele)
    with BgenWriter(str(path), SAMPLES, samples=ds.sample_id.values.tolist()) as file:
        for name, *place, alleles in zip(*(np.asarray(x).tolist() for x in columns), strict=True):
            file.add_variant(name, name, *place, alleles, certain, bit_depth=8)
