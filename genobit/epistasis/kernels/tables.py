"""Contingency tables of combinations of variants by class, a block of combinations at a time.

A combination is cut in two, first members and last. The planes of both parts are intersections of
their members', and one AND product counts all pairs of first and last parts: a matrix product
whose inner loop is the engine's, whatever the order.

Where no call is missing a member takes two planes, carrier and hom_alt, so that the product counts
2^k cells of 3^k. The others come from tables of lower order, in which a member is left out: rows
for the subsets of the first parts, columns for those of the last, few beside the parts themselves.
Where calls are missing a member takes three planes, called among them, and the product counts all:
complete cases of each combination.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.words import count_rows, select_bits
from genobit.engine.gemm.products import common_bits, count_type
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.combinations import intersect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Rows


ROWS, COLUMNS = 4, 32
"""What lines are a multiple of: tiles of all products, registers of counts."""
KEPT_BYTES = 2**21
"""Most bytes of lines of first parts that are kept for the next block. Of long rows they are many,
and soon made beside the product."""


class Classes(NamedTuple):
    """Planes of variants, the samples of each class apart."""

    planes: tuple[NDArray[np.uint64], ...]
    """Of each class (kinds, variants, words): carrier, hom_alt, and called before them if any
    call is missing."""
    sizes: tuple[int, ...]
    """Samples of each class."""

    @property
    def complete(self) -> bool:
        """Whether no call is missing."""
        return self.planes[0].shape[0] == 2


def by_class(rows: Rows, classes: NDArray[np.integer], count: int) -> Classes:
    """Planes of dosages, and for each sample the number of its class or -1: planes by class."""
    planes = rows.planes if rows.complete() else (rows.every(), *rows.planes)
    samples = [np.flatnonzero(classes == k).astype(np.int64) for k in range(count)]
    return Classes(
        tuple(np.stack([select_bits(plane, bits) for plane in planes]) for bits in samples),
        tuple(bits.size for bits in samples),
    )


class Part(NamedTuple):
    """First or last parts of some combinations, and the subsets of their members."""

    members: NDArray[np.int64]
    """(parts, size)."""
    subsets: tuple[NDArray[np.int64], ...]
    """Different subsets for each choice of members, choices counted in binary: (n, members)."""
    places: NDArray[np.int64]
    """Which of those each part has, (choices, parts)."""


def part(members: NDArray[np.int64], *, complete: bool) -> Part:
    """Parts with their subsets; with missing calls, with no subset but themselves."""
    count, size = members.shape
    subsets, places = [], np.zeros((2**size, count), np.int64)
    for choice in range(1, 2**size):
        if choice == 2**size - 1:
            subsets.append(members)
            places[choice] = np.arange(count)
            continue
        chosen = members[:, [m for m in range(size) if choice >> m & 1]]
        if complete:
            found, places[choice] = _different(chosen)
        else:
            found = chosen[:0]
        subsets.append(found)
    return Part(members, tuple(subsets), places)


def _different(parts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different parts, and which of them each is."""
    variants, size = int(parts.max(initial=0)) + 1, parts.shape[1]
    if size * math.log2(variants) > 62:
        return np.unique(parts, axis=0, return_inverse=True)
    # A part as one number: a tenth of the time.
    numbers = parts[:, 0]
    for m in range(1, size):
        numbers = numbers * variants + parts[:, m]
    where, places = _first_of_each(np.ascontiguousarray(numbers))
    return parts[where], places


