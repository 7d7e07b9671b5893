"""Shared loops of the Four Russians kernels: rows add entries of tables of sums.

A unit is a few positions; a row has one of a few hundred patterns there. One table serves one unit
and one panel of columns. It holds, in one byte per column, the sum that each pattern adds. A row
adds the entries of four units at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import BYTE_LANES, add_bytes, load_bytes, next_16, zero_bytes
from genobit.engine.simd.vector import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = BYTE_LANES
COLUMNS = 2 * LANES
"""Columns of a panel: two registers, so that each table offset is loaded for twice the work."""
ENTRY = COLUMNS
"""Bytes per table entry."""
PLACE_BITS = np.uint64(ENTRY.bit_length() - 1)
"""Shift that turns a pattern's number into the byte offset of its entry."""
UNITS = 4
"""Units per pass over the rows: four 16-bit offsets fill a word."""
MOST_PATTERNS = 2**16 // ENTRY
"""Most patterns of a unit whose byte offsets fit 16 bits."""
# The signs of three observations with two others, with ties, have 9**3 patterns
# (`kendall.kernels.lonesum_tables`), the most of all units.
assert MOST_PATTERNS >= 9**3, f"places of entries of {ENTRY} bytes do not fit 16 bits"  # noqa: S101


@njit
def _added(left: Any, right: Any, word: np.uint64, tables: Any, step: int) -> tuple[Any, Any]:
    """Add the entries at the four offsets of a word to both registers."""
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
    """Add to totals (rows, COLUMNS) the entries at the offsets of places (rows,).

    Totals start at zero if ``fresh``.
    """
    flat = totals.reshape(-1)
    for i in range(totals.shape[0]):
        at = i * COLUMNS
        left, right = zero_bytes(), zero_bytes()
        if not fresh:
            left, right = load_bytes(flat, at), load_bytes(flat, at + LANES)
        left, right = _added(left, right, places[i], tables, step)
        store(flat, at, left)
        store(flat, at + LANES, right)


@njit
def add_last(
    places: NDArray[np.uint64],
    tables: NDArray[np.uint8],
    step: int,
    totals: NDArray[np.uint8],
    sums: NDArray[np.uint16],
) -> None:
    """Add the last entries that fit a byte, then add the totals to sums (rows, COLUMNS)."""
    flat, wide = totals.reshape(-1), sums.reshape(-1)
    for i in range(totals.shape[0]):
        at = i * COLUMNS
        left, right = load_bytes(flat, at), load_bytes(flat, at + LANES)
        left, right = _added(left, right, places[i], tables, step)
        add_bytes(wide, at, left)
        add_bytes(wide, at + LANES, right)
