"""Tables of sums over the orders that a few observations can have, and rows that add from them.

Two groups of observations have pairs between them: three by three, or two by three. The signs of
those pairs are not free, for they come from an order: of the 512 sign patterns of 3 x 3 pairs 230
come from an order without ties (Brewbaker's lonesum matrices, counted by poly-Bernoulli numbers),
and of the 729 of 2 x 3 pairs with ties 261. For a panel of columns the sums of all patterns that
occur are built once, and every row adds the entry of its pattern: a load and a byte addition for
nine pairs, or six, in each lane. It is the Method of the Four Russians (Arlazarov,
Dinic, Kronrod, Faradzev 1970), with what an order rules out left out of its tables.

In C on a Zen 3 the rows' loop does 850 G pairs/s with 3 x 3 tables, against 650 to 740 with free
patterns of 6 or 7 bits; 2 x 4 and 2 x 5 pairs (146 and 454 patterns) do 810 and 880, and building
454 entries costs twice as much. With ties 2 x 3 does 560, four free values (81 patterns) 450.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.gemm.four_russians import COLUMNS, ENTRY, LANES, PLACE_BITS, UNITS
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import shift_right
from genobit.engine.simd.vector import load_bytes, load_octets, next_16, store_bytes, zero_bytes
from genobit.kendall.kernels.sign_lanes import larger_16, signs_of, store_16, zero_16

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 3
"""Observations of the second group of a unit."""
ONE = np.ones(LANES, np.uint8)


class Runs(NamedTuple):
    """Lists of places, four to a word; a list is filled up with its last place."""

    starts: NDArray[np.intp]
    """Where each list begins, (lists + 1,)."""
    words: NDArray[np.uint64]


class Shape(NamedTuple):
    """Units of ``height`` by three observations, and the patterns their signs can have."""

    height: int
    states: int
    """Sign patterns of one observation of the second group with those of the first."""
    bias: int
    """What an entry is above its sum, so that no byte is negative; 0 where bits are counted."""
    sets: int
    """Tables a byte holds the sums of, in sets of `UNITS`."""
    first: Runs
    """Of each state of the second observation, places of the states that the first can have."""
    both: Runs
    """Of each state of the third, places of the sums of the first two."""

    @property
    def step(self) -> int:
        """Bytes from one table to the next."""
        # Odd in lines: the same pattern of four tables then falls into four sets of the cache.
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
"""Rows without ties: an entry counts the pairs in which a column agrees with the pattern."""
WEAK = _shape(2, tied=True)
"""Rows with ties: an entry is the sum of the products of signs."""


@njit
def _strict_code(ranks: Any, stride: int, first: int, second: int, lane: int) -> Any:
    """Bit g + 3 h: observation g of the first group is larger than h of the second."""
    code = zero_16()
    for h in range(WIDTH - 1, -1, -1):
        there = (second + h) * stride + lane
        for g in range(2, -1, -1):
            # Larger is -1.
            code = code + code - larger_16(ranks, (first + g) * stride + lane, there)
    return code


@njit
def _weak_code(ranks: Any, stride: int, first: int, second: int, lane: int) -> Any:
    """Digit g + 2 h in base 3, less 1: the sign of g of the first group less h of the second."""
    code = zero_16()
    for h in range(WIDTH - 1, -1, -1):
        there = (second + h) * stride + lane
        for g in range(1, -1, -1):
            here = (first + g) * stride + lane
            code = code + code + code + larger_16(ranks, there, here)
            code = code - larger_16(ranks, here, there)
    return code


ONES = 364
"""What a code in base 3 lacks where digits are -1, 0, 1: six ones."""


@njit
def place_rows(
    ranks: NDArray[Any],
    units: NDArray[np.intp],
    height: int,
    places: NDArray[np.uint64],
) -> None:
    """ranks (observations, rows), units (k, 2) -> places (k / UNITS, rows).

    The first observations of both groups of each unit -> four places of entries to a word, 16
    bits each. Rows are a multiple of the lanes.
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
                store_16(octets, slot * rows + lane, code)
        _join(codes, ones, places[k])


@njit
def _join(codes: NDArray[np.int16], ones: np.uint64, places: NDArray[np.uint64]) -> None:
    for i in range(places.shape[0]):
        # Codes below nought borrow from the next; the ones give it back.
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
    """Ranks of a panel (observations, COLUMNS) -> values (units, height, WIDTH, COLUMNS).

    The signs of the pairs of each unit, -1, 0, 1 as bytes; 0 for pairs that are no pair or stand in
    an earlier unit, whose first observation does not come before the second. ``low`` and ``high``
    as for `signs_of`.
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
                        store_bytes(values, at, signs_of(below, above, here, there))
                    else:
                        store_bytes(values, at, zero_bytes())
                    at += LANES


@njit
def _strict_parts(values: NDArray[np.uint8], at: int, parts: NDArray[np.uint8]) -> None:
    """What each observation of the second group can add: parts (WIDTH, 8, ENTRY).

    A pair adds 1 where the column agrees with a bit: where its sign is 1 and the bit is set, or -1
    and it is not.
    """
    one = load_bytes(ONE, 0)
    for h in range(WIDTH):
        for register in range(0, COLUMNS, LANES):
            x = load_bytes(values, at + h * COLUMNS + register)
            y = load_bytes(values, at + (WIDTH + h) * COLUMNS + register)
            z = load_bytes(values, at + (2 * WIDTH + h) * COLUMNS + register)
            # One for each -1: half of |x| - x, of which no bit is lost.
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
                store_bytes(parts, to + state * ENTRY, total)


@njit
def _weak_parts(values: NDArray[np.uint8], at: int, parts: NDArray[np.uint8]) -> None:
    """What each observation of the second group can add: parts (WIDTH, 9, ENTRY).

    A pair adds the product of the column's sign and the digit's; the bias is shared out, two each.
    """
    one = load_bytes(ONE, 0)
    for h in range(WIDTH):
        for register in range(0, COLUMNS, LANES):
            x = load_bytes(values, at + h * COLUMNS + register)
            y = load_bytes(values, at + (WIDTH + h) * COLUMNS + register)
            total = one + one - x - y
            to = h * 9 * ENTRY + register
            for _ in range(3):
                store_bytes(parts, to, total)
                store_bytes(parts, to + ENTRY, total + x)
                store_bytes(parts, to + 2 * ENTRY, total + x + x)
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
    """Sums of all patterns of a unit, from ``tables[to]``: an addition and a store each."""
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
    """Sources at the places of a run, each plus the part: to those places after ``targets[to]``."""
    starts, words = runs
    low = np.uint64(0xFFFF)
    left, right = load_bytes(parts, part), load_bytes(parts, part + LANES)
    for k in range(starts[state], starts[state + 1]):
        word = load_octets(words, k)
        for _ in range(UNITS):
            place = np.intp(word & low)
            store_bytes(targets, to + place, left + load_bytes(sources, place))
            store_bytes(targets, to + place + LANES, right + load_bytes(sources, place + LANES))
            word = next_16(word)
