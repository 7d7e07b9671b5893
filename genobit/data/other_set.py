"""Labels and shared dimension of the two sides of an all-pairs matrix of DataArray rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data.labels import require_same as same_labels
from genobit.data.labels import text as texts
from genobit.data.labels import without_levels
from genobit.data.selection_by_label import is_names, of_ids, unknown
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

OBSERVATIONS = ("sample", "samples", "observation", "observations", "cell", "cells")
"""Dimension names that rank correlation takes as observations by default."""
BITS = ("bit", "bits", "feature", "features")
"""Dimension names that similarity takes as bits by default."""


def labels(side: xr.DataArray) -> xr.Dataset:
    """Return the coordinates; an index of several levels is replaced by its levels."""
    return without_levels(side.coords.to_dataset())


def dimension_of(
    da: xr.DataArray, dim: Hashable | None, names: Collection[str], what: str
) -> Hashable:
    """Return the dimension along the rows: the one named, or the only one with a known name.

    Raises ValueError if there is no such dimension or more than one; the message lists the
    dimensions.
    """
    dims = ", ".join(repr(name) for name in da.dims)
    if len(set(da.dims)) < da.ndim:
        msg = f"the dimensions {dims} have one name: build the array with another for the {what}"
        raise ValueError(msg)
    if dim is not None:
        if dim not in da.dims:
            meant = did_you_mean(dim, da.dims)
            msg = f"dim={dim!r} is not a dimension of the values; they have {dims}{meant}"
            raise ValueError(msg)
        return dim
    known = [name for name in da.dims if str(name).lower() in names]
    if len(known) != 1:
        raise ValueError(f"which of {dims} are the {what}? Name the dimension with dim=")
    return known[0]


def require_side(side: xr.DataArray, other: object, rows: str, what: str) -> xr.DataArray:
    """Return ``other`` if it is a DataArray with the dimension along the rows of ``side``.

    Names are rows of ``side``. Raises KeyError for an unknown name, TypeError if ``other`` is no
    DataArray, and ValueError if it lacks the dimension.
    """
    if is_names(other):
        dim = str(side.dims[0])
        known, names = side.coords.to_dataset(), texts(np.atleast_1d(np.asarray(other)))
        places = of_ids(known, names, dim)
        if (places < 0).any():
            raise unknown(known, names[int(places.argmin())], dim)
        return side.isel({dim: places})
    if not isinstance(other, xr.DataArray):
        msg = f"other= takes a DataArray of {rows}, or their names, not {type(other).__name__}"
        raise TypeError(msg)
    along = side.dims[1]
    if along not in other.dims:
        raise ValueError(
            f"other= has dimensions {other.dims}, and lacks {along!r}, the {what} of this "
            "DataArray: rename its dimension"
        )
    return other


def require_same(side: xr.DataArray, other: xr.DataArray) -> None:
    """Raise ValueError unless two sides (rows, along) agree in length and labels of ``along``."""
    along = side.dims[1]
    remedy = f"select the same {along} in the same order in both"
    if other.shape[1] != side.shape[1]:
        raise ValueError(
            f"other= has {other.shape[1]} along {along!r}, this DataArray {side.shape[1]}: {remedy}"
        )
    for name, label in side.coords.items():
        # `coords.get` would make up numbers for a dimension without labels.
        if name not in other.coords or not label.dims == other.coords[name].dims == (along,):
            continue
        same_labels(label.values, other.coords[name].values, str(name), remedy)
