"""Align values that a caller gives along a dimension with the data, by label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import columns, labels, model
from genobit.data.checks import first_true
from genobit.data.contigs import comparable_contigs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Columns = list[NDArray[Any]]
    """A label of each member, or its parts: contig, position, identifier."""
    _Labels = tuple[_Columns, _Columns, str]
    """Labels of the data and of the values, and the name of these labels."""


_LISTED = 8
"""Most columns that an error lists."""
_ARRAYS = (list, tuple, np.ndarray, pd.Index, pd.api.extensions.ExtensionArray)


def aligned(data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str) -> NDArray[Any]:
    """Return values along ``dim`` in the order of the data (n,), as `genobit.data.columns.values`.

    This reads every argument with one value per variant, sample or other member of a dimension. The
    rules are:

    - A DataArray is aligned by the labels that both sides have: identifiers (`variant_id`,
      `sample_id`), else the coordinate of the dimension. Variants with repeated identifiers are
      aligned by contig, position and identifier.
    - A pandas Series is aligned by its index, unless the index is the default 0, 1, 2, ...
    - A string names a variable of the data; the prefix, as in `sample_case`, is optional.
    - Values without labels are taken by position. Labels that the data cannot match raise.
    - Each member of the data needs a value, also in a phenotype; a member without one raises. Use
      NaN or a mask if the value is unknown. Values of other members are ignored, so a selection of
      the data accepts the values of all members.
    - Labels may repeat only if both sides have the same labels in the same order.

    ``name`` is the name of the values in errors. Raises KeyError for a variable that the data lack.
    Raises ValueError for another dimension or length, and for missing or repeated labels. Raises
    TypeError for values that are neither numbers nor text nor dates.
    """
    if isinstance(given, str):
        given = model.named(_dataset(data), given, dim)
    found = None
    if isinstance(given, xr.DataArray | xr.Variable):
        if given.dims != (dim,):
            theirs = ", ".join(repr(str(other)) for other in given.dims) or "no dimension"
            raise ValueError(f"{name} is along {theirs}, expected values along {dim!r}")
        if isinstance(given, xr.DataArray) and not _same_labels(data, given, dim):
            found = _labels_of_both(data, given, dim, name)
        given = given.data
    elif isinstance(given, pd.DataFrame):
        names = ", ".join(map(repr, given.columns[:_LISTED]))
        raise TypeError(
            f"{name} is a table, expected values along {dim!r}: give one of its columns ({names}), "
            "or join it with ds.genobit.join(table) and give the name"
        )
    elif isinstance(given, pd.Series):
        found = _labels_and_index(data, given.index, dim, name)
    values = columns.values(given, name)
    if found is not None:
        return values[_places(*found, dim, name)]
    if values.shape != (data.sizes[dim],):
        raise ValueError(
            f"{name} has shape {values.shape}, expected ({data.sizes[dim]},): one value for each "
            f"of the {dim}"
        )
    return values


def aligned_numbers(
    data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str
) -> NDArray[np.float64]:
    """Return `aligned` values as float64.

    Raises TypeError for values that are not numbers.
    """
    rule = f"give a number for each of the {dim}, or the name of a variable of numbers"
    return columns.numbers_of(aligned(data, given, dim, name), name, rule)


def aligned_mask(
    data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str
) -> NDArray[np.bool_]:
    """Return `aligned` values that are True or False; raise TypeError for others."""
    mask = aligned(data, given, dim, name)
    if mask.dtype == bool:
        return mask
    lacking = np.flatnonzero(pd.isna(mask))
    where = f"missing at {dim}={lacking[0]}" if lacking.size else f"of type {mask.dtype}"
    raise TypeError(
        f"{name} is {where}, expected True or False for each of the {dim}: give a condition, such "
        "as ds.sample_phenotype == 1 for controls"
    )


def populations_of(ds: xr.Dataset, populations: Any) -> list[tuple[Any, NDArray[np.bool_]]]:
    """Return the sorted values of a variable of the samples, each with its mask of samples.

    Samples with a missing value or empty text are in none. Raises ValueError if all are missing.
    """
    values = aligned(ds, populations, model.SAMPLES, "populations")
    codes, names = pd.factorize(values, sort=True)
    named = [k for k, name in enumerate(names) if name != ""]
    if not named:
        raise ValueError("populations= names no population: every sample's value is missing")
    return [(names[k : k + 1].tolist()[0], codes == k) for k in named]


def selected(data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str) -> Any:
    """Return a selection along ``dim`` without labels: a mask in the order of the data.

    Positions, identifiers and slices are returned as they are. Raises ValueError for a mask that
    `aligned` refuses, for missing values, and for positions along another dimension of the data.
    """
    labelled = isinstance(given, xr.DataArray | xr.Variable | pd.Series)
    if not labelled and (np.isscalar(given) or not isinstance(given, _ARRAYS)):
        return given
    other = [d for d in getattr(given, "dims", ()) if d != dim and d in data.dims]
    found = columns.values(given.data if hasattr(given, "dims") else given, name)
    if labelled and found.dtype == bool:
        return aligned_mask(data, given, dim, name)
    if other:
        raise ValueError(f"{name} is along {str(other[0])!r}, expected positions along {dim!r}")
    if (k := first_true(pd.isna(found))) >= 0:
        raise ValueError(f"{name} is missing at [{k}]: give True or False, a position, or a name")
    return found


def _dataset(data: xr.Dataset | xr.DataArray) -> xr.Dataset:
    return data.coords.to_dataset() if isinstance(data, xr.DataArray) else data


def _labels_of_both(
    data: xr.Dataset | xr.DataArray, given: xr.DataArray, dim: str, name: str
) -> _Labels | None:
    """Return labels that both sides have along ``dim``, or None if the values have none.

    Raises ValueError for labels of the values that the data cannot match.
    """
    names = [labels.ID_OF[dim], dim] if dim in labels.ID_OF else [dim]
    ours, theirs = (
        {n: found for n in names if (found := labels.values_along(side, n, dim)) is not None}
        for side in (data, given)
    )
    if not ours or not theirs:
        positions = _positions_of_both(data, given) if dim == model.VARIANTS else None
        for own in (*theirs, model.VARIANT_POSITION):
            if positions is None and labels.values_along(given, own, dim) is not None:
                _require_default(pd.Index(given[own].values), own, dim, name)
        return positions
    # One side may have identifiers, and the other only the coordinate of the dimension.
    label = next((label for label in ours if label in theirs), next(iter(ours)))
    if label not in theirs:
        return [ours[label]], [next(iter(theirs.values()))], label
    unique = dim != model.VARIANTS or pd.Index(labels.text(ours[label]), dtype=object).is_unique
    positions = None if unique else _positions_of_both(data, given)
    here, there, of_position = positions or ([], [], label)
    return [*here, ours[label]], [*there, theirs[label]], of_position


def _same_labels(data: xr.Dataset | xr.DataArray, given: xr.DataArray, dim: str) -> bool:
    """Return whether both sides share labels, all equal and in the same order."""
    names = (labels.ID_OF.get(dim, dim), dim, model.VARIANT_POSITION)
    pairs = [
        (labels.values_along(data, name, dim), labels.values_along(given, name, dim))
        for name in dict.fromkeys(names)
    ]
    pairs.append(_contigs_of_both(data, given, dim) or (None, None))
    shared = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(shared) and all(
        a.dtype == b.dtype and _index([a]).equals(_index([b])) for a, b in shared
    )


def _contigs_of_both(
    data: xr.Dataset | xr.DataArray, given: xr.DataArray, dim: str
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the contig of each variant in our names; None if they cannot be compared."""
    sides = [_dataset(data), _dataset(given)]
    if any(labels.values_along(side, model.VARIANT_CONTIG, dim) is None for side in sides):
        return None
    return comparable_contigs(*sides)


