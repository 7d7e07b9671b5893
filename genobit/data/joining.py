"""Join the rows of a table to the samples or variants of a Dataset, by label."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import columns as table_columns
from genobit.data import labels, layouts, model
from genobit.data.checks import check_one_of, first_true
from genobit.data.contigs import contigs_in
from genobit.data.join_keys import (
    FAMILY,
    HEADERS,
    Keys,
    On,
    Source,
    key_column,
    key_columns,
    kind,
    labels_of,
    labels_of_rows,
    merged,
    names_in_files,
    no_match,
    places_of,
    shown,
)
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

JOINED = "joined"
"""Attribute of a Dataset: one line for each table that was joined."""


def join(
    ds: xr.Dataset,
    source: Source,
    on: On,
    columns: str | Sequence[str] | Mapping[str, str] | None,
    missing: str,
    array: xr.DataArray | None = None,
) -> xr.Dataset:
    """Return the Dataset with one more variable for each column; see ``ds.genobit.join``.

    With ``array``, the Dataset has its coordinates, and errors name the array.
    """
    data = ds if array is None else array
    check_one_of("missing", missing, ("keep", "refuse"))
    family = on is None and key_column(source.columns, FAMILY) is not None
    if on is None:
        on = (FAMILY, model.SAMPLE_ID) if family and FAMILY in ds.variables else model.SAMPLE_ID
    dim, ours = labels_of(ds, on, kind(data))
    contigs = contigs_in(ds) if model.VARIANT_CONTIG in ours else None
    names = [] if contigs is None else contigs.names.tolist()
    keys = Keys(dim, key_columns(source, on, ours), merged(ours), names, data)
    wanted = _wanted(source, keys, columns)
    frame = source.read(keys.columns.values())
    theirs = labels_of_rows(source, frame, keys, ours)
    for known in names_in_files(ds, ours):
        matched = keys._replace(labels=merged(known))
        places = places_of(matched.labels, theirs)
        if (places >= 0).any():
            break
    else:
        if family and FAMILY in ours:
            families = labels.text(frame[keys.columns[FAMILY]].to_numpy(object), FAMILY)
            if set(families) <= {"", labels.NO_FAMILY}:
                return join(ds, source, model.SAMPLE_ID, columns, missing, array)
        raise KeyError(no_match(source, keys, ours, theirs))
    keys = matched
    if missing == "refuse":
        _require_all(source, keys, places)
    variables = {
        # The fast path keeps None, which xarray would make NaN.
        variable: xr.Variable(dim, _taken(source, frame[column], column, places), fastpath=True)
        for column, variable in wanted.items()
    }
    line = _report(source, keys, places, theirs, variables)
    if family and FAMILY not in ours:
        line += f"; families are not compared, because the {kind(data)} has no {FAMILY}"
    return with_report(ds, variables, line, warn=bool((places < 0).any()))


def _taken(source: Source, column: pd.Series, name: str, places: NDArray[np.intp]) -> NDArray[Any]:
    """Return the values of a column at ``places``; an error names the table."""
    try:
        what = f"column {name!r}"
        values = table_columns.values(column, what, remedy=", or leave it out with columns=[...]")
        if not isinstance(column.dtype, pd.CategoricalDtype):
            table_columns.require_no_numbers(values, what)
        return table_columns.taken(values, places, what)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{source.name}: {error}") from error


def with_report(
    ds: xr.Dataset, variables: Mapping[str, xr.Variable], line: str, *, warn: bool
) -> xr.Dataset:
    """Return the Dataset with more variables; keep and log a line that tells where they are from.

    The line is logged as a warning with ``warn``.
    """
    logging.getLogger("genobit").log(logging.WARNING if warn else logging.INFO, line)
    # The labels of packed Datasets are coordinates.
    put = ds.assign if layouts.layout_of(ds) is None else ds.assign_coords
    before = str(ds.attrs.get(JOINED, ""))
    return put(variables).assign_attrs({JOINED: f"{before}\n{line}" if before else line})


def _wanted(
    source: Source,
    keys: Keys,
    columns: str | Sequence[str] | Mapping[str, str] | None,
) -> dict[str, str]:
    """Return the name of the new variable for each column that is joined."""
    if columns is None:
        used = set(keys.columns.values())
        names = {h for name in (model.SAMPLE_ID, FAMILY) for h in HEADERS[name]}
        ids = names if keys.dim == model.SAMPLES else set()
        wanted = {c: c for c in source.columns if c not in used and c.upper() not in ids}
    elif isinstance(columns, str):
        wanted = {columns: columns}
    else:
        wanted = dict(columns) if isinstance(columns, dict) else {c: c for c in columns}
    for column in wanted:
        if column not in source.columns:
            known = ", ".join(map(repr, source.columns))
            meant = did_you_mean(column, source.columns)
            msg = f"{source.name} has no column {column!r}: columns= takes some of {known}{meant}"
            raise KeyError(msg)
    if not wanted:
        raise ValueError(f"{source.name} has no column beside its key: nothing to join")
    for column, name in wanted.items():
        _require_free(keys.data, column, name)
    return wanted


def _require_free(data: xr.Dataset | xr.DataArray, column: str, name: str) -> None:
    """Raise ValueError if the data have the name of a new variable."""
    short, kept = ("ds", "variable") if isinstance(data, xr.Dataset) else ("da", "coordinate")
    if name in data.dims:
        held, other = f"a dimension {name!r}", ""
    elif name in (data.variables if isinstance(data, xr.Dataset) else data.coords):
        held, other = f"a {kept} {name!r}", f"drop it first, {short}.drop_vars({name!r})"
    elif isinstance(data, xr.DataArray) and name == data.name:
        held, other = f"the name {name!r}", "rename it first, da.rename('values')"
    else:
        return
    msg = (
        f"the {kind(data)} has {held} already: rename the column, "
        f"columns={{{column!r}: '{name}_2'}}, or choose others with columns=[...]"
    )
    raise ValueError(f"{msg}, or {other}" if other else msg)


def _require_all(source: Source, keys: Keys, places: NDArray[np.intp]) -> None:
    lacking = np.flatnonzero(places < 0)
    if lacking.size:
        k = int(lacking[0])
        raise ValueError(
            f"{source.name} has no row for {lacking.size:,} of {places.size:,} {keys.dim}, first "
            f"for {keys.named()}[{k}] = {shown(keys.labels[k])}: add the rows, or join with "
            "missing='keep', which gives them missing values"
        )


def _report(
    source: Source,
    keys: Keys,
    places: NDArray[np.intp],
    theirs: NDArray[np.object_],
    variables: Mapping[str, xr.Variable],
) -> str:
    """Return one line: matches, members without a row, rows without a member, values of -9."""
    names = ", ".join(list(variables)[:6]) + (", ..." * (len(variables) > 6))
    lacking = np.flatnonzero(places < 0)
    line = (
        f"{source.name} by {keys.named()}: {places.size - lacking.size:,} of {places.size:,} "
        f"{keys.dim} have a row ({names})"
    )
    if lacking.size:
        k = int(lacking[0])
        line += f"; {lacking.size:,} without, first {keys.dim}={k} ({shown(keys.labels[k])})"
    unused = np.ones(theirs.size, bool)
    unused[places[places >= 0]] = False
    if (k := first_true(unused)) >= 0:
        line += (
            f"; {int(unused.sum()):,} of {theirs.size:,} rows match none of the {keys.dim}, first "
            f"row {k} ({shown(theirs[k])})"
        )
    coded = [n for n, v in variables.items() if v.dtype.kind in "if" and (v == -9).any()]
    if coded:
        line += f"; -9 is kept as a value in {', '.join(coded)}"
    return line
