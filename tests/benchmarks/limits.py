"""Inner loops of the products without loads and stores: the limit that registers set.

An operand is the same each time. An empty inline assembly, which adds no instruction, hides this
from the compiler. It can then neither hoist nor merge the work.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from genobit.engine.gemm import matrix_unit
from genobit.engine.simd.amx import (
    TILE_BYTES,
    TILE_ROWS,
    configure,
    multiply_tiles,
    release,
    tile_shapes,
    zero_tile,
)
from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    BYTE_LANES,
    WORD_LANES,
    add_bytes,
    broadcast,
    load_bytes,
    load_words,
    lookup,
)
from genobit.engine.simd.vector import Vec, add_to, popcount

X86 = platform.machine().lower() in {"x86_64", "amd64"}
STEPS = 400_000


@intrinsic  # type: ignore[untyped-decorator]
def opaque(typing: Any, value: Any) -> Any:
    """The value, of which the compiler knows nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(value, Vec):
            # A register at a time: the assembler knows no register as wide as two.
            per_register = (256 if not host().vector_popcount else 512) // value.bits
            if not X86:
                per_register = 128 // value.bits
            return _by_register(builder, arguments[0], value, min(per_register, value.count))
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.asm(kind, "", "=r,0", arguments, True)

    return value(value), generate


def _by_register(builder: Any, vector: Any, lanes: Vec, width: int) -> Any:
    part = ir.VectorType(ir.IntType(lanes.bits), width)
    kind = ir.FunctionType(part, [part])
    constraint = ("=v,0" if host().vector_popcount else "=x,0") if X86 else "=w,0"
    whole = ir.Constant(lanes.vector, ir.Undefined)
    index = ir.IntType(32)
    pieces = []
    for start in range(0, lanes.count, width):
        mask = ir.Constant(ir.VectorType(index, width), list(range(start, start + width)))
        piece = builder.shuffle_vector(vector, whole, mask)
        pieces.append(builder.asm(kind, "", constraint, [piece], True))
    while len(pieces) > 1:
        size = pieces[0].type.count * 2
        mask = ir.Constant(ir.VectorType(index, size), list(range(size)))
        pieces = [
            builder.shuffle_vector(pieces[k], pieces[k + 1], mask) for k in range(0, len(pieces), 2)
        ]
    return pieces[0]


@njit
def scalar_and(steps: int) -> Any:
    """64-bit and + popcount + add, eight sums side by side: 8 x 64 bits a step."""
    a = np.uint64(0x0123456789ABCDEF)
    b = np.uint64(0xFEDCBA9876543210)
    c0 = c1 = c2 = c3 = c4 = c5 = c6 = c7 = np.uint64(0)
    for _ in range(steps):
        b = opaque(b)
        c0 += popcount(a & b)
        b = opaque(b)
        c1 += popcount(a & b)
        b = opaque(b)
        c2 += popcount(a & b)
        b = opaque(b)
        c3 += popcount(a & b)
        b = opaque(b)
        c4 += popcount(a & b)
        b = opaque(b)
        c5 += popcount(a & b)
        b = opaque(b)
        c6 += popcount(a & b)
        b = opaque(b)
        c7 += popcount(a & b)
    return c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7


@njit
def vector_and(words: Any, steps: int) -> Any:
    """Vector and + popcount + add as the compiler lowers it for this CPU: 4 x 512 bits a step."""
    a = broadcast(words[0])
    b0 = b1 = b2 = b3 = load_words(words, 0)
    c0 = c1 = c2 = c3 = load_words(words, 0)
    for _ in range(steps):
        b0, b1, b2, b3 = opaque(b0), opaque(b1), opaque(b2), opaque(b3)
        c0 = c0 + popcount(a & b0)
        c1 = c1 + popcount(a & b1)
        c2 = c2 + popcount(a & b2)
        c3 = c3 + popcount(a & b3)
    out = np.zeros(WORD_LANES, np.int32)
    add_to(out, 0, c0 + c1 + c2 + c3)
    return out[0]


@njit
def scalar_xor(steps: int) -> Any:
    """64-bit xor + popcount + add, eight sums side by side: 8 x 64 bits a step."""
    a = np.uint64(0x0123456789ABCDEF)
    b = np.uint64(0xFEDCBA9876543210)
    c0 = c1 = c2 = c3 = c4 = c5 = c6 = c7 = np.uint64(0)
    for _ in range(steps):
        b = opaque(b)
        c0 += popcount(a ^ b)
        b = opaque(b)
        c1 += popcount(a ^ b)
        b = opaque(b)
        c2 += popcount(a ^ b)
        b = opaque(b)
        c3 += popcount(a ^ b)
        b = opaque(b)
        c4 += popcount(a ^ b)
        b = opaque(b)
        c5 += popcount(a ^ b)
        b = opaque(b)
        c6 += popcount(a ^ b)
        b = opaque(b)
        c7 += popcount(a ^ b)
    return c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7


@njit
def vector_xor(words: Any, steps: int) -> Any:
    """Vector xor + popcount + add as the compiler lowers it: 4 x 512 bits a step."""
    a = broadcast(words[0])
    b0 = b1 = b2 = b3 = load_words(words, 0)
    c0 = c1 = c2 = c3 = load_words(words, 0)
    for _ in range(steps):
        b0, b1, b2, b3 = opaque(b0), opaque(b1), opaque(b2), opaque(b3)
        c0 = c0 + popcount(a ^ b0)
        c1 = c1 + popcount(a ^ b1)
        c2 = c2 + popcount(a ^ b2)
        c3 = c3 + popcount(a ^ b3)
    out = np.zeros(WORD_LANES, np.int32)
    add_to(out, 0, c0 + c1 + c2 + c3)
    return out[0]


