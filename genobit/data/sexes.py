"""Read the sexes of the samples of a Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data import labels, model
from genobit.data.checks import first_true

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

SEX = "sample_sex"
_CODES = (-1, 0, 1, 2)
"""sgkit writes -1 for an unknown sex."""
_IN_FILES = {"1": 1, "M": 1, "m": 1, "2": 2, "F": 2, "f": 2}
"""Codes of PLINK in .fam and .psam files, and in .sample files."""


def sexes(ds: xr.Dataset) -> NDArray[np.int8] | None:
    """Return `sample_sex` (samples,), missing values and -1 as 0; None if the Dataset lacks it."""
    given = labels.values_along(ds, SEX, model.SAMPLES)
    if given is None:
        return None
    remedy = "give 1 (male), 2 (female) or 0 (unknown)"
    codes = labels.text(given, SEX)
    if labels.is_text(labels.decoded(given)) and np.isin(codes, [*_IN_FILES, "0", ""]).all():
        return from_codes(codes)
    try:
        values = np.nan_to_num(given.astype(np.float64), nan=0)
    except (TypeError, ValueError) as error:
        msg = f"{SEX} is {given.dtype}, such as {str(given[:1])[:40]}: {remedy}"
        raise TypeError(msg) from error
    if (k := first_true(~np.isin(values, _CODES))) >= 0:
        raise ValueError(f"{SEX} is {given[k]} at samples={k}: {remedy}")
    return np.maximum(values, 0).astype(np.int8)


def from_codes(text: NDArray[np.object_]) -> NDArray[np.int8]:
    """Return 1 (male), 2 (female) or 0 for the codes of a file; 0 for any other code, as PLINK."""
    return np.array([_IN_FILES.get(code, 0) for code in text.tolist()], np.int8)
