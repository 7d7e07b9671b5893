"""Columns and arguments as plain numpy arrays: numbers, text and dates, with missing values."""

from __future__ import annotations

import numbers
import re
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 2**53
"""Largest integer up to which float64 holds each integer."""
NUMBERS = (numbers.Real, Decimal, np.bool_)
"""Types of objects that count as numbers."""
_PANDAS = (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


def values(given: Any, what: str, *, remedy: str = "") -> NDArray[Any]:
    """Return numbers, bool, datetime64, timedelta64, or text in objects with None for missing.

    Takes lists, arrays of numpy, pandas, Arrow, polars and dask, of any number of dimensions.
    Missing and masked values become NaN, so integers and booleans beside them become float64.
    ``what`` names the values in errors, and ``remedy`` is another remedy for a wrong type.

    Raises TypeError for other types, ragged lists, and mixtures of numbers and text. Raises
    ValueError for integers that no type of 64 bits holds.
    """
    given = given.compute() if hasattr(given, "compute") else given
    if isinstance(given, np.ma.MaskedArray):
        given = _unmasked(given)
    for convert in ("to_pylist", "to_list"):
        # Of Arrow and polars: their own numpy arrays lose digits of integers beside missing ones.
        if hasattr(given, convert) and not isinstance(given, _PANDAS):
            given = getattr(given, convert)()
    if isinstance(given, list | tuple):
        given = _of_list(given, what)
    elif isinstance(given, _PANDAS):
        given = _of_series(pd.Series(given), what)
    found: NDArray[Any] = np.asarray(given)
    kind = found.dtype.kind
    if kind in "UST":
        return labels.text(found, what, missing=None)
    if kind == "O":
        return _objects(found, what, remedy)
    if kind not in "biufmM":
        raise TypeError(_wrong_type(what, f"values of dtype {found.dtype}", remedy))
    return found


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_MARKED = re.compile(r"[+-]?(\d{1,3}([ ,.'\u2019\xa0\u202f]\d{3})+([.,]\d+)?|\d+,\d*|,\d+)")
"""A number with a decimal comma or with marks of thousands."""
_MISSING = {
    *("", "-", "--", "---", ".", "..", "?", "??", "*", "na", "n/a", "n.a.", "n.a", "#n/a", "nan"),
    *("none", "null", "nil", "nd", "n.d.", "missing", "unknown", "unk"),
    *("not available", "not determined", "not known", "not measured"),
}
"""Texts that stand for missing values in tables, in lower case."""


def require_no_numbers(found: NDArray[Any], what: str) -> None:
    """Raise ValueError for text that holds numbers which were not read as such.

    Most of the texts have to look like numbers, so other classes pass, such as chromosomes.
    """
    if found.dtype != object:
        return
    texts = [str(x) for x in pd.unique(found.reshape(-1)) if x is not None]
    plain = {x for x in texts if _NUMBER.fullmatch(x.strip())}
    marked = [x for x in texts if x not in plain and _MARKED.fullmatch(x.strip())]
    words = [x for x in texts if x.strip().casefold() in _MISSING]
    odd = marked or words
    count = len(plain) + len(marked)
    if not odd or count * 2 <= len(texts) - len(words):
        return
    k = next(k for k, x in enumerate(found.flat) if x in odd)
    several = sum(x in odd for x in found.flat)
    reason = "is a number with a comma or with marks of thousands"
    raise ValueError(
        f"{what} has {found.flat[k]!r} in row {k}, which "
        f"{reason if marked else 'stands for a missing value'} ({several:,} of {found.size:,} "
        f"rows): convert the column, {_conversion(marked, words)}. For classes, give it "
        ".astype('category')"
    )


def _conversion(marked: list[str], words: list[str]) -> str:
    """Return code that makes a column of text numbers, and code that reads it as numbers."""
    column = f".replace({words}, np.nan)" if words else ""
    options = f", na_values={words}" if words else ""
    if not marked:
        return f"{column}.astype(float), or read the file with pd.read_csv(...{options})"
    marks = max((re.findall(r"[^\d+-]", x.strip()) for x in marked), key=len)
    decimal = marks[-1] if marks[-1] == "," and marks.count(",") == 1 else ""
    thousands = marks[0] if len(marks) > 1 or not decimal else ""
    if thousands:
        column += f".str.replace({thousands!r}, '')"
        options += f", thousands={thousands!r}"
        # The parser in C takes a byte.
        options += "" if thousands.isascii() else ", engine='python'"
    if decimal:
        column += f".str.replace({decimal!r}, '.')"
        options += f", decimal={decimal!r}"
    told = f"{column}.astype(float), or read the file with pd.read_csv(...{options})"
    if decimal and not thousands and all(re.search(r"\d,\d{3}$", x.strip()) for x in marked):
        told += "; if the comma marks thousands, .str.replace(',', ''), or thousands=','"
    return told


def numbers_of(found: NDArray[Any], what: str, rule: str) -> NDArray[np.float64]:
    """Return results of `values` as float64; raise TypeError with ``rule`` for others."""
    if found.dtype.kind not in "biuf":
        k = int(np.flatnonzero(~pd.isna(found))[0]) if found.size else 0
        raise TypeError(f"{what} holds {found.flat[k]!r} at [{k}]: {rule}")
    return found.astype(np.float64)


def _unmasked(given: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    hidden = np.ma.getmaskarray(given)
    if not hidden.any():
        return np.asarray(given.data)
    if given.dtype.kind in "mM":
        return np.where(hidden, np.array("NaT", given.dtype), given.data)
    objects = given.data.astype(object)
    objects[hidden] = None
    return objects


def _of_list(given: list[Any] | tuple[Any, ...], what: str) -> NDArray[Any]:
    kinds = set(map(type, given))
    if len(kinds) == 1 and kinds <= {bool, float, int}:
        # A tenth of the time of objects; a larger integer than int64 stays one.
        with suppress(OverflowError):
            return np.array(given, np.int64 if kinds == {int} else None)
    # Objects keep the type of each item; numpy makes text of [1, "a"] and floats of [2**63, -1].
    hidden = [x is np.ma.masked for x in given]
    if any(hidden):
        given = [None if x else y for x, y in zip(hidden, given, strict=True)]
    try:
        return np.array(given, dtype=object)
    except ValueError as error:
        raise TypeError(f"{what} is a ragged list: give one value for each member") from error


def _of_series(column: pd.Series, what: str) -> NDArray[Any]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    elif isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    dtype: Any = column.dtype
    if isinstance(dtype, np.dtype):
        return np.asarray(column.to_numpy())
    if getattr(dtype, "kind", "O") not in "biuf":
        return np.asarray(column.to_numpy(object))
    if not column.hasnans:
        return np.asarray(column.to_numpy(dtype.numpy_dtype))
    known = column.notna().to_numpy()
    out = np.full(known.size, np.nan)
    out[known] = floats(column[known].to_numpy(dtype.numpy_dtype), what, np.flatnonzero(known))
    return out


def _objects(found: NDArray[np.object_], what: str, remedy: str) -> NDArray[Any]:
    """Return objects as numbers, bool or text; raise TypeError for others."""
    found = labels.decoded(found, what)
    flat = found.reshape(-1)
    inferred = pd.api.types.infer_dtype(flat, skipna=True)
    if inferred == "string":
        return labels.text(found, what, missing=None)
    known = np.asarray(~pd.isna(found))
    if known.all() and inferred == "integer":
        return _whole(found, what)
    if known.all() and inferred == "boolean":
        return found.astype(bool)
    kinds = [_kind(x) if is_known else "" for x, is_known in zip(flat, known.flat, strict=True)]
    if set(kinds) <= {"number", ""}:
        out = np.full(found.shape, np.nan)
        out[known] = floats(found[known], what, np.flatnonzero(known))
        return out
    first = next(k for k, kind in enumerate(kinds) if kind)
    odd = (k for k, kind in enumerate(kinds) if kind not in {kinds[first], ""})
    k = kinds.index("other") if "other" in kinds else next(odd)
    at = ", ".join(map(str, np.unravel_index(k, found.shape)))
    beside = f" beside {flat[first]!r}" if k != first else f", of dtype {type(flat[k]).__name__}"
    raise TypeError(_wrong_type(what, f"{flat[k]!r} at [{at}]{beside}", remedy))


def _kind(value: Any) -> str:
    if isinstance(value, NUMBERS):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _wrong_type(what: str, held: str, remedy: str) -> str:
    return f"{what} holds {held}: convert it to numbers, text or dates without a time zone{remedy}"


def _whole(found: NDArray[np.object_], what: str) -> NDArray[np.integer]:
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= found.min() and found.max() <= np.iinfo(dtype).max:
            return found.astype(dtype)
    row = int(np.argmax(np.abs(found)))
    raise ValueError(
        f"{what} has {found.flat[row]} in row {row}, and an integer has at most 64 bits: correct "
        "it, or convert the values to text"
    )


def floats(
    found: NDArray[Any], what: str, places: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Return numbers (n,) as float64; raise ValueError for an integer that float64 cannot hold.

    ``places`` are the indices of the numbers, for the error.
    """
    out = found.astype(np.float64)
    if found.dtype.kind in "iuO":
        for k in np.flatnonzero(np.abs(out) >= _EXACT):
            if isinstance(found[k], numbers.Integral) and int(out[k]) != int(found[k]):
                row = k if places is None else places[k]
                raise ValueError(
                    f"{what} has {found[k]} in row {row}, which float64 cannot hold, and missing "
                    "values or fractions beside it need float64: leave them out, or give integers "
                    "up to 2**53"
                )
    return out


def taken(found: NDArray[Any], places: NDArray[np.intp], what: str) -> NDArray[Any]:
    """Return the values at ``places``, missing where a place is negative.

    Raises ValueError for integers that float64, which marks missing ones by NaN, cannot hold.
    """
    out: NDArray[Any] = found[places]
    lacking = places < 0
    if not lacking.any():
        return out
    if out.dtype.kind in "biu":
        out[lacking] = 0
        out = floats(out.reshape(-1), what).reshape(out.shape)
    missing: Any = {"O": None, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}
    out[lacking] = missing.get(out.dtype.kind, np.nan)
    return out
