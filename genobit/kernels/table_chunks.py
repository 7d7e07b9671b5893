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

from genobit._jit import BOUNDS_CHECKED, njit
from genobit.kernels.count_lanes import (
    COUNT_LANES,
    everywhere,
    gather_counts,
    load_counts,
    store_counts,
)
from genobit.kernels.gemm import LARGEST_SHORT
from genobit.kernels.scratch import Scratch

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from genobit.kernels.combination_tables import Block, Cells

CHUNK_BYTES = 24 * 2**10
"""Most bytes of the tables of a chunk: three quarters of a first-level cache of 32 KiB."""
NARROWEST, WIDEST = COUNT_LANES, 256


class Chunk(NamedTuple):
    """Room for the tables of a few last parts, and where their cells come from."""

    tables: NDArray[Any]
    """(classes, patterns of a first part, of a last part, width), whole numbers of 16 or 32 bits;
    what stands beyond the last parts that there are is of no account."""
    shared: NDArray[Any]
    """(classes, 1 + lines of subsets of the first parts, patterns of a last part, width)."""
    sources: NDArray[np.int64]
    """(first parts, patterns): a line of counts, or ``-1 - line`` of ``shared``."""


def room(counted: Block, scratch: Scratch | None = None) -> Chunk:
    """Room for the tables of a block, in ``scratch`` until the next one."""
    scratch = scratch or Scratch()
    rows, columns = counted.rows.choices.size, counted.columns.choices.size
    classes = len(counted.counts)
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
        _sources(counted.rows, counted.row_places),
    )


def _sources(rows: Cells, places: NDArray[np.int64]) -> NDArray[np.int64]:
    lines = rows.starts + rows.strides * places[rows.choices].T
    whole = rows.choices == rows.choices[-1]
    # The first shared line is of all samples, which no member is asked about.
    return np.where(whole, lines, np.where(rows.choices == 0, -1, -2 - lines))


@njit
def padded_places(counted: Block) -> NDArray[np.uint32]:
    """Places of the columns in registers, one choice of members after another."""
    choices, parts = counted.column_places.shape
    out = np.zeros((choices, -(-parts // COUNT_LANES) * COUNT_LANES), np.uint32)
    out[:, :parts] = counted.column_places
    return out.reshape(-1)


@njit
def share(counted: Block, places: NDArray[np.uint32], start: int, chunk: Chunk) -> None:
    """Cells of the subsets of first parts, with last parts from ``start`` on.

    ``places`` are `padded_places`.
    """
    if counted.rows.choices[0]:
        return
    choices, starts = counted.columns.choices, counted.columns.starts
    classes, lines, patterns, width = chunk.shared.shape
    rows, length = counted.counts.shape[1:]
    parts = places.shape[0] // counted.column_places.shape[0]
    counts, shared = counted.counts.reshape(-1), chunk.shared.reshape(-1)
    to = 0
    for c in range(classes):
        alone = np.zeros(length + COUNT_LANES, counts.dtype)
        alone[:length] = counted.column_counts[c]
        for line in range(lines):
            source, at, total = alone, 0, counted.sizes[c]
            if line:
                source, at = counts, (c * rows + line - 1) * length
                total = counted.row_counts[c, line - 1]
            _cells_of(source, at, total, choices, starts, places, parts, start, shared, to, width)
            to += patterns * width


@njit
def fill(
    row: int,
    counts: NDArray[Any],
    lines: tuple[int, int],
    row_counts: NDArray[np.int64],
    choices: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.uint32],
    parts: int,
    start: int,
    sources: NDArray[np.int64],
    shared: NDArray[Any],
    tables: NDArray[Any],
    shape: tuple[int, int, int, int],
    shared_lines: int,
) -> None:
    """Tables of first part ``row`` with last parts from ``start`` on.

    The last member's genotype changes fastest. Arrays of a block and of a chunk are in one
    dimension, and apart: numba counts who holds an array each time that one is made or comes out of
    a tuple, which takes as long as a register of tables.

    Parameters
    ----------
    row, counts, row_counts
        First part, of those of a block, its counts and those of its lines.
    lines
        Lines of a class, and numbers of a line.
    choices, starts, places, parts, start
        Of the columns: `Cells`, `padded_places`, places of a choice, the first last part.
    sources, shared, tables, shape, shared_lines
        Of the chunk: its arrays, the shape of its tables, and lines that a class shares.
    """
    classes, patterns, others, width = shape
    size = others * width
    to = 0
    for c in range(classes):
        first = to
        for i in range(patterns):
            line = sources[row, i]
            if line >= 0:
                at = (c * lines[0] + line) * lines[1]
                total = row_counts[c, line]
                _cells_of(
                    counts, at, total, choices, starts, places, parts, start, tables, to, width
                )
            else:
                _copy(shared, (c * shared_lines - 1 - line) * size, size, tables, to)
            to += size
        _separate(tables, first, to - first, size)


@njit
def _cells_of(
    counts: NDArray[Any],
    at: int,
    total: int,
    choices: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.uint32],
    parts: int,
    start: int,
    cells: NDArray[Any],
    to: int,
    width: int,
) -> None:
    """Cells (patterns of last parts, width) of the line of counts ``at``, from ``to`` on."""
    patterns = choices.shape[0]
    there = min(width, parts - start)
    for j in range(patterns):
        target = to + j * width
        if choices[j] == choices[patterns - 1]:
            _copy(counts, at + starts[j] + start, there, cells, target)
        elif choices[j]:
            _gather(
                counts, at + starts[j], places, choices[j] * parts + start, there, cells, target
            )
        else:
            every = everywhere(cells, total)
            for k in range(0, width, COUNT_LANES):
                store_counts(cells, target + k, every)
    _separate(cells, to, patterns * width, width)


@njit
def _gather(
    counts: NDArray[Any],
    first: int,
    places: NDArray[np.uint32],
    start: int,
    count: int,
    out: NDArray[Any],
    to: int,
) -> None:
    if BOUNDS_CHECKED:
        for k in range(count):
            out[to + k] = counts[first + np.int64(places[start + k])]
        return
    for k in range(0, count, COUNT_LANES):
        store_counts(out, to + k, gather_counts(counts, first, places, start + k))


@njit
def _copy(source: NDArray[Any], at: int, count: int, out: NDArray[Any], to: int) -> None:
    for k in range(0, count, COUNT_LANES):
        store_counts(out, to + k, load_counts(source, at + k))


@njit
def _separate(cells: NDArray[Any], first: int, count: int, step: int) -> None:
    """At least none, one and two copies -> exactly, along members ``step`` numbers apart."""
    while step < count:
        for cell in range(first, first + count, 3 * step):
            for k in range(cell, cell + step, COUNT_LANES):
                none, one = load_counts(cells, k), load_counts(cells, k + step)
                two = load_counts(cells, k + 2 * step)
                store_counts(cells, k, none - one)
                store_counts(cells, k + step, one - two)
        step *= 3
