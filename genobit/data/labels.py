"""Labels of variants and samples: read them as text and compare them.

Every other module takes labels from here. Labels may be numpy text of fixed or variable width,
bytes, objects, or text of pandas and Arrow. `genobit.data.contigs` reads contigs, and
`genobit.data.result_labels` makes the labels of results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import model
from genobit.data.checks import first_true
from genobit.data.text import is_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

ID_OF = {model.VARIANTS: model.VARIANT_ID, model.SAMPLES: model.SAMPLE_ID, "nodes": "node"}
"""Variable that identifies the members of each dimension."""
FAMILY = "sample_family_id"
NO_FAMILY = "0"
"""Code of PLINK and GCTA for a missing family id."""
JOINED = {"ids": "FAMILY_INDIVIDUAL"}
"""Mark of readers on a `sample_id` that has the family before the id, as ids of the file repeat."""


def text(values: Any, name: str = "labels", *, missing: str | None = "") -> NDArray[np.object_]:
    """Return labels of any text type as Python strings, in an object array of the same shape.

    Accepts numpy text of fixed and variable width, bytes (UTF-8), objects, and the text types of
    pandas and Arrow. A missing label becomes ``missing``. Numbers become their decimal text. Raises
    ValueError for the first bytes that are not UTF-8.
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
    """Return whether an array holds only text, of any type but bytes."""
    if values.dtype.kind == "O":
        return bool(pd.api.types.infer_dtype(values.reshape(-1), skipna=False) == "string")
    return values.dtype.kind in "UT"


def decoded(values: Any, name: str = "labels") -> NDArray[Any]:
    """Return values as a numpy array with bytes decoded to text and nothing else changed.

    Raises ValueError for the first bytes that are not UTF-8.
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
    """Return a variable with text of any type as Python strings; other values are unchanged.

    xarray writes objects of strings to Zarr, netCDF and Parquet; Zarr does not specify fixed-width
    text. Lazy variables stay lazy. Text without values gets a fixed width, see `as_column`.
    """
    if not isinstance(variable.dtype, np.dtype):
        return xr.Variable(variable.dims, decoded(variable.values, name), variable.attrs)
    if variable.dtype.kind in "OSUT" and not variable.size:
        return variable.copy(deep=False, data=as_column(np.empty(variable.shape, object)))
    if variable.dtype.kind in "UT":
        return variable.astype(object)
    lazy = variable.chunks is not None
    kept = is_unread(variable) or variable.dtype.kind not in "SO"
    if kept or (lazy and variable.dtype.kind == "O"):
        return variable
    if lazy:
        texts = variable.data.map_blocks(decoded, name, dtype=object)
        return variable.copy(deep=False, data=texts)
    texts = decoded(variable.data, name)
    return variable if texts is variable.data else variable.copy(deep=False, data=texts)


def as_column(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column of a result: objects without values would become numbers in files."""
    return values.astype("U1") if values.dtype.kind == "O" and not values.size else values


def by_value(values: Any, name: str = "labels") -> NDArray[Any]:
    """Return labels for comparison with those of another run: text of any type is equal."""
    found = np.asarray(values)
    return found if found.dtype.kind in "biufcmM" else text(found, name, missing=None)


Data = TypeVar("Data", xr.Dataset, xr.DataArray)


def plain(data: Data) -> Data:
    """Return data in the form that the methods read: the accessor and the writers begin with it.

    - The levels of a MultiIndex become plain coordinates.
    - Labels of pandas and Arrow become numpy arrays, because dask cannot compute those.
    - Names that are the index of variants, samples or contigs become `variant_id`, `sample_id` or
      `contig_id` too, unless a Dataset has that variable.
    """
    whole: Any = without_levels(data)
    known = whole.variables if isinstance(whole, xr.Dataset) else whole.coords.variables
    changed = {
        name: as_objects(label, str(name))
        for name, label in known.items()
        if not isinstance(label.dtype, np.dtype)
    }
    if changed:
        assigned: Any = whole.assign if isinstance(whole, xr.Dataset) else whole.assign_coords
        whole = assigned(changed)
    if isinstance(whole, xr.Dataset):
        named = {
            ID_OF[dim]: xr.Variable(dim, found, fastpath=True)
            for dim in (model.VARIANTS, model.SAMPLES)
            if ID_OF[dim] not in known and (found := ids(whole, dim)) is not None
        }
        contig = None if model.CONTIG_ID in known else texts_along(whole, model.CONTIGS, "contigs")
        if contig is not None and is_text(decoded(whole[model.CONTIGS].values)):
            whole = whole.drop_vars(model.CONTIGS)
            named[model.CONTIG_ID] = xr.Variable(model.CONTIGS, contig, fastpath=True)
        whole = whole.assign_coords(named) if named else whole
    return cast("Data", whole)


