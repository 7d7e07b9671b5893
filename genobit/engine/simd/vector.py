"""SIMD vectors for numba kernels: lanes of 64-bit words or of bytes in vector registers.

A value of type ``Lanes(bits, count)`` is an LLVM vector, so ``popcount(a & b) + total`` in a kernel
becomes three vector instructions and stays in registers. Kernels can use:

========================================  ================================================
``borrowed(array)``                       the array for these functions and for ``[i]``
``wrapped(array, x)``                     the low bits of x, as an element of the array
``zero_words()``, ``zero_bytes()``          all lanes zero
``zero_register()``                       the same for one register of ``REGISTER_WORDS`` words
``load_register(array, i)``               the next ``REGISTER_WORDS`` words from ``array[i]``
``store_register(array, i, a)``           ``array[i:] = a`` for one register
``sum_lanes(a)``                          the sum of the lanes of a register, one scalar
``load_words(array, i)``                    the next ``WORD_LANES`` words from ``array[i]``
``load_bytes(array, i)``                    the next ``BYTE_LANES`` bytes from ``array[i]``
``store_bytes(array, i, a)``                ``array[i:] = a`` for bytes
``load_octets(array, i)``                   eight bytes from ``array[i]`` as one scalar word
``next_16(word)``                           ``word >> 16``, hidden from the optimiser
``bytes_of_bits(word)``                     a byte per low bit of a word: 255 if set, else 0
``broadcast(word)``                         a word in every lane
``a & b``, ``a | b``, ``a ^ b``             lane by lane
``a + b``, ``a - b``                        lane by lane, wrapping
``andnot(a, b)``                            ``a & ~b``
``popcount(a)``                             bits set, lane by lane
``load_table(tables, offsets, i)``          16 bytes from ``tables[offsets[i]]``, for ``lookup``
``lookup(table, index)``                    ``table[index]`` for each byte, index in 0..15
``store_words(array, i, a)``                ``array[i:] = a``
``add_words(array, i, a)``                  ``array[i:] += a`` for int32 or int16 counts
``write_words(array, i, a)``                ``array[i:] = a`` for int32 or int16 counts
``add_bytes(array, i, a)``                  ``array[i:] += a`` for uint16 counts, even bytes first
========================================  ================================================

The number of byte lanes, and whether a byte lookup exists, depend on the CPU that numba compiles
for. Vectors of eight words work on every host: LLVM splits them if registers are shorter.
"""

from __future__ import annotations

import operator
import platform
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import lower_builtin, models, register_model, type_callable

from genobit.engine.simd import plain_lanes
from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import BOUNDS_CHECKED, instruction

if TYPE_CHECKING:
    from collections.abc import Callable


WORD_LANES = 8
BYTE_LANES = host().byte_lanes or 16


class Lanes(types.Type):  # type: ignore[misc]  # numba has no types
    """``count`` integers of ``bits`` bits in a vector register."""

    def __init__(self, bits: int, count: int) -> None:
        self.bits = bits
        self.count = count
        super().__init__(name=f"u{bits}x{count}")

    @property
    def vector(self) -> ir.VectorType:
        """The LLVM type."""
        return ir.VectorType(ir.IntType(self.bits), self.count)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, lanes.vector)


words = Lanes(64, WORD_LANES)
REGISTER_WORDS = 8 if host().vector_popcount else BYTE_LANES // 8
"""Words per vector register. Kernels with many live values use it, because vectors of eight
words would spill."""
register = Lanes(64, REGISTER_WORDS)
bytes_ = Lanes(8, BYTE_LANES)


