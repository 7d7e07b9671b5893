"""`genobit.measurements`: frames of pandas and polars, and AnnData, as a labelled DataArray."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import columns as table_columns
from genobit.data.labels import text
from genobit.engine.own_words import own_words
from genobit.engine.schedule.dask_private import Task
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.spelling import did_you_mean
from genobit.io.tables import frame_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Labels = NDArray[np.object_] | None

_NUMBERS = "biuf"
_VARIABLES = "genes"
"""Dimension of the variables of a frame whose rows are the observations."""
_WIDE = 10
"""Columns for each row from which a frame may be transposed."""
_OBSERVED = {"cell", "cells", "iid", "patient", "patients", "sample", "sample_id", "samples"}
"""Names of an index of observations."""
CHUNK_BYTES = 2**26
"""Most bytes of a dense chunk, unless one row is larger."""


@own_words
def measurements(
    frame: Any,
    *,
    rows: str = "genes",
    observations: str = "samples",
    labels: str | None = None,
    layer: str | None = None,
) -> xr.DataArray:
    """Convert a frame or an AnnData object to a DataArray for ``da.genobit.kendall()``.

    Parameters
    ----------
    frame
        A DataFrame of pandas or polars with variables as rows and observations as columns. If the
        rows are samples, give ``rows="samples"``. An AnnData object is accepted too: ``var`` has
        the variables and ``obs`` has the observations.
    rows, observations
        Names of the two dimensions. With ``rows="samples"``, or another name equal to
        ``observations``, the frame has observations as rows. It is transposed, and its columns
        become "genes".
    labels
        Column of the frame with the labels of the rows. By default, pandas frames use their index,
        and polars frames have no labels.
    layer
        Layer of an AnnData object; the default is ``X``.

    Returns
    -------
        DataArray (rows, observations) of numbers or booleans, with the labels as text. The default
        index 0, 1, 2, ... gives no labels. Missing values are NaN. A frame and a dense matrix stay
        in memory. A sparse matrix becomes a lazy array of dense chunks. Labels may repeat;
        ``attrs["note"]`` then names the first repeated label, and the logger "genobit" warns. A
        note also says if rows and columns may be exchanged. It looks for more than ten columns for
        each row, and for an index of samples.

    Raises
    ------
    TypeError
        For columns that are not numbers, and for other kinds of tables and matrices.
    ValueError
        If both dimensions are "genes", if an index has several levels, or if two columns have
        the name that ``labels`` gives. Also if ``layer`` is given with a frame, or ``labels`` with
        an AnnData object.
    KeyError
        If ``labels`` or ``layer`` does not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"s1": [5.1, 0.2], "s2": [4.8, 0.9]}, index=["MYC", "MAX"])
    >>> expr = measurements(frame)
    >>> expr.dims, expr.genes.values.tolist()
    (('genes', 'samples'), ['MYC', 'MAX'])
    >>> expr.genobit.kendall().values
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    is_anndata = all(hasattr(frame, name) for name in ("obs_names", "var_names", "layers"))
    turned = rows == observations and rows != _VARIABLES and not is_anndata
    if rows == observations and not turned:
        raise ValueError(f"rows and observations are both named {rows!r}: give two names")
    if is_anndata:
        if labels is not None:
            raise ValueError(f"labels={labels!r} names a column of a frame; AnnData has var_names")
        values, names = _of_anndata(frame, layer)
    else:
        if layer is not None:
            raise ValueError(f"layer={layer!r} needs an AnnData object, not {type(frame).__name__}")
        values, names = _of_frame(frame, labels)
    if turned:
        rows, values, names = _VARIABLES, values.T, names[::-1]
    dims = (rows, observations)
    known = {dim: own for dim, own in zip(dims, names, strict=True) if own is not None}
    notes = [note for dim, own in known.items() if (note := _repeated(dim, own))]
    if not (turned or is_anndata) and (note := _may_be_turned(frame, values.shape, *dims)):
        notes.append(note)
    for note in notes:
        logging.getLogger("genobit").warning(note)
    return xr.DataArray(
        values,
        # A Variable keeps the objects; from plain arrays pandas makes its own text type.
        {dim: xr.Variable(dim, own) for dim, own in known.items()},
        dims,
        "measurements",
        {"note": "; ".join(notes)} if notes else {},
    )


