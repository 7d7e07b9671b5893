"""Contingency tables of combinations of variants by class, for a block of combinations.

A combination has two parts: its first members and its last members. The planes of a part are
intersections of its members' planes. One AND product counts all pairs of first and last parts. It
is a matrix product of the engine, for any order.

Without missing calls a member has two planes, carrier and hom_alt, and the product counts 2^k of
the 3^k cells. The other cells come from tables of lower order, which leave out a member. The
product has rows for the subsets of the first parts and columns for those of the last parts; these
are few compared with the parts. With missing calls a member has three planes, including called, and
the product counts all cells: the complete cases of each combination.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.planes import all_called
from genobit.engine.bits.words import count_rows, select_bits
from genobit.engine.gemm.products import common_bits, count_type
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.combinations import intersect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows


ROWS, COLUMNS = 4, 32
"""Lines of first and of last parts are padded to these multiples: tiles of the product, registers
of counts."""
KEPT_BYTES = 2**21
"""Most bytes of lines of first parts that are kept for the next block. Long rows exceed it; making
their lines again takes little time compared with the product."""
TOGETHER = 256
"""Combinations whose bit planes `count_cells` holds at a time."""


class Classes(NamedTuple):
    """Planes of variants, split by the class of the samples."""

    planes: tuple[NDArray[np.uint64], ...]
    """For each class (kinds, variants, words): carrier and hom_alt, preceded by called if any call
    is missing."""
    sizes: tuple[int, ...]
    """Samples of each class."""

    @property
    def complete(self) -> bool:
        """Whether no call is missing."""
        return self.planes[0].shape[0] == 2


def by_class(rows: PlaneRows, classes: NDArray[np.integer], count: int) -> Classes:
    """Split the planes of ``rows`` by class.

    classes: (samples,) class numbers, -1 for samples that are left out.
    """
    planes = rows.planes if rows.complete() else (rows.call_mask(), *rows.planes)
    samples = [np.flatnonzero(classes == k).astype(np.int64) for k in range(count)]
    return Classes(
        tuple(np.stack([select_bits(plane, bits) for plane in planes]) for bits in samples),
        tuple(bits.size for bits in samples),
    )


class Part(NamedTuple):
    """First or last parts of some combinations, and the distinct subsets of their members."""

    members: NDArray[np.int64]
    """(parts, size)."""
    subsets: tuple[NDArray[np.int64], ...]
    """Distinct subsets (n, chosen members) for each non-empty choice of members; the bits of a
    choice's number are the members."""
    places: NDArray[np.int64]
    """(choices, parts): the subset number of each part."""


def part(members: NDArray[np.int64], *, complete: bool) -> Part:
    """Return the parts (parts, size) with their subsets; with missing calls only the parts."""
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
    """Return the distinct parts, and for each part its number among them."""
    variants, size = int(parts.max(initial=0)) + 1, parts.shape[1]
    if size * math.log2(variants) > 62:
        return np.unique(parts, axis=0, return_inverse=True)
    # Encode a part as one number: this takes a tenth of the time of np.unique on rows.
    numbers = parts[:, 0]
    for m in range(1, size):
        numbers = numbers * variants + parts[:, m]
    where, places = _first_of_each(np.ascontiguousarray(numbers))
    return parts[where], places


