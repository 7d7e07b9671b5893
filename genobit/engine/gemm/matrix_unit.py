"""Products by the matrix unit of a CPU (Intel AMX), on signed bytes.

Planes stay planes in memory. Bits become bytes when they are packed, at most 512 rows or 32 columns
of 1,024 positions at a time. The bytes are 0 and 1 for "and", and -1, 0 and 1 for "ternary". Digits
of `exact` are any bytes. One product of bytes serves all. Its sums are int32 as in all families.

Packed rows are groups of 16 rows. A group has a tile of 16 x 64 bytes for each word: row r of the
tile has the bytes of row r. The positions within a word may have any order that rows and columns
share. Row q of a tile of columns must hold four positions of each of 16 columns, one nibble of the
word. Packing columns is thus packing rows, after the words' nibbles are transposed.

Kernels configure the tiles and release them. On other CPUs, and where Linux does not permit the
unit, a twin multiplies the same packed bytes in vector registers.

`docs/internals/engine.md` has its speed beside that of popcounts.
"""

from __future__ import annotations

import functools
import threading
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.words import swap_blocks
from genobit.engine.gemm.sum_tables import prefetch_words
from genobit.engine.simd.amx import (
    TILE_BYTES,
    TILE_ROWS,
    add_quads,
    as_octets,
    choose_octets,
    configure,
    load_row,
    load_sums,
    load_tile,
    multiply_tiles,
    permitted,
    release,
    splat_quad,
    spread,
    store_tile,
    stream_tile,
    tile_shapes,
    zero_octets,
    zero_sums,
    zero_tile,
)
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import WORD_LANES, aligned, load_words, unowned
from genobit.engine.simd.vector import flattened, store

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

SQUARE = 2 * TILE_ROWS
"""Rows and columns of a square of four tiles of sums; four other tiles hold its operands."""
TILE = TILE_ROWS * TILE_BYTES
MOST_ROWS = 512
"""Most rows of a block. With 16 words, packed rows and sums fit a second-level cache of 2 MiB."""
MOST_COLUMNS = 544
"""Most columns of a block. Rows of 512 sums would share two sets of a first-level cache, and the
product would take 7 % longer (Emerald Rapids)."""
SLAB = 16
"""Most words of a packed part. The 32 columns of a square then have 32 KiB and stay in the
first-level cache while the rows pass."""
FEWEST_ROWS = {"ternary": 32, "and": 128, "xor": 128}
"""Fewest rows for which packing the columns pays off. Beside popcounts, "ternary" takes 0.8 of the
time from 32 rows, and "and" the same time from 128 (Emerald Rapids)."""


class Operand(NamedTuple):
    """Planes of rows (m, n): the mask of ones, or mask and sign of values -1, 0 and 1.

    With digits, the planes are carrier, hom_alt and called of dosages.
    """

    mask: Words
    sign: Words | None = None
    called: Words | None = None
    digits: NDArray[np.int8] | None = None
    """The byte of dosages 0, 1 and 2 at each position: (3, 64 n). A missing call has 0."""


class Memory(NamedTuple):
    """Packed rows and columns, nibbles of the columns, and the shapes of the tiles."""

    rows: NDArray[np.int8]
    columns: NDArray[np.int8]
    nibbles: Words
    shapes: NDArray[np.uint8]


class _Thread(threading.local):
    def __init__(self) -> None:
        rows, columns = (aligned((k * SLAB * TILE_BYTES,), np.int8) for k in (MOST_ROWS, SQUARE))
        nibbles = aligned((2 * TILE_ROWS * SLAB,), np.uint64)
        self.memory = Memory(rows, columns, nibbles, tile_shapes())


_thread = _Thread()
ON_UNIT, BY_TWIN = (True, None), (None, True)
"""Arguments ``unit`` and ``twin`` of `multiply`."""


