"""Keys that join a table to the members of a Dataset: their columns, their text, and what lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import labels, model
from genobit.data.checks import first_true
from genobit.data.contigs import known_contigs, renamed
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

FAMILY = labels.FAMILY
On: TypeAlias = "str | Sequence[str] | Mapping[str, str] | None"
"""Variables of a key, or their columns; None is `sample_id`, with the family if both have it."""
HEADERS = {
    model.SAMPLE_ID: ("IID",),
    FAMILY: ("FID",),
    **dict.fromkeys((model.SAMPLES, "sample"), ("SAMPLE_ID", "SAMPLE", "IID")),
    model.VARIANT_ID: ("SNP", "ID"),
    model.VARIANT_CONTIG: ("CHROM", "CHR"),
    model.VARIANT_POSITION: ("POS", "BP"),
}
"""Names that PLINK gives to columns with the values of a variable."""
_BETWEEN = "\x1f"
"""Separator of the parts of a key."""


class Source(NamedTuple):
    """A table that is read once its key columns are known."""

    name: str
    """Name of the table in messages."""
    columns: list[str]
    read: Callable[[Collection[str] | None], pd.DataFrame]
    """Return the rows, with the given columns (None: all columns) as text where that matters."""
    unnamed: str = ""
    """Column that is an index without a name."""

    def called(self, column: str) -> str:
        """Return the name of a column in messages."""
        return "the index" if column == self.unnamed else repr(column)


class Keys(NamedTuple):
    """Labels of the members of a dimension."""

    dim: str
    columns: dict[str, str]
    """Column of the table for each variable of the Dataset."""
    labels: NDArray[np.object_]
    """One text per member."""
    contigs: list[str]
    """Names of the contigs of the Dataset."""
    data: xr.Dataset | xr.DataArray
    """Data that get the columns."""

    def named(self) -> str:
        """Return the variables of the key, for messages."""
        return ", ".join(self.columns)


def kind(data: xr.Dataset | xr.DataArray) -> str:
    """Return the name of data in messages."""
    return "Dataset" if isinstance(data, xr.Dataset) else "DataArray"


def labels_of(
    ds: xr.Dataset, on: str | Sequence[str] | Mapping[str, str], of: str
) -> tuple[str, dict[str, NDArray[np.object_]]]:
    """Return the dimension of the keys, and their labels as text for each variable."""
    names = [on] if isinstance(on, str) else list(on)
    if not names:
        raise ValueError("on= names no variable: give for example on='sample_id'")
    dims = []
    for name in names:
        if name not in ds.variables or ds[name].ndim != 1:
            along = [str(k) for k, v in ds.variables.items() if v.ndim == 1]
            known = ", ".join(k for k in along if k not in model.BIT.values()) or "none"
            raise KeyError(
                f"the {of} has no variable {name!r} along one dimension (such variables: "
                f"{known}){did_you_mean(name, along)} Name one of them with on=; a table "
                "whose key has another name takes on={'sample_id': 'column'}"
            )
        dims.append(str(ds[name].dims[0]))
    if len(set(dims)) > 1:
        raise ValueError(
            f"on= names variables along {dims[0]!r} ({names[0]}) and other dimensions "
            f"({', '.join(n for n, d in zip(names, dims, strict=True) if d != dims[0])}): join "
            "along one dimension at a time"
        )
    return dims[0], {name: _text_of(ds, name) for name in names}


def _text_of(ds: xr.Dataset, name: str) -> NDArray[np.object_]:
    if name == model.VARIANT_CONTIG:
        return known_contigs(ds).of_variants()
    return labels.text(ds[name].values, name)


def merged(parts: Mapping[str, NDArray[np.object_]]) -> NDArray[np.object_]:
    """Return one text for each key, given the labels of each variable; empty if a part is.

    Beside an individual, a family without a name is that of PLINK.
    """
    if {FAMILY, model.SAMPLE_ID} <= parts.keys():
        family = parts[FAMILY]
        parts = {**parts, FAMILY: np.where(family == "", labels.NO_FAMILY, family)}
    columns = list(parts.values())
    if len(columns) == 1:
        return columns[0]
    out = np.empty(len(columns[0]), object)
    out[:] = [_BETWEEN.join(key) if all(key) else "" for key in zip(*columns, strict=True)]
    return out


def places_of(ours: NDArray[np.object_], theirs: NDArray[np.object_]) -> NDArray[np.intp]:
    """Return the row of each of our labels, -1 for none."""
    places: NDArray[np.intp] = pd.Index(theirs, dtype=object).get_indexer(
        pd.Index(ours, dtype=object)
    )
    places[ours == ""] = -1
    return places


def names_in_files(
    ds: xr.Dataset, ours: dict[str, NDArray[np.object_]]
) -> Iterator[dict[str, NDArray[np.object_]]]:
    """Yield keys with individual ids as files have them, then with the names of the Dataset."""
    if {FAMILY, model.SAMPLE_ID} <= ours.keys():
        names, attrs = ours[model.SAMPLE_ID], ds[model.SAMPLE_ID].attrs
        yield {**ours, model.SAMPLE_ID: labels.individuals(ours[FAMILY], names, attrs)}
    yield ours


def shown(key: str) -> str:
    """Return a key for messages."""
    return repr(key.replace(_BETWEEN, " "))


def key_columns(
    source: Source,
    on: str | Sequence[str] | Mapping[str, str],
    ours: Mapping[str, NDArray[np.object_]],
) -> dict[str, str]:
    """Return the column of the table for each variable, by its own name or that of PLINK."""
    given = dict(on) if isinstance(on, dict) else {}
    found = {}
    for name in ours:
        column = key_column(source.columns, name, given.get(name))
        if column is None:
            raise KeyError(_no_column(source, given.get(name, name), name, ours))
        found[name] = column
    return found


def key_column(columns: Sequence[str], name: str, given: str | None = None) -> str | None:
    """Return the column of a variable: the one given, its own name, or that of PLINK; or None."""
    wanted = name if given is None else given
    if wanted in columns or given is not None:
        return wanted if wanted in columns else None
    by_upper = {column.upper(): column for column in reversed(columns)}
    return next(
        (by_upper[n] for n in (name.upper(), *HEADERS.get(name, ())) if n in by_upper), None
    )


def _no_column(
    source: Source, column: str, name: str, ours: Mapping[str, NDArray[np.object_]]
) -> str:
    listed = ", ".join(map(repr, source.columns[:12])) + (", ..." * (len(source.columns) > 12))
    also = "".join(f", nor {other!r}" for other in HEADERS.get(name, ()) if column == name)
    start = f"{source.name} has no column {column!r}{also} (columns: {listed or 'none'}): "
    if set(source.columns) & set(ours[name]):
        return start + (
            f"its first line has the label of one of the {name}, so it has no header. Read it with "
            "pd.read_csv(..., header=None, names=[...], dtype=str), and give the frame"
        )
    return start + (
        _candidates(source, {name: ours[name]})
        or (f"name the column that has the values of {name}: on={{{name!r}: 'column'}}")
    )


def _candidates(source: Source, ours: Mapping[str, NDArray[np.object_]]) -> str:
    """Return the column that has most of our labels of one variable, as advice; "" for none."""
    frame = source.read(None)
    best: tuple[int, str, str] = (0, "", "")
    for name, values in ours.items():
        known = pd.Index(values[values != ""], dtype=object)
        for column in source.columns:
            count = int(known.isin(labels.text(frame[column].to_numpy(object), column)).sum())
            best = max(best, (count, name, column), key=lambda found: found[0])
    count, name, column = best
    if not count:
        return ""
    return (
        f"column {column!r} has {count:,} of the {len(ours[name]):,} {name}; "
        f"did you mean on={{{name!r}: {column!r}}}?"
    )


def no_match(
    source: Source,
    keys: Keys,
    ours: Mapping[str, NDArray[np.object_]],
    theirs: NDArray[np.object_],
) -> str:
    """Return the error for a table that has no row for any member."""
    here, there = (", ".join(map(shown, side[:3])) or "none" for side in (keys.labels, theirs))
    columns = " and ".join(map(source.called, keys.columns.values()))
    of = kind(keys.data)
    start = (
        f"no {keys.named()} of the {of} is in {columns} of {source.name}: the {of} has "
        f"{here}, the table {there}. "
    )
    alone = {name: own for name, own in ours.items() if name != FAMILY or len(ours) == 1}
    others = _candidates(source, alone) if len(alone) == 1 else ""
    if others:
        return start + others[0].upper() + others[1:]
    if keys.columns.keys() == {model.SAMPLE_ID} and any("_" in label for label in keys.labels):
        return start + (
            "open_plink writes sample_id as FAMILY_INDIVIDUAL where individual ids repeat: give a "
            f"table with the columns FID and IID, which match {FAMILY} and {model.SAMPLE_ID}"
        )
    return start + "Give a table of these labels, or name another variable with on="


def labels_of_rows(
    source: Source,
    frame: pd.DataFrame,
    keys: Keys,
    ours: Mapping[str, NDArray[np.object_]],
) -> NDArray[np.object_]:
    """Return the key of each row; raise ValueError if one is missing or repeated."""
    parts = {
        name: labels.text(frame[column].to_numpy(object), column)
        for name, column in keys.columns.items()
    }
    if model.VARIANT_CONTIG in parts:
        contig = parts[model.VARIANT_CONTIG]
        parts[model.VARIANT_CONTIG] = renamed(contig, keys.contigs)
    found = merged(parts)
    for name, column in keys.columns.items():
        empty = first_true(parts[name] == "")
        if empty >= 0 and not (name == FAMILY and len(parts) > 1):
            raise ValueError(
                f"{source.called(column)} of {source.name} is empty in row {empty}: remove the "
                "row, or write its label. Row 0 is the first below the header"
            )
    first, second = labels.first_repeat(found)
    if second:
        columns = " and ".join(map(source.called, keys.columns.values()))
        remedy = "keep one row for each"
        family = key_column(source.columns, FAMILY)
        if source.unnamed in keys.columns.values():
            remedy = _candidates(source, ours) or remedy
        elif keys.columns.keys() == {model.SAMPLE_ID} and family is not None:
            remedy = (
                f"{remedy}, or tell them apart by {family!r}: give the {kind(keys.data)} the "
                f"families as {FAMILY} ({keys.dim}), and join on=({FAMILY!r}, {model.SAMPLE_ID!r})"
            )
        raise ValueError(
            f"{columns} of {source.name} is {shown(found[second])} in row {first} and in row "
            f"{second}: {remedy}. Row 0 is the first below the header"
        )
    return found
