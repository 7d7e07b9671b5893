"""Vector registers of the CPU that kernels are compiled for, and instructions of bytes and words.

==========================================  ==============================================
``unowned(array)``                            the array for these functions and for ``[i]``
``truncate_to(array, x)``                     the low bits of x, as an element of the array
``load_octets(array, i)``                     eight bytes from ``array[i]`` as one scalar word
``next_16(word)``                             ``word >> 16``, hidden from the optimiser
``bytes_of_bits(word)``                       a byte per low bit of a word: 255 if set, else 0
``load_table(tables, offsets, i)``            16 bytes from ``tables[offsets[i]]``, for ``lookup``
``lookup(table, index)``                      ``table[index]`` for each byte, index in 0..15
``add_bytes(array, i, a)``                    ``array[i:] += a`` for uint16 counts, even bytes first
``repeat(word)``                              a register of bytes that repeats a word's eight bytes
``multiply_pairs(a, b)``                      products of 16-bit lanes, neighbours added
``equal_mask(array, i, value)``               bit k is ``array[i + k] == value``, of 64 signed bytes
``less_mask(array, i, value)``                bit k is ``array[i + k] < value``
==========================================  ==============================================

The number of byte lanes, and whether a byte lookup exists, depend on the CPU that numba compiles
for. Vectors of eight words work on every host: LLVM splits them if registers are shorter.
"""

from __future__ import annotations

import math
import platform
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import TypingError, types

