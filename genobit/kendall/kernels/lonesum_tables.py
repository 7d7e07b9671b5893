"""Four Russians tables over the orders that a few observations can have.

Two groups of observations have 3 x 3 or 2 x 3 pairs between them. The signs of these pairs come
from an order, so only some sign patterns occur. An order without ties gives 230 of the 512 patterns
of 3 x 3 pairs (Brewbaker's lonesum matrices, counted by poly-Bernoulli numbers). An order with ties
gives 261 of the 729 patterns of 2 x 3 pairs.

For a panel of columns, the sums of all patterns that occur are built once. Every row then adds the
entry of its pattern: one load and one byte addition count nine or six pairs in each lane. This is
the Method of the Four Russians (Arlazarov, Dinic, Kronrod, Faradzev 1970), with tables that leave
out the impossible patterns.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from genobit.engine.gemm.sum_tables import COLUMNS, ENTRY, LANES, PLACE_BITS, UNITS
from genobit.engine.simd import plain_lanes
from genobit.engine.simd.jit import inlined, instruction, njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.registers import (
    BYTE_LANES,
    bytes_,
    load_bytes,
    load_octets,
    next_16,
    zero_bytes,
)
from genobit.engine.simd.vector import Vec, address, filled, loader, store, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 3
"""Number of observations in the second group of a unit."""
ONE = np.ones(LANES, np.uint8)


class Runs(NamedTuple):
    """Lists of places, four to a word; each list is padded with its last place."""

    starts: NDArray[np.intp]
    """Start of each list, (lists + 1,)."""
    words: NDArray[np.uint64]


class Shape(NamedTuple):
    """Sign patterns that units of ``height`` by `WIDTH` observations can have."""

    height: int
    states: int
    """Number of sign patterns of one observation of the second group with the first group."""
    bias: int
    """Constant added to each entry so that no byte is negative; 0 for entries that count bits."""
    sets: int
    """Number of sets of `UNITS` tables whose entries add up within a byte."""
    first: Runs
    """For each state of the second observation, places of the possible states of the first."""
    both: Runs
    """For each state of the third observation, places of the possible sums of the first two."""

    @property
    def step(self) -> int:
        """Return the number of bytes from one table to the next."""
        # The extra entry puts the same pattern of four tables into four sets of the cache.
        return (self.states**WIDTH + 1) * ENTRY


def _states(height: int, ranks: tuple[int, ...], *, tied: bool) -> tuple[int, ...]:
    first, second = ranks[:height], ranks[height:]
    if tied:
        signs = [[(x > y) - (x < y) + 1 for x in first] for y in second]
        return tuple(sum(digit * 3**g for g, digit in enumerate(row)) for row in signs)
    return tuple(sum((x > y) << g for g, x in enumerate(first)) for y in second)


def _shape(height: int, *, tied: bool) -> Shape:
    items = height + WIDTH
    orders = (
        itertools.product(range(items), repeat=items)
        if tied
        else itertools.permutations(range(items))
    )
    patterns = sorted({_states(height, ranks, tied=tied) for ranks in orders})
    states = 3**height if tied else 2**height
    pairs = sorted({pattern[:2] for pattern in patterns})
    first = [[x for x, second in pairs if second == y] for y in range(states)]
    both = [[x + states * y for x, y, third in patterns if third == z] for z in range(states)]
    largest = height * WIDTH * (2 if tied else 1)
    return Shape(
        height,
        states,
        height * WIDTH if tied else 0,
        255 // (UNITS * largest),
        _runs(first),
        _runs(both),
    )


def _runs(lists: list[list[int]]) -> Runs:
    filled = [places + places[-1:] * (-len(places) % UNITS) for places in lists]
    words = (np.concatenate(filled) * ENTRY).astype("<u2").view("<u8").astype(np.uint64)
    starts = np.cumsum([0, *(len(places) // UNITS for places in filled)])
    return Runs(starts.astype(np.intp), words)


STRICT = _shape(3, tied=False)
"""Patterns of rows without ties: an entry counts the pairs in which a column agrees with the
pattern.

The loop over rows does 850 G pairs/s in C on a Zen 3. With unrestricted patterns of 6 or 7 bits it
does 650 to 740. With 2 x 4 and 2 x 5 pairs (146 and 454 patterns) it does 810 and 880, but building
454 entries costs twice as much.
"""
WEAK = _shape(2, tied=True)
"""Patterns of rows with ties: an entry is the sum of the products of signs.

