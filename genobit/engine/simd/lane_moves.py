"""Bits and blocks that move between the lanes of registers, and lines that come before them.

========================================  ================================================
``shift_left(a, n)``, ``shift_right(a, n)``  bits of each 64-bit word, also of lanes of bytes
``exchange(a, b, n)``                       one step of a transpose of blocks of n bits
``prefetch(array, i)``                      ask for the cache line of ``array[i]``
========================================  ================================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import Register, word
from genobit.engine.simd.vector import address

if TYPE_CHECKING:
    from collections.abc import Callable


def _shifted(move: Callable[[Any, Any], Any]) -> Callable[[Register, Any], Register]:
    def twin(a: Register, distance: Any) -> Register:
        return Register(move(a.lanes.view(np.uint64), word(distance)).view(a.lanes.dtype))

    return twin


def _exchange(a: Register, b: Register, bits: int) -> tuple[Register, Register]:
    left, right = (x.lanes.view(np.uint8).reshape(-1, 2, bits // 8) for x in (a, b))
    first, second = (
        Register(np.stack([left[:, k], right[:, k]], axis=1).ravel().view(a.lanes.dtype))
        for k in (0, 1)
    )
    return first, second


def _prefetch(array: Any, index: int) -> None:
    """Nothing to wait for."""


def _shift(name: str, twin: Callable[..., Any]) -> Any:
    @instruction(twin)
    def shift(typing: Any, a: Any, distance: Any) -> Any:
        """Each 64-bit word of a register, shifted; of lanes of bytes the eight of a word together.

        Bytes have no shift of their own in most instruction sets. Whoever shifts them masks what
        came over from the neighbour.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            count = a.bits * a.count // 64
            wide = ir.VectorType(ir.IntType(64), count)
            undefined = ir.Constant(wide, ir.Undefined)
            first = builder.insert_element(undefined, arguments[1], ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
            distances = builder.shuffle_vector(first, undefined, zeros)
            moved = getattr(builder, name)(builder.bitcast(arguments[0], wide), distances)
            return builder.bitcast(moved, a.vector)

        return a(a, types.uint64), generate

    return shift


shift_left = _shift("shl", _shifted(operator.lshift))
shift_right = _shift("lshr", _shifted(operator.rshift))


@instruction(_exchange, prefer_literal=True)
def exchange(typing: Any, a: Any, b: Any, bits: Any) -> Any:
    """Two rows of blocks of ``bits`` bits, the odd blocks of one exchanged with the even of two.

    ``(a0 a1 a2 a3 ...), (b0 b1 b2 b3 ...)`` to ``(a0 b0 a2 b2 ...), (a1 b1 a3 b3 ...)``: one step
    of a transpose. ``bits`` is a number written in the source, 8 or more.
    """
    if not isinstance(bits, types.IntegerLiteral):
        return None
    width = bits.literal_value
    blocks = a.bits * a.count // width

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Lanes of 64 bits at most, which every host has: wider blocks are several of them.
        lane = min(width, 64)
        each = width // lane
        vector = ir.VectorType(ir.IntType(lane), blocks * each)
        left, right = (builder.bitcast(x, vector) for x in arguments[:2])
        found = []
        for odd in (0, 1):
            source: list[int] = []
            for k in range(blocks):
                first = (k // 2 * 2 + odd) * each + (blocks * each if k % 2 else 0)
                source.extend(range(first, first + each))
            order = ir.Constant(ir.VectorType(ir.IntType(32), blocks * each), source)
            found.append(builder.bitcast(builder.shuffle_vector(left, right, order), a.vector))
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(a, 2)(a, a, bits), generate


@instruction(_prefetch)
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of ``array[index]``, which will be read or written soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        octet, number = ir.IntType(8), ir.IntType(32)
        # A line past the end is not fetched, and no error.
        value, place = arguments
        pointer = address(context, builder, signature.args[0], value, place, octet, checked=0)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # To read, into all levels, of the data cache.
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
