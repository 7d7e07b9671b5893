"""Published genotypes that relatives are looked for in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

import genobit as gb

FILESETS = [
    "hapmap279/hapmap279",
    "lct_1kg/lct_1kg",
    "bigsnpr_example/example-missing-sorted",
    "kg1_chr22/kg1_chr22_maf01",
    "hyper_bc/hyper_bc",
    "mice_hs/mice_hs",
    "asthma_cc/asthma_cc",
    "epi3_kg1/epi3_kg1",
]


CHROMOSOMES = {"hyper_bc/hyper_bc": 19, "mice_hs/mice_hs": 19}


def autosomes(ds: xr.Dataset, last: int = 22) -> np.ndarray:
    names = ds.contig_id.values[ds.variant_contig.values]
    return np.isin(names, [str(k + 1) for k in range(last)])


def first120(shared_data: Path, fileset: str) -> xr.Dataset:
    """What the references are of: 120 samples, autosomes, minor allele frequency of 0.01."""
    ref = (shared_data / fileset).parent / "ref"
    listed = {tuple(line.split()[:2]) for line in (ref / "first120.keep").read_text().splitlines()}
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    names = zip(ds.sample_family_id.values, ds.sample_id.values, strict=True)
    ds = ds.isel(samples=[name in listed for name in names])
    ds = ds.isel(variants=autosomes(ds, CHROMOSOMES.get(fileset, 22)))
    frequency = ds.genobit.allele_frequency().values
    return ds.isel(variants=np.fmin(frequency, 1 - frequency) >= 0.01)
