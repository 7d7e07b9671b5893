"""Tables of the variants, or of the strongest pairs, in an LD picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.ld.plots.result import computed, variant_names
from genobit.visual.tables import Column, draw_table, numbers

if TYPE_CHECKING:
    import holoviews as hv
    import xarray as xr

#: Most rows: nobody reads a longer list.
LISTED = 1_000
_MISSING = {"nan_format": "–"}
_STATISTIC = Column(100, numbers("0.000", **_MISSING))
_COLUMNS = {
    "variant": Column(100),
    "first": Column(100),
    "second": Column(100),
    "position": Column(85, numbers("0,0", **_MISSING)),
    "apart (kb)": Column(80, numbers("0,0.0", **_MISSING)),
    "MAF": Column(55, numbers("0.000", **_MISSING)),
    "r² with lead": Column(85, numbers("0.000", **_MISSING)),
}


def variants_table(
    matrix: xr.DataArray, frequency: np.ndarray, lead_row: xr.DataArray | None = None
) -> hv.Table:
    """Return an hv.Table of the variants of a window, one row per variant, in their order.

    Shapes: frequency of the counted allele (variants,); r² with a lead variant (variants, 1).
    """
    columns: dict[str, Any] = {
        "variant": variant_names(matrix, 0),
        "position": matrix["variant_position_0"].values,
        "MAF": np.minimum(frequency, 1 - frequency),
    }
    if lead_row is not None:
        columns["r² with lead"] = lead_row.values[:, 0].astype("f8")
    return _table(columns)


def pairs_table(matrix: xr.DataArray, pairs: np.ndarray) -> hv.Table:
    """Return an hv.Table of pairs (n, 2) of a window, from `strongest_pairs`, one row per pair."""
    matrix, scale = computed(matrix)
    names, position = variant_names(matrix, 0), matrix["variant_position_0"].values
    first, second = pairs.T
    return _table(
        {
            "first": names[first],
            "second": names[second],
            "apart (kb)": np.abs(position[second] - position[first]) / 1e3,
            scale.label: matrix.values[first, second].astype("f8"),
        }
    )


def strongest_pairs(values: np.ndarray, least: float, limit: int = LISTED) -> tuple[Any, int]:
    """Return the pairs farthest from 0, and the number of pairs at least `least` from 0.

    values: (variants, variants) symmetric; returns at most `limit` pairs (n, 2), strongest first.

    Examples
    --------
    >>> values = np.array([[1, 0.2, -0.9], [0.2, 1, np.nan], [-0.9, np.nan, 1]])
    >>> pairs, count = strongest_pairs(values, 0.5)
    >>> pairs.tolist(), count
    ([[0, 2]], 1)
    """
    size = np.triu(np.abs(values), k=1)
    first, second = np.nonzero(size >= max(least, np.finfo("f4").tiny))
    strength = size[first, second]
    count = len(strength)
    if count > limit:
        kept = np.sort(np.argpartition(-strength, limit)[:limit])
        first, second, strength = first[kept], second[kept], strength[kept]
    order = np.argsort(-strength, kind="stable")
    return np.column_stack([first, second])[order], count


def _table(values: dict[str, Any]) -> hv.Table:
    columns = {name: _COLUMNS.get(name, _STATISTIC) for name in values}
    width = sum(column.width for column in columns.values()) + 30
    return draw_table(values, columns, width=width, height=420, fit=False)