def _of_frame(given: Any, labels: str | None) -> tuple[NDArray[Any], tuple[_Labels, _Labels]]:
    """Return values (rows, columns) of a frame, and the labels of both."""
    if isinstance(given, xr.DataArray | xr.Dataset):
        raise TypeError(
            f"measurements takes a frame or AnnData, not a {type(given).__name__}: call "
            ".genobit.kendall(dim=...) of a DataArray, dim being that of the observations"
        )
    expected = (
        "a frame of pandas or polars, or AnnData: give an array its labels, "
        "pd.DataFrame(values, genes, samples)"
    )
    frame = frame_of(given, "frame", expected)
    for axis, index in (("index", frame.index), ("columns", frame.columns)):
        if index.nlevels > 1:
            raise ValueError(
                f"the frame has {index.nlevels} levels in its {axis}, {list(index.names)}: keep "
                f"one, for example frame.droplevel(0, axis={axis!r})"
            )
    names = _texts(frame.index)
    if labels is not None:
        if labels not in frame.columns:
            listed = ", ".join(map(repr, frame.columns[:8]))
            raise KeyError(
                f"the frame has no column {labels!r} for labels=; its columns are {listed}"
                f"{did_you_mean(labels, frame.columns)}"
            )
        places = np.flatnonzero(frame.columns == labels)
        if places.size > 1:
            msg = f"columns {places[0]} and {places[1]} are both called {labels!r}: rename one"
            raise ValueError(msg)
        names = text(frame[labels].to_numpy(object), labels)
        frame = frame.drop(columns=labels)
    return _numbers(frame), (names, _texts(frame.columns))


def _texts(index: pd.Index) -> _Labels:
    default = pd.api.types.is_integer_dtype(index) and index.equals(pd.RangeIndex(len(index)))
    return None if default and index.name is None else text(index.to_numpy(object))