def _positions_of_both(data: xr.Dataset | xr.DataArray, given: xr.DataArray) -> _Labels | None:
    """Return contig and position of each variant, if both sides have them."""
    sides = [_dataset(data), _dataset(given)]
    position, dim = model.VARIANT_POSITION, model.VARIANTS
    parts: dict[str, Any] = {}
    both = _contigs_of_both(data, given, dim)
    if both is not None:
        parts["contig"] = both
    if all(labels.values_along(side, position, dim) is not None for side in sides):
        parts["position"] = [side[position].values for side in sides]
    if not parts:
        return None
    here, there = map(list, zip(*parts.values(), strict=True))
    return here, there, ":".join(parts)


def _labels_and_index(
    data: xr.Dataset | xr.DataArray, index: pd.Index, dim: str, name: str
) -> _Labels | None:
    """Return the labels of the data and of a Series' index, or None for the default index.

    Raises ValueError for another index if the data have no labels.
    """
    label = labels.ID_OF.get(dim, dim)
    ours = labels.ids(data, dim)
    if ours is None and label != dim:
        ours = labels.values_along(data, dim, dim)
    if ours is None:
        _require_default(index, "index", dim, name)
        return None
    if is_default(index):
        return None
    if isinstance(index, pd.MultiIndex):
        if label not in index.names:
            raise ValueError(
                f"the index of {name} has the levels {list(index.names)}, and none is called "
                f"{label!r}: name the level that has the identifiers of the {dim}"
            )
        index = index.get_level_values(label)
    return [ours], [index.to_numpy()], label


