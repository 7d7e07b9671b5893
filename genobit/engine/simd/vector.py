"""SIMD vectors for numba kernels: lanes of integers or of float32 in vector registers.

A value of type ``Vec(dtype, count)`` is an LLVM vector, so ``popcount(a & b) + total`` in a kernel
becomes three vector instructions and stays in registers. Lanes wrap as in numpy, and each operation
of floats is rounded once. Kernels can use:

===============================================  ==========================================
``a & b``, ``a | b``, ``a ^ b``, ``a + b``, ...  lane by lane
``a == b``, ``a < b``, ``a > b``, ``a >= b``     a mask: lanes of booleans
``lanes_of(array, a)``                           the bits of a as lanes of the array's type
``store(array, i, a)``                           ``array[i:] = a``, in the array's type
``add_to(array, i, a)``                          ``array[i:] += a``, in the array's type
``reduce_add(a)``                                the sum of the lanes, one int64
``andnot(a, b)``                                 ``a & ~b``
``popcount(a)``                                  bits set, lane by lane
``multiply_add(a, b, c)``                        ``a * b + c``
``absolute(a)``                                  ``abs(a)`` of floats
``bits_of(mask)``                                bit k is set where lane k is
``choose(bits, a, b)``                           lane k of a where bit k is set, else of b
``flattened(array)``                             ``array.reshape(-1)``, compiled faster
===============================================  ==========================================

Functions that depend on a type are made once for it: ``load_words = loader(words)``,
``zero_words = zeros(words)``, ``splat(words)``, ``bitcast(words)``, ``converted(words)``,
``filled(words)``. ``loader(8)`` and ``splat(8)`` take the type of the lanes from the array.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import TypingError, types
from numba.extending import lower_builtin, models, register_model, type_callable

from genobit.engine.simd import plain_lanes
from genobit.engine.simd.jit import BOUNDS_CHECKED, instruction
from genobit.engine.simd.numba_private import impl_ret_borrowed, populate_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Vec(types.Type):  # numba has no types
    """``count`` integers, float32 or booleans in a vector register."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype = dtype
        self.count = count
        self.bits = 1 if dtype == types.boolean else dtype.bitwidth
        self.floating = isinstance(dtype, types.Float)
        self.kind = np.dtype(dtype.name)
        super().__init__(name=f"{dtype}x{count}")

    @property
    def vector(self) -> ir.VectorType:
        """The LLVM type."""
        element = ir.FloatType() if self.floating else ir.IntType(self.bits)
        return ir.VectorType(element, self.count)


@register_model(Vec)
class _VecModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vec: Vec) -> None:
        super().__init__(manager, vec, vec.vector)


def _operator(operation: Callable[..., Any], lower: Callable[..., Any], kinds: str) -> None:
    """Register an operator of two equal vectors whose numpy kind is in ``kinds``."""
    compares = operation in {operator.eq, operator.lt, operator.gt, operator.ge}

    @type_callable(operation)  # type: ignore[untyped-decorator]
    def _typed(context: Any) -> Callable[[Any, Any], Any]:
        def result(a: Any, b: Any) -> Any:
            if not isinstance(a, Vec) or a != b or a.kind.kind not in kinds:
                return None
            return Vec(types.boolean, a.count) if compares else a

        return result

    @lower_builtin(operation, Vec, Vec)  # type: ignore[untyped-decorator]
    def _lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return lower(builder, signature.args[0], *arguments)


def _arithmetic(name: str) -> Callable[..., Any]:
    return lambda builder, vec, a, b: getattr(builder, vec.floating * "f" + name)(a, b)


def _comparison(sign: str) -> Callable[..., Any]:
    def lower(builder: Any, vec: Vec, a: Any, b: Any) -> Any:
        if vec.floating:
            return builder.fcmp_ordered(sign, a, b)
        return (builder.icmp_signed if vec.dtype.signed else builder.icmp_unsigned)(sign, a, b)

    return lower


for _operation, _lower, _kinds in (
    (operator.and_, _arithmetic("and_"), "iu"),
    (operator.or_, _arithmetic("or_"), "iu"),
    (operator.xor, _arithmetic("xor"), "iu"),
    (operator.add, _arithmetic("add"), "iuf"),
    (operator.iadd, _arithmetic("add"), "iuf"),
    (operator.sub, _arithmetic("sub"), "iuf"),
    (operator.mul, _arithmetic("mul"), "f"),
    (operator.truediv, _arithmetic("div"), "f"),
    (operator.eq, _comparison("=="), "iuf"),
    (operator.lt, _comparison("<"), "iuf"),
    (operator.gt, _comparison(">"), "iuf"),
    (operator.ge, _comparison(">="), "iuf"),
):
    _operator(_operation, _lower, _kinds)