def _numbers(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the values of a frame; raise TypeError for columns or rows that are not numbers."""
    kinds = frame.dtypes.unique()
    if len(kinds) == 1 and isinstance(kinds[0], np.dtype) and kinds[0].kind in _NUMBERS:
        return np.asarray(frame.to_numpy())
    found = [_numbers_of_column(column, name) for name, column in frame.items()]
    others = [name for name, values in zip(frame.columns, found, strict=True) if values is None]
    if others:
        raise TypeError(_not_numbers(frame, others))
    if not found:
        msg = f"the frame of shape {frame.shape} has no column of numbers: columns are observations"
        raise TypeError(msg)
    return _stacked(cast("list[NDArray[Any]]", found), frame.columns)


def _not_numbers(frame: pd.DataFrame, others: list[Any]) -> str:
    """Say which columns are not numbers, or which rows if the columns have other numbers."""
    is_number = frame.map(lambda x: pd.isna(x) or isinstance(x, table_columns.NUMBERS))
    odd = frame.index[~is_number.all(axis=1)]
    if is_number.any(axis=0).all() and len(odd) < len(frame):
        listed = ", ".join(map(repr, odd[:4])) + (", ..." * (len(odd) > 4))
        return (
            f"{len(odd):,} of {len(frame):,} rows are not numbers: {listed}. Leave them out with "
            f"frame.drop(index={odd[:4].tolist()!r}{', ...' * (len(odd) > 4)})"
        )
    listed = ", ".join(map(repr, others[:4])) + (", ..." * (len(others) > 4))
    return (
        f"{len(others):,} of {frame.shape[1]:,} columns are not numbers: {listed}. Name the "
        f"column that has the labels of the rows, labels={others[0]!r}, and leave out others "
        "with frame.drop(columns=[...])"
    )


def _numbers_of_column(column: pd.Series, name: Any) -> NDArray[Any] | None:
    try:
        values = table_columns.values(column, f"column {name!r}")
    except TypeError:
        return None
    return values if values.dtype.kind in _NUMBERS else None


def _stacked(found: list[NDArray[Any]], names: pd.Index) -> NDArray[Any]:
    """Return columns side by side in the smallest type that holds all numbers."""
    dtype = np.result_type(*found)
    integers = all(values.dtype.kind in "biu" for values in found)
    if dtype.kind == "f" and integers:
        # numpy makes float64 of int64 beside uint64.
        dtype = np.dtype(np.uint64 if min(v.min(initial=0) for v in found) >= 0 else np.int64)
        large = [k for k, v in enumerate(found) if v.max(initial=0) > np.iinfo(dtype).max]
        if large:
            raise ValueError(
                f"column {names[large[0]]!r} has {found[large[0]].max()}, and others have negative "
                "integers: no integer of 64 bits holds both; give the ranks, frame.rank(axis=1)"
            )
    elif dtype.kind == "f":
        for name, values in zip(names, found, strict=True):
            if values.dtype.kind in "iu":
                table_columns.floats(values, f"column {name!r}")
    return np.column_stack([values.astype(dtype) for values in found])


def _of_anndata(given: Any, layer: str | None) -> tuple[Any, tuple[_Labels, _Labels]]:
    """Return values (variables, observations) of an AnnData object, and the labels of both."""
    if layer is not None and layer not in given.layers:
        listed = ", ".join(map(repr, given.layers)) or "none"
        raise KeyError(f"the AnnData object has no layer {layer!r} (layers: {listed})")
    matrix = given.X if layer is None else given.layers[layer]
    names = (text(np.asarray(given.var_names)), text(np.asarray(given.obs_names)))
    if hasattr(matrix, "tocsc"):
        return _dense_rows(matrix), names
    if hasattr(matrix, "map_blocks"):
        if hasattr(matrix._meta, "toarray"):
            meta = np.empty((0, 0), matrix.dtype)
            matrix = matrix.map_blocks(_toarray, dtype=matrix.dtype, meta=meta)
        return matrix.T, names
    if not isinstance(matrix, np.ndarray):
        kind = "no X" if matrix is None else f"a matrix of type {type(matrix).__name__}"
        msg = f"the AnnData object has {kind}: load it with adata.to_memory(), or name a layer"
        raise TypeError(msg)
    return matrix.T, names


def _dense_rows(matrix: Any) -> da.Array:
    """Return the transpose of a scipy matrix (n, rows) as a lazy dense array (rows, n).

    A task holds only the entries of its own columns.
    """
    columns = matrix.tocsc(copy=False)
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    n, rows = columns.shape
    step = max(1, CHUNK_BYTES // max(1, n * columns.dtype.itemsize))
    sizes = tuple(min(step, rows - start) for start in range(0, max(rows, 1), step))
    parts = (columns.data, columns.indices, columns.indptr)
    name, graph = named_layer("genobit-dense", _dense_tasks, *parts, n, sizes)
    return da.Array(graph, name, (sizes, (n,)), columns.dtype)


def _dense_tasks(
    name: str,
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    sizes: tuple[int, ...],
) -> dict[Any, Any]:
    tasks: dict[Any, Any] = {}
    start = 0
    for k, size in enumerate(sizes):
        bounds = indptr[start : start + size + 1]
        entries = slice(int(bounds[0]), int(bounds[-1]))
        key = (name, k, 0)
        tasks[key] = Task(key, _dense, data[entries], indices[entries], np.diff(bounds), n)
        start += size
    return tasks


def _dense(data: NDArray[Any], indices: NDArray[Any], counts: NDArray[Any], n: int) -> NDArray[Any]:
    """Return rows (len(counts), n) with their entries in place, zero elsewhere."""
    out = np.zeros((counts.size, n), data.dtype)
    out[np.repeat(np.arange(counts.size), counts), indices] = data
    return out


def _toarray(block: Any) -> NDArray[Any]:
    dense: NDArray[Any] = block.toarray()
    return dense


def _may_be_turned(frame: Any, shape: tuple[int, int], rows: str, observations: str) -> str:
    """Return a note about a frame whose rows may be the observations, or ""."""
    name = str(getattr(getattr(frame, "index", None), "name", None)).casefold()
    if shape[1] <= _WIDE * shape[0] and name not in {*_OBSERVED, observations.casefold()}:
        return ""
    return (
        f"the {shape[0]:,} rows of the frame are taken as {rows}, and its {shape[1]:,} columns as "
        f"{observations}: if the rows are {observations}, give rows={observations!r}"
    )


def _repeated(dim: str, own: NDArray[np.object_]) -> str:
    """Return a note about labels that repeat, or ""."""
    again = np.flatnonzero(pd.Index(own, dtype=object).duplicated())
    if not again.size:
        return ""
    k = int(again[0])
    return f"{again.size:,} of {own.size:,} {dim} repeat a label, first {dim}={k} ({own[k]!r})"