def _register(operation: Callable[..., Any], instruction: str) -> None:
    @type_callable(operation)
    def _typed(context: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: a if isinstance(a, Lanes) and a == b else None

    @lower_builtin(operation, Lanes, Lanes)
    def _lowered(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


for _operation, _instruction in (
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.add, "add"),
    (operator.iadd, "add"),
    (operator.sub, "sub"),
):
    _register(_operation, _instruction)


def address(
    context: Any,
    builder: Any,
    array: Any,
    value: Any,
    index: Any,
    pointee: Any,
    *,
    checked: int = 1,
) -> Any:
    """Return a ``pointee*`` to ``array[index]`` of a C-contiguous one-dimensional array.

    With bounds checks, all ``checked`` pointees from there must lie within the array.
    """
    if isinstance(array, types.CPointer):
        return builder.bitcast(builder.gep(value, [index]), pointee.as_pointer())
    struct = context.make_array(array)(context, builder, value)
    if BOUNDS_CHECKED and checked:
        octets = checked * context.get_abi_sizeof(pointee)
        element = context.get_abi_sizeof(struct.data.type.pointee)
        last = builder.add(index, index.type((octets - 1) // element))
        for place in (index, last):
            cgutils.do_boundscheck(context, builder, place, struct.nitems)
    return builder.bitcast(builder.gep(struct.data, [index]), pointee.as_pointer())


@instruction(plain_lanes.borrowed)
def borrowed(typing: Any, array: Any) -> Any:
    """Return the data pointer of a one-dimensional array that the caller keeps alive.

    numba counts references with an atomic instruction whenever an array is passed on. That took 80%
    of the time of filling contingency tables. With bounds checks the array itself is returned.
    """
    if isinstance(array, types.Array) and (array.ndim, array.layout) != (1, "C"):
        msg = f"borrowed() takes arrays of one dimension without gaps, not {array}"
        raise TypingError(msg)
    if BOUNDS_CHECKED:

        def same(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return impl_ret_borrowed(context, builder, array, arguments[0])

        return array(array), same

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@instruction(plain_lanes.wrapped)
def wrapped(typing: Any, array: Any, value: Any) -> Any:
    """An integer as an element of the array: its low bits, without an overflow error."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], value, array.dtype)

    return array.dtype(array, value), generate


def _loader(lanes: Lanes) -> Any:
    @instruction(plain_lanes.loader(lanes.bits, lanes.count))
    def load(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = address(context, builder, signature.args[0], *arguments, lanes.vector)
            return builder.load(pointer, align=1)

        return lanes(array, types.intp), generate

    return load


def _zero(lanes: Lanes) -> Any:
    @instruction(plain_lanes.zero(lanes.bits, lanes.count))
    def zero(typing: Any) -> Any:
        return lanes(), lambda *_: ir.Constant(lanes.vector, None)

    return zero


load_words = _loader(words)
load_bytes = _loader(bytes_)
load_register = _loader(register)
zero_words = _zero(words)
zero_register = _zero(register)
zero_bytes = _zero(bytes_)


@instruction(plain_lanes.store)
def store_bytes(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + BYTE_LANES] = value``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments[:2], bytes_.vector)
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, bytes_), generate


@instruction(plain_lanes.load_octets)
def load_octets(typing: Any, array: Any, index: Any) -> Any:
    """Eight bytes from ``array[index]`` as one word, the first byte lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments, ir.IntType(64))
        return builder.load(pointer, align=1)

    return types.uint64(array, types.intp), generate


@instruction(plain_lanes.next_16)
def next_16(typing: Any, word: Any) -> Any:
    """``word >> 16``, hidden from the optimiser.

    LLVM would otherwise load each 16-bit part of a word separately, and loads are the bottleneck.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        rest = builder.lshr(arguments[0], ir.IntType(64)(16))
        return builder.asm(kind, "", "=r,0", [rest], False)

    return types.uint64(types.uint64), generate


@instruction(plain_lanes.bytes_of_bits(BYTE_LANES))
def bytes_of_bits(typing: Any, word: Any) -> Any:
    """Byte k is 255 where bit k of the word is set, else 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = ir.VectorType(ir.IntType(1), BYTE_LANES)
        low = builder.trunc(arguments[0], ir.IntType(BYTE_LANES))
        return builder.sext(builder.bitcast(low, flags), bytes_.vector)

    return bytes_(types.uint64), generate


@instruction(plain_lanes.broadcast(WORD_LANES))
def broadcast(typing: Any, word: Any) -> Any:
    """A 64-bit word in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        undefined = ir.Constant(words.vector, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WORD_LANES), [0] * WORD_LANES)
        return builder.shuffle_vector(first, undefined, zeros)

    return words(types.uint64), generate


@instruction(plain_lanes.andnot)
def andnot(typing: Any, a: Any, b: Any) -> Any:
    """``a & ~b``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.and_(arguments[0], builder.not_(arguments[1]))

    return a(a, b), generate


@instruction(plain_lanes.popcount)
def popcount(typing: Any, a: Any) -> Any:
    """Set bits of each lane, or of one scalar word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = a.vector if isinstance(a, Lanes) else ir.IntType(64)
        name = f"llvm.ctpop.v{a.count}i{a.bits}" if isinstance(a, Lanes) else "llvm.ctpop.i64"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind]), name
        )
        return builder.call(function, arguments)

    return (a(a) if isinstance(a, Lanes) else types.uint64(types.uint64)), generate


@instruction(plain_lanes.load_table(BYTE_LANES))
def load_table(typing: Any, tables: Any, offsets: Any, index: Any) -> Any:
    """The 16 bytes from ``tables[offsets[index]]``, repeated over the register."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        octet, sixteen = ir.IntType(8), ir.VectorType(ir.IntType(8), 16)
        place = address(context, builder, signature.args[1], *arguments[1:], octet)
        offset = builder.zext(builder.load(place), arguments[2].type)
        pointer = address(context, builder, signature.args[0], arguments[0], offset, sixteen)
        table = builder.load(pointer, align=1)
        repeat = [i % 16 for i in range(BYTE_LANES)]
        return builder.shuffle_vector(
            table,
            ir.Constant(sixteen, ir.Undefined),
            ir.Constant(ir.VectorType(ir.IntType(32), BYTE_LANES), repeat),
        )

    return bytes_(tables, offsets, types.intp), generate


def _lookup_instruction() -> str:
    if platform.machine().lower() in {"arm64", "aarch64"}:
        return "llvm.aarch64.neon.tbl1.v16i8"
    return "llvm.x86.avx2.pshuf.b" if BYTE_LANES == 32 else "llvm.x86.ssse3.pshuf.b.128"


@instruction(plain_lanes.lookup)
def lookup(typing: Any, table: Any, index: Any) -> Any:
    """``table[index]`` for each byte lane; an index is in 0..15."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = bytes_.vector
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector, vector]), _lookup_instruction()
        )
        return builder.call(function, arguments)

    return bytes_(bytes_, bytes_), generate


def _storer(lanes: Lanes) -> Any:
    @instruction(plain_lanes.store)
    def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = address(context, builder, signature.args[0], *arguments[:2], lanes.vector)
            builder.store(arguments[2], pointer, align=8)
            return context.get_dummy_value()

        return types.void(array, types.intp, lanes), generate

    return store


store_words = _storer(words)
store_register = _storer(register)


@instruction(plain_lanes.sum_words)
def sum_lanes(typing: Any, a: Any) -> Any:
    """The sum of all lanes of words, as one scalar."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        name = f"llvm.vector.reduce.add.v{a.count}i{a.bits}"
        kind = ir.FunctionType(ir.IntType(a.bits), [a.vector])
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, arguments)

    return types.int64(a), generate


@instruction(plain_lanes.add_words)
def add_words(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + WORD_LANES] += value`` for an array of int32 or int16."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        narrow = ir.VectorType(ir.IntType(array.dtype.bitwidth), WORD_LANES)
        pointer = address(context, builder, signature.args[0], *arguments[:2], narrow)
        total = builder.add(builder.load(pointer, align=2), builder.trunc(arguments[2], narrow))
        builder.store(total, pointer, align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, words), generate


@instruction(plain_lanes.write_words)
def write_words(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + WORD_LANES] = value`` for an array of int32 or int16."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        narrow = ir.VectorType(ir.IntType(array.dtype.bitwidth), WORD_LANES)
        pointer = address(context, builder, signature.args[0], *arguments[:2], narrow)
        builder.store(builder.trunc(arguments[2], narrow), pointer, align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, words), generate


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
            pointer = address(context, builder, signature.args[0], arguments[0], position, wide)
            builder.store(builder.add(builder.load(pointer, align=2), part), pointer, align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, bytes_), generate
