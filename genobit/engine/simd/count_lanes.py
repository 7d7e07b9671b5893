"""Counts of contingency tables in vector registers: integers, and float32 computed from them.

==============================================  ==========================================
``load_counts(array, i)``                         the next ``COUNT_LANES`` integers, unconverted
``gather_counts(array, i, places, k)``            ``array[i + place]`` for the next ``places``
``permute_counts(array, i, places, k)``           the same for places below ``COUNT_LANES``
``everywhere(array, x)``                          an integer in each lane, of the array's type
``a - b``                                       lane by lane
``store_counts(array, i, a)``                     ``array[i:] = a``, in the array's type
``load_ratios(array, i)``                         the next ``RATIO_LANES`` numbers, as float32
``ratio_everywhere(x)``                           a float32 in each lane
``a + b``, ``a - b``, ``a * b``, ``a / b``            lane by lane, each rounded once
``multiply_add(a, b, c)``                         ``a * b + c``
``rough_reciprocal(a)``                           ``1 / a`` with relative error up to ``ROUGH``
``reaching(a, b)``                                bit k is set where ``abs(a[k]) >= b[k]``
``store_ratios(array, i, a)``                     ``array[i:] = a`` for float32
==============================================  ==========================================

LLVM vectorises plain numba loops too, but each loop first checks whether its arrays overlap. On
CPUs with 512-bit registers LLVM uses half-width registers. In a search of order 3 on Emerald
Rapids, plain loops took three times as long for tables and twice as long for bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from genobit.engine.simd.cpu import host
from genobit.engine.simd.float_lanes import Floats, repeated
from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import FloatRegister, Register, octets_at, store, word
from genobit.engine.simd.vector import REGISTER_WORDS, Lanes, address

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT_LANES = max(8, 4 * REGISTER_WORDS)
"""16-bit counts per register."""
RATIO_LANES = COUNT_LANES // 2
"""float32 numbers per register."""
ratios = Floats(RATIO_LANES)
ROUGH = 0.0026
"""Largest relative error of `rough_reciprocal`."""


def _counts(array: Any) -> Lanes:
    return Lanes(array.dtype.bitwidth, COUNT_LANES)


def _load(array: Any, index: int) -> Register:
    return Register(octets_at(array, index, f"u{array.itemsize}", COUNT_LANES).copy())


def _gather(array: Any, first: int, places: Any, index: int) -> Register:
    offsets = octets_at(places, index, np.uint32, COUNT_LANES)
    # The compiled gather reads 32 bits per element; with 16-bit elements the next one follows.
    found = [octets_at(array, first + int(k), np.uint32, 1)[0] for k in offsets]
    return Register(np.array(found).astype(f"u{array.itemsize}"))


def _permute(array: Any, first: int, places: Any, index: int) -> Register:
    offsets = octets_at(places, index, np.uint32, COUNT_LANES)
    return Register(_load(array, first).lanes[offsets])


def _everywhere(array: Any, value: int) -> Register:
    return Register(np.full(COUNT_LANES, word(value)).astype(f"u{array.itemsize}"))


def _store(array: Any, index: int, value: Register) -> None:
    numbers = value.lanes.view(f"i{value.lanes.itemsize}")
    octets_at(array, index, f"i{array.itemsize}", COUNT_LANES)[:] = numbers


def _load_ratios(array: Any, index: int) -> FloatRegister:
    kind = "f4" if array.dtype.kind == "f" else f"i{array.itemsize}"
    return FloatRegister(octets_at(array, index, kind, RATIO_LANES).astype(np.float32))


def _ratio_everywhere(value: float) -> FloatRegister:
    return FloatRegister(np.full(RATIO_LANES, value, np.float32))


def _multiplied(a: FloatRegister, b: FloatRegister, c: FloatRegister) -> FloatRegister:
    return a * b + c


def _rough(a: FloatRegister) -> FloatRegister:
    guess = FloatRegister((np.uint32(0x7EF31000) - a.lanes.view(np.uint32)).view(np.float32))
    away = FloatRegister(np.float32(1) - a.lanes * guess.lanes)
    return guess * away + guess


def _reaching(a: FloatRegister, b: FloatRegister) -> np.uint64:
    return word(sum(1 << k for k in np.flatnonzero(np.abs(a.lanes) >= b.lanes).tolist()))


@instruction(_load)
def load_counts(typing: Any, array: Any, index: Any) -> Any:
    """``array[index : index + COUNT_LANES]`` of integers."""
    lanes = _counts(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments, lanes.vector)
        return builder.load(pointer, align=2)

    return lanes(array, types.intp), generate


@instruction(_gather)
def gather_counts(typing: Any, array: Any, first: Any, places: Any, index: Any) -> Any:
    """``array[first + place]`` for the next ``COUNT_LANES`` of ``places``, from ``index``."""
    lanes = _counts(array)
    return lanes(array, types.intp, places, types.intp), _gathering(lanes)


@instruction(_permute)
def permute_counts(typing: Any, array: Any, first: Any, places: Any, index: Any) -> Any:
    """`gather_counts` for places below ``COUNT_LANES``.

    If the CPU has a 16-bit permute (AVX-512BW), one such instruction replaces the gather. The
    instruction takes as long as one of the 32 loads of a gather.
    """
    lanes = _counts(array)
    signature = lanes(array, types.intp, places, types.intp)
    if not (host().permutes_pairs and (lanes.bits, lanes.count) == (16, 32)):
        return signature, _gathering(lanes)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, at, listed, k = arguments
        pointer = address(context, builder, signature.args[0], numbers, at, lanes.vector)
        wide = ir.VectorType(ir.IntType(32), lanes.count)
        source = address(context, builder, signature.args[2], listed, k, wide)
        indices = builder.trunc(builder.load(source, align=4), lanes.vector)
        kind = ir.FunctionType(lanes.vector, [lanes.vector] * 2)
        name = "llvm.x86.avx512.permvar.hi.512"
        permute = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(permute, [builder.load(pointer, align=2), indices])

    return signature, generate


def _gathering(lanes: Lanes) -> Callable[..., Any]:
    """Return the code generator of a gather."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, half = ir.IntType(64), ir.IntType(32)
        narrow, wide = (ir.VectorType(kind, COUNT_LANES) for kind in (half, word))
        numbers, at, listed, k = arguments
        source = address(context, builder, signature.args[2], listed, k, narrow)
        offsets = builder.zext(builder.load(source, align=4), wide)
        element = lanes.vector.element
        base = address(context, builder, signature.args[0], numbers, at, element, checked=0)
        size = ir.Constant(wide, [context.get_abi_sizeof(element)] * COUNT_LANES)
        start = repeated(builder, builder.ptrtoint(base, word), COUNT_LANES)
        # There is no 16-bit gather: load 32 bits and drop the upper 16. Blocks are padded, so the
        # load stays inside.
        pointers = ir.VectorType(half.as_pointer(), COUNT_LANES)
        pointer = builder.inttoptr(builder.add(start, builder.mul(offsets, size)), pointers)
        flags = ir.VectorType(ir.IntType(1), COUNT_LANES)
        kind = ir.FunctionType(narrow, [pointers, half, flags, narrow])
        name = f"llvm.masked.gather.v{COUNT_LANES}i32.v{COUNT_LANES}p0i32"
        gather = cgutils.get_or_insert_function(builder.module, kind, name)
        every, none = ir.Constant(flags, [1] * COUNT_LANES), ir.Constant(narrow, None)
        found = builder.call(gather, [pointer, half(2), every, none])
        return found if lanes.bits == half.width else builder.trunc(found, lanes.vector)

    return generate


