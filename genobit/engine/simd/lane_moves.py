"""Shift bits, exchange blocks between the lanes of registers, and prefetch cache lines.

========================================  ================================================
``shift_left(a, n)``, ``shift_right(a, n)``  bits of each 64-bit word, also of byte lanes
``exchange(a, b, n)``                       one step of a transpose of blocks of n bits
``prefetch(array, i)``                      fetch the cache line of ``array[i]``
========================================  ================================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import Register, word
from genobit.engine.simd.vector import address, called, repeated, shuffled

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
    """Do nothing."""


def _shift(name: str, twin: Callable[..., Any]) -> Any:
    @instruction(twin)
    def shift(typing: Any, a: Any, distance: Any) -> Any:
        """Shift each 64-bit word of a register; byte lanes shift as words of eight.

        Most instruction sets have no byte shift. The caller masks the bits that come from the
        neighbouring byte.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            count = a.bits * a.count // 64
            wide = ir.VectorType(ir.IntType(64), count)
            distances = repeated(builder, arguments[1], count)
            moved = getattr(builder, name)(builder.bitcast(arguments[0], wide), distances)
            return builder.bitcast(moved, a.vector)

        return a(a, types.uint64), generate

    return shift


shift_left = _shift("shl", _shifted(operator.lshift))
shift_right = _shift("lshr", _shifted(operator.rshift))


@instruction(_exchange, prefer_literal=True)
def exchange(typing: Any, a: Any, b: Any, bits: Any) -> Any:
    """Exchange the odd blocks of ``bits`` bits of a with the even blocks of b.

    ``(a0 a1 a2 a3 ...), (b0 b1 b2 b3 ...)`` to ``(a0 b0 a2 b2 ...), (a1 b1 a3 b3 ...)``: one step
    of a transpose. ``bits`` is a literal number, at least 8.
    """
    if not isinstance(bits, types.IntegerLiteral):
        return None
    width = bits.literal_value
    blocks = a.bits * a.count // width

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Use lanes of at most 64 bits, which every host has; a wider block takes several lanes.
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
            found.append(builder.bitcast(shuffled(builder, left, right, source), a.vector))
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(a, 2)(a, a, bits), generate


@instruction(_prefetch)
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of ``array[index]``, which will be read or written soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        octet, number = ir.IntType(8), ir.IntType(32)
        # Prefetching past the end of the array is harmless.
        value, place = arguments
        pointer = address(context, builder, array, value, place, octet, checked=0)
        # Arguments: read access, all cache levels, data cache.
        how = number(0), number(3), number(1)
        called(builder, "llvm.prefetch.p0", ir.VoidType(), pointer, *how)
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