The loop over rows does 560 G pairs/s in C on a Zen 3, and 450 with four unrestricted values (81
patterns).
"""


# Ranks are signed integers of 16 or 32 bits, because AVX2 compares only signed integers.
shorts = Vec(types.int16, BYTE_LANES)
zero_16 = zeros(shorts)
_load_ranks, _octets = loader(BYTE_LANES), filled(bytes_)


@inlined
def signs_of(low: Any, high: Any, i: int, j: int) -> Any:
    """Return the sign of the ranks from ``i`` less those from ``j``, as bytes -1, 0, 1.

    ``low`` and ``high`` hold the same ranks, except that a missing value is the lowest number in
    one and the highest in the other. It is then neither larger nor smaller than any value, so its
    sign is 0.
    """
    larger = _load_ranks(low, i) > _load_ranks(high, j)
    smaller = _load_ranks(low, j) > _load_ranks(high, i)
    # A true flag is filled to -1.
    return _octets(smaller) - _octets(larger)


def _larger_16(ranks: Any, i: int, j: int) -> plain_lanes.Register:
    load = plain_lanes.loader(None, BYTE_LANES)
    return plain_lanes.filled(np.dtype(np.int16))(load(ranks, i) > load(ranks, j))


@instruction(_larger_16)
def larger_16(typing: Any, ranks: Any, i: Any, j: Any) -> Any:
    """Return 16-bit lanes, all ones where ``ranks[i + k] > ranks[j + k]``, else zero."""
    vector = Vec(ranks.dtype, BYTE_LANES).vector

    # As one instruction: as a function, it is optimised before it is inlined, and takes registers.
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, *places = arguments
        here, there = (
            builder.load(address(context, builder, ranks, array, k, vector), align=1)
            for k in places
        )
        return builder.sext(builder.icmp_signed(">", here, there), shorts.vector)

    return shorts(ranks, types.intp, types.intp), generate


@njit
def _strict_code(ranks: Any, stride: int, first: int, second: int, lane: int) -> Any:
    """Return codes with bit g + 3 h set if observation g of ``first`` exceeds h of ``second``."""
    code = zero_16()
    for h in range(WIDTH - 1, -1, -1):
        there = (second + h) * stride + lane
        for g in range(2, -1, -1):
            # A true flag is -1.
            code = code + code - larger_16(ranks, (first + g) * stride + lane, there)
    return code


@njit
def _weak_code(ranks: Any, stride: int, first: int, second: int, lane: int) -> Any:
    """Return codes in base 3: digit g + 2 h is the sign of g of ``first`` less h of ``second``.

    Digits are -1, 0, 1.
    """
    code = zero_16()
    for h in range(WIDTH - 1, -1, -1):
        there = (second + h) * stride + lane
        for g in range(1, -1, -1):
            here = (first + g) * stride + lane
            code = code + code + code + larger_16(ranks, there, here)
            code = code - larger_16(ranks, here, there)
    return code


ONES = 364
"""Offset of a code in base 3 with digits -1, 0, 1: six ones in base 3."""


@njit
def place_rows(
    ranks: NDArray[Any],
    units: NDArray[np.intp],
    height: int,
    places: NDArray[np.uint64],
) -> None:
    """Write the places of the entries of each row, four units to a word, 16 bits each.

    ranks: (observations, rows), with rows a multiple of `LANES`; units: (k, 2), the first
    observations of both groups; writes places (k / UNITS, rows).
    """
    rows = ranks.shape[1]
    flat = ranks.reshape(-1)
    codes = np.empty((UNITS, rows), np.int16)
    octets = codes.reshape(-1)
    ones = np.uint64(ONES * 0x0001000100010001) if height == 2 else np.uint64(0)
    for k in range(places.shape[0]):
        for slot in range(UNITS):
            first, second = units[UNITS * k + slot]
            for lane in range(0, rows, LANES):
                if height == 2:
                    code = _weak_code(flat, rows, first, second, lane)
                else:
                    code = _strict_code(flat, rows, first, second, lane)
                store(octets, slot * rows + lane, code)
        _join(codes, ones, places[k])


@njit
def _join(codes: NDArray[np.int16], ones: np.uint64, places: NDArray[np.uint64]) -> None:
    for i in range(places.shape[0]):
        # Negative codes borrow from the next 16 bits; adding the ones undoes the borrow.
        word = np.int64(codes[0, i]) + (np.int64(codes[1, i]) << 16)
        word += (np.int64(codes[2, i]) << 32) + (np.int64(codes[3, i]) << 48)
        places[i] = (np.uint64(word) + ones) << PLACE_BITS


@njit
def sign_units(
    low: NDArray[Any],
    high: NDArray[Any],
    units: NDArray[np.intp],
    height: int,
    values: NDArray[np.uint8],
) -> None:
    """Write the signs -1, 0, 1 of the pairs of each unit for a panel of columns.

    low, high: (observations, COLUMNS) as for `signs_of`; writes values (units, height, WIDTH,
    COLUMNS). The sign is 0 if the first observation does not come before the second, since such a
    pair is not a pair or belongs to an earlier unit.
    """
    below, above = low.reshape(-1), high.reshape(-1)
    at = 0
    for unit in range(units.shape[0]):
        first, second = units[unit]
        for i in range(first, first + height):
            for j in range(second, second + WIDTH):
                for register in range(0, COLUMNS, LANES):
                    if i < j:
                        here, there = i * COLUMNS + register, j * COLUMNS + register
                        store(values, at, signs_of(below, above, here, there))
                    else:
                        store(values, at, zero_bytes())
                    at += LANES


@njit
def _strict_parts(values: NDArray[np.uint8], at: int, parts: NDArray[np.uint8]) -> None:
    """Write the sums that each observation of the second group adds: parts (WIDTH, 8, ENTRY).

    A pair adds 1 if the column agrees with the bit. They agree if the sign is 1 and the bit is set,
    or if the sign is -1 and the bit is clear.
    """
    one = load_bytes(ONE, 0)
    for h in range(WIDTH):
        for register in range(0, COLUMNS, LANES):
            x = load_bytes(values, at + h * COLUMNS + register)
            y = load_bytes(values, at + (WIDTH + h) * COLUMNS + register)
            z = load_bytes(values, at + (2 * WIDTH + h) * COLUMNS + register)
            # Count the signs -1: the sum of |x| - x is twice their number.
            twice = (x & one) + (y & one) + (z & one) - x - y - z
            none = shift_right(twice, np.uint64(1))
            to = h * 8 * ENTRY + register
            for state in range(8):
                total = none
                if state & 1:
                    total = total + x
                if state & 2:
                    total = total + y
                if state & 4:
                    total = total + z
                store(parts, to + state * ENTRY, total)


@njit
def _weak_parts(values: NDArray[np.uint8], at: int, parts: NDArray[np.uint8]) -> None:
    """Write the sums that each observation of the second group adds: parts (WIDTH, 9, ENTRY).

    A pair adds the product of the column's sign and the digit. Each observation carries 2 of the
    bias.
    """
    one = load_bytes(ONE, 0)
    for h in range(WIDTH):
        for register in range(0, COLUMNS, LANES):
            x = load_bytes(values, at + h * COLUMNS + register)
            y = load_bytes(values, at + (WIDTH + h) * COLUMNS + register)
            total = one + one - x - y
            to = h * 9 * ENTRY + register
            for _ in range(3):
                store(parts, to, total)
                store(parts, to + ENTRY, total + x)
                store(parts, to + 2 * ENTRY, total + x + x)
                total = total + y
                to += 3 * ENTRY


@njit
def build_table(
    values: NDArray[np.uint8],
    unit: int,
    shape: Any,
    work: Any,
    tables: NDArray[np.uint8],
    to: int,
) -> None:
    """Write the sums of all patterns of a unit from ``tables[to]`` on."""
    height, states, first, both = shape
    parts, sums = work
    at = unit * height * WIDTH * COLUMNS
    if height == 2:
        _weak_parts(values, at, parts)
    else:
        _strict_parts(values, at, parts)
    for y in range(states):
        _add_part(parts, first, y, parts, (states + y) * ENTRY, sums, y * states * ENTRY)
    for z in range(states):
        third = (2 * states + z) * ENTRY
        _add_part(sums, both, z, parts, third, tables, to + z * states * states * ENTRY)


@njit
def _add_part(
    sources: NDArray[np.uint8],
    runs: Any,
    state: int,
    parts: NDArray[np.uint8],
    part: int,
    targets: NDArray[np.uint8],
    to: int,
) -> None:
    """Write the sources at the places of a run plus a part to those places after targets[to]."""
    starts, words = runs
    low = np.uint64(0xFFFF)
    left, right = load_bytes(parts, part), load_bytes(parts, part + LANES)
    for k in range(starts[state], starts[state + 1]):
        word = load_octets(words, k)
        for _ in range(UNITS):
            place = np.intp(word & low)
            store(targets, to + place, left + load_bytes(sources, place))
            store(targets, to + place + LANES, right + load_bytes(sources, place + LANES))
            word = next_16(word)