def without_levels(data: Data) -> Data:
    """Return data with the levels of each MultiIndex as plain coordinates."""
    dims = {x.dim for x in data.xindexes.values() if isinstance(x, xr.indexes.PandasMultiIndex)}
    return data.reset_index(list(dims)) if dims else data


def allele_counts(ds: xr.Dataset) -> NDArray[np.int64] | None:
    """Return the number of alleles of each variant from ``variant_allele``; None without it."""
    return known_allele_counts(ds) if model.VARIANT_ALLELE in ds else None


def known_allele_counts(ds: xr.Dataset) -> NDArray[np.int64]:
    """Return the number of alleles of each variant of a Dataset that has ``variant_allele``."""
    alleles = allele_names(ds)
    return np.asarray(((alleles != "") & (alleles != "nan")).sum(axis=1), np.int64)


def allele_names(ds: xr.Dataset) -> NDArray[np.object_]:
    """Return ``variant_allele`` as text (variants, alleles); ValueError for other dimensions."""
    name = model.VARIANT_ALLELE
    found = ds[name]
    if found.ndim != 2 or model.VARIANTS not in found.dims:
        raise ValueError(
            f"{name} has dimensions {found.dims}, expected ({model.VARIANTS!r}, 'alleles'): give "
            f"a column for each allele, ds.assign({name}=(('variants', 'alleles'), rows))"
        )
    return text(found.transpose(model.VARIANTS, ...), name)


def ids(data: xr.Dataset | xr.DataArray, dim: str) -> NDArray[np.object_] | None:
    """Return the names of the members of ``dim`` as text (n,); None if the data have none.

    The variable of `ID_OF` has the names, else an index of text. An index of numbers is no name:
    after a selection, 0, 1, 2, ... are any whole numbers.
    """
    name = ID_OF.get(dim, dim)
    found = texts_along(data, name, dim)
    if found is not None or name == dim:
        return found
    index = values_along(data, dim, dim)
    return None if index is None or index.dtype.kind not in "OSUT" else text(index, dim)


def individuals(
    families: NDArray[np.object_], names: NDArray[np.object_], attrs: Mapping[Any, Any]
) -> NDArray[np.object_]:
    """Return individual ids as files have them, given the attributes of the names."""
    if not JOINED.items() <= attrs.items():
        return names
    pairs = zip(families.tolist(), names.tolist(), strict=True)
    return text([name.removeprefix(f"{family}_") for family, name in pairs])


def texts_along(data: xr.Dataset | xr.DataArray, name: str, dim: str) -> NDArray[np.object_] | None:
    """Return a label along ``dim`` as text (n,); None if the data have none."""
    values = values_along(data, name, dim)
    return None if values is None else text(values, name)


def values_along(data: xr.Dataset | xr.DataArray, name: str, dim: str) -> NDArray[Any] | None:
    """Return the values (n,) of a label along ``dim``; None if the data have none."""
    known = data.coords if isinstance(data, xr.DataArray) else data.variables
    if name not in known or data[name].dims != (dim,):
        return None
    return np.asarray(data[name].values)


def first_difference(ours: Any, theirs: Any, name: str = "labels") -> tuple[int, Any, Any] | None:
    """Return the index of the first label that differs, and both labels; None if all are equal.

    Both sides have the same length. Labels compare as text if those of one side are text. Missing
    labels are equal.
    """
    here, there = (decoded(side, name) for side in (ours, theirs))
    if is_text(here) or is_text(there):
        here, there = text(here), text(there)
    differ = (here != there) & ~(np.asarray(pd.isna(here)) & np.asarray(pd.isna(there)))
    k = first_true(differ)
    return None if k < 0 else (k, here.astype(object)[k], there.astype(object)[k])


def first_repeat(labels: Any) -> tuple[int, int]:
    """Return the indices of two equal labels, the second one the first that repeats; 0, 0 for none.

    Examples
    --------
    >>> first_repeat(["a", "b", "b", "a"]), first_repeat(["a"])
    ((1, 2), (0, 0))
    """
    again = first_true(pd.Index(labels, dtype=object).duplicated())
    given = list(labels)
    return (given.index(given[again]), again) if again > 0 else (0, 0)


def require_same(ours: Any, theirs: Any, name: str, remedy: str) -> None:
    """Raise ValueError for the first label that differs from that of ``other=``."""
    found = first_difference(ours, theirs, name)
    if found is not None:
        k, here, there = found
        raise ValueError(f"{name}[{k}] is {here!r} here and {there!r} in other=: {remedy}")
