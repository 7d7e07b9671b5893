"""Compare 64 signed bytes at once; bit k of the returned word is the result for byte k.

========================================  ================================================
``equal_mask(array, i, value)``             bit k is ``array[i + k] == value``
``less_mask(array, i, value)``              bit k is ``array[i + k] < value``
========================================  ================================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import octets_at
from genobit.engine.simd.vector import address

if TYPE_CHECKING:
    from collections.abc import Callable


def _mask(compare: Callable[[Any, Any], Any]) -> Callable[[Any, int, int], np.uint64]:
    def twin(array: Any, index: int, value: int) -> np.uint64:
        found = compare(octets_at(array, index, np.int8, 64), np.int8(value))
        return np.uint64(np.packbits(found, bitorder="little").view(np.uint64)[0])

    return twin


def _byte_mask(comparison: str, compare: Callable[[Any, Any], Any]) -> Any:
    @instruction(_mask(compare))
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


equal_mask = _byte_mask("==", operator.eq)
less_mask = _byte_mask("<", operator.lt)
