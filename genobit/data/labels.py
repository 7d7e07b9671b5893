"""Labels of variants, samples and contigs: read them as text and compare them.

Every other module takes labels from here. Labels may be numpy text of fixed or variable width,
bytes, objects, or text of pandas and Arrow. Contigs may be numbers into ``contig_id`` or names.
Results carry labels as objects, which xarray writes to every format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import model
from genobit.data.contigs import renamed
from genobit.data.text import is_unread

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

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


def along(ds: xr.Dataset, dim: str) -> dict[Hashable, xr.Variable]:
    """Return the labels along one dimension, as results carry them."""
    left_out = {*ds.data_vars, *model.BIT.values()}
    return of_result(
        ds, [k for k, x in ds.variables.items() if x.dims == (dim,) and k not in left_out]
    )


def beside(
    variables: Mapping[Hashable, xr.Variable], chunks: Mapping[Hashable, Any] | None = None
) -> dict[Hashable, xr.Variable]:
    """Return labels for a lazy result: text as objects, and along one dimension in memory.

    Lazy labels with chunks of their own would break xarray's contract of chunks, and dask would
    compute a square together with them, and then copy it. Those along several dimensions get the
    ``chunks`` of the result, and one chunk elsewhere. Counts of `mask_calls` stay lazy: to read
    them takes a pass over the calls.
    """
    # dask takes longer to import than a call on numbers in memory.
    from genobit.engine.schedule.computing import compute

    lazy = {
        name: variable
        for name, variable in variables.items()
        if variable.chunks is not None and variable.ndim < 2 and variable.dims != (model.RULES,)
    }
    read = dict(zip(lazy, compute(*(v.data for v in lazy.values())), strict=True)) if lazy else {}
    return {
        name: as_objects(
            variable.copy(deep=False, data=read[name])
            if name in read
            else variable
            if variable.chunks is None
            else variable.chunk({dim: (chunks or {}).get(dim, -1) for dim in variable.dims}),
            str(name),
        )
        for name, variable in variables.items()
    }


def of_result(ds: xr.Dataset, names: Iterable[Hashable]) -> dict[Hashable, xr.Variable]:
    """Return labels as results carry them: as `beside` does, and contigs by name."""
    found = {name: ds.variables[name] for name in names}
    contig = found.get(model.VARIANT_CONTIG)
    if contig is not None and model.CONTIG_ID in ds.variables:
        names = known_contigs(ds).of_variants()
        # A fast-path Variable: xarray would make Arrow texts and objects again, in three times as
        # long as all else.
        named = xr.Variable(contig.dims, names, contig.attrs, fastpath=True)
        found[model.VARIANT_CONTIG] = named
    return beside(found)


def of_pairs(
    rows: tuple[str, xr.Dataset], columns: tuple[str, xr.Dataset]
) -> tuple[tuple[str, ...], dict[Hashable, Any]]:
    """Return the dimensions and coordinates of a matrix of pairs.

    Each side is the name of its dimension and a Dataset with the labels along it.
    """
    first = along(rows[1], rows[0])
    # Lazy labels are read once.
    same = rows[0] == columns[0] and rows[1] is columns[1]
    sides = (rows[0], first), (columns[0], first if same else along(columns[1], columns[0]))
    coords: dict[Hashable, Any] = {
        f"{name}_{side}": _along(f"{dim}_{side}", x)
        for side, (dim, found) in enumerate(sides)
        for name, x in found.items()
    }
    return tuple(f"{dim}_{side}" for side, (dim, _) in enumerate(sides)), coords


def _along(dim: str, label: xr.Variable) -> xr.Variable:
    """Return a label with another name of its dimension; unread text stays unread."""
    if is_unread(label):
        return xr.Variable(dim, label, label.attrs)
    # Use a fast-path Variable: from objects in a tuple, pandas makes Arrow texts and xarray makes
    # objects again, at 0.2 us each.
    return xr.Variable(dim, label.data, label.attrs, fastpath=True)


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
        msg = (
            f"{name} has dimensions {found.dims}, expected ({model.VARIANTS!r}, 'alleles'): give "
            f"a column for each allele, ds.assign({name}=(('variants', 'alleles'), rows))"
        )
        raise ValueError(msg)
    return text(found.transpose(model.VARIANTS, ...), name)


class Contigs(NamedTuple):
    """Contig of each variant."""

    numbers: NDArray[np.intp]
    """Index into ``names`` (variants,)."""
    names: NDArray[np.object_]
    """Text (contigs,): `contig_id` if the Dataset has it, else names in order of appearance."""

    def of_variants(self) -> NDArray[np.object_]:
        """Return the contig name of each variant (variants,)."""
        return self.names[self.numbers]

    def in_names_of(self, other: Contigs) -> Contigs:
        """Return the contigs with the other names for the chromosomes that both sides have."""
        return self._replace(names=renamed(self.names, other.names.tolist()))


def contigs(ds: xr.Dataset) -> Contigs | None:
    """Return the contig of each variant; None without ``variant_contig``.

    Raises ValueError for a number without a name in ``contig_id``.
    """
    return known_contigs(ds) if model.VARIANT_CONTIG in ds.variables else None


def known_contigs(ds: xr.Dataset) -> Contigs:
    """Return the contig of each variant of a Dataset that has ``variant_contig``."""
    names = ds[model.CONTIG_ID].values if model.CONTIG_ID in ds.variables else None
    return contigs_of(ds[model.VARIANT_CONTIG].values, names)


def contigs_of(variant_contig: Any, contig_id: Any = None) -> Contigs:
    """Return the contigs of ``variant_contig``; their numbers have its shape.

    ``variant_contig`` holds numbers into ``contig_id``, or names as text. Numbers without
    ``contig_id`` are their own names. Raises ValueError for a number without a name in
    ``contig_id``.
    """
    given = np.asarray(variant_contig)
    names = None if contig_id is None else _contig_names(contig_id, model.CONTIG_ID)
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
    numbers, found = pd.factorize(_contig_names(given, model.VARIANT_CONTIG).reshape(-1))
    found = np.asarray(found, object)
    if names is not None and np.isin(found, names).all():
        numbers = pd.Index(names).get_indexer(found)[numbers]
        found = names
    # Text that `contig_id` does not list is the name itself.
    return Contigs(numbers.astype(np.intp).reshape(given.shape), found)


def _contig_names(values: Any, name: str) -> NDArray[np.object_]:
    """Return contigs as text; pandas reads whole numbers as 1.0 if one is missing."""
    found = text(values, name)
    if np.asarray(values).dtype.kind == "f":
        found.reshape(-1)[:] = [str(each).removesuffix(".0") for each in found.flat]
    return found


def contig_of_variants(ds: xr.Dataset) -> NDArray[Any] | None:
    """Return the contig name of each variant, or None without ``variant_contig``.

    Numbers stay numbers if the Dataset has no ``contig_id``.
    """
    found = contigs(ds)
    if found is None:
        return None
    given = ds[model.VARIANT_CONTIG]
    if model.CONTIG_ID not in ds.variables and given.dtype.kind in "iuf":
        return np.asarray(given.values)
    return found.of_variants()


def comparable_contigs(
    ours: xr.Dataset, theirs: xr.Dataset
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the contigs of the variants of two Datasets, in our names; None for code and name."""
    here, there = (np.asarray(contig_of_variants(side)) for side in (ours, theirs))
    if (here.dtype == object) != (there.dtype == object):
        return None
    if here.dtype == object:
        there = known_contigs(theirs).in_names_of(known_contigs(ours)).of_variants()
    return here, there


