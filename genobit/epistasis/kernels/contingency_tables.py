"""Contingency tables of a block, for a chunk of last parts that fits in the first-level cache.

A block counts samples with any call, at least one copy and at least two copies. Subtractions turn
these counts into cells: along the members of the last part, then along those of the first part.
The function `share` subtracts along the last part for the subsets of first parts, which many first
parts share. The function `fill` does the rest for one first part.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.gemm.products import LARGEST_SHORT
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.count_lanes import (
    COUNT_LANES,
    gather_counts,
    load_counts,
    permute_counts,
    splat_count,
)
from genobit.engine.simd.jit import BOUNDS_CHECKED, njit
from genobit.engine.simd.registers import unowned
from genobit.engine.simd.vector import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Block

CHUNK_BYTES = 24 * 2**10
"""Most bytes of the tables of a chunk: three quarters of a 32 KiB first-level cache."""
NARROWEST, WIDEST = COUNT_LANES, 256


class Chunk(NamedTuple):
    """Buffers for the tables of a chunk of last parts, and the sources of their cells."""

    tables: NDArray[Any]
    """(classes, patterns of a first part, patterns of a last part, width) int16 or int32. Columns
    past the end of the last parts hold arbitrary numbers."""
    shared: NDArray[Any]
    """(classes, 1 + lines of subsets of the first parts + own, patterns of a last part, width). The
    last ``own`` lines belong to the current first part."""
    own: int
    """Lines that a first part does not share."""
    sources: NDArray[np.int64]
    """(first parts, patterns): a line of counts, or ``-1 - line`` for a line of ``shared``."""
    offsets: NDArray[np.int64]
    """(patterns,): offset in ``shared`` of the cells of each pattern of the current first part."""
    places: NDArray[np.uint32]
    """(choices, padded last parts): subset numbers of the last parts, padded to whole registers."""


def room(counted: Block, scratch: Scratch | None = None) -> Chunk:
    """Return the buffers for the tables of a block; ``scratch`` reuses them for the next block."""
    scratch = scratch or Scratch()
    rows, columns = counted.rows.choices.size, counted.columns.choices.size
    classes = len(counted.counts)
    dtype = np.dtype(np.int16 if counted.sizes.max() <= LARGEST_SHORT else np.int32)
    fitting = CHUNK_BYTES // (classes * rows * columns * dtype.itemsize)
    most = max(NARROWEST, min(fitting, WIDEST) // NARROWEST * NARROWEST)
    n = max(1, counted.column_places.shape[1])
    # All chunks have one width; the surplus columns of the last chunk are computed, too.
    width = math.ceil(n / math.ceil(n / most) / NARROWEST) * NARROWEST
    choices, parts = counted.rows.choices, counted.column_places
    lines = int(counted.rows.starts[-1]) if choices[0] == 0 else 0
    own = int(np.count_nonzero(choices == choices[-1]))
    places = np.zeros((len(parts), -(-parts.shape[1] // COUNT_LANES) * COUNT_LANES), np.uint32)
    places[:, : parts.shape[1]] = parts
    return Chunk(
        scratch.array("tables", (classes, rows, columns, width), dtype),
        scratch.array("shared cells", (classes, 1 + lines + own, columns, width), dtype),
        own,
        scratch.kept("sources", counted.rows, counted.row_places, lambda: _sources(counted)),
        np.empty(rows, np.int64),
        places,
    )


def _sources(counted: Block) -> NDArray[np.int64]:
    rows, places = counted.rows, counted.row_places
    lines = rows.starts + rows.strides * places[rows.choices].T
    whole = rows.choices == rows.choices[-1]
    # Shared line 0 counts all samples: its pattern chooses no member.
    sources = np.where(whole, lines, np.where(rows.choices == 0, -1, -2 - lines))
    return np.ascontiguousarray(sources)


class Flat(NamedTuple):
    """The arrays of a block and a chunk, flat and `unowned`, and their sizes.

    `unowned` arrays have no reference count. Their owners, the block and the chunk, must stay
    alive.
    """

    counts: Any
    row_counts: Any
    lines: tuple[int, int]
    """Number of lines of a class, number of counts of a line."""
    choices: Any
    starts: Any
    subsets: Any
    patterns: int
    """Number of patterns of a last part."""
    places: Any
    parts: int
    """Number of last parts that ``places`` has room for."""
    sources: Any
    offsets: Any
    shared: Any
    tables: Any
    width: int
    shape: tuple[int, int, int, int]
    """Classes, patterns of a first part, lines of ``shared`` in a class, ``Chunk.own``."""


@njit
def flat(counted: Block, chunk: Chunk) -> Flat:
    """Return the arrays of a block and a chunk for `fill`."""
    columns = counted.columns
    classes, patterns, _, width = chunk.tables.shape
    return Flat(
        unowned(counted.counts.reshape(-1)),
        unowned(counted.row_counts.reshape(-1)),
        counted.counts.shape[1:],
        unowned(columns.choices),
        unowned(columns.starts),
        unowned(columns.subsets),
        columns.choices.shape[0],
        unowned(chunk.places.reshape(-1)),
        chunk.places.shape[1],
        unowned(chunk.sources.reshape(-1)),
        unowned(chunk.offsets),
        unowned(chunk.shared.reshape(-1)),
        unowned(chunk.tables.reshape(-1)),
        width,
        (classes, patterns, chunk.shared.shape[1], chunk.own),
    )


@njit
def share(counted: Block, chunk: Chunk, start: int) -> None:
    """Fill ``chunk.shared`` with the cells of subsets of first parts.

    The chunk begins at last part ``start``.
    """
    if not counted.rows.choices[0]:
        length = counted.counts.shape[2] + COUNT_LANES
        _share(counted, chunk, start, np.zeros(length, counted.counts.dtype))


@njit
def _share(counted: Block, chunk: Chunk, start: int, alone: NDArray[np.unsignedinteger]) -> None:
    """Fill ``chunk.shared``; ``alone`` has room for the counts of a column."""
    arrays = flat(counted, chunk)
    classes, lines, patterns, width = chunk.shared.shape
    rows, length = counted.counts.shape[1:]
    for c in range(classes):
        for k in range(length):
            alone[k] = counted.column_counts[c, k]
        for line in range(lines - chunk.own):
            source, at, total = unowned(alone), 0, counted.sizes[c]
            if line:
                source, at = arrays.counts, (c * rows + line - 1) * length
                total = counted.row_counts[c, line - 1]
            to = (c * lines + line) * patterns * width
            _cells_of(source, at, total, start, arrays, to)


@njit
def fill(row: int, start: int, arrays: Flat) -> None:
    """Fill the tables for first part ``row`` and the chunk of last parts from ``start`` on.

    The genotype of the last member changes fastest.
    """
    classes, patterns, lines, own = arrays.shape
    size = arrays.patterns * arrays.width
    for c in range(classes):
        common = c * lines * size
        to = common + (lines - own) * size
        for i in range(patterns):
            line = arrays.sources[row * patterns + i]
            if line < 0:
                arrays.offsets[i] = common + (-1 - line) * size
                continue
            line += c * arrays.lines[0]
            total = arrays.row_counts[line]
            _cells_of(arrays.counts, line * arrays.lines[1], total, start, arrays, to)
            arrays.offsets[i] = to
            to += size
        table = c * patterns * size
        _exactly(arrays.shared, arrays.offsets, patterns, size, arrays.tables, table)


@njit
def _exactly(shared: Any, offsets: Any, patterns: int, size: int, tables: Any, to: int) -> None:
    """Write tables from ``to`` on: turn counts of at least 0, 1 and 2 copies into exact ones.

    This subtracts along the members of the first part; ``shared`` holds cells by `_cells_of`.
    """
    if patterns == 3:
        for k in range(0, size, COUNT_LANES):
            none = load_counts(shared, offsets[0] + k)
            one, two = load_counts(shared, offsets[1] + k), load_counts(shared, offsets[2] + k)
            _store_three(tables, to + k, size, _exact(none, one, two))
        return
    for i in range(0, patterns, 9):
        a, b, c = offsets[i], offsets[i + 1], offsets[i + 2]
        d, e, f = offsets[i + 3], offsets[i + 4], offsets[i + 5]
        g, h, j = offsets[i + 6], offsets[i + 7], offsets[i + 8]
        for k in range(0, size, COUNT_LANES):
            _store_nine(
                tables,
                to + i * size + k,
                size,
                (
                    load_counts(shared, a + k),
                    load_counts(shared, b + k),
                    load_counts(shared, c + k),
                ),
                (
                    load_counts(shared, d + k),
                    load_counts(shared, e + k),
                    load_counts(shared, f + k),
                ),
                (
                    load_counts(shared, g + k),
                    load_counts(shared, h + k),
                    load_counts(shared, j + k),
                ),
            )
    _separate(tables, to, patterns * size, 9 * size)


@njit
def _cells_of(counts: Any, at: int, total: int, start: int, arrays: Flat, to: int) -> None:
    """Write the cells (patterns of last parts, width) of the line of counts ``at``, from ``to`` on.

    ``total`` is the count of the line alone. The cells go to ``arrays.shared``.
    """
    choices, starts, subsets = arrays.choices, arrays.starts, arrays.subsets
    cells, places, parts = arrays.shared, arrays.places, arrays.parts
    patterns, width = arrays.patterns, arrays.width
    there = min(width, parts - start)
    if patterns == 9 and choices[0] == 0 and max(subsets[1], subsets[3]) <= COUNT_LANES:
        _cells_of_two(counts, at, total, start, arrays, to)
        return
    for j in range(patterns):
        target = to + j * width
        if choices[j] == choices[patterns - 1]:
            _copy(counts, at + starts[j] + start, there, cells, target)
        elif choices[j]:
            few = subsets[j] <= COUNT_LANES
            place = choices[j] * parts + start
            _gather(counts, at + starts[j], places, place, there, few, cells, target)
        else:
            every = splat_count(cells, total)
            for k in range(0, width, COUNT_LANES):
                store(cells, target + k, every)
    _separate(cells, to, patterns * width, width)


@njit
def _cells_of_two(counts: Any, at: int, total: int, start: int, arrays: Flat, to: int) -> None:
    """Write the cells of last parts of two members with few subsets, all in registers."""
    starts, cells, places, width = arrays.starts, arrays.shared, arrays.places, arrays.width
    there = min(width, arrays.parts - start)
    # Offsets of the members' subset numbers.
    seconds = arrays.choices[1] * arrays.parts + start
    firsts = arrays.choices[3] * arrays.parts + start
    every, whole = splat_count(counts, total), at + start
    second_once, second_twice = at + starts[1], at + starts[2]
    once, twice = at + starts[3], at + starts[6]
    both, once_twice = whole + starts[4], whole + starts[5]
    twice_once, both_twice = whole + starts[7], whole + starts[8]
    for k in range(0, there, COUNT_LANES):
        _store_nine(
            cells,
            to + k,
            width,
            (
                every,
                permute_counts(counts, second_once, places, seconds + k),
                permute_counts(counts, second_twice, places, seconds + k),
            ),
            (
                permute_counts(counts, once, places, firsts + k),
                load_counts(counts, both + k),
                load_counts(counts, once_twice + k),
            ),
            (
                permute_counts(counts, twice, places, firsts + k),
                load_counts(counts, twice_once + k),
                load_counts(counts, both_twice + k),
            ),
        )


@njit
def _gather(
    counts: Any,
    first: int,
    places: Any,
    start: int,
    count: int,
    few: bool,
    out: Any,
    to: int,
) -> None:
    if BOUNDS_CHECKED:
        for k in range(count):
            out[to + k] = counts[first + np.int64(places[start + k])]
        return
    if few:
        for k in range(0, count, COUNT_LANES):
            store(out, to + k, permute_counts(counts, first, places, start + k))
        return
    for k in range(0, count, COUNT_LANES):
        store(out, to + k, gather_counts(counts, first, places, start + k))


@njit
def _copy(source: Any, at: int, count: int, out: Any, to: int) -> None:
    for k in range(0, count, COUNT_LANES):
        store(out, to + k, load_counts(source, at + k))


@njit
def _separate(cells: Any, first: int, count: int, step: int) -> None:
    """Turn counts of at least 0, 1 and 2 copies into exact ones, in place.

    The first member's cells are ``step`` numbers apart, those of each further member three times
    as far.
    """
    while step < count:
        for cell in range(first, first + count, 3 * step):
            for k in range(cell, cell + step, COUNT_LANES):
                none, one = load_counts(cells, k), load_counts(cells, k + step)
                two = load_counts(cells, k + 2 * step)
                store(cells, k, none - one)
                store(cells, k + step, one - two)
        step *= 3


@njit
def _exact(none: Any, one: Any, two: Any) -> tuple[Any, Any, Any]:
    """Turn registers of at least 0, 1 and 2 copies into exact ones."""
    return none - one, one - two, two


@njit
def _store_three(cells: Any, k: int, step: int, three: tuple[Any, Any, Any]) -> None:
    store(cells, k, three[0])
    store(cells, k + step, three[1])
    store(cells, k + 2 * step, three[2])


@njit
def _store_nine(
    cells: Any,
    k: int,
    step: int,
    none: tuple[Any, Any, Any],
    one: tuple[Any, Any, Any],
    two: tuple[Any, Any, Any],
) -> None:
    """Store one register of the nine cells of two members, given counts of at least 0, 1 and 2."""
    none, one, two = _exact(*none), _exact(*one), _exact(*two)
    _store_three(cells, k, step, (none[0] - one[0], none[1] - one[1], none[2] - one[2]))
    _store_three(cells, k + 3 * step, step, (one[0] - two[0], one[1] - two[1], one[2] - two[2]))
    _store_three(cells, k + 6 * step, step, two)
