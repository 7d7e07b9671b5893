"""Register operations of these multiplications that `genobit.engine.simd.vector` lacks."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import Register, word, zero
from genobit.engine.simd.vector import BYTE_LANES, Lanes, bytes_

OCTETS = BYTE_LANES
"""Bytes of a register."""
CODES = 4 * OCTETS
"""Two-bit genotypes in a register."""
sums = Lanes(32, OCTETS // 4)


def _repeat(value: Any) -> Register:
    return Register(np.full(OCTETS // 8, word(value)).view(np.uint8))


def _total(a: Register) -> np.uint64:
    return np.uint64(a.lanes.sum(dtype=np.uint16 if a.lanes.itemsize == 1 else np.uint64))


def _multiply_pairs(a: Register, b: Register) -> Register:
    x, y = (v.lanes.view(np.int16).astype(np.int32) for v in (a, b))
    return Register((x * y).reshape(-1, 2).sum(axis=1, dtype=np.int32).view(np.uint32))


@instruction(_repeat)
def repeat(typing: Any, word: Any) -> Any:
    """Return a register of bytes that repeats the eight bytes of a word, as a mask."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.VectorType(ir.IntType(64), OCTETS // 8)
        undefined = ir.Constant(wide, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), OCTETS // 8), [0] * (OCTETS // 8))
        return builder.bitcast(builder.shuffle_vector(first, undefined, zeros), bytes_.vector)

    return bytes_(types.uint64), generate


@instruction(_total)
def total(typing: Any, lanes: Any) -> Any:
    """Return the sum of all lanes, as a word."""
    # Sums of bytes fit 16 bits, for which one instruction (psadbw) adds eight bytes.
    wide = ir.VectorType(ir.IntType(16 if lanes.bits == 8 else 64), lanes.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        name = f"llvm.vector.reduce.add.v{wide.count}i{wide.element.width}"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(wide.element, [wide]), name
        )
        found = builder.call(function, [builder.zext(arguments[0], wide)])
        return found if lanes.bits > 8 else builder.zext(found, ir.IntType(64))

    return types.uint64(lanes), generate


@instruction(zero(sums.bits, sums.count))
def zero_sums(typing: Any) -> Any:
    """Return 32-bit lanes, all zero."""
    return sums(), lambda *_: ir.Constant(sums.vector, None)


@instruction(_multiply_pairs)
def multiply_pairs(typing: Any, a: Any, b: Any) -> Any:
    """Return products of the 16-bit lanes of two registers, neighbours added (pmaddwd)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        half = OCTETS // 2
        narrow = ir.VectorType(ir.IntType(16), half)
        x, y = (builder.bitcast(v, narrow) for v in arguments)
        if platform.machine().lower() in {"x86_64", "amd64"}:
            # By name: for small numbers LLVM emits a multiplication, a shift and a blend.
            name = "llvm.x86.avx2.pmadd.wd" if OCTETS == 32 else "llvm.x86.sse2.pmadd.wd"
            kind = ir.FunctionType(sums.vector, [narrow, narrow])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x, y])
        wide, index = ir.VectorType(ir.IntType(32), half), ir.VectorType(ir.IntType(32), half // 2)
        product = builder.mul(builder.zext(x, wide), builder.zext(y, wide))
        even, odd = (
            builder.shuffle_vector(product, product, ir.Constant(index, list(range(k, half, 2))))
            for k in (0, 1)
        )
        return builder.add(even, odd)

    return sums(bytes_, bytes_), generate
