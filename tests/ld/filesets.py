"""Published genotypes, and the precision that PLINK prints with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

PRINTED = 5.1e-6
"""plink and vcftools print six digits: half a unit of the last is 5e-6 of 1.00000."""


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


def founders(ds: xr.Dataset) -> np.ndarray:
    """Samples without a parent in the file: plink 1.9 computes LD of these, whatever it is told."""
    names = set(zip(ds.sample_family_id.values, ds.sample_id.values, strict=True))
    parents = (ds.sample_father_id.values, ds.sample_mother_id.values)
    return np.array(
        [
            not any((family, parent) in names for parent in couple)
            for family, *couple in zip(ds.sample_family_id.values, *parents, strict=True)
        ]
    )


def listed(ds: xr.Dataset, ids: Path) -> np.ndarray:
    """Variants whose id a file lists, in the order of the fileset."""
    return np.flatnonzero(np.isin(ds.variant_id.values.astype(str), ids.read_text().split()))
