"""Labels of variants, samples and contigs: read as text, compared, aligned.

May import: `model` and what is below. Every other module takes labels from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from genobit import model

if TYPE_CHECKING:
    from numpy.typing import NDArray

ID_OF = {model.VARIANTS: model.VARIANT_ID, model.SAMPLES: model.SAMPLE_ID}
"""Dimension -> the variable that identifies its members."""


def text(values: Any, name: str = "labels") -> NDArray[np.object_]:
    """Return labels of any text type as Python strings, in an object array of the same shape.

    Takes numpy text of fixed and of variable width, bytes (UTF-8), objects, and the text types of
    pandas and Arrow. A missing label becomes "". Numbers become their decimal text.

    Raises
    ------
    ValueError
        For bytes that are not UTF-8; names the first.
    """
    found: NDArray[Any] = np.asarray(values)
    if found.dtype.kind == "S":
        found = _decoded(found.astype(object), name)
    elif found.dtype.kind in "UT":
        found = found.astype(object)
    elif found.dtype.kind != "O":
        found = found.astype(str).astype(object)
    else:
        found = found.copy()
        if any(isinstance(x, bytes) for x in found.flat):
            found = _decoded(found, name)
        found[pd.isna(found)] = ""
    strings = [x if type(x) is str else str(x) for x in found.flat]
    out = np.empty(found.shape, object)
    out.reshape(-1)[:] = strings
    return out


def _decoded(values: NDArray[Any], name: str) -> NDArray[np.object_]:
    out = values.copy()
    for k, value in enumerate(values.flat):
        if isinstance(value, bytes):
            try:
                out.flat[k] = value.decode()
            except UnicodeDecodeError as error:
                msg = f"{name}[{k}] is {value!r}, which is not UTF-8 text: decode it first"
                raise ValueError(msg) from error
    return out


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

    ``variant_contig`` holds numbers into ``contig_id``, or the names themselves as text. Numbers
    without ``contig_id`` are their own names.

    Raises
    ------
    ValueError
        For a number or a name that is not in ``contig_id``.
    """
    if model.VARIANT_CONTIG not in ds.variables:
        return None
    given = np.asarray(ds[model.VARIANT_CONTIG].values)
    names = text(ds[model.CONTIG_ID].values) if model.CONTIG_ID in ds.variables else None
    if names is not None and given.dtype.kind in "iuf":
        wrong = np.flatnonzero(~np.isin(given, np.arange(names.size)))
        if wrong.size:
            k = int(wrong[0])
            msg = (
                f"{model.VARIANT_CONTIG} is {given[k]} at variants={k}, but {model.CONTIG_ID} has "
                f"the {names.size} names 0 to {names.size - 1}: give the number of a name, or "
                f"drop {model.CONTIG_ID}"
            )
            raise ValueError(msg)
        return Contigs(given.astype(np.intp), names)
    numbers, found = pd.factorize(text(given, model.VARIANT_CONTIG))
    found = np.asarray(found, object)
    if names is None or not np.isin(found, names).all():
        # Text that `contig_id` does not list is taken for the name itself.
        return Contigs(numbers.astype(np.intp), found)
    return Contigs(pd.Index(names).get_indexer(found)[numbers].astype(np.intp), names)


def ids(data: xr.Dataset | xr.DataArray, dim: str) -> NDArray[np.object_] | None:
    """Return the identifiers along ``dim`` as text (n,); None if the data have none."""
    name = ID_OF.get(dim, dim)
    known = data.coords if isinstance(data, xr.DataArray) else data.variables
    if name not in known or data[name].dims != (dim,):
        return None
    return text(data[name].values, name)


def first_difference(ours: Any, theirs: Any) -> int | None:
    """Index of the first label that differs as text, or None; both of the same length."""
    wrong = np.flatnonzero(text(ours) != text(theirs))
    return int(wrong[0]) if wrong.size else None


def aligned(ds: xr.Dataset, given: Any, dim: str, name: str) -> NDArray[Any]:
    """Return values along ``dim`` in the order of the Dataset (n,).

    A DataArray is aligned by its identifiers (`variant_id`, `sample_id`), a pandas Series by an
    index of identifiers. Values without labels are taken by position. Members that the Dataset
    lacks are left out, since selecting from the Dataset must not require selecting from the values.

    Parameters
    ----------
    ds
        The Dataset that the values describe.
    given
        DataArray, pandas Series, or anything that numpy takes.
    dim
        "variants" or "samples".
    name
        What to call the values in errors.

    Raises
    ------
    ValueError
        For another dimension, another length, or identifiers that are missing or repeated.
    """
    theirs = None
    if isinstance(given, xr.DataArray):
        if given.dims != (dim,):
            msg = f"{name} has dimensions {given.dims}, expected ({dim!r},)"
            raise ValueError(msg)
        theirs = ids(given, dim)
        given = given.values
    elif isinstance(given, pd.Series):
        if not isinstance(given.index, pd.RangeIndex):
            theirs = text(given.index)
        given = given.to_numpy()
    values = np.asarray(given)
    ours = ids(ds, dim)
    if theirs is not None and ours is not None:
        return values[_places(ours, theirs, dim, name)]
    if values.shape != (ds.sizes[dim],):
        msg = (
            f"{name} has shape {values.shape}, expected ({ds.sizes[dim]},): one value for each of "
            f"the {dim}"
        )
        raise ValueError(msg)
    return values


def _places(
    ours: NDArray[np.object_], theirs: NDArray[np.object_], dim: str, name: str
) -> NDArray[np.intp] | slice:
    """Where each of our identifiers stands among theirs."""
    if ours.shape == theirs.shape and (ours == theirs).all():
        return slice(None)  # identifiers may repeat ("." for variants without a name)
    index = pd.Index(theirs, dtype=object)
    for labels, whose in ((pd.Index(ours, dtype=object), "the Dataset"), (index, name)):
        if not labels.is_unique:
            k = int(np.flatnonzero(labels.duplicated())[0])
            msg = (
                f"{name} is labelled in another order than the Dataset, and cannot be aligned: "
                f"{ID_OF.get(dim, dim)}[{k}] of {whose} is {labels[k]!r} a second time; give "
                "unique identifiers, or values in the order of the Dataset without labels"
            )
            raise ValueError(msg)
    places = index.get_indexer(pd.Index(ours, dtype=object))
    lacking = np.flatnonzero(places < 0)
    if lacking.size:
        k = int(lacking[0])
        msg = (
            f"{name} has no value for {lacking.size:,} of {ours.size:,} {dim}, first for "
            f"{ID_OF.get(dim, dim)}[{k}] = {ours[k]!r}: give a value for each, NaN where it is "
            "unknown"
        )
        raise ValueError(msg)
    return places