@njit
def _first_of_each(
    numbers: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first index of each distinct number, and its inverse, as ``np.unique`` does."""
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
    """Lines with the counts of each pattern; a pattern gives each member of a part a kind or none.

    All arrays are (patterns,).
    """

    choices: NDArray[np.int64]
    """Bit mask of the members that have a kind."""
    starts: NDArray[np.int64]
    """First line of the pattern's subsets."""
    strides: NDArray[np.int64]
    """Distance between the lines of consecutive subsets."""
    subsets: NDArray[np.int64]
    """Number of distinct subsets."""


def line_starts(kinds: int, found: Part) -> NDArray[np.int64]:
    """Return the first line of the subsets of each choice, then the total number of lines."""
    counts = (len(subsets) * kinds ** subsets.shape[1] for subsets in found.subsets)
    # The first choice is empty and has no line.
    return np.array([0, *itertools.accumulate(counts, initial=0)], np.int64)


def room_for(rows: int, columns: int) -> tuple[int, int]:
    """Return the padded numbers of lines: whole tiles of the product, and an extra row.

    With the extra row, registers may load past the last column. With whole tiles, the product
    writes its counts in place.
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
    """Fill ``out`` (lines, words) with the planes of all subsets, and the padding with 0."""
    for k, subsets in enumerate(found.subsets):
        intersect(planes, subsets, by_plane, out[starts[k + 1] : starts[k + 2]])
    out[starts[-1] :] = 0


class _Patterns(NamedTuple):
    """The 3^size patterns of a part of ``size`` members; all arrays are (3^size,)."""

    choices: NDArray[np.int64]
    """Bit mask of the members that have a kind."""
    planes: NDArray[np.int64]
    """Number of the plane among the planes of these members."""
    counts: NDArray[np.int64]
    """Number of planes of these members."""


@functools.cache
def _patterns(size: int, kinds: int) -> _Patterns:
    """Return the patterns; with two kinds, the first of three values leaves the member out."""
    pattern = np.array(list(itertools.product(range(3), repeat=size)), np.int64)
    chosen = pattern > (-1 if kinds == 3 else 0)
    planes = np.zeros(len(pattern), np.int64)
    for m in range(size):
        here = planes * kinds + pattern[:, m] - (kinds == 2)
        planes = np.where(chosen[:, m], here, planes)
    return _Patterns(chosen @ (1 << np.arange(size)), planes, kinds ** chosen.sum(axis=1))


def _cells(found: Part, kinds: int, starts: NDArray[np.int64], *, by_plane: bool) -> Cells:
    """Return the lines of all patterns."""
    choices, planes, counts = _patterns(found.members.shape[1], kinds)
    subsets = np.array([0, *map(len, found.subsets)])[choices]
    if not by_plane:
        return Cells(choices, starts[choices] + planes, counts, subsets)
    return Cells(choices, starts[choices] + planes * subsets, np.ones_like(planes), subsets)


class Side(NamedTuple):
    """First or last parts of a block, and the lines of their counts."""

    part: Part
    starts: NDArray[np.int64]
    """The result of `line_starts`."""
    height: int
    """Number of lines, padding included."""
    cells: Cells


class Block(NamedTuple):
    """Counts of all pairs of first and last parts by class; `contingency_tables` makes tables."""

    counts: NDArray[Any]
    """(classes, lines of first parts, lines of last parts) int32 or int16, padded by `room_for`."""
    row_counts: NDArray[np.int64]
    """Counts of the lines alone, (classes, lines of first parts)."""
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

    ``scratch`` holds the counts until the next block. It keeps the lines of the first parts until
    the first parts change, because consecutive blocks mostly share them.
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
    """Return whether ``scratch`` keeps the lines of first parts for the next block."""
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
    """Return the lines of a class (lines, words), and the count of each line."""
    out = scratch.array(name, (side.height, planes.shape[2]), np.uint64)
    lines(planes, side.part, side.starts, by_plane=by_plane, out=out)
    return out, count_rows(out)


def product(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return the counts of common bits: left (m, words), right (n, words); returns (m, n)."""
    out = np.empty((len(left), len(right)), np.int32)
    common_bits(left, right, out)
    return out


def exact_planes(planes: NDArray[np.uint64], samples: int) -> NDArray[np.uint64]:
    """Return the planes of dosage 0, 1 and 2 of one class.

    planes: (kinds, variants, words) uint64; returns (3, variants, words). The kinds are carrier
    and hom_alt, preceded by called if any call is missing.
    """
    carrier, hom_alt = planes[-2:]
    called = planes[0] if len(planes) == 3 else all_called(samples, planes.shape[2])
    return np.stack([called & ~carrier, carrier & ~hom_alt, hom_alt])


def count_cells(classes: Classes, members: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return contingency tables (classes, 3^k, n) of combinations (n, k).

    The genotype of the last member changes fastest along the cells.
    """
    n, order = members.shape
    out = np.zeros((len(classes.planes), 3**order, n), np.int32)
    for start in range(0, n, TOGETHER):
        used, places = np.unique(members[start : start + TOGETHER], return_inverse=True)
        places = places.reshape(-1, order)
        for c, (planes, samples) in enumerate(zip(classes.planes, classes.sizes, strict=True)):
            if not samples:
                continue
            exact = exact_planes(planes[:, used], samples)
            cells = np.empty((3**order, exact.shape[2]), np.uint64)
            for k in range(len(places)):
                intersect(exact, places[k : k + 1], False, cells)
                out[c, :, start + k] = count_rows(cells)
    return out
