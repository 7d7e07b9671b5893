"""Columns of tables as plain numpy arrays: numbers, text and dates, with missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 2**53
"""Largest integer up to which float64 holds each integer."""


def values(column: pd.Series, name: str) -> NDArray[Any]:
    """Return a column as numbers, bool, datetime64, timedelta64, or text with None for missing.

    Integers and booleans with missing values become float64. Raises TypeError for other types.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    elif isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    kind = getattr(column.dtype, "kind", "O")
    if isinstance(column.dtype, pd.StringDtype):
        return labels.text(column.to_numpy(object), name, missing=None)
    if kind in "biuf":
        if column.hasnans:
            return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy(getattr(column.dtype, "numpy_dtype", column.dtype)))
    if kind in "mM" and isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    return _objects(column.to_numpy(object), name, str(column.dtype))


def _objects(found: NDArray[np.object_], name: str, dtype: str) -> NDArray[Any]:
    """Return objects as numbers, bool or text; raise TypeError for others."""
    inferred = pd.api.types.infer_dtype(found, skipna=True)
    if inferred in {"string", "bytes"}:
        return labels.text(found, name, missing=None)
    if inferred in {"boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty"}:
        known = ~pd.isna(found)
        if known.all() and inferred in {"boolean", "integer"}:
            return _whole(found, name) if inferred == "integer" else found.astype(bool)
        out = np.full(found.size, np.nan)
        out[known] = found[known].astype(np.float64)
        return out
    msg = (
        f"column {name!r} holds {inferred} of dtype {dtype}: convert it to numbers, text or "
        "dates without a time zone, or leave it out with columns=[...]"
    )
    raise TypeError(msg)


def _whole(found: NDArray[np.object_], name: str) -> NDArray[np.int64]:
    try:
        return found.astype(np.int64)
    except OverflowError as error:
        row, largest = max(enumerate(found.tolist()), key=lambda pair: abs(pair[1]))
        msg = (
            f"column {name!r} has {largest} in row {row}, and an integer has at most 64 bits: "
            "correct it, or convert the column to text"
        )
        raise ValueError(msg) from error


def taken(found: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
    """Return the values at ``places``, missing where a place is negative.

    Raises ValueError for integers that float64, which marks missing ones by NaN, cannot hold.
    """
    out: NDArray[Any] = found[places]
    lacking = places < 0
    if not lacking.any():
        return out
    if out.dtype.kind in "iu" and np.abs(out.astype(np.float64)).max() > _EXACT:
        msg = (
            f"integers such as {int(out.max())} are too large to stand beside missing values: "
            "convert the column to text first"
        )
        raise ValueError(msg)
    if out.dtype.kind in "biu":
        out = out.astype(np.float64)
    missing: Any = {"O": None, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}
    out[lacking] = missing.get(out.dtype.kind, np.nan)
    return out
