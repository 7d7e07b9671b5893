"""Every method of ``ds.genobit`` that analyses, on a Dataset, to the last number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask
import numpy as np

import genobit  # noqa: F401 - registers ds.genobit
from tests.helpers.cases import computed

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr


def _all(found: Any) -> Any:
    with dask.config.set(scheduler="synchronous"):
        return computed(found)


def _p_values(ds: xr.Dataset) -> np.ndarray:
    count = ds.sizes.get("variants", 1)
    # Sizes that dask does not know are NaN.
    return np.linspace(0, 1, 1 if np.isnan(count) else count)


METHODS: dict[str, Callable[[xr.Dataset], Any]] = {
    "pack": lambda ds: _all(ds.genobit.pack()),
    "pack haplotypes": lambda ds: _all(ds.genobit.pack(phased=True)),
    "pack by samples": lambda ds: _all(ds.genobit.pack(rows="samples", multiallelic="drop")),
    "pack split": lambda ds: _all(ds.genobit.pack(multiallelic="split", missing="refuse")),
    "isel": lambda ds: _all(ds.genobit.pack().genobit.isel(samples=[0], variants=slice(0, 3))),
    "alignment": lambda ds: _all(ds.genobit.alignment()),
    "allele_frequency": lambda ds: _all(ds.genobit.allele_frequency()),
    "crossproduct": lambda ds: _all(ds.genobit.crossproduct()),
    "epistasis": lambda ds: ds.genobit.epistasis("sample_case", top=5),
    "grm": lambda ds: _all(ds.genobit.grm()),
    "grm loco": lambda ds: _all(ds.genobit.grm(loco=True)),
    "grm_pairs": lambda ds: _all(ds.genobit.grm_pairs(threshold=0.05)),
    "kendall": lambda ds: _all(ds.genobit.kendall()),
    "kendall_pairs": lambda ds: _all(ds.genobit.kendall_pairs(0.5, None)),
    "ld": lambda ds: _all(ds.genobit.ld()),
    "ld D'": lambda ds: _all(ds.genobit.ld("dprime")),
    "ld window": lambda ds: _all(ds.genobit.ld(window="5kb")),
    "ld_blocks": lambda ds: ds.genobit.ld_blocks(),
    "ld_clump": lambda ds: ds.genobit.ld_clump(_p_values(ds)),
    "ld_decay": lambda ds: ds.genobit.ld_decay("20kb", bins=4, parts=3, resamples=5),
    "ld_pairs": lambda ds: _all(ds.genobit.ld_pairs(threshold=0.2)),
    "ld_prune": lambda ds: ds.genobit.ld_prune(),
    "ld_score": lambda ds: ds.genobit.ld_score(),
    "pca": lambda ds: _all(ds.genobit.pca(2)),
    "unrelated": lambda ds: ds.genobit.unrelated(),
}