def contig_starts(contig: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return the first variant of each contig, in stored order; [0] for a single contig, None.

    contig: (variants,) names or numbers. Raises ValueError if a contig's variants are not adjacent.
    """
    if contig is None or not contig.size:
        return np.zeros(1, np.int64)
    starts = _starts_of_runs(contig)
    _require_adjacent(starts, contig[starts])
    return starts


def starts_of_contigs(ds: xr.Dataset) -> NDArray[np.int64]:
    """Return `contig_starts` of a Dataset; takes a third of the time, as it compares numbers."""
    found = contigs(ds) if model.CONTIG_ID in ds.variables else None
    if found is None or not found.numbers.size:
        return contig_starts(contig_of_variants(ds))
    starts = _starts_of_runs(found.numbers)
    names = found.names[found.numbers[starts]]
    # Numbers may share a name.
    new = _starts_of_runs(names)
    _require_adjacent(starts[new], names[new])
    return starts[new]


def _starts_of_runs(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the first index of each run of equal values; there is at least one value."""
    return np.flatnonzero(np.r_[True, values[1:] != values[:-1]])


def _require_adjacent(starts: NDArray[np.int64], contig: NDArray[Any]) -> None:
    """Raise ValueError if a contig starts twice; ``contig`` is that of each of ``starts``."""
    # pandas takes longer than all else here, so only for the error.
    if np.unique(contig).size == starts.size:
        return
    k = int(np.flatnonzero(pd.Index(contig).duplicated())[0])
    msg = (
        f"contig {contig[k]} starts again at variants={starts[k]}: sort the variants by contig "
        "first (ds.sortby(['variant_contig', 'variant_position']))"
    )
    raise ValueError(msg)


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
    if not differ.any():
        return None
    k = int(np.flatnonzero(differ)[0])
    return k, here.astype(object)[k], there.astype(object)[k]


def require_same(ours: Any, theirs: Any, name: str, remedy: str) -> None:
    """Raise ValueError for the first label that differs from that of ``other=``."""
    found = first_difference(ours, theirs, name)
    if found is not None:
        k, here, there = found
        msg = f"{name}[{k}] is {here!r} here and {there!r} in other=: {remedy}"
        raise ValueError(msg)