def is_default(index: pd.Index) -> bool:
    """Return whether an index is 0, 1, 2, ..., which labels nothing."""
    return index.equals(pd.RangeIndex(len(index)))


def _require_default(index: pd.Index, label: str, dim: str, name: str) -> None:
    """Raise ValueError unless the labels of values, for data without labels, are 0, 1, 2, ..."""
    if not is_default(index):
        raise ValueError(
            f"{name} has labels along {dim!r}, first {label}[0] = {index.tolist()[0]!r}, and the "
            f"data have none to match: assign {labels.ID_OF.get(dim, dim)!r} to the data, or give "
            "values in the order of the data without labels, for example .to_numpy()"
        )


def _places(
    ours: _Columns, theirs: _Columns, label: str, dim: str, name: str
) -> NDArray[np.intp] | slice:
    """Return the index of each of our labels among theirs."""
    pairs = [_comparable(*pair, label, name) for pair in zip(ours, theirs, strict=True)]
    if all(a.shape == b.shape and (a == b).all() for a, b in pairs):
        return slice(None)  # labels may repeat ("." for variants without a name)
    here, there = (_index(list(side)) for side in zip(*pairs, strict=True))
    for known, whose in ((here, "the Dataset"), (there, name)):
        if not known.is_unique:
            k = int(np.flatnonzero(known.duplicated())[0])
            raise ValueError(
                f"{name} has its labels in another order than the Dataset, and cannot be aligned: "
                f"{label}[{k}] of {whose} repeats {_shown(known[k], label)!r}; give unique "
                "identifiers, or values in the order of the Dataset without labels"
            )
    places = there.get_indexer(here)
    lacking = np.flatnonzero(places < 0)
    if lacking.size:
        k = int(lacking[0])
        raise ValueError(
            f"{name} has no value for {lacking.size:,} of {len(here):,} {dim}, first for "
            f"{label}[{k}] = {_shown(here[k], label)!r}: give a value for each, NaN where it is "
            "unknown"
        )
    return places


def _comparable(
    ours: NDArray[Any], theirs: NDArray[Any], label: str, name: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a column of labels of both sides, as text unless both have whole numbers."""
    if ours.dtype.kind in "iu" and theirs.dtype.kind in "iu":
        return ours, theirs
    return labels.text(ours, label), labels.text(theirs, name)


def _index(columns: _Columns) -> pd.Index:
    """Return the index of labels of one or several columns; numbers are compared fastest."""
    if len(columns) > 1:
        return pd.MultiIndex.from_arrays(columns)
    return pd.Index(columns[0], dtype=None if columns[0].dtype.kind in "iu" else object)


def _shown(found: Any, label: str) -> str:
    """Return a label as text: its parts of ``label`` joined by a colon, then its identifier."""
    parts = [str(part) for part in found] if isinstance(found, tuple) else [str(found)]
    number = label.count(":") + 1
    return " ".join([":".join(parts[:number]), *parts[number:]])