from genobit.engine.simd import plain_lanes
from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import BOUNDS_CHECKED, inlined, instruction
from genobit.engine.simd.vector import (
    Vec,
    address,
    bitcast,
    bits_of,
    called,
    loader,
    shuffled,
    splat,
    zeros,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

WORD_LANES = 8
BYTE_LANES = host().byte_lanes or 16
FLOAT_LANES = 8

words = Vec(types.uint64, WORD_LANES)
REGISTER_WORDS = 8 if host().vector_popcount else BYTE_LANES // 8
"""Words per vector register. Kernels with many live values use it, because vectors of eight
words would spill."""
register = Vec(types.uint64, REGISTER_WORDS)
bytes_ = Vec(types.uint8, BYTE_LANES)
floats = Vec(types.float32, FLOAT_LANES)
sums = Vec(types.uint32, BYTE_LANES // 4)


def aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array that starts on a cache line.

    A load or store of a register that spans two lines takes twice as long.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    octets = np.empty(size + 64, np.uint8)
    offset = -octets.ctypes.data % 64
    return octets[offset : offset + size].view(dtype).reshape(shape)


load_words = loader(words)
load_bytes = loader(bytes_)
load_register = loader(register)
load_floats = loader(floats)
zero_words = zeros(words)
zero_register = zeros(register)
zero_bytes = zeros(bytes_)
zero_sums = zeros(sums)
broadcast = splat(words)
broadcast_float = splat(floats)


load_64 = loader(Vec(types.int8, 64))
_splat_64 = splat(Vec(types.int8, 64))
_repeated, _as_bytes = splat(Vec(types.uint64, BYTE_LANES // 8)), bitcast(bytes_)


@inlined
def equal_mask(array: Any, index: int, value: Any) -> Any:
    """Return a word whose bit k is ``array[index + k] == value``, of 64 signed bytes."""
    return bits_of(load_64(array, index) == _splat_64(value))


@inlined
def less_mask(array: Any, index: int, value: Any) -> Any:
    """Return a word whose bit k is ``array[index + k] < value``, of 64 signed bytes."""
    return bits_of(load_64(array, index) < _splat_64(value))


@inlined
def repeat(word: Any) -> Any:
    """Return a register of bytes that repeats the eight bytes of a word, as a mask."""
    return _as_bytes(_repeated(word))


@instruction(plain_lanes.unowned)
def unowned(typing: Any, array: Any) -> Any:
    """Return the data pointer of a one-dimensional array that the caller keeps alive.

    Take an argument of the kernel: numba frees a local array after its last use.

    numba counts references with an atomic instruction whenever an array is passed on. That took 80%
    of the time of filling contingency tables. With bounds checks the array itself is returned.
    """
    if isinstance(array, types.Array) and (array.ndim, array.layout) != (1, "C"):
        msg = f"unowned() takes arrays of one dimension without gaps, not {array}"
        raise TypingError(msg)
    if BOUNDS_CHECKED:

        def same(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            context.nrt.incref(builder, array, arguments[0])
            return arguments[0]

        return array(array), same

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@instruction(plain_lanes.truncate_to)
def truncate_to(typing: Any, array: Any, value: Any) -> Any:
    """Return the low bits of an integer as an element of the array, without an overflow error."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], value, array.dtype)

    return array.dtype(array, value), generate


@instruction(plain_lanes.load_octets)
def load_octets(typing: Any, array: Any, index: Any) -> Any:
    """Return eight bytes from ``array[index]`` as one word, the first byte lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, array, arguments[0], arguments[1], ir.IntType(64))
        return builder.load(pointer, align=1)

    return types.uint64(array, types.intp), generate


@instruction(plain_lanes.next_16)
def next_16(typing: Any, word: Any) -> Any:
    """Return ``word >> 16``, hidden from the optimiser.

    LLVM would otherwise load each 16-bit part of a word separately, and loads are the bottleneck.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        rest = builder.lshr(arguments[0], ir.IntType(64)(16))
        return builder.asm(kind, "", "=r,0", [rest], False)

    return types.uint64(types.uint64), generate


@instruction(plain_lanes.bytes_of_bits(BYTE_LANES))
def bytes_of_bits(typing: Any, word: Any) -> Any:
    """Return bytes: byte k is 255 where bit k of the word is set, else 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = ir.VectorType(ir.IntType(1), BYTE_LANES)
        low = builder.trunc(arguments[0], ir.IntType(BYTE_LANES))
        return builder.sext(builder.bitcast(low, flags), bytes_.vector)

    return bytes_(types.uint64), generate


@instruction(plain_lanes.load_table(BYTE_LANES))
def load_table(typing: Any, tables: Any, offsets: Any, index: Any) -> Any:
    """Return the 16 bytes from ``tables[offsets[index]]``, repeated over the register."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        octet, sixteen = ir.IntType(8), ir.VectorType(ir.IntType(8), 16)
        place = address(context, builder, offsets, arguments[1], arguments[2], octet)
        offset = builder.zext(builder.load(place), arguments[2].type)
        pointer = address(context, builder, tables, arguments[0], offset, sixteen)
        table = builder.load(pointer, align=1)
        repeat = [i % 16 for i in range(BYTE_LANES)]
        return shuffled(builder, table, ir.Constant(sixteen, ir.Undefined), repeat)

    return bytes_(tables, offsets, types.intp), generate


def _lookup_instruction() -> str:
    if platform.machine().lower() in {"arm64", "aarch64"}:
        return "llvm.aarch64.neon.tbl1.v16i8"
    return "llvm.x86.avx2.pshuf.b" if BYTE_LANES == 32 else "llvm.x86.ssse3.pshuf.b.128"


@instruction(plain_lanes.lookup)
def lookup(typing: Any, table: Any, index: Any) -> Any:
    """Return ``table[index]`` for each byte lane; an index is in 0..15."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return called(builder, _lookup_instruction(), bytes_.vector, *arguments)

    return bytes_(bytes_, bytes_), generate


@instruction(plain_lanes.add_bytes)
def add_bytes(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Add bytes to a uint16 array: even bytes to its first half, odd bytes to its second half.

    This takes two shifts and masks instead of the six shuffles that would keep the order. The panel
    builder orders the rows accordingly (`gemm.lookup.pack_columns`).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        half = BYTE_LANES // 2
        wide = ir.VectorType(ir.IntType(16), half)
        pairs = builder.bitcast(arguments[2], wide)
        even = builder.and_(pairs, ir.Constant(wide, [255] * half))
        odd = builder.lshr(pairs, ir.Constant(wide, [8] * half))
        for offset, part in ((0, even), (half, odd)):
            position = builder.add(arguments[1], arguments[1].type(offset))
            pointer = address(context, builder, array, arguments[0], position, wide)
            builder.store(builder.add(builder.load(pointer, align=2), part), pointer, align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, bytes_), generate


@instruction(plain_lanes.multiply_pairs)
def multiply_pairs(typing: Any, a: Any, b: Any) -> Any:
    """Return products of the 16-bit lanes of two registers, neighbours added (pmaddwd)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        half = BYTE_LANES // 2
        narrow = ir.VectorType(ir.IntType(16), half)
        x, y = (builder.bitcast(v, narrow) for v in arguments)
        if platform.machine().lower() in {"x86_64", "amd64"}:
            # By name: for small numbers LLVM emits a multiplication, a shift and a blend.
            name = "llvm.x86.avx2.pmadd.wd" if BYTE_LANES == 32 else "llvm.x86.sse2.pmadd.wd"
            return called(builder, name, sums.vector, x, y)
        wide = ir.VectorType(ir.IntType(32), half)
        product = builder.mul(builder.zext(x, wide), builder.zext(y, wide))
        even, odd = (shuffled(builder, product, product, range(k, half, 2)) for k in (0, 1))
        return builder.add(even, odd)

    return sums(bytes_, bytes_), generate