@instruction(_everywhere)
def everywhere(typing: Any, array: Any, value: Any) -> Any:
    """An integer in every lane, as wide as the array's elements."""
    lanes = _counts(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return repeated(builder, builder.trunc(arguments[1], lanes.vector.element), COUNT_LANES)

    return lanes(array, types.int64), generate


@instruction(_store)
def store_counts(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + COUNT_LANES] = value``, as wide as the array's elements."""
    lanes = _counts(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments[:2], lanes.vector)
        convert = builder.trunc if value.bits > lanes.bits else builder.sext
        fitted = arguments[2] if value == lanes else convert(arguments[2], lanes.vector)
        builder.store(fitted, pointer, align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@instruction(_load_ratios)
def load_ratios(typing: Any, array: Any, index: Any) -> Any:
    """``array[index : index + RATIO_LANES]`` of integers or float32, as float32."""
    whole = not isinstance(array.dtype, types.Float)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = ir.IntType(array.dtype.bitwidth) if whole else ir.FloatType()
        kind = ir.VectorType(element, RATIO_LANES)
        pointer = address(context, builder, signature.args[0], *arguments, kind)
        value = builder.load(pointer, align=2)
        return builder.sitofp(value, ratios.vector) if whole else value

    return ratios(array, types.intp), generate


@instruction(_ratio_everywhere)
def ratio_everywhere(typing: Any, value: Any) -> Any:
    """A float32 in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return repeated(builder, arguments[0], RATIO_LANES)

    return ratios(types.float32), generate


@instruction(store)
def store_ratios(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + RATIO_LANES] = value``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments[:2], ratios.vector)
        builder.store(arguments[2], pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, ratios), generate


@instruction(_multiplied)
def multiply_add(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once if the CPU has a fused multiply-add, else twice."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _multiply_add(builder, *arguments)

    return ratios(ratios, ratios, ratios), generate


def _multiply_add(builder: Any, *arguments: Any) -> Any:
    kind = ir.FunctionType(ratios.vector, [ratios.vector] * 3)
    name = f"llvm.fmuladd.v{RATIO_LANES}f32"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, arguments)


@instruction(_rough)
def rough_reciprocal(typing: Any, a: Any) -> Any:
    """``1 / a`` for a in 1e-37 to 1e37, with relative error up to ``ROUGH``; any number for a = 0.

    Takes three operations; a division of a 512-bit register takes 16 cycles. A constant minus the
    bits of a float approximates its reciprocal with relative error 0.0506. One Newton step squares
    the error.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = ir.VectorType(ir.IntType(32), RATIO_LANES)
        constant = ir.Constant(whole, [0x7EF31000] * RATIO_LANES)
        bits = builder.sub(constant, builder.bitcast(arguments[0], whole))
        guess, one = (
            builder.bitcast(bits, ratios.vector),
            ir.Constant(ratios.vector, [1.0] * RATIO_LANES),
        )
        away = _multiply_add(builder, builder.fneg(arguments[0]), guess, one)
        return _multiply_add(builder, guess, away, guess)

    return ratios(ratios), generate


@instruction(_reaching)
def reaching(typing: Any, a: Any, b: Any) -> Any:
    """Bit k is set where ``abs(a[k]) >= b[k]``; it is zero where either is NaN."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ratios.vector, [ratios.vector])
        absolute = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.fabs.v{RATIO_LANES}f32"
        )
        mask = builder.fcmp_ordered(">=", builder.call(absolute, arguments[:1]), arguments[1])
        return builder.zext(builder.bitcast(mask, ir.IntType(RATIO_LANES)), ir.IntType(64))

    return types.uint64(ratios, ratios), generate