def called(builder: Any, name: str, returned: Any, *arguments: Any) -> Any:
    """Call an LLVM intrinsic."""
    kind = ir.FunctionType(returned, [x.type for x in arguments])
    return builder.call(builder.module.declare_intrinsic(name, fnty=kind), arguments)


def shuffled(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    """Return lanes by number; lanes of b are numbered after those of a."""
    numbers = ir.VectorType(ir.IntType(32), len(order))
    return builder.shuffle_vector(a, b, ir.Constant(numbers, list(order)))


def repeated(builder: Any, value: Any, lanes: int) -> Any:
    """Return a scalar in each of ``lanes`` lanes."""
    undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    return shuffled(builder, first, undefined, [0] * lanes)


def summed(builder: Any, value: Any, *, signed: bool) -> Any:
    """Return the sum of the lanes of integers, as 64 bits."""
    # Sums of bytes fit 16 bits, for which one instruction (psadbw) adds eight bytes.
    bits = 16 if value.type.element.width == 8 else 64
    wide = ir.VectorType(ir.IntType(bits), value.type.count)
    widen = builder.sext if signed else builder.zext
    name = f"llvm.vector.reduce.add.v{wide.count}i{bits}"
    found = called(builder, name, wide.element, widen(value, wide))
    return widen(found, ir.IntType(64))


def _cast(builder: Any, value: Any, source: Vec, target: Vec) -> Any:
    """Convert lanes as numpy does."""
    if source.floating or (source.bits == target.bits and not target.floating):
        return value
    if target.floating:
        return (builder.sitofp if source.dtype.signed else builder.uitofp)(value, target.vector)
    if source.bits > target.bits:
        return builder.trunc(value, target.vector)
    return (builder.sext if source.dtype.signed else builder.zext)(value, target.vector)


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
            with builder.if_then(builder.icmp_unsigned(">=", place, struct.nitems), likely=False):
                message = ("index is out of bounds",)
                context.call_conv.return_user_exc(builder, IndexError, message)
    return builder.bitcast(builder.gep(struct.data, [index]), pointee.as_pointer())


def by_values(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Return the code generator of an instruction that needs only the builder and its values."""
    return lambda _, builder, __, arguments: lower(builder, *arguments)


@instruction(plain_lanes.flattened)
def flattened(typing: Any, array: Any) -> Any:
    """View a C-contiguous array in one dimension. ``reshape`` takes 30 ms longer to compile."""
    if array.layout != "C":
        msg = f"flattened needs a C-contiguous array, not {array}"
        raise TypingError(msg)
    line = array.copy(ndim=1)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = context.make_array(array)(context, builder, arguments[0])
        view = context.make_array(line)(context, builder)
        parts = {name: getattr(source, name) for name in ("data", "itemsize", "meminfo", "parent")}
        populate_array(view, shape=[source.nitems], strides=[source.itemsize], **parts)
        return impl_ret_borrowed(context, builder, line, view._getvalue())

    return line(array), generate


def loader(kind: Vec | int) -> Any:
    """Make a function that loads a vector, or a number of lanes of the array's own type."""
    count, dtype = (kind.count, kind.kind) if isinstance(kind, Vec) else (kind, None)

    @instruction(plain_lanes.loader(dtype, count))
    def load(typing: Any, array: Any, index: Any) -> Any:
        vec = kind if isinstance(kind, Vec) else Vec(array.dtype, kind)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = address(context, builder, array, arguments[0], arguments[1], vec.vector)
            return builder.load(pointer, align=1)

        return vec(array, types.intp), generate

    return load


def splat(kind: Vec | int) -> Any:
    """Make a function that repeats a number in every lane.

    A number of lanes in place of a type makes a function of an array, which gives the type, and a
    number.
    """
    if isinstance(kind, int):

        @instruction(plain_lanes.splat_as(kind))
        def splat_as(typing: Any, array: Any, value: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                element = context.cast(builder, arguments[1], value, array.dtype)
                return repeated(builder, element, kind)

            return Vec(array.dtype, kind)(array, value), generate

        return splat_as

    @instruction(plain_lanes.splat(kind.kind, kind.count))
    def splat(typing: Any, value: Any) -> Any:
        return kind(kind.dtype), by_values(lambda builder, x: repeated(builder, x, kind.count))

    return splat


def zeros(vec: Vec) -> Any:
    """Make a function that returns lanes of zeros."""

    @instruction(plain_lanes.zeros(vec.kind, vec.count))
    def zeros(typing: Any) -> Any:
        return vec(), by_values(lambda _: ir.Constant(vec.vector, None))

    return zeros


def bitcast(vec: Vec) -> Any:
    """Make a function that returns the bits of a vector as lanes of a type."""

    @instruction(plain_lanes.bitcast(vec.kind))
    def bitcast(typing: Any, a: Any) -> Any:
        return vec(a), by_values(lambda builder, x: builder.bitcast(x, vec.vector))

    return bitcast


@instruction(plain_lanes.lanes_of)
def lanes_of(typing: Any, array: Any, a: Any) -> Any:
    """Return the bits of a vector as lanes of the array's type."""
    vec = Vec(array.dtype, a.bits * a.count // array.dtype.bitwidth)
    return vec(array, a), by_values(lambda builder, _, x: builder.bitcast(x, vec.vector))


def converted(vec: Vec) -> Any:
    """Make a function that converts lanes of any type to ``vec``."""

    @instruction(plain_lanes.converted(vec.kind))
    def converted(typing: Any, a: Any) -> Any:
        return vec(a), by_values(lambda builder, x: _cast(builder, x, a, vec))

    return converted


def filled(vec: Vec) -> Any:
    """Make a function of a mask that returns lanes of all ones where it is set, else of zeros."""

    @instruction(plain_lanes.filled(vec.kind))
    def filled(typing: Any, mask: Any) -> Any:
        return vec(mask), by_values(lambda builder, x: builder.sext(x, vec.vector))

    return filled


@instruction(plain_lanes.store)
def store(typing: Any, array: Any, index: Any, a: Any) -> Any:
    """Write the lanes from ``array[index]``, converted to the array's type."""
    vec = Vec(array.dtype, a.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, array, arguments[0], arguments[1], vec.vector)
        builder.store(_cast(builder, arguments[2], a, vec), pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, a), generate


@instruction(plain_lanes.add_to)
def add_to(typing: Any, array: Any, index: Any, a: Any) -> Any:
    """Add the lanes to those from ``array[index]``, converted to the array's type."""
    vec = Vec(array.dtype, a.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, array, arguments[0], arguments[1], vec.vector)
        total = builder.add(builder.load(pointer, align=1), _cast(builder, arguments[2], a, vec))
        builder.store(total, pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, a), generate


@instruction(plain_lanes.popcount)
def popcount(typing: Any, a: Any) -> Any:
    """Count the set bits of each lane, or of one scalar word."""
    if isinstance(a, Vec):
        signature, name = a(a), f"llvm.ctpop.v{a.count}i{a.bits}"
    else:
        signature, name = types.uint64(types.uint64), "llvm.ctpop.i64"
    return signature, by_values(lambda builder, x: called(builder, name, x.type, x))


@instruction(plain_lanes.reduce_add)
def reduce_add(typing: Any, a: Any) -> Any:
    """Return the sum of all lanes, as an int64."""
    return types.int64(a), by_values(lambda builder, x: summed(builder, x, signed=a.dtype.signed))


@instruction(plain_lanes.multiply_add)
def multiply_add(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once if the CPU has a fused multiply-add, else twice."""
    name = f"llvm.fmuladd.v{a.count}f32"
    return a(a, a, a), by_values(lambda builder, x, y, z: called(builder, name, x.type, x, y, z))


@instruction(plain_lanes.absolute)
def absolute(typing: Any, a: Any) -> Any:
    """Return the absolute value of each float."""
    name = f"llvm.fabs.v{a.count}f32"
    return a(a), by_values(lambda builder, x: called(builder, name, x.type, x))


@instruction(plain_lanes.bits_of)
def bits_of(typing: Any, mask: Any) -> Any:
    """Return a word whose bit k is set where lane k of the mask is, of at most 64 lanes."""

    def lower(builder: Any, flags: Any) -> Any:
        return builder.zext(builder.bitcast(flags, ir.IntType(mask.count)), ir.IntType(64))

    return types.uint64(mask), by_values(lower)


@instruction(plain_lanes.choose)
def choose(typing: Any, bits: Any, chosen: Any, other: Any) -> Any:
    """Return lane k of ``chosen`` where bit k of the word is set, else of ``other``."""

    def lower(builder: Any, bits: Any, chosen: Any, other: Any) -> Any:
        # Compare lane by lane instead of casting the bits: LLVM then needs no mask register.
        word, count = ir.IntType(32), chosen.type.count
        wide = repeated(builder, builder.trunc(bits, word), count)
        lane = ir.Constant(ir.VectorType(word, count), [1 << k for k in range(count)])
        set_ = builder.icmp_unsigned("!=", builder.and_(wide, lane), ir.Constant(lane.type, None))
        return builder.select(set_, chosen, other)

    return chosen(types.uint64, chosen, chosen), by_values(lower)


@instruction(plain_lanes.andnot)
def andnot(typing: Any, a: Any, b: Any) -> Any:
    """Return ``a & ~b``."""
    return a(a, b), by_values(lambda builder, x, y: builder.and_(x, builder.not_(y)))