@njit
def pack_rows(
    mask: Words,
    sign: Words | None,
    called: Words | None,
    digits: NDArray[np.int8] | None,
    rows: tuple[int, int],
    words: tuple[int, int],
    out: NDArray[np.int8],
) -> None:
    """Write rows and words start..stop of an `Operand` as bytes: a tile for each word.

    Rows past the last one are zero.
    """
    top, first = rows[0], words[0]
    for i in range(top, rows[1]):
        is_there = i < mask.shape[0]
        if is_there and words[1] < mask.shape[1]:
            prefetch_words(mask, i, words[1])
            if sign is not None:
                prefetch_words(sign, i, words[1])
        group, r = (i - top) // TILE_ROWS, (i - top) % TILE_ROWS
        place = group * (words[1] - first) * TILE + r * TILE_BYTES
        for w in range(first, words[1]):
            if not is_there:
                store(out, place, zero_octets())
            elif digits is not None and sign is not None and called is not None:
                flat, all_, k = flattened(digits), digits.shape[1], w * TILE_BYTES
                none, one = load_row(flat, k), load_row(flat, all_ + k)
                value = choose_octets(mask[i, w], one, none)
                value = choose_octets(sign[i, w], load_row(flat, 2 * all_ + k), value)
                store(out, place, choose_octets(called[i, w], value, zero_octets()))
            elif sign is None:
                store(out, place, spread(mask[i, w], np.uint64(0)))
            else:
                store(out, place, spread(mask[i, w], sign[i, w]))
            place += TILE


@njit
def _load_nibbles(plane: Words, top: int, words: tuple[int, int], out: Words, start: int) -> None:
    """Write words start..stop of 16 rows to ``out[start:]``; row q gets nibble q of each word.

    Rows of ``out`` are `SLAB` words apart. Rows past the last one of the plane are zero.
    """
    first, count, n = words[0], words[1] - words[0], plane.shape[1]
    present = min(TILE_ROWS, plane.shape[0] - top)
    if words[1] < n:
        for r in range(present):
            prefetch_words(plane, top + r, words[1])
    rows, place, apart = unowned(flattened(plane)), top * n + first, n
    if count % WORD_LANES or present < TILE_ROWS:
        # Registers would reach past the last row.
        for r in range(TILE_ROWS):
            for w in range(count):
                at = start + r * SLAB + w
                out[at] = plane[top + r, first + w] if r < present else np.uint64(0)
        rows, place, apart = out, start, SLAB
    for w in range(0, count, WORD_LANES):
        for r in range(4):
            k = place + r * apart + w
            a, b = load_words(rows, k), load_words(rows, k + 4 * apart)
            c, d = load_words(rows, k + 8 * apart), load_words(rows, k + 12 * apart)
            a, c = swap_blocks(a, c, 32, 0x00000000FFFFFFFF)
            b, d = swap_blocks(b, d, 32, 0x00000000FFFFFFFF)
            a, b = swap_blocks(a, b, 16, 0x0000FFFF0000FFFF)
            c, d = swap_blocks(c, d, 16, 0x0000FFFF0000FFFF)
            k = start + r * SLAB + w
            store(out, k, a)
            store(out, k + 4 * SLAB, b)
            store(out, k + 8 * SLAB, c)
            store(out, k + 12 * SLAB, d)
        for k in range(start + w, start + w + TILE_ROWS * SLAB, 4 * SLAB):
            a, b = load_words(out, k), load_words(out, k + SLAB)
            c, d = load_words(out, k + 2 * SLAB), load_words(out, k + 3 * SLAB)
            a, c = swap_blocks(a, c, 8, 0x00FF00FF00FF00FF)
            b, d = swap_blocks(b, d, 8, 0x00FF00FF00FF00FF)
            a, b = swap_blocks(a, b, 4, 0x0F0F0F0F0F0F0F0F)
            c, d = swap_blocks(c, d, 4, 0x0F0F0F0F0F0F0F0F)
            store(out, k, a)
            store(out, k + SLAB, b)
            store(out, k + 2 * SLAB, c)
            store(out, k + 3 * SLAB, d)


