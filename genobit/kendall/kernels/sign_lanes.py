"""Comparisons of ranks in vector registers.

========================================  ================================================
``signs_of(low, high, i, j)``               bytes -1, 0, 1 of value ``i + k`` against ``j + k``
``larger_16(ranks, i, j)``                  16-bit lanes, all ones where ``i + k`` > ``j + k``
``zero_16()``, ``store_16(array, i, a)``    16-bit lanes of zeros, and ``array[i:] = a``
========================================  ================================================

Ranks are signed integers of 16 or 32 bits, because AVX2 compares only signed integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import Register, octets_at, store, zero
from genobit.engine.simd.vector import BYTE_LANES, Lanes, address, bytes_

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

shorts = Lanes(16, BYTE_LANES)


def _larger(
    context: Any,
    builder: Any,
    arrays: tuple[Any, Any],
    values: tuple[Any, Any],
    places: tuple[Any, Any],
) -> Any:
    """Flag the lanes in which ranks from the first place exceed ranks from the second."""
    ranks = [
        builder.load(
            address(
                context,
                builder,
                array,
                value,
                place,
                ir.VectorType(ir.IntType(array.dtype.bitwidth), BYTE_LANES),
            ),
            align=array.dtype.bitwidth // 8,
        )
        for array, value, place in zip(arrays, values, places, strict=True)
    ]
    return builder.icmp_signed(">", *ranks)


def _at(ranks: Any, index: int) -> NDArray[Any]:
    return octets_at(ranks, index, f"i{ranks.itemsize}", BYTE_LANES)


def _signs(low: Any, high: Any, i: int, j: int) -> Register:
    larger, smaller = _at(low, i) > _at(high, j), _at(low, j) > _at(high, i)
    return Register(larger.astype(np.uint8) - smaller.astype(np.uint8))


def _larger_16(ranks: Any, i: int, j: int) -> Register:
    return Register((_at(ranks, i) > _at(ranks, j)) * np.uint16(2**16 - 1))


@instruction(_signs)
def signs_of(typing: Any, low: Any, high: Any, i: Any, j: Any) -> Any:
    """Return the sign of the ranks from ``i`` less those from ``j``, as bytes -1, 0, 1.

    ``low`` and ``high`` hold the same ranks, except that a missing value is the lowest number in
    one and the highest in the other. It is then neither larger nor smaller than any value, so its
    sign is 0.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        below, above, here, there = arguments
        kinds = signature.args[0], signature.args[1]
        larger = _larger(context, builder, kinds, (below, above), (here, there))
        smaller = _larger(context, builder, kinds, (below, above), (there, here))
        # A true flag is sign-extended to -1.
        return builder.sub(
            builder.sext(smaller, bytes_.vector), builder.sext(larger, bytes_.vector)
        )

    return bytes_(low, high, types.intp, types.intp), generate


@instruction(_larger_16)
def larger_16(typing: Any, ranks: Any, i: Any, j: Any) -> Any:
    """Return 16-bit lanes, all ones where ``ranks[i + k] > ranks[j + k]``, else zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, here, there = arguments
        kind = signature.args[0]
        flags = _larger(context, builder, (kind, kind), (array, array), (here, there))
        return builder.sext(flags, shorts.vector)

    return shorts(ranks, types.intp, types.intp), generate


@instruction(zero(shorts.bits, shorts.count))
def zero_16(typing: Any) -> Any:
    """Return 16-bit lanes of zeros."""
    generate: Callable[..., Any] = lambda *_: ir.Constant(shorts.vector, None)  # noqa: E731
    return shorts(), generate


@instruction(store)
def store_16(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write ``array[index : index + BYTE_LANES] = value`` for a uint16 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments[:2], shorts.vector)
        builder.store(arguments[2], pointer, align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, shorts), generate
