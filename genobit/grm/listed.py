"""Related pairs of samples in a table: of `genobit`, of KING or plink, or of two ids and a value.

Samples are matched by their ids. Positions are matched where neither side has ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data import labels, model
from genobit.data.pairs.table import PairTable
from genobit.engine.progress import warn
from genobit.grm.matrix import LONG_NAMES
from genobit.io.tables import frame_of

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

_ID_COLUMNS = (("sample_id_0", "sample_id_1"), ("IID1", "IID2"), ("ID1", "ID2"))
"""Columns of ids: of `grm_pairs`, plink, and KING."""
_FAMILY_COLUMNS = (("sample_family_id_0", "sample_family_id_1"), ("FID1", "FID2"))
_PLACES = ("sample_0", "sample_1")
KINSHIPS = ("king", "KINSHIP", "Kinship")
_VALUES = (*KINSHIPS, *(name for name in LONG_NAMES if name != "king"), "PI_HAT")
"""Columns of values: of `grm_pairs`, plink2 and KING, and plink 1.9."""
KINSHIP_THRESHOLD = 0.0884


class Listed(NamedTuple):
    """Related pairs of a table."""

    pairs: NDArray[np.int64]
    """(2, pairs), each once, the earlier sample first."""
    threshold: float
    value: str
    """Column of the values."""
    left_out: int
    """Related pairs of which the Dataset lacks a sample."""


def listed(ds: xr.Dataset, table: Any, threshold: float | None) -> Listed:
    """Return the pairs of a table with a value above the threshold; see ``ds.genobit.unrelated``.

    Raises KeyError if no id is a sample, and ValueError for a table without ids or values, and for
    a threshold below that of the table.
    """
    frame, value = _frame(table)
    ends = _ends(frame, value)
    limit = _threshold(threshold, value, frame.attrs.get("threshold"))
    values = frame[value]
    if values.dtype.kind not in "iuf":
        msg = f"column {value!r} of pairs= is of {values.dtype}, expected numbers: convert it"
        raise TypeError(msg)
    places = _positions(ds, frame, ends)
    related = values.to_numpy(np.float64, na_value=np.nan) > limit
    known = related & (places >= 0).all(axis=0)
    # A table of a matrix has each sample with itself.
    different = known & (places[0] != places[1])
    pairs = np.unique(np.sort(places[:, different], axis=0), axis=1)
    return Listed(pairs, limit, value, int(related.sum() - known.sum()))


def _frame(table: Any) -> tuple[pd.DataFrame, str]:
    """Return the table in memory, and the name of its column of values."""
    if isinstance(table, PairTable):
        return table.to_dataframe(), table.value
    expected = "a PairTable or a DataFrame; read a file with gb.open_pairs or pd.read_csv"
    frame = frame_of(table, "pairs=", expected)
    # plink2 marks its header.
    frame = frame.rename(columns={name: str(name).removeprefix("#") for name in frame.columns})
    again = frame.columns[frame.columns.duplicated()]
    if len(again):
        msg = f"pairs= has several columns {again[0]!r}: keep one"
        raise ValueError(msg)
    found = [name for name in _VALUES if name in frame.columns]
    if not found and frame.shape[1] == 3:
        found = [frame.columns[2]]
    if len(found) != 1:
        msg = (
            f"pairs= has {len(found) or 'no'} columns of values ({_listed(found or frame)}): give "
            "three columns, two ids and a value, or name the value 'king'"
        )
        raise ValueError(msg)
    return frame, str(found[0])


def _ends(frame: pd.DataFrame, value: str) -> tuple[str, str]:
    """Return the columns of both samples: their ids, or else their positions."""
    for pair in (*_ID_COLUMNS, _PLACES):
        if {*pair} <= {*frame.columns}:
            return pair
    if frame.shape[1] == 3 and frame.columns[2] == value:
        return frame.columns[0], frame.columns[1]
    msg = (
        f"pairs= has the columns {_listed(frame)}, and two of them must be ids: name them "
        "'sample_id_0' and 'sample_id_1', or give three columns, two ids and a value"
    )
    raise ValueError(msg)


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))


def _threshold(given: float | None, value: str, lowest: float | None) -> float:
    """Return the threshold; it may not be below that of the table, which lacks such pairs."""
    if given is None and value not in KINSHIPS:
        msg = f"pairs= has values of {value!r}: give threshold=, above which a pair is related"
        raise ValueError(msg)
    limit = KINSHIP_THRESHOLD if given is None else given
    if lowest is not None and lowest > limit:
        msg = (
            f"threshold={limit} is below {lowest}, the least value of pairs=: list the pairs with "
            f"grm_pairs(threshold={limit}), or give threshold={lowest}"
        )
        raise ValueError(msg)
    return limit


def _positions(ds: xr.Dataset, frame: pd.DataFrame, ends: tuple[str, str]) -> NDArray[np.intp]:
    """Return the position of both samples of each pair (2, pairs); -1 for none of the Dataset."""
    if ends == _PLACES:
        return _given_positions(ds, frame)
    ours = labels.ids(ds, model.SAMPLES)
    if ours is None:
        msg = f"pairs= names samples, and the Dataset has no {model.SAMPLE_ID}: assign the ids"
        raise KeyError(msg)
    theirs = [labels.text(frame[name].to_numpy(object), str(name)) for name in ends]
    index = pd.Index(ours)
    if index.has_duplicates:
        index, theirs = _with_families(ds, frame, ours, theirs)
    found = np.stack([index.get_indexer(each) for each in theirs])
    if found.size and (found < 0).all():
        msg = (
            f"no sample of the Dataset is in {ends[0]!r} or {ends[1]!r} of pairs=: the Dataset has "
            f"{_listed(ours[:3])}, the table {_listed(theirs[0][:3])}"
        )
        raise KeyError(msg)
    _warn_of_numbers(ours, np.unique(np.concatenate(theirs)[found.reshape(-1) < 0]))
    return found


def _warn_of_numbers(ours: NDArray[Any], unknown: NDArray[Any]) -> None:
    """Warn if an unknown id is one of ours as a number: 7 for 007, or 1.0 for 1."""
    numbers = pd.Series(ours, pd.to_numeric(pd.Series(ours, dtype=object), errors="coerce"))
    for name, number in zip(unknown, pd.to_numeric(pd.Series(unknown), "coerce"), strict=True):
        if pd.notna(number) and number in numbers.index:
            other = str(np.atleast_1d(numbers.loc[number])[0])
            warn(f"{name!r} is no sample, but {other!r} is: read the table with dtype=str")
            return


def _with_families(
    ds: xr.Dataset, frame: pd.DataFrame, ours: NDArray[Any], theirs: list[NDArray[Any]]
) -> tuple[pd.Index, list[NDArray[Any]]]:
    """Return the ids of both sides with the family before each."""
    families = labels.texts_along(ds, labels.FAMILY, model.SAMPLES)
    columns = next((pair for pair in _FAMILY_COLUMNS if {*pair} <= {*frame.columns}), None)
    if families is not None and columns is not None:
        index = pd.Index(families + "\t" + ours)
        if not index.has_duplicates:
            before = [labels.text(frame[name].to_numpy(object), name) for name in columns]
            return index, [a + "\t" + b for a, b in zip(before, theirs, strict=True)]
    repeated = ours[pd.Index(ours).duplicated()][0]
    msg = (
        f"{model.SAMPLE_ID} {repeated!r} is repeated, so ids do not tell the samples of pairs= "
        "apart: give families on both sides, or rename samples"
    )
    raise ValueError(msg)


def _given_positions(ds: xr.Dataset, frame: pd.DataFrame) -> NDArray[np.intp]:
    """Return positions, which must be those of the samples of this Dataset."""
    if labels.ids(ds, model.SAMPLES) is not None:
        msg = (
            f"pairs= has positions of samples and no ids, and the Dataset has {model.SAMPLE_ID}: "
            "list the pairs of a Dataset with ids, or add the columns 'sample_id_0' and "
            "'sample_id_1'"
        )
        raise ValueError(msg)
    n, found = ds.sizes[model.SAMPLES], np.stack([frame[name].to_numpy() for name in _PLACES])
    if found.size and (found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= n):
        msg = (
            f"pairs= has positions {_PLACES[0]!r} and {_PLACES[1]!r} up to {found.max()}, but the "
            f"Dataset has {n:,} samples: take the Dataset of which the table is, or give ids"
        )
        raise ValueError(msg)
    return found.astype(np.intp)
