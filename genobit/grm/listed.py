"""Related pairs of samples in a table: of `genobit`, of KING or plink, or of two ids and a value.

Samples are matched by their ids. Positions are matched where neither side has ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data import labels, model
from genobit.data.checks import check_number
from genobit.data.join_keys import merged, places_of, shown
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


def limit_of(given: float | None, value: str = "king") -> float:
    """Return the threshold above which a pair is related; only kinship has a default."""
    remedy = "give the kinship above which a pair is related, from 0 to 0.5"
    if given is not None:
        check_number("threshold", given, remedy)
    elif value not in KINSHIPS:
        msg = f"pairs= has values of {value!r}: give threshold=, above which a pair is related"
        raise ValueError(msg)
    limit = KINSHIP_THRESHOLD if given is None else given
    if value in KINSHIPS and not 0 <= limit <= 0.5:
        msg = f"threshold={given!r} is outside [0, 0.5]: {remedy}"
        raise ValueError(msg)
    return limit


def listed(
    ds: xr.Dataset, table: Any, threshold: float | None
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return the pairs of a table with a value above the threshold, and attributes of the result.

    The pairs are (2, pairs), each once, the earlier sample first. See ``ds.genobit.unrelated``.
    Raises KeyError if no id is a sample, and ValueError for a table without ids or values, and for
    a threshold below that of the table.
    """
    frame, value = _frame(table)
    ends = _ends(frame, value)
    limit, lowest = limit_of(threshold, value), frame.attrs.get("threshold")
    if lowest is not None and lowest > limit:
        msg = (
            f"threshold={limit} is below {lowest}, the least value of pairs=: list the pairs with "
            f"grm_pairs(threshold={limit}), or give threshold={lowest}"
        )
        raise ValueError(msg)
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
    left_out = int(related.sum() - known.sum())
    return pairs, {"threshold": limit, "value": value, "pairs_left_out": left_out}


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
            f"pairs= has {len(found) or 'no'} columns of values ({_quoted(found or frame)}): give "
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
        f"pairs= has the columns {_quoted(frame)}, and two of them must be ids: name them "
        "'sample_id_0' and 'sample_id_1', or give three columns, two ids and a value"
    )
    raise ValueError(msg)


def _quoted(names: Any) -> str:
    return ", ".join(map(repr, names))


def _positions(ds: xr.Dataset, frame: pd.DataFrame, ends: tuple[str, str]) -> NDArray[np.intp]:
    """Return the position of both samples of each pair (2, pairs); -1 for none of the Dataset."""
    if ends == _PLACES:
        return _given_positions(ds, frame)
    ids = labels.ids(ds, model.SAMPLES)
    if ids is None:
        msg = f"pairs= names samples, and the Dataset has no {model.SAMPLE_ID}: assign the ids"
        raise KeyError(msg)
    parts, columns = {model.SAMPLE_ID: ids}, {model.SAMPLE_ID: ends}
    families = labels.texts_along(ds, labels.FAMILY, model.SAMPLES)
    of_families = next((pair for pair in _FAMILY_COLUMNS if {*pair} <= {*frame.columns}), None)
    if pd.Index(ids).has_duplicates and families is not None and of_families is not None:
        parts[labels.FAMILY], columns[labels.FAMILY] = families, of_families
    ours = merged(parts)
    again = pd.Index(ours).duplicated()
    if again.any():
        msg = (
            f"{model.SAMPLE_ID} {ids[again][0]!r} is repeated, so ids do not tell the samples of "
            "pairs= apart: give families on both sides, or rename samples"
        )
        raise ValueError(msg)
    theirs = [
        merged({k: _text(frame, pair[side]) for k, pair in columns.items()}) for side in (0, 1)
    ]
    found = np.stack([places_of(each, ours) for each in theirs])
    if found.size and (found < 0).all():
        here, there = (", ".join(map(shown, side[:3])) for side in (ours, theirs[0]))
        msg = (
            f"no sample of the Dataset is in {ends[0]!r} or {ends[1]!r} of pairs=: the Dataset has "
            f"{here}, the table {there}"
        )
        raise KeyError(msg)
    _warn_of_numbers(ids, np.unique(np.concatenate(theirs)[found.reshape(-1) < 0]))
    return found


def _text(frame: pd.DataFrame, name: Any) -> NDArray[np.object_]:
    return labels.text(frame[name].to_numpy(object), str(name))


def _warn_of_numbers(ours: NDArray[Any], unknown: NDArray[Any]) -> None:
    """Warn if an unknown id is one of ours as a number: 7 for 007, or 1.0 for 1."""
    numbers = pd.Series(ours, pd.to_numeric(pd.Series(ours, dtype=object), errors="coerce"))
    for name, number in zip(unknown, pd.to_numeric(pd.Series(unknown), "coerce"), strict=True):
        if pd.notna(number) and number in numbers.index:
            other = str(np.atleast_1d(numbers.loc[number])[0])
            warn(f"{name!r} is no sample, but {other!r} is: read the table with dtype=str")
            return


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