@njit
def _first_of_each(
    numbers: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As ``np.unique``: where each number is first, and which number each is."""
    order = np.argsort(numbers, kind="mergesort")
    where, places = np.empty_like(order), np.empty_like(order)
    found = 0
    for k in range(order.shape[0]):
        if k == 0 or numbers[order[k]] != numbers[order[k - 1]]:
            where[found] = order[k]
            found += 1
        places[order[k]] = found - 1
    return where[:found], places


class Cells(NamedTuple):
    """Where the counts of a pattern of a part stand: a pattern is a kind, or none, a member."""

    choices: NDArray[np.int64]
    """Members that have a kind, in binary, (patterns,)."""
    starts: NDArray[np.int64]
    """First line of the pattern's subsets, (patterns,)."""
    strides: NDArray[np.int64]
    """From one subset's line to the next, (patterns,)."""
    subsets: NDArray[np.int64]
    """How many different subsets there are, (patterns,)."""


def line_starts(kinds: int, found: Part) -> NDArray[np.int64]:
    """The first line of the subsets of each choice, and where the lines end."""
    counts = (len(subsets) * kinds ** subsets.shape[1] for subsets in found.subsets)
    # No members are chosen by the first choice, which has no line.
    return np.array([0, *itertools.accumulate(counts, initial=0)], np.int64)


def room_for(rows: int, columns: int) -> tuple[int, int]:
    """Lines of a block with so many: whole tiles of a product, and a row more.

    Registers can then be loaded past the last column, and a product writes to its place.
    """
    return rows // ROWS * ROWS + ROWS, -(-columns // COLUMNS) * COLUMNS


def lines(
    planes: NDArray[np.uint64],
    found: Part,
    starts: NDArray[np.int64],
    *,
    by_plane: bool,
    out: NDArray[np.uint64],
) -> None:
    """Planes of all subsets, a line each from ``starts`` on; others of ``out`` are empty."""
    for k, subsets in enumerate(found.subsets):
        intersect(planes, subsets, by_plane, out[starts[k + 1] : starts[k + 2]])
    out[starts[-1] :] = 0


class _Patterns(NamedTuple):
    """Of the 3^size patterns of a part of so many members."""

    choices: NDArray[np.int64]
    """Members that have a kind, in binary."""
    planes: NDArray[np.int64]
    """Which plane of these members, counted over their kinds."""
    counts: NDArray[np.int64]
    """How many planes these members have."""


@functools.cache
def _patterns(size: int, kinds: int) -> _Patterns:
    """With two kinds the first of three is that the member is left out."""
    pattern = np.array(list(itertools.product(range(3), repeat=size)), np.int64)
    chosen = pattern > (-1 if kinds == 3 else 0)
    planes = np.zeros(len(pattern), np.int64)
    for m in range(size):
        here = planes * kinds + pattern[:, m] - (kinds == 2)
        planes = np.where(chosen[:, m], here, planes)
    return _Patterns(chosen @ (1 << np.arange(size)), planes, kinds ** chosen.sum(axis=1))


def _cells(found: Part, kinds: int, starts: NDArray[np.int64], *, by_plane: bool) -> Cells:
    """Of all patterns."""
    choices, planes, counts = _patterns(found.members.shape[1], kinds)
    subsets = np.array([0, *map(len, found.subsets)])[choices]
    if not by_plane:
        return Cells(choices, starts[choices] + planes, counts, subsets)
    return Cells(choices, starts[choices] + planes * subsets, np.ones_like(planes), subsets)


class Side(NamedTuple):
    """First or last parts of a block, and where what is counted of them stands."""

    part: Part
    starts: NDArray[np.int64]
    """As `line_starts` says."""
    height: int
    """Lines, with those that only fill up tiles."""
    cells: Cells


class Block(NamedTuple):
    """Counts of all first parts with all last parts, class by class, not yet tables."""

    counts: NDArray[Any]
    """int32 or int16 (classes, lines of the first parts, lines of the last), as many as `room_for`
    says."""
    row_counts: NDArray[np.int64]
    """Of the lines alone, (classes, lines of the first parts)."""
    column_counts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    rows: Cells
    columns: Cells
    row_places: NDArray[np.int64]
    column_places: NDArray[np.int64]


def block(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    scratch: Scratch | None = None,
) -> Block:
    """Count all pairs of first parts (m, p) and last parts (n, q).

    Counts stand in ``scratch`` until the next block, and what is made of the first parts until
    there are others: blocks one after the other mostly have the same.
    """
    scratch = scratch or Scratch()
    rows = scratch.kept(
        "first parts", classes.planes, first, lambda: _side(classes, first, by_plane=False)
    )
    columns = _side(classes, last, by_plane=True)
    shape = len(classes.planes), rows.height, columns.height
    counts = scratch.array("counts", shape, count_type(max(classes.sizes)))
    row_counts, column_counts = np.empty(shape[:2], np.int64), np.empty(shape[::2], np.int64)
    keeps = keeps_lines(shape[0], rows.height, max(planes.shape[2] for planes in classes.planes))
    for c, planes in enumerate(classes.planes):
        name = f"lines of first parts of class {c}" if keeps else "lines of first parts"
        make = functools.partial(_lines, planes, rows, scratch, name, by_plane=False)
        left, row_counts[c] = scratch.kept(name, planes, first, make) if keeps else make()
        right, column_counts[c] = _lines(
            planes, columns, scratch, "lines of last parts", by_plane=True
        )
        common_bits(left, right, counts[c])
    return Block(
        counts,
        row_counts,
        column_counts,
        np.array(classes.sizes, np.int64),
        rows.cells,
        columns.cells,
        rows.part.places,
        columns.part.places,
    )


def keeps_lines(classes: int, height: int, words: int) -> bool:
    """Whether so many lines of first parts are kept for the next block, class by class."""
    return 8 * classes * height * words <= KEPT_BYTES


def _side(classes: Classes, members: NDArray[np.int64], *, by_plane: bool) -> Side:
    kinds = 2 if classes.complete else 3
    found = part(members, complete=classes.complete)
    starts = line_starts(kinds, found)
    count = int(starts[-1])
    cells = _cells(found, kinds, starts, by_plane=by_plane)
    return Side(found, starts, room_for(count, count)[by_plane], cells)


def _lines(
    planes: NDArray[np.uint64], side: Side, scratch: Scratch, name: str, *, by_plane: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Lines of a class, and the counts of each alone."""
    out = scratch.array(name, (side.height, planes.shape[2]), np.uint64)
    lines(planes, side.part, side.starts, by_plane=by_plane, out=out)
    return out, count_rows(out)


def product(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Bits that rows of both have in common."""
    out = np.empty((len(left), len(right)), np.int32)
    common_bits(left, right, out)
    return out
