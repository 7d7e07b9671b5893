"""The pair that a reader of the LD explorer chose, and the point under a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.visual.style import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from genobit.ld.explorer.data import Window

#: A track is about this many times as wide as high.
_ASPECT = 8


def selected_pair(
    window: Window,
    names: Sequence[str],
    selected: Sequence[int],
    statistic: str,
    blocks: xr.Dataset | None,
) -> tuple[str, list[tuple[str, str]]]:
    """Return title and values of the selected pair or variant for the card; "" for no card."""
    found = [window.index_of(k) for k in selected]
    places = [k for k in found if k is not None]
    if not 1 <= len(places) == len(found) <= 2:
        return "", []
    position = window.position[places]
    if len(places) == 1:
        return names[0], [("position", f"{position[0]:,}")]
    value = float(window.matrix.values[places[0], places[1]])
    rows = [(scale_of(statistic).label, f"{value:.3f}")]
    rows.append(("apart", f"{abs(int(position[1]) - int(position[0])) / 1e3:,.1f} kb"))
    if blocks is not None:
        rows.append(("block", _same_block(blocks, position)))
    return " × ".join(names), rows


def _same_block(blocks: xr.Dataset, position: np.ndarray) -> str:
    first, last = blocks["first_position"].values, blocks["last_position"].values
    both = np.flatnonzero((first <= position.min()) & (last >= position.max()))
    return f"{both[0] + 1} of {len(first)}" if len(both) else "none in common"


def nearest_point(
    at: np.ndarray, height: np.ndarray, x: float, y: float, seen: tuple[float, float]
) -> int:
    """Return the index of the point of a track nearest to (x, y) on the screen.

    `height` and y are shares of the height of the track, and `seen` is its range in view.
    """
    across = (at - x) / (seen[1] - seen[0]) * _ASPECT
    return int(np.argmin(np.hypot(across, np.nan_to_num(height) - y)))
