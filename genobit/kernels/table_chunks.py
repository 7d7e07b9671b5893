"""Tables of a few last parts at a time, so few that they stay in the first-level cache.

Counts are of samples with at least so many copies, or any call: cells are what subtractions leave,
along the last part's members and then along the first's. Those along the last part's are done for
a line of counts, and lines of subsets of the first parts, which many first parts share, are done
before the first parts are gone through.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit._jit import njit
from genobit.kernels.scratch import Scratch

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from genobit.kernels.combination_tables import Block, Cells

CHUNK_BYTES = 24 * 2**10
"""Most bytes of the tables of a chunk: three quarters of a first-level cache of 32 KiB."""
NARROWEST, WIDEST = 16, 256
LARGEST_SHORT = 2**15 - 1
"""Most samples of a class whose counts 16 bits hold: twice as many to a register."""


class Chunk(NamedTuple):
    """Room for the tables of a few last parts."""

    tables: NDArray[Any]
    """(classes, patterns of a first part, of a last part, width), whole numbers of 16 or 32 bits;
    what stands beyond the last parts that there are is of no account."""
    shared: NDArray[Any]
    """(classes, 1 + lines of subsets of the first parts, patterns of a last part, width)."""


def room(counted: Block, scratch: Scratch | None = None) -> Chunk:
    """Room for the tables of a block, in ``scratch`` until the next one."""
    scratch = scratch or Scratch()
    classes = len(counted.counts)
    rows, columns = counted.rows.choices.size, counted.columns.choices.size
    dtype = np.dtype(np.int16 if counted.sizes.max() <= LARGEST_SHORT else np.int32)
    fitting = CHUNK_BYTES // (classes * rows * columns * dtype.itemsize)
    most = max(NARROWEST, min(fitting, WIDEST) // NARROWEST * NARROWEST)
    n = max(1, counted.column_places.shape[1])
    # Chunks of one size: what a narrower last one leaves is worked out, too.
    width = math.ceil(n / math.ceil(n / most) / NARROWEST) * NARROWEST
    lines = int(counted.rows.starts[-1]) if counted.rows.choices[0] == 0 else 0
    return Chunk(
        scratch.array("tables", (classes, rows, columns, width), dtype),
        scratch.array("shared cells", (classes, 1 + lines, columns, width), dtype),
    )


@njit
def share(counted: Block, places: NDArray[np.uint64], start: int, chunk: Chunk) -> None:
    """Cells of the subsets of first parts, with last parts from ``start`` on."""
    if counted.rows.choices[0]:
        return
    for c in range(len(counted.counts)):
        alone = counted.column_counts[c].astype(np.int32)
        shared = chunk.shared[c]
        _cells_of(alone, counted.sizes[c], counted.columns, places, start, shared[0])
        for line in range(shared.shape[0] - 1):
            total = counted.row_counts[c][line]
            counts = counted.counts[c][line]
            _cells_of(counts, total, counted.columns, places, start, shared[1 + line])


@njit
def fill(row: int, counted: Block, places: NDArray[np.uint64], start: int, chunk: Chunk) -> None:
    """Tables of first part ``row`` with last parts from ``start`` on.

    The last member's genotype changes fastest.
    """
    rows = counted.rows
    patterns = rows.choices.shape[0]
    every = rows.choices[patterns - 1]
    for c in range(len(counted.counts)):
        tables = chunk.tables[c]
        for i in range(patterns):
            choice = rows.choices[i]
            line = rows.starts[i] + rows.strides[i] * counted.row_places[choice, row]
            if choice == every:
                counts, total = counted.counts[c][line], counted.row_counts[c][line]
                _cells_of(counts, total, counted.columns, places, start, tables[i])
            else:
                source = chunk.shared[c, line + 1 if choice else 0].reshape(-1)
                target = tables[i].reshape(-1)
                for k in range(target.shape[0]):
                    target[k] = source[k]
        _separate(tables.reshape(-1), tables[0].size)


@njit
def _cells_of(
    counts: NDArray[np.int32],
    total: int,
    columns: Cells,
    places: NDArray[np.uint64],
    start: int,
    cells: NDArray[Any],
) -> None:
    """Cells (patterns of last parts, width) of a line of counts, with last parts from ``start``."""
    patterns = columns.choices.shape[0]
    width = min(cells.shape[1], places.shape[1] - start)
    every = columns.choices[patterns - 1]
    for j in range(patterns):
        choice, at = columns.choices[j], columns.starts[j]
        target = cells[j]
        if choice == every:
            source = counts[at + start : at + start + width]
            for k in range(width):
                target[k] = source[k]
        elif choice:
            _gather(counts[at:], places[choice, start : start + width], target)
        else:
            target[:] = total
    _separate(cells.reshape(-1), cells.shape[1])


@njit
def _gather(counts: NDArray[np.int32], places: NDArray[np.uint64], out: NDArray[Any]) -> None:
    for k in range(places.shape[0]):
        out[k] = counts[places[k]]


@njit
def _separate(cells: NDArray[Any], step: int) -> None:
    """At least none, one and two copies -> exactly, along members ``step`` numbers apart."""
    while step < cells.shape[0]:
        for cell in range(0, cells.shape[0], 3 * step):
            none = cells[cell : cell + step]
            one = cells[cell + step : cell + 2 * step]
            two = cells[cell + 2 * step : cell + 3 * step]
            for b in range(none.shape[0]):
                none[b] -= one[b]
                one[b] -= two[b]
        step *= 3
