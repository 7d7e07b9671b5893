"""Warn of genotypes or measurements that are all missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import model
from genobit.engine.bits.layout import CALLED, PREFIX
from genobit.engine.progress import warn

if TYPE_CHECKING:
    import xarray as xr

_ROWS = 1024
"""Rows that are checked together. The first ones have a value, unless something is wrong."""


def warn_without_calls(ds: xr.Dataset, result: str) -> None:
    """Warn if genotypes or planes in memory have no call, so that the ``result`` is NaN.

    Lazy genotypes are not checked, because reading them may take long.
    """
    for name, missing in ((PREFIX + CALLED, 0), (model.CALL_GENOTYPE, -1)):
        if name in ds.variables and _all_missing(ds.variables[name], missing):
            warn(
                f"no genotype is called, so the {result} are NaN: look at the selection, at "
                "ds.genobit.sample_stats(), and at the code for missing calls, which is -1"
            )


def warn_without_values(da: xr.DataArray, result: str) -> None:
    """Warn if measurements in memory are all NaN, so that the ``result`` is NaN."""
    if da.dtype.kind == "f" and _all_missing(da.variable, None):
        warn(f"all values are NaN, so the {result} are NaN: look at what was read or selected")


def _all_missing(variable: xr.Variable, missing: float | None) -> bool:
    """Return whether no number in memory is above ``missing``, or all are NaN (None)."""
    # The private name: `.data` would read all calls of a file that was opened without dask.
    values: Any = variable._data
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        return False
    parts = (values[start : start + _ROWS] for start in range(0, len(values), _ROWS))
    if missing is None:
        return all(np.isnan(part).all() for part in parts)
    return not any((part > missing).any() for part in parts)
