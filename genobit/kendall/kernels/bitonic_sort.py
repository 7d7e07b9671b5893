"""Sorting of packed pairs of ranks in vector registers of eight 32-bit or 64-bit lanes.

=============================  ===========================================================
``load_lanes(array, i)``         the next eight keys from ``array[i]``, int32 or int64
``merge_lanes(a, b)``            merge two sorted registers into a lower and an upper half
``sort_block(array, i)``         sort 128 keys into eight runs of 16; returns the exchanges
=============================  ===========================================================

Keys are signed, because some instruction sets compare only signed integers. On CPUs with 256-bit
registers, eight 64-bit lanes take two registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import Register, octets_at
from genobit.engine.simd.vector import Vec, address, called, loader, shuffled, summed

LANES = 8
RUN = 16
"""Number of keys in each run that `sort_block` leaves."""
BLOCK = LANES * RUN

# Two orders of the lanes of two registers. They interleave single keys, blocks of two or of four
# keys, or exchange the odd keys of the first register with the even keys of the second.
ONES = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
TWOS = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
FOURS = [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]
ALTERNATE = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]

load_lanes = loader(LANES)


def _both(builder: Any, a: Any, b: Any, orders: tuple[list[int], list[int]]) -> tuple[Any, Any]:
    """Return the lanes of two registers in two orders."""
    return shuffled(builder, a, b, orders[0]), shuffled(builder, a, b, orders[1])


def _ordered(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the smaller and the larger key of each lane."""
    kind = f"v{LANES}i{a.type.element.width}"
    low = called(builder, f"llvm.smin.{kind}", a.type, a, b)
    return low, called(builder, f"llvm.smax.{kind}", a.type, a, b)


def _merge(a: Register, b: Register) -> tuple[Register, Register]:
    keys = np.sort(np.concatenate([a.lanes, b.lanes]))
    return Register(keys[:LANES]), Register(keys[LANES:])


def _sort(array: Any, index: int) -> int:
    runs = octets_at(array, index, array.dtype, BLOCK).reshape(-1, RUN)
    earlier, later = np.triu_indices(RUN, 1)
    exchanges = np.count_nonzero(runs[:, earlier] > runs[:, later])
    runs.sort(axis=1)
    return int(exchanges)


@instruction(_merge)
def merge_lanes(typing: Any, a: Any, b: Any) -> Any:
    """Merge two ascending registers into their eight smaller and eight larger keys, both sorted.

    This is Batcher's bitonic merge: reverse the second register, then compare lanes 8, 4, 2 and 1
    apart. Between steps, each shuffle is one instruction on two registers; the last shuffles
    restore the order.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = arguments
        second = shuffled(builder, second, second, range(LANES - 1, -1, -1))
        first, second = _ordered(builder, first, second)
        for orders in (FOURS, TWOS, ALTERNATE):
            first, second = _ordered(builder, *_both(builder, first, second, orders))
        for orders in (ONES, FOURS):
            first, second = _both(builder, first, second, orders)
        return context.make_tuple(builder, signature.return_type, (first, second))

    return types.UniTuple(a, 2)(a, b), generate


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose eight registers, seen as an 8 x 8 matrix of keys."""
    pairs = [x for k in range(0, LANES, 2) for x in _both(builder, rows[k], rows[k + 1], ONES)]
    quads = [x for k in (0, 1, 4, 5) for x in _both(builder, pairs[k], pairs[k + 2], TWOS)]
    return [shuffled(builder, quads[k], quads[k + 4], order) for order in FOURS for k in range(4)]


def network(start: int, size: int) -> list[tuple[int, int]]:
    """Return the comparators of Batcher's odd-even merge sort of ``size`` keys, a power of two."""

    def merged(first: int, count: int, gap: int) -> list[tuple[int, int]]:
        if 2 * gap >= count:
            return [(first, first + gap)]
        halves = merged(first, count, 2 * gap) + merged(first + gap, count, 2 * gap)
        between = range(first + gap, first + count - gap, 2 * gap)
        return halves + [(k, k + gap) for k in between]

    if size == 1:
        return []
    half = size // 2
    return network(start, half) + network(start + half, half) + merged(start, size, 1)


def _exchanges(builder: Any, columns: list[Any]) -> Any:
    """Count in each lane the pairs of registers whose earlier key is larger."""
    # Four separate sums let the additions run in parallel.
    sums = [ir.Constant(columns[0].type, None)] * 4
    for k, later in enumerate(columns):
        for h, earlier in enumerate(columns[:k]):
            larger = builder.sext(builder.icmp_signed(">", earlier, later), later.type)
            sums[h % 4] = builder.sub(sums[h % 4], larger)
    return builder.add(builder.add(sums[0], sums[1]), builder.add(sums[2], sums[3]))


@instruction(_sort)
def sort_block(typing: Any, array: Any, index: Any) -> Any:
    """Sort each run of 16 keys of ``array[index : index + 128]``; returns the exchanges.

    The keys are transposed so that each lane is a run. The sorting network is then minima and
    maxima of whole registers. All pairs of a run are compared first to count the exchanges.
    """
    lanes = Vec(array.dtype, LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, place = arguments
        base = address(context, builder, array, value, place, lanes.vector, checked=RUN)
        number, octets = ir.IntType(64), lanes.bits // 8
        places = [builder.gep(base, [number(k)]) for k in range(RUN)]
        rows = [builder.load(place, align=octets) for place in places]
        columns = _transposed(builder, rows[0::2]) + _transposed(builder, rows[1::2])
        exchanges = _exchanges(builder, columns)
        for low, high in network(0, RUN):
            columns[low], columns[high] = _ordered(builder, columns[low], columns[high])
        for half in (0, 1):
            done = _transposed(builder, columns[LANES * half : LANES * (half + 1)])
            for place, row in zip(places[half::2], done, strict=True):
                builder.store(row, place, align=octets)
        return summed(builder, exchanges, signed=True)

    return types.int64(array, types.intp), generate
