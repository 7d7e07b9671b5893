"""Rows that add entries of tables of sums: what the kernels of the Four Russians share.

A unit is what one table is for: some positions of which a row has one of a few hundred patterns.
For a panel of columns the table holds what each pattern adds to each column, a byte each, and a
row adds the entries of its patterns of four units at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import (
    BYTE_LANES,
    add_bytes,
    load_bytes,
    next_16,
    store_bytes,
    zero_bytes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = BYTE_LANES
COLUMNS = 2 * LANES
"""Columns of a panel: two registers, so that a place is loaded for twice the work."""
ENTRY = COLUMNS
"""Bytes of an entry."""
PLACE_BITS = np.uint64(ENTRY.bit_length() - 1)
"""How far a pattern's number is shifted to be its place."""
UNITS = 4
"""Units whose tables a pass of the rows adds from: four places, of 16 bits, fill a word."""
MOST_PATTERNS = 2**16 // ENTRY
"""Patterns of a unit whose places fit 16 bits."""
# Signs of three observations with two, tied or not: no unit has more patterns (`order_tables`).
assert MOST_PATTERNS >= 9**3, f"places of entries of {ENTRY} bytes do not fit 16 bits"  # noqa: S101


@njit
def _added(left: Any, right: Any, word: np.uint64, tables: Any, step: int) -> tuple[Any, Any]:
    """Add to both registers the entries of the four places of a word."""
    low = np.uint64(0xFFFF)
    for k in range(UNITS):
        place = np.intp(word & low) + k * step
        left = left + load_bytes(tables, place)
        right = right + load_bytes(tables, place + LANES)
        word = next_16(word)
    return left, right


@njit
def add_entries(
    places: NDArray[np.uint64],
    tables: NDArray[np.uint8],
    step: int,
    fresh: bool,
    totals: NDArray[np.uint8],
) -> None:
    """Each row adds the entries of its places (rows,) to its totals (rows, COLUMNS).

    Totals begin anew where they are ``fresh``.
    """
    flat = totals.reshape(-1)
    for i in range(totals.shape[0]):
        at = i * COLUMNS
        left, right = zero_bytes(), zero_bytes()
        if not fresh:
            left, right = load_bytes(flat, at), load_bytes(flat, at + LANES)
        left, right = _added(left, right, places[i], tables, step)
        store_bytes(flat, at, left)
        store_bytes(flat, at + LANES, right)


@njit
def add_last(
    places: NDArray[np.uint64],
    tables: NDArray[np.uint8],
    step: int,
    totals: NDArray[np.uint8],
    sums: NDArray[np.uint16],
) -> None:
    """The same for the last tables whose sums a byte holds: totals move to sums (rows, COLUMNS)."""
    flat, wide = totals.reshape(-1), sums.reshape(-1)
    for i in range(totals.shape[0]):
        at = i * COLUMNS
        left, right = load_bytes(flat, at), load_bytes(flat, at + LANES)
        left, right = _added(left, right, places[i], tables, step)
        add_bytes(wide, at, left)
        add_bytes(wide, at + LANES, right)
