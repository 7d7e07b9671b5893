"""Comparisons of 64 signed bytes at once, as a word of which bit k is what was found of byte k.

========================================  ================================================
``equal_mask(array, i, value)``             bit k is ``array[i + k] == value``
``less_mask(array, i, value)``              bit k is ``array[i + k] < value``
========================================  ================================================
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from genobit.simd import address


def _byte_mask(comparison: str) -> Any:
    @intrinsic  # type: ignore[misc]
    def mask(typing: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            octets = ir.VectorType(ir.IntType(8), 64)
            pointer = address(context, builder, signature.args[0], *arguments[:2], octets)
            undefined = ir.Constant(octets, ir.Undefined)
            first = builder.insert_element(undefined, arguments[2], ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            repeated = builder.shuffle_vector(first, undefined, zeros)
            flags = builder.icmp_signed(comparison, builder.load(pointer, align=1), repeated)
            return builder.bitcast(flags, ir.IntType(64))

        return types.uint64(array, types.intp, types.int8), generate

    return mask


equal_mask = _byte_mask("==")
less_mask = _byte_mask("<")
