"""Variables of a result as Zarr stores them: chunks of one size, labels, and text of any width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from dask.base import compute

from genobit.data import labels
from genobit.engine.options import get_options, require_fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXT, _TEXT_BYTES = np.dtypes.StringDType(), 160
"""Text of any width, and the memory that one takes while it is read."""


def as_chunks(result: xr.DataArray | xr.Dataset) -> xr.Dataset:
    """Return a Dataset with chunks as in Zarr: of one size, except the last; without MultiIndex."""
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name="result" if result.name is None else result.name)
    result = labels.without_levels(result)
    changed: dict[Any, Any] = {}
    lazy = {
        name: variable
        for name, variable in result.variables.items()
        if variable.chunks is not None and _in_memory(result, name)
    }
    # Labels that are made of the same calls take one pass.
    computed = dict(zip(lazy, compute(*lazy.values()), strict=True))
    for name, variable in result.variables.items():
        if variable.chunks is None:
            if (texts := labels.as_objects(variable, str(name))) is not variable:
                changed[name] = _of_any_width(texts)
            continue
        if name in computed:
            changed[name] = _of_any_width(labels.as_objects(computed[name], str(name)))
        else:
            sizes = {dim: max(sizes) for dim, sizes in variable.chunksizes.items()}
            changed[name] = _of_any_width(variable, str(name)).chunk(sizes)
    # The compression of a source file does not belong to the result.
    return result.assign(changed).drop_encoding()


def _in_memory(result: xr.Dataset, name: Any) -> bool:
    """Return whether a variable is a label, or objects, whose type on disk their values decide.

    Of more text than memory takes, such as a field of all calls, the first chunk decides.
    """
    variable = result.variables[name]
    if name in result.coords and variable.ndim == 1:
        return True
    if variable.dtype.kind != "O":
        return False
    if variable.size * _TEXT_BYTES <= get_options().eager_limit:
        return True
    first = variable.data.blocks[(0,) * variable.ndim].compute()
    if all(isinstance(text, str) or pd.isna(text) for text in first.flat):
        return False
    require_fits(f"{name!r}, whose values are not all text,", variable.size, _TEXT_BYTES)
    return True


def _of_any_width(variable: xr.Variable, name: str = "labels") -> xr.Variable:
    """Return a variable without text of a fixed width, which Zarr does not specify."""
    if variable.dtype.kind == "O" and variable.chunks is not None:
        return variable.copy(deep=False, data=variable.data.map_blocks(_as_text, name, dtype=_TEXT))
    return variable.astype(_TEXT) if variable.dtype.kind == "U" else variable


def _as_text(objects: NDArray[Any], name: str) -> NDArray[Any]:
    """Return text of any width, "" where it is missing; ValueError for another object."""
    for k, value in enumerate(objects.flat):
        if not (isinstance(value, str) or pd.isna(value)):
            place = tuple(map(int, np.unravel_index(k, objects.shape)))
            raise ValueError(
                f"{name} is text in its first chunk, and has {value!r} in a later one, at {place} "
                "of that chunk: make all values text, or none"
            )
    return labels.text(objects, name).astype(_TEXT)