@njit
def pack_columns(
    mask: Words, sign: Words | None, left: int, words: tuple[int, int], memory: Memory
) -> None:
    """Write words start..stop of 32 rows of planes (k, n) as bytes, as columns of a product."""
    nibbles, columns, place = unowned(memory.nibbles), unowned(memory.columns), 0
    for top in range(left, left + SQUARE, TILE_ROWS):
        _load_nibbles(mask, top, words, nibbles, 0)
        if sign is not None:
            _load_nibbles(sign, top, words, nibbles, TILE_ROWS * SLAB)
        for w in range(words[1] - words[0]):
            for k in range(w, TILE_ROWS * SLAB, SLAB):
                minus = np.uint64(0) if sign is None else nibbles[TILE_ROWS * SLAB + k]
                store(columns, place, spread(nibbles[k], minus))
                place += TILE_BYTES


@njit
def add_on_unit(
    memory: Memory,
    a: int,
    half: int,
    counts: NDArray[np.int32],
    place: int,
    width: int,
    fresh: bool,
) -> None:
    """Add the product of 32 packed rows and columns to counts, whose rows are ``width`` apart.

    The rows start at ``memory.rows[a]``. 16 packed rows, or columns, take ``half`` bytes. The first
    entry is ``counts[place]``. If ``fresh``, write the product instead.
    """
    below, rows, columns = place + TILE_ROWS * width, memory.rows, memory.columns
    if fresh:
        zero_tile(0)
        zero_tile(1)
        zero_tile(2)
        zero_tile(3)
    else:
        load_tile(0, counts, place, width)
        load_tile(1, counts, place + TILE_ROWS, width)
        load_tile(2, counts, below, width)
        load_tile(3, counts, below + TILE_ROWS, width)
    for k in range(0, half, TILE):
        stream_tile(4, rows, a + k, TILE_BYTES)
        load_tile(6, columns, k, TILE_BYTES)
        multiply_tiles(0, 4, 6)
        load_tile(7, columns, half + k, TILE_BYTES)
        multiply_tiles(1, 4, 7)
        stream_tile(5, rows, a + half + k, TILE_BYTES)
        multiply_tiles(2, 5, 6)
        multiply_tiles(3, 5, 7)
    store_tile(0, counts, place, width)
    store_tile(1, counts, place + TILE_ROWS, width)
    store_tile(2, counts, below, width)
    store_tile(3, counts, below + TILE_ROWS, width)


