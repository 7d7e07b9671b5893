"""Shift bits, transpose squares in registers, and prefetch cache lines.

========================================  ================================================
``shift_left(a, n)``, ``shift_right(a, n)``  bits of each 64-bit word, also of byte lanes
``transpose_square(...)``                   transpose eight rows of eight numbers
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
from genobit.engine.simd.plain_lanes import Register, octets_at, word
from genobit.engine.simd.vector import address, called, repeated, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

EDGE = 8
"""Rows and columns of a square that fits the registers."""


def _shifted(move: Callable[[Any, Any], Any]) -> Callable[[Register, Any], Register]:
    def twin(a: Register, distance: Any) -> Register:
        return Register(move(a.lanes.view(np.uint64), word(distance)).view(a.lanes.dtype))

    return twin


def _transpose_square(
    source: NDArray[Any], start: int, stride: int, out: NDArray[Any], to: int, step: int
) -> None:
    rows = [octets_at(source, start + k * stride, source.dtype, EDGE) for k in range(EDGE)]
    for k, column in enumerate(np.stack(rows, axis=1)):
        octets_at(out, to + k * step, source.dtype, EDGE)[:] = column


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


@instruction(_transpose_square)
def transpose_square(
    typing: Any, source: Any, start: Any, stride: Any, out: Any, to: Any, step: Any
) -> Any:
    """Transpose eight numbers of eight rows: number j of row i goes to ``out[to + j * step + i]``.

    Row i begins at ``source[start + i * stride]``. Both arrays have one dimension and numbers of
    the same size.
    """
    vector = ir.VectorType(ir.IntType(source.dtype.bitwidth), EDGE)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def pointers(array: Any, value: Any, index: Any, distance: Any) -> Iterator[Any]:
            for _ in range(EDGE):
                yield address(context, builder, array, value, index, vector)
                index = builder.add(index, distance)

        rows = [builder.load(at, align=1) for at in pointers(source, *arguments[:3])]
        for distance in (4, 2, 1):
            # Exchange the odd blocks of `distance` lanes with the even blocks of the later row.
            odd = [lane for lane in range(EDGE) if lane & distance]
            even = [lane for lane in range(EDGE) if not lane & distance]
            first, second = list(range(EDGE)), list(range(EDGE))
            for low, high in zip(even, odd, strict=True):
                first[high], second[low], second[high] = EDGE + low, high, EDGE + high
            for k in even:
                pair = rows[k], rows[k + distance]
                rows[k] = shuffled(builder, *pair, first)
                rows[k + distance] = shuffled(builder, *pair, second)
        for row, at in zip(rows, pointers(out, *arguments[3:]), strict=True):
            builder.store(row, at, align=1)
        return context.get_dummy_value()

    places = types.intp, types.intp
    return types.void(source, *places, out, *places), generate


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
