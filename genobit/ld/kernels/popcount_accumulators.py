"""Accumulators of bit counts, in the lanes in which the CPU counts bits.

An x86 CPU without a vector popcount instruction looks up the bit count of each byte. One more
instruction sums eight bytes to a word. That sum can wait until the end of a row, so a register
takes six instructions instead of eight.

=================================  ========================================================
``zero_tally()``                     an empty tally
``tally(a)``                         bits set in each lane of a register; ``+`` adds tallies
``tallied(t)``                       register of words whose lanes sum to the whole tally
``store_sums(array, i, a, b, c, d)``   sums of the lanes of four registers, ``array[i : i + 4]``
=================================  ========================================================

A tally holds `TALLY_WORDS` words of a row.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import inlined, instruction
from genobit.engine.simd.plain_lanes import Register, octets_at, reduce_add
from genobit.engine.simd.registers import REGISTER_WORDS, register
from genobit.engine.simd.vector import Vec, address, bitcast, called, popcount, shuffled, zeros

IN_BYTES = not host().vector_popcount and platform.machine().lower() in {"x86_64", "amd64"}
tallies = Vec(types.uint8, 8 * REGISTER_WORDS) if IN_BYTES else register
TALLY_WORDS = 31 * REGISTER_WORDS if IN_BYTES else 2**31
"""Words that a tally can hold without overflow: each register adds at most 8 to a byte."""


def _tallied(a: Register) -> Register:
    return Register(a.lanes.reshape(register.count, -1).sum(axis=1, dtype=np.uint64))


def _store_sums(array: Any, index: int, *registers: Register) -> None:
    octets_at(array, index, np.int64, 4)[:] = [reduce_add(a) for a in registers]


zero_tally, _in_lanes = zeros(tallies), bitcast(tallies)


@inlined
def tally(a: Any) -> Any:
    """Return the number of bits set in each lane of a register of words."""
    return popcount(_in_lanes(a))


@instruction(_tallied)
def tallied(typing: Any, a: Any) -> Any:
    """Return a register of words whose lanes sum to the whole tally."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not IN_BYTES:
            return arguments[0]
        name = "llvm.x86.avx2.psad.bw" if tallies.count == 32 else "llvm.x86.sse2.psad.bw"
        nothing = ir.Constant(tallies.vector, None)
        return called(builder, name, register.vector, arguments[0], nothing)

    return register(a), generate


def _sums(builder: Any, parts: list[Any]) -> Any:
    """Return the sums of the lanes of four vectors, by moves within halves of a register."""
    while (count := parts[0].type.count) > 4:
        low, high = range(count // 2), range(count // 2, count)
        parts = [
            builder.add(shuffled(builder, x, x, list(low)), shuffled(builder, x, x, list(high)))
            for x in parts
        ]
    even, odd = ([0, 4, 2, 6], [1, 5, 3, 7]) if count == 4 else ([0, 2], [1, 3])
    ab, cd = (
        builder.add(shuffled(builder, x, y, even), shuffled(builder, x, y, odd))
        for x, y in (parts[:2], parts[2:])
    )
    if count == 2:
        return shuffled(builder, ab, cd, [0, 1, 2, 3])
    return builder.add(
        shuffled(builder, ab, cd, [0, 1, 4, 5]), shuffled(builder, ab, cd, [2, 3, 6, 7])
    )


@instruction(_store_sums)
def store_sums(typing: Any, array: Any, index: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Store the sums of the lanes of four registers in ``array[index : index + 4]``, int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums = _sums(builder, list(arguments[2:]))
        pointer = address(context, builder, array, arguments[0], arguments[1], sums.type)
        builder.store(sums, pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, a, b, c, d), generate