@njit
def add_plainly(
    memory: Memory,
    a: int,
    half: int,
    counts: NDArray[np.int32],
    place: int,
    width: int,
    fresh: bool,
) -> None:
    """Add the product of 32 packed rows and columns in vector registers: see `add_on_unit`."""
    quads = memory.rows.view(np.uint32)
    for row in range(SQUARE):
        first = a + row // TILE_ROWS * half + row % TILE_ROWS * TILE_BYTES
        for side in range(2):
            entry = place + row * width + side * TILE_ROWS
            total = zero_sums() if fresh else load_sums(counts, entry)
            for k in range(0, half, TILE):
                for q in range(TILE_ROWS):
                    quad = as_octets(splat_quad(quads[(first + k) // 4 + q]))
                    columns = load_row(memory.columns, side * half + k + q * TILE_BYTES)
                    total = add_quads(total, quad, columns)
            store(counts, entry, total)


@njit
def _add_part(
    b: Operand,
    unit: bool | None,
    twin: bool | None,
    memory: Memory,
    rows: tuple[int, int],
    words: tuple[int, int],
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add the product of the packed rows and all columns, in words start..stop, to counts.

    The first words write it instead.
    """
    width, flat, fresh = counts.shape[1], flattened(counts), words[0] == 0
    octets, top = (words[1] - words[0]) * TILE_BYTES, rows[0]
    half = TILE_ROWS * octets
    if unit is not None:
        configure(memory.shapes)
    for j in range(max(0, (top + diagonal) // SQUARE * SQUARE), width, SQUARE):
        first = tops[j // SQUARE] // SQUARE * SQUARE
        if first >= rows[1]:
            break
        pack_columns(b.mask, b.sign, j, words, memory)
        for i in range(max(top, first), rows[1], SQUARE):
            if j + SQUARE <= i + diagonal:
                break
            a, place = (i - top) * octets, i * width + j
            if unit is not None:
                add_on_unit(memory, a, half, flat, place, width, fresh)
            if twin is not None:
                add_plainly(memory, a, half, flat, place, width, fresh)
    if unit is not None:
        release()


@njit
def multiply(
    a: Operand,
    b: Operand,
    unit: bool | None,
    twin: bool | None,
    memory: Memory,
    diagonal: int,
    tops: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Write sums of products of values to counts (m, k), in squares of 32 x 32.

    a: at most m rows (n words); b: at most k columns (n words), without digits; n is positive. Rows
    and columns that they lack are zero. ``unit`` or ``twin`` is True, the other is None, and numba
    leaves out its code. Other CPUs cannot compile the unit's instructions. Without the twin, the
    unit's kernel compiles faster. ``tops`` (k / 32,) never decreases. Squares before ``tops`` and
    below the diagonal ``row - column == -diagonal`` stay unwritten.
    """
    m, n = counts.shape[0], a.mask.shape[1]
    for first in range(0, n, SLAB):
        words = (first, min(first + SLAB, n))
        for top in range(0, m, MOST_ROWS):
            rows = (top, min(top + MOST_ROWS, m))
            pack_rows(a.mask, a.sign, a.called, a.digits, rows, words, memory.rows)
            _add_part(b, unit, twin, memory, rows, words, diagonal, tops, counts)


def _random_operands(kind: str) -> tuple[Operand, Operand]:
    """Return 64 rows of 17 random words as rows and as columns of a product."""
    rng = np.random.default_rng(0)
    mask, sign, called = rng.integers(0, 2**64, (3, 2 * SQUARE, SLAB + 1), np.uint64)
    if kind == "and":
        return Operand(mask), Operand(mask)
    columns = Operand(mask, sign)
    if kind == "ternary":
        return columns, columns
    digits = rng.integers(-128, 128, (3, TILE_BYTES * mask.shape[1]), np.int8)
    return Operand(mask, sign, called, digits), columns


def _values(operand: Operand) -> NDArray[np.int32]:
    """Return the values of an operand: (m, 64 n)."""
    zero = np.zeros_like(operand.mask)
    ones, minus, called = (
        np.unpackbits((zero if x is None else x).view(np.uint8), axis=1, bitorder="little")
        for x in operand[:3]
    )
    if operand.digits is None:
        return ones.astype(np.int32) - 2 * (ones & minus)
    none, one, two = operand.digits
    return np.where(called, np.where(minus, two, np.where(ones, one, none)), np.int32(0))


@functools.cache
def usable(kind: str) -> bool:
    """Return whether CPU and Linux permit the unit, and a random block of it is right.

    The kinds are "and", "ternary" and "digits". The block has four squares and two slabs, so that
    sums are also loaded and added to.
    """
    if not permitted():
        return False
    a, b = _random_operands(kind)
    right = _values(a) @ _values(b).T
    found, tops = np.full(right.shape, -1, np.int32), np.zeros(2, np.int64)
    multiply(a, b, *ON_UNIT, _thread.memory, -(2**62), tops, found)
    equal = np.array_equal(found, right)
    if not equal:
        msg = "the matrix unit of this CPU gives wrong sums: genobit uses other kernels"
        warnings.warn(msg, RuntimeWarning, stacklevel=2)
    return equal


def multiply_kind(kind: str, a: Operand, b: Operand, *limits_and_counts: Any) -> None:
    """Write sums of products over n to counts, on the unit or by its twin: see `multiply`."""
    if a.mask.shape[1] == 0:
        limits_and_counts[-1].fill(0)
    unit, twin = ON_UNIT if usable(kind) else BY_TWIN
    multiply(a, b, unit, twin, _thread.memory, *limits_and_counts)


def multiply_and(a: Words, b: Words, *limits_and_counts: Any) -> None:
    """Write popcount(a & b) over n to counts: see `multiply`."""
    multiply_kind("and", Operand(a), Operand(b), *limits_and_counts)


def multiply_ternary(
    a: Words, a_sign: Words, b: Words, b_sign: Words, *limits_and_counts: Any
) -> None:
    """Write the sums of products of signs over n to counts: see `multiply`."""
    multiply_kind("ternary", Operand(a, a_sign), Operand(b, b_sign), *limits_and_counts)


PRODUCTS: dict[str, Callable[..., None]] = {"and": multiply_and, "ternary": multiply_ternary}
