"""Read from a Dataset what quality control needs: sexes, founders, the samples of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data import aligning, labels, model
from genobit.data.sexes import sexes

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

FATHER, MOTHER = "sample_father_id", "sample_mother_id"
_UNKNOWN_PARENTS = ("0", "", ".", "nan")
_NO_FILTER = "PASS"
"""Name in `filter_id` of the variants that passed all filters."""
MALE = 1
"""Code of males in `sample_sex`, as in a .fam file."""


class Roles(NamedTuple):
    """The roles of samples in counts; each mask is (samples,), or None for all samples."""

    samples: int
    sex: NDArray[np.int8] | None
    """1 is male. Without sexes, all samples have two copies of X, and all count on Y."""
    kept: NDArray[np.bool_] | None = None
    """Samples to count at all."""
    founders: NDArray[np.bool_] | None = None
    """Samples of allele frequencies and genotype counts."""
    tested: NDArray[np.bool_] | None = None
    """Samples of the Hardy-Weinberg test."""

    def males(self) -> NDArray[np.bool_]:
        """Return the mask of males (samples,)."""
        return np.zeros(self.samples, bool) if self.sex is None else self.sex == MALE

    def on_y(self) -> NDArray[np.bool_]:
        """Return the mask of samples that can have calls on Y (samples,)."""
        return np.ones(self.samples, bool) if self.sex is None else self.males()


def read_roles(ds: xr.Dataset, *, founders: bool = False, tested: Any = None) -> Roles:
    """Return the roles of the samples; ``tested`` are the samples of the Hardy-Weinberg test."""
    if tested is not None:
        tested = aligning.aligned_mask(ds, tested, model.SAMPLES, "hwe_samples")
    return Roles(
        samples=ds.sizes[model.SAMPLES],
        sex=sexes(ds),
        founders=_founders(ds) if founders else None,
        tested=tested,
    )


def read_passed(ds: xr.Dataset) -> NDArray[np.bool_]:
    """Return the variants that failed no filter of the file (variants,)."""
    if "variant_filter" not in ds.variables or "filter_id" not in ds.variables:
        msg = (
            "passed=True needs the variables 'variant_filter' (variants, filters) and 'filter_id' "
            "(filters), which open_vcf, open_vcf_zarr and open_pgen read if the file has filters"
        )
        raise KeyError(msg)
    filters = ds["variant_filter"].transpose(model.VARIANTS, ...)
    if filters.dtype != bool:
        msg = (
            f"variant_filter is {filters.dtype}, expected booleans: "
            "ds.assign(variant_filter=ds.variant_filter == 1)"
        )
        raise TypeError(msg)
    names = labels.text(ds["filter_id"].values, "filter_id")
    failed: NDArray[np.bool_] = filters.values[:, names != _NO_FILTER]
    passed: NDArray[np.bool_] = np.logical_not(failed.any(axis=1))
    if not passed.any():
        msg = (
            f"passed=True leaves none of the {passed.size:,} variants: look at ds.variant_filter, "
            "and give passed=False"
        )
        raise ValueError(msg)
    return passed


def _founders(ds: xr.Dataset) -> NDArray[np.bool_]:
    """Return the samples without known parents."""
    parents = []
    for name in (FATHER, MOTHER):
        found = labels.texts_along(ds, name, model.SAMPLES)
        if found is None:
            msg = (
                f"founders=True needs the variable {name!r} ({model.SAMPLES}), which the Dataset "
                "lacks: assign it ('0' where unknown), or give founders=False for all samples"
            )
            raise KeyError(msg)
        parents.append(found)
    mask = np.all([np.isin(found, _UNKNOWN_PARENTS) for found in parents], axis=0)
    if not mask.any():
        msg = (
            f"founders=True leaves no sample: all {mask.size:,} have a parent in {FATHER} or "
            f"{MOTHER}; give founders=False"
        )
        raise ValueError(msg)
    return mask