@njit
def scalar_ternary(steps: int) -> Any:
    """Two ands, a xor, two popcounts and two adds of 64-bit words: 2 x 64 products a step."""
    m, s = np.uint64(0x0123456789ABCDEF), np.uint64(0x00FF00FF00FF00FF)
    m0 = m1 = s0 = s1 = np.uint64(0xFEDCBA9876543210)
    c0 = c1 = d0 = d1 = np.uint64(0)
    for _ in range(steps):
        m0, m1, s0, s1 = opaque(m0), opaque(m1), opaque(s0), opaque(s1)
        p0, p1 = m & m0, m & m1
        c0 += popcount(p0)
        c1 += popcount(p1)
        d0 += popcount(p0 & (s ^ s0))
        d1 += popcount(p1 & (s ^ s1))
    return c0 + c1 + d0 + d1


@njit
def vector_ternary(words: Any, steps: int) -> Any:
    """The ternary product of vectors as the compiler lowers it: 2 x 512 products a step."""
    m, s = broadcast(words[0]), broadcast(words[1])
    m0 = m1 = s0 = s1 = load_words(words, 0)
    c0 = c1 = d0 = d1 = load_words(words, 0)
    for _ in range(steps):
        m0, m1, s0, s1 = opaque(m0), opaque(m1), opaque(s0), opaque(s1)
        p0, p1 = m & m0, m & m1
        c0 = c0 + popcount(p0)
        c1 = c1 + popcount(p1)
        d0 = d0 + popcount(p0 & (s ^ s0))
        d1 = d1 + popcount(p1 & (s ^ s1))
    out = np.zeros(WORD_LANES, np.int32)
    add_to(out, 0, c0 + c1 + d0 + d1)
    return out[0]


@njit
def table(octets: Any, steps: int) -> Any:
    """Byte lookup + add, eight sums side by side: 8 registers of nibbles a step."""
    t, b = load_bytes(octets, 0), load_bytes(octets, 0)
    c0 = c1 = c2 = c3 = c4 = c5 = c6 = c7 = load_bytes(octets, 0)
    for _ in range(steps):
        b = opaque(b)
        c0 = c0 + lookup(t, b)
        b = opaque(b)
        c1 = c1 + lookup(t, b)
        b = opaque(b)
        c2 = c2 + lookup(t, b)
        b = opaque(b)
        c3 = c3 + lookup(t, b)
        b = opaque(b)
        c4 = c4 + lookup(t, b)
        b = opaque(b)
        c5 = c5 + lookup(t, b)
        b = opaque(b)
        c6 = c6 + lookup(t, b)
        b = opaque(b)
        c7 = c7 + lookup(t, b)
    out = np.zeros(BYTE_LANES, np.uint16)
    add_bytes(out, 0, c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7)
    return out[0]


@njit
def tiles(shapes: Any, steps: int) -> None:
    """Products of tiles, four sums side by side: 4 x 16 x 16 x 64 products a step."""
    configure(shapes)
    zero_tile(0)
    zero_tile(1)
    zero_tile(2)
    zero_tile(3)
    zero_tile(4)
    zero_tile(5)
    zero_tile(6)
    zero_tile(7)
    for _ in range(steps):
        multiply_tiles(0, 4, 6)
        multiply_tiles(1, 4, 7)
        multiply_tiles(2, 5, 6)
        multiply_tiles(3, 5, 7)
    release()


_WORDS = np.arange(1, 65, dtype=np.uint64) * np.uint64(0x0101010101010101)
_OCTETS = (np.arange(64) % 16).astype(np.uint8)


def work() -> dict[str, tuple[Any, float]]:
    """Return by name a call that exercises a limit, and how many bits (or products) it is."""
    probes: dict[str, tuple[Any, float]] = {
        "scalar and": (lambda: scalar_and(STEPS), STEPS * 8 * 64),
        "vector and": (lambda: vector_and(_WORDS, STEPS), STEPS * 4 * 64 * WORD_LANES),
        "scalar xor": (lambda: scalar_xor(STEPS), STEPS * 8 * 64),
        "vector xor": (lambda: vector_xor(_WORDS, STEPS), STEPS * 4 * 64 * WORD_LANES),
        "scalar ternary": (lambda: scalar_ternary(STEPS), STEPS * 2 * 64),
        "vector ternary": (lambda: vector_ternary(_WORDS, STEPS), STEPS * 2 * 64 * WORD_LANES),
    }
    if host().byte_lanes:
        lookups = STEPS * 8 * BYTE_LANES
        probes["table and"] = (lambda: table(_OCTETS, STEPS), lookups * 4)
        probes["table xor"] = probes["table and"]
        probes["table ternary"] = (lambda: table(_OCTETS, STEPS), lookups * 2)
    if matrix_unit.usable("ternary"):
        shapes, count = tile_shapes(), STEPS * 4 * TILE_ROWS**2 * TILE_BYTES
        for product in ("and", "xor", "ternary"):
            probes[f"matrix {product}"] = (lambda: tiles(shapes, STEPS), count)
    return probes
