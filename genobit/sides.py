"""The two sides of a matrix of all pairs of rows of a DataArray: their labels, what they share.

May import: xarray, numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def labels(side: xr.DataArray) -> xr.Dataset:
    """The coordinates, an index of several levels as its levels."""
    coords = side.coords.to_dataset()
    for dim, index in side.indexes.items():
        if index.nlevels > 1 and dim in side.dims:
            coords = coords.reset_index(dim)
    return coords


def require_same(side: xr.DataArray, other: xr.DataArray) -> None:
    """Refuse two sides (rows, along) that are not of the same length and labels along their rows.

    Raises
    ------
    ValueError
        Says the lengths, or the first label that differs.
    """
    along = side.dims[1]
    remedy = f"select the same {along} in the same order in both"
    if other.shape[1] != side.shape[1]:
        msg = (
            f"other= has {other.shape[1]} along {along!r}, this DataArray {side.shape[1]}: {remedy}"
        )
        raise ValueError(msg)
    for name, label in side.coords.items():
        if label.dims == (along,) and name in other.coords:
            _same_labels(str(name), label, other.coords[name], remedy)


def _same_labels(name: str, ours: xr.DataArray, theirs: xr.DataArray, remedy: str) -> None:
    if theirs.dims != ours.dims:
        return
    differ = (ours.values != theirs.values) & ~(ours.isnull().values & theirs.isnull().values)
    if differ.any():
        k = int(np.flatnonzero(differ)[0])
        here, there = (x.values.astype(object)[k] for x in (ours, theirs))
        msg = f"{name}[{k}] is {here!r} here and {there!r} in other=: {remedy}"
        raise ValueError(msg)
