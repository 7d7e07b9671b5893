"""Register operations of these multiplications that `genobit.engine.simd` lacks."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from genobit.engine.simd.jit import inlined, instruction
from genobit.engine.simd.plain_lanes import Register
from genobit.engine.simd.registers import BYTE_LANES, bytes_
from genobit.engine.simd.vector import Vec, bitcast, called, shuffled, splat, zeros

OCTETS = BYTE_LANES
"""Bytes of a register."""
CODES = 4 * OCTETS
"""Two-bit genotypes in a register."""
sums = Vec(types.uint32, OCTETS // 4)
zero_sums = zeros(sums)
_repeated, _as_bytes = splat(Vec(types.uint64, OCTETS // 8)), bitcast(bytes_)


def _multiply_pairs(a: Register, b: Register) -> Register:
    x, y = (v.lanes.view(np.int16).astype(np.int32) for v in (a, b))
    return Register((x * y).reshape(-1, 2).sum(axis=1, dtype=np.int32).view(np.uint32))


@inlined
def repeat(word: Any) -> Any:
    """Return a register of bytes that repeats the eight bytes of a word, as a mask."""
    return _as_bytes(_repeated(word))


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
            return called(builder, name, sums.vector, x, y)
        wide = ir.VectorType(ir.IntType(32), half)
        product = builder.mul(builder.zext(x, wide), builder.zext(y, wide))
        even, odd = (shuffled(builder, product, product, range(k, half, 2)) for k in (0, 1))
        return builder.add(even, odd)

    return sums(bytes_, bytes_), generate
