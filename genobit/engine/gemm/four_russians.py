"""Products by Four Russians tables of sums, for CPUs without a vector popcount.

The Method of the Four Russians (Arlazarov, Dinic, Kronrod, Faradzev 1970): for a panel of columns,
the sums that a few positions can add to a row are computed once (`sum_tables`). Every row then adds
the entry of its pattern. Totals in bytes are added to 16-bit sums, and these to the counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.gemm.sum_tables import (
    BIT_TABLE,
    COLUMNS,
    LANES,
    SIGN_TABLE,
    UNITS,
    WORDS,
    build_bit_tables,
    build_sign_tables,
    expand_columns,
    place_rows,
)
from genobit.engine.simd.jit import inlined, njit
from genobit.engine.simd.registers import (
    WORD_LANES,
    add_bytes,
    load_bytes,
    next_16,
    zero_bytes,
)
from genobit.engine.simd.vector import flattened, store

if TYPE_CHECKING:
    from numpy.typing import NDArray

PASSES = 2
"""Passes over the rows per word. Each adds the entries of 32 positions: of four tables of bits, or
of eight tables of signs. Eight of these take 41 KiB, more than a first-level cache of 32 KiB, but
were fastest. G products/s of the row loop in C on a Zen 3 at 3.2 GHz: 530 to 590, depending on how
common some patterns are; four tables (20 KiB) 480 to 500; six 510 to 540; eight with one register
470 to 490; three values per pattern 380 to 440. The loop loads 1.4 registers per cycle; the core
can load two. At 500 rows a fifth of the time is spent on building tables."""
LARGEST = 0xFFFF // 64
"""Most words whose sums of bits fit 16 bits. Sums of signs with their bias are up to twice that."""


@njit
def _added(
    left: Any, right: Any, word: np.uint64, tables: Any, first: int, step: int
) -> tuple[Any, Any]:
    """Add the entries at the four offsets of a word, in the tables from ``first``, to both."""
    low = np.uint64(0xFFFF)
    for k in range(first, first + UNITS):
        place = np.intp(word & low) + k * step
        left = left + load_bytes(tables, place)
        right = right + load_bytes(tables, place + LANES)
        word = next_16(word)
    return left, right


@inlined  # so that the offsets of the tables are constants
def add_entries(
    places: NDArray[np.uint64],
    more: NDArray[np.uint64] | None,
    tables: NDArray[np.uint8],
    step: int,
    fresh: bool,
    totals: NDArray[np.uint8],
    sums: NDArray[np.uint16] | None,
) -> None:
    """Add to totals (rows, COLUMNS) the entries at the offsets of places and ``more`` (rows,).

    Totals start at zero if ``fresh``. With ``sums`` (rows, COLUMNS), the totals end there.
    """
    flat = flattened(totals)
    if sums is not None:
        wide = flattened(sums)
    for i in range(totals.shape[0]):
        at = i * COLUMNS
        left, right = zero_bytes(), zero_bytes()
        if not fresh:
            left, right = load_bytes(flat, at), load_bytes(flat, at + LANES)
        left, right = _added(left, right, places[i], tables, 0, step)
        if more is not None:
            left, right = _added(left, right, more[i], tables, UNITS, step)
        if sums is None:
            store(flat, at, left)
            store(flat, at + LANES, right)
        else:
            add_bytes(wide, at, left)
            add_bytes(wide, at + LANES, right)


@njit
def _add_passes(
    values: NDArray[np.uint8],
    sign: NDArray[np.uint64] | None,
    places: NDArray[np.uint64],
    passes: int,
    top: int,
    tables: NDArray[np.uint8],
    totals: NDArray[np.uint8],
    sums: NDArray[np.uint16],
) -> None:
    """Add the entries of a block of words to sums (rows from ``top``, COLUMNS)."""
    rows = top + sums.shape[0]
    for k in range(passes):
        # Totals of six passes of bits, or of three of signs, fit a byte.
        if sign is None:
            build_bit_tables(values, 32 * k * COLUMNS, tables)
            line, more, step, within = places[k, top:rows], None, BIT_TABLE, 6
        else:
            build_sign_tables(values, 32 * k * COLUMNS, tables)
            line, more = places[2 * k, top:rows], places[2 * k + 1, top:rows]
            step, within = SIGN_TABLE, 3
        if (k + 1) % within == 0 or k + 1 == passes:
            add_entries(line, more, tables, step, k % within == 0, totals, sums)
        elif k % within:
            add_entries(line, more, tables, step, False, totals, None)
        else:
            add_entries(line, more, tables, step, True, totals, None)


@njit
def _move_sums(
    sums: NDArray[np.uint16], bias: int, left: int, fresh: bool, counts: NDArray[np.int32]
) -> None:
    """Add sums (rows, COLUMNS), less their bias, to the columns of counts from ``left``.

    If ``fresh``, write them instead.
    """
    width, less = min(COLUMNS, counts.shape[1] - left), np.int32(bias)
    for i in range(sums.shape[0]):
        part, total = sums[i, :width], counts[i, left : left + width]
        if fresh:
            for j in range(width):
                total[j] = np.int32(part[j]) - less
        else:
            for j in range(width):
                total[j] += np.int32(part[j]) - less
    sums[:] = 0


@njit
def _multiply(
    a: NDArray[np.uint64],
    a_sign: NDArray[np.uint64] | None,
    b: NDArray[np.uint64],
    b_sign: NDArray[np.uint64] | None,
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Write popcount(a & b) over n to counts, or, with signs, add the sums of products of signs.

    a (m, n), b (k, n), tops (k,), counts (m, k). Rows before ``tops`` and below the diagonal
    ``row - column == -diagonal`` may stay unwritten.
    """
    m, n = a.shape
    bias, largest = (0, LARGEST) if a_sign is None else (64, LARGEST // 2)
    panels = -(-b.shape[0] // COLUMNS)
    values = np.empty(64 * WORDS * COLUMNS, np.uint8)
    tables = np.empty((UNITS + 1) * BIT_TABLE, np.uint8)
    totals = np.empty((m, COLUMNS), np.uint8)
    # With a single block of words, each panel is finished before the next begins.
    kept = panels if n > WORDS else 1
    sums = np.zeros((kept, m, COLUMNS), np.uint16)
    # Rows of a power of two of bytes would all map to the same cache set.
    places = np.empty((2 * PASSES * WORDS, m + WORD_LANES), np.uint64)
    held, fresh = 0, a_sign is None
    if n == 0 and fresh:
        counts[:] = 0
    for first in range(0, n, WORDS):
        last = min(first + WORDS, n)
        passes = PASSES * (last - first)
        place_rows(a, a_sign, first, last, places)
        held += last - first
        full = last == n or held + WORDS > largest
        for panel in range(panels):
            left = panel * COLUMNS
            top, rows = tops[left], min(m, left + COLUMNS - diagonal)
            if rows <= top:
                continue
            expand_columns(b, b_sign, left, first, last, values)
            total = sums[panel % kept, top:rows]
            _add_passes(values, b_sign, places, passes, top, tables, totals[top:rows], total)
            if full:
                _move_sums(total, bias * held, left, fresh, counts[top:rows])
        if full:
            held, fresh = 0, False


@njit
def multiply_and(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Write popcount(a & b) over n to counts: see `_multiply`."""
    _multiply(a, None, b, None, diagonal, tops, counts)


@njit
def multiply_ternary(
    a: NDArray[np.uint64],
    a_sign: NDArray[np.uint64],
    b: NDArray[np.uint64],
    b_sign: NDArray[np.uint64],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add the sums of products of signs over n to counts: see `_multiply`."""
    _multiply(a, a_sign, b, b_sign, diagonal, tops, counts)
