"""Labels of variants, samples and contigs: read as text, compared, aligned.

May import: `model` and what is below. Every other module takes labels from here.

Labels may be numpy text of fixed or variable width, bytes, objects, or text of pandas and Arrow.
Contigs may be numbers into ``contig_id`` or names. Results carry labels as objects, which xarray
writes to every format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from genobit import model

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    _Labels = tuple[NDArray[Any], NDArray[Any], str]
    """Labels of the data and of the values, and what to call them."""

ID_OF = {model.VARIANTS: model.VARIANT_ID, model.SAMPLES: model.SAMPLE_ID, "nodes": "node"}
"""Dimension -> the variable that identifies its members."""


def text(values: Any, name: str = "labels", *, missing: str | None = "") -> NDArray[np.object_]:
    """Return labels of any text type as Python strings, in an object array of the same shape.

    Takes numpy text of fixed and of variable width, bytes (UTF-8), objects, and the text types of
    pandas and Arrow. A missing label becomes ``missing``. Numbers become their decimal text.

    Raises
    ------
    ValueError
        For bytes that are not UTF-8; names the first.
    """
    found = decoded(values, name)
    if found.dtype.kind == "O":
        found = found.copy()
        if not is_text(found):
            found[pd.isna(found)] = missing
    elif found.dtype.kind not in "UT":
        found = found.astype(str)
    found = found.astype(object)
    if is_text(found):
        return found
    out = np.empty(found.shape, object)
    out.reshape(-1)[:] = [x if x is None and missing is None else str(x) for x in found.flat]
    return out


def is_text(values: NDArray[Any]) -> bool:
    """Whether an array holds text alone, of any type but bytes."""
    if values.dtype.kind == "O":
        return bool(pd.api.types.infer_dtype(values.reshape(-1), skipna=False) == "string")
    return values.dtype.kind in "UT"


def decoded(values: Any, name: str = "labels") -> NDArray[Any]:
    """Return values as a numpy array in which bytes have become text, and nothing else changed.

    Raises
    ------
    ValueError
        For bytes that are not UTF-8; names the first.
    """
    found: NDArray[Any] = np.asarray(values)
    if found.dtype.kind == "S":
        found = found.astype(object)
    if found.dtype.kind != "O" or is_text(found):
        return found
    out = found
    for k, value in enumerate(found.flat):
        if isinstance(value, bytes):
            out = found.copy() if out is found else out
            try:
                out.flat[k] = value.decode()
            except UnicodeDecodeError as error:
                msg = f"{name}[{k}] is {value!r}, which is not UTF-8 text: decode it first"
                raise ValueError(msg) from error
    return out


def as_objects(variable: xr.Variable, name: str = "labels") -> xr.Variable:
    """Return a variable whose text, of any type, is Python strings; other values stay as they are.

    xarray writes objects of strings to Zarr, netCDF and Parquet. Zarr specifies no text of fixed
    width. Lazy variables stay lazy.
    """
    if not isinstance(variable.dtype, np.dtype):
        return xr.Variable(variable.dims, decoded(variable.values, name), variable.attrs)
    if variable.dtype.kind in "UT":
        return variable.astype(object)
    if variable.dtype.kind not in "SO":
        return variable
    if variable.chunks is not None:
        if variable.dtype.kind == "O":
            return variable
        texts = variable.data.map_blocks(decoded, name, dtype=object)
        return variable.copy(deep=False, data=texts)
    texts = decoded(variable.data, name)
    return variable if texts is variable.data else variable.copy(deep=False, data=texts)


Data = TypeVar("Data", xr.Dataset, xr.DataArray)


def plain(data: Data) -> Data:
    """Return data whose labels are numpy arrays: dask computes no arrays of pandas and Arrow."""
    whole: Any = data
    known = whole.variables if isinstance(whole, xr.Dataset) else whole.coords.variables
    changed = {
        name: as_objects(label, str(name))
        for name, label in known.items()
        if not isinstance(label.dtype, np.dtype)
    }
    if not changed:
        return data
    assigned: Any = whole.assign if isinstance(whole, xr.Dataset) else whole.assign_coords
    return cast("Data", assigned(changed))


def along(ds: xr.Dataset, dim: str, suffix: str = "") -> dict[Hashable, xr.Variable]:
    """Return the labels along one dimension, with a suffix on their names and on its own."""
    return {
        # Of objects in a tuple pandas makes arrow texts and xarray objects again, 0.2 us each.
        f"{name}{suffix}": xr.Variable(
            dim + suffix, as_objects(variable, str(name)).data, variable.attrs, fastpath=True
        )
        for name, variable in ds.variables.items()
        if variable.dims == (dim,) and name not in {*ds.data_vars, *model.BIT.values()}
    }


def allele_counts(ds: xr.Dataset) -> NDArray[np.int64] | None:
    """Return how many alleles each variant has, from ``variant_allele``.

    None without that variable.
    """
    if model.VARIANT_ALLELE not in ds:
        return None
    alleles = text(ds[model.VARIANT_ALLELE].transpose(model.VARIANTS, ...), model.VARIANT_ALLELE)
    return np.asarray(((alleles != "") & (alleles != "nan")).sum(axis=1), np.int64)


class Contigs(NamedTuple):
    """Contig of each variant."""

    numbers: NDArray[np.intp]
    """(variants,): index into ``names``."""
    names: NDArray[np.object_]
    """(contigs,): text; of `contig_id` if the Dataset has it, else in the order of appearance."""

    def of_variants(self) -> NDArray[np.object_]:
        """Name of the contig of each variant (variants,)."""
        return self.names[self.numbers]


def contigs(ds: xr.Dataset) -> Contigs | None:
    """Return the contig of each variant; None without ``variant_contig``.

    Raises
    ------
    ValueError
        For a number that is not of a name in ``contig_id``.
    """
    return known_contigs(ds) if model.VARIANT_CONTIG in ds.variables else None


def known_contigs(ds: xr.Dataset) -> Contigs:
    """Return the contig of each variant of a Dataset that has ``variant_contig``."""
    names = ds[model.CONTIG_ID].values if model.CONTIG_ID in ds.variables else None
    return contigs_of(ds[model.VARIANT_CONTIG].values, names)


def contigs_of(variant_contig: Any, contig_id: Any = None) -> Contigs:
    """Return the contigs of ``variant_contig`` of any shape, which the numbers then have.

    ``variant_contig`` holds numbers into ``contig_id``, or the names themselves as text. Numbers
    without ``contig_id`` are their own names.

    Raises
    ------
    ValueError
        For a number that is not of a name in ``contig_id``.
    """
    given = np.asarray(variant_contig)
    names = None if contig_id is None else text(contig_id, model.CONTIG_ID)
    if names is not None and given.dtype.kind in "iuf":
        wrong = np.flatnonzero(~np.isin(given, np.arange(names.size)))
        if wrong.size:
            k = int(wrong[0])
            msg = (
                f"{model.VARIANT_CONTIG} is {given.flat[k]} at variants={k}, but "
                f"{model.CONTIG_ID} has the {names.size} names 0 to {names.size - 1}: give the "
                f"number of a name, or drop {model.CONTIG_ID}"
            )
            raise ValueError(msg)
        return Contigs(given.astype(np.intp), names)
    numbers, found = pd.factorize(text(given, model.VARIANT_CONTIG).reshape(-1))
    found = np.asarray(found, object)
    if names is not None and np.isin(found, names).all():
        numbers = pd.Index(names).get_indexer(found)[numbers]
        found = names
    # Text that `contig_id` does not list is taken for the name itself.
    return Contigs(numbers.astype(np.intp).reshape(given.shape), found)


def contig_of_variants(ds: xr.Dataset) -> NDArray[Any] | None:
    """Return the name of the contig of each variant, or None without ``variant_contig``.

    Numbers stay numbers where the Dataset has no ``contig_id``.
    """
    found = contigs(ds)
    if found is None:
        return None
    given = ds[model.VARIANT_CONTIG]
    if model.CONTIG_ID not in ds.variables and given.dtype.kind in "iuf":
        return np.asarray(given.values)
    return found.of_variants()


def contig_starts(ds: xr.Dataset) -> NDArray[np.int64]:
    """First variant of each contig, in the order they are stored.

    Raises
    ------
    KeyError
        If the Dataset lacks ``variant_contig``.
    ValueError
        If a contig's variants do not stand together.
    """
    model.values(ds, model.VARIANT_CONTIG, needed_for="splitting by contig")
    found = known_contigs(ds)
    starts = np.flatnonzero(np.r_[True, found.numbers[1:] != found.numbers[:-1]])
    numbers, first = np.unique(found.numbers[starts], return_index=True)
    if numbers.size < starts.size:
        again = starts[int(np.setdiff1d(np.arange(starts.size), first)[0])]
        msg = (
            f"contig {found.names[found.numbers[again]]} starts again at variants={again}: sort "
            "the variants by contig first (ds.sortby('variant_contig'))"
        )
        raise ValueError(msg)
    return starts


def ids(data: xr.Dataset | xr.DataArray, dim: str) -> NDArray[np.object_] | None:
    """Return the identifiers along ``dim`` as text (n,); None if the data have none."""
    name = ID_OF.get(dim, dim)
    values = _along(data, name, dim)
    return None if values is None else text(values, name)


def _along(data: xr.Dataset | xr.DataArray, name: str, dim: str) -> NDArray[Any] | None:
    """Values (n,) of a label along ``dim``; None if the data have none."""
    known = data.coords if isinstance(data, xr.DataArray) else data.variables
    if name not in known or data[name].dims != (dim,):
        return None
    return np.asarray(data[name].values)


def first_difference(ours: Any, theirs: Any) -> int | None:
    """Index of the first label that differs as text, or None; both of the same length."""
    wrong = np.flatnonzero(text(ours) != text(theirs))
    return int(wrong[0]) if wrong.size else None


def aligned(data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str) -> NDArray[Any]:
    """Return values along ``dim`` in the order of the data (n,).

    Every argument that takes one value for each member of a dimension is read here, by one rule:

    - A DataArray is aligned by the labels that both sides have: identifiers (`variant_id`,
      `sample_id`), else the coordinate of the dimension. Variants whose identifiers repeat are
      aligned by contig, position and identifier.
    - A pandas Series is aligned by its index, unless that is the default 0, 1, 2, ...
    - A text names a variable of the data.
    - Values without labels, and values for data without labels, are taken by position.
    - Each member of the data needs a value, phenotypes included: a member without one raises.
      Write NaN where the value is unknown. Values of other members are ignored, so that a
      selection of the data takes the values of all.
    - Labels may repeat only where both sides have the same labels in the same order.

    Parameters
    ----------
    data
        What the values describe.
    given
        DataArray, pandas Series, name of a variable, or anything that numpy takes.
    dim
        Dimension of the data.
    name
        What to call the values in errors.

    Raises
    ------
    KeyError
        For the name of a variable that the data lack.
    ValueError
        For another dimension, another length, or labels that are missing or repeated; names the
        first.
    """
    if isinstance(given, str):
        given = model.named(_dataset(data), given, dim)
    found = None
    if isinstance(given, xr.DataArray | xr.Variable):
        if given.dims != (dim,):
            theirs = ", ".join(repr(str(other)) for other in given.dims) or "no dimension"
            msg = f"{name} is along {theirs}, expected values along {dim!r}"
            raise ValueError(msg)
        if isinstance(given, xr.DataArray) and not _same_labels(data, given, dim):
            found = _labels_of_both(data, given, dim)
        given = given.values
    elif isinstance(given, pd.Series):
        found = _labels_and_index(data, given.index, dim, name)
        given = given.to_numpy()
    values = np.asarray(given)
    if found is not None:
        return values[_places(*found, dim, name)]
    if values.shape != (data.sizes[dim],):
        msg = (
            f"{name} has shape {values.shape}, expected ({data.sizes[dim]},): one value for each "
            f"of the {dim}"
        )
        raise ValueError(msg)
    return values


def aligned_numbers(
    data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str
) -> NDArray[np.float64]:
    """Return `aligned` values as float64.

    Raises
    ------
    TypeError
        For values that are not numbers.
    """
    values = aligned(data, given, dim, name)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        msg = (
            f"{name} takes a number for each of the {dim}, not {str(values[:3])[:40]}: give an "
            "array, or the name of a variable of numbers"
        )
        raise TypeError(msg) from error


def selected(data: xr.Dataset | xr.DataArray, given: Any, dim: str, name: str) -> Any:
    """Return a selection along ``dim`` without labels: a mask in the order of the data.

    Positions, identifiers and slices are returned as they are.

    Raises
    ------
    ValueError
        For a mask that `aligned` refuses, and for positions along another dimension of the data.
    """
    if not isinstance(given, xr.DataArray | xr.Variable | pd.Series):
        return given
    if pd.api.types.is_bool_dtype(given.dtype):
        return aligned(data, given, dim, name)
    other = [d for d in getattr(given, "dims", ()) if d != dim and d in data.dims]
    if other:
        msg = f"{name} is along {str(other[0])!r}, expected positions along {dim!r}"
        raise ValueError(msg)
    return given


def _dataset(data: xr.Dataset | xr.DataArray) -> xr.Dataset:
    return data.coords.to_dataset() if isinstance(data, xr.DataArray) else data


def _labels_of_both(
    data: xr.Dataset | xr.DataArray, given: xr.DataArray, dim: str
) -> _Labels | None:
    """Labels that both sides have along ``dim``; None where one side has none."""
    names = [ID_OF[dim], dim] if dim in ID_OF else [dim]
    ours = {name: found for name in names if (found := _along(data, name, dim)) is not None}
    theirs = {name: found for name in names if (found := _along(given, name, dim)) is not None}
    if not ours or not theirs:
        return _positions_of_both(data, given) if dim == model.VARIANTS else None
    name = next((name for name in ours if name in theirs), None)
    if name is None:
        # Identifiers on one side, and the coordinate of the dimension on the other.
        name = next(iter(ours))
        return ours[name], next(iter(theirs.values())), name
    if dim != model.VARIANTS or pd.Index(text(ours[name]), dtype=object).is_unique:
        return ours[name], theirs[name], name
    positions = _positions_of_both(data, given)
    if positions is None:
        return ours[name], theirs[name], name
    here, there = (
        np.array([f"{place} {own}" for place, own in zip(places, text(own), strict=True)], object)
        for places, own in ((positions[0], ours[name]), (positions[1], theirs[name]))
    )
    return here, there, positions[2]


def _same_labels(data: xr.Dataset | xr.DataArray, given: xr.DataArray, dim: str) -> bool:
    """Whether both sides have labels in common, and the same in the same order."""
    names = (ID_OF.get(dim, dim), dim, model.VARIANT_POSITION, model.VARIANT_CONTIG)
    pairs = [(_along(data, name, dim), _along(given, name, dim)) for name in dict.fromkeys(names)]
    shared = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(shared) and all(
        a.dtype == b.dtype and pd.Index(a, dtype=object).equals(pd.Index(b, dtype=object))
        for a, b in shared
    )


def _positions_of_both(data: xr.Dataset | xr.DataArray, given: xr.DataArray) -> _Labels | None:
    """Contig and position of each variant as text, as far as both sides have them."""
    sides = [_dataset(data), _dataset(given)]
    position, contig, dim = model.VARIANT_POSITION, model.VARIANT_CONTIG, model.VARIANTS
    parts: dict[str, list[Any]] = {}
    if all(_along(side, contig, dim) is not None for side in sides):
        numbers = [side[contig].dtype.kind in "iuf" for side in sides]
        named = [model.CONTIG_ID in side.variables for side in sides]
        # Numbers without `contig_id` compare with such numbers only.
        if all(has or not number for has, number in zip(named, numbers, strict=True)):
            known = [found for side in sides if (found := contigs(side))]
            parts["contig"] = [found.of_variants() for found in known]
        elif all(numbers):
            parts["contig"] = [text(side[contig].values) for side in sides]
    if all(_along(side, position, dim) is not None for side in sides):
        parts["position"] = [side[position].values for side in sides]
    if not parts:
        return None
    here, there = (
        np.array([":".join(map(str, values)) for values in zip(*side, strict=True)], object)
        for side in zip(*parts.values(), strict=True)
    )
    return here, there, ":".join(parts)


def _labels_and_index(
    data: xr.Dataset | xr.DataArray, index: pd.Index, dim: str, name: str
) -> _Labels | None:
    """Labels of the data and those in the index of a Series; None where one side has none."""
    labels = ID_OF.get(dim, dim)
    ours = ids(data, dim)
    if ours is None and labels != dim:
        ours = _along(data, dim, dim)
    if ours is None or index.equals(pd.RangeIndex(len(index))):
        return None
    if isinstance(index, pd.MultiIndex):
        if labels not in index.names:
            msg = (
                f"the index of {name} has the levels {list(index.names)}, and none is called "
                f"{labels!r}: name the level that has the identifiers of the {dim}"
            )
            raise ValueError(msg)
        index = index.get_level_values(labels)
    return ours, index.to_numpy(), labels


def _places(
    ours: NDArray[Any], theirs: NDArray[Any], label: str, dim: str, name: str
) -> NDArray[np.intp] | slice:
    """Index of each of our labels among theirs."""
    ours, theirs = text(ours, label), text(theirs, name)
    if ours.shape == theirs.shape and (ours == theirs).all():
        return slice(None)  # labels may repeat ("." for variants without a name)
    here, there = pd.Index(ours, dtype=object), pd.Index(theirs, dtype=object)
    for labels, whose in ((here, "the Dataset"), (there, name)):
        if not labels.is_unique:
            k = int(np.flatnonzero(labels.duplicated())[0])
            msg = (
                f"{name} is labelled in another order than the Dataset, and cannot be aligned: "
                f"{label}[{k}] of {whose} is {labels[k]!r} a second time; give unique "
                "identifiers, or values in the order of the Dataset without labels"
            )
            raise ValueError(msg)
    places = there.get_indexer(here)
    lacking = np.flatnonzero(places < 0)
    if lacking.size:
        k = int(lacking[0])
        msg = (
            f"{name} has no value for {lacking.size:,} of {ours.size:,} {dim}, first for "
            f"{label}[{k}] = {ours[k]!r}: give a value for each, NaN where it is unknown"
        )
        raise ValueError(msg)
    return places
