"""Counts of contingency tables in vector registers: integers, and float32 computed from them.

==============================================  ==========================================
``load_counts(array, i)``                         the next ``COUNT_LANES`` integers, unconverted
``gather_counts(array, i, places, k)``            ``array[i + place]`` for the next ``places``
``permute_counts(array, i, places, k)``           the same for places below ``COUNT_LANES``
``splat_count(array, x)``                         an integer in each lane, of the array's type
``load_ratios(array, i)``                         the next ``RATIO_LANES`` numbers, as float32
``splat_ratio(x)``                                a float32 in each lane
``rough_reciprocal(a)``                           ``1 / a`` with relative error up to ``ROUGH``
``abs_ge_mask(a, b)``                             bit k is set where ``abs(a[k]) >= b[k]``
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

from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import inlined, instruction
from genobit.engine.simd.plain_lanes import Register, octets_at
from genobit.engine.simd.registers import REGISTER_WORDS
from genobit.engine.simd.vector import (
    Vec,
    absolute,
    address,
    bits_of,
    called,
    converted,
    loader,
    repeated,
    splat,
)

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT_LANES = max(8, 4 * REGISTER_WORDS)
"""16-bit counts per register."""
RATIO_LANES = COUNT_LANES // 2
"""float32 numbers per register."""
ratios = Vec(types.float32, RATIO_LANES)
ROUGH = 0.0026
"""Largest relative error of `rough_reciprocal`."""


load_counts, splat_count = loader(COUNT_LANES), splat(COUNT_LANES)
splat_ratio = splat(ratios)
_load_ratios, _as_ratios = loader(RATIO_LANES), converted(ratios)


def _gather(array: Any, first: int, places: Any, index: int) -> Register:
    offsets = octets_at(places, index, np.uint32, COUNT_LANES)
    # The compiled gather reads 32 bits per element; with 16-bit elements the next one follows.
    found = [octets_at(array, first + int(k), np.uint32, 1)[0] for k in offsets]
    return Register(np.array(found).astype(array.dtype))


def _permute(array: Any, first: int, places: Any, index: int) -> Register:
    offsets = octets_at(places, index, np.uint32, COUNT_LANES)
    return Register(octets_at(array, first, array.dtype, COUNT_LANES)[offsets])


def _rough(a: Register) -> Register:
    guess = Register((np.uint32(0x7EF31000) - a.lanes.view(np.uint32)).view(np.float32))
    away = Register(np.float32(1) - a.lanes * guess.lanes)
    return guess * away + guess


@instruction(_gather)
def gather_counts(typing: Any, array: Any, first: Any, places: Any, index: Any) -> Any:
    """Return ``array[first + place]`` for ``COUNT_LANES`` of ``places``, from ``index``."""
    lanes = Vec(array.dtype, COUNT_LANES)
    return lanes(array, types.intp, places, types.intp), _gathering(lanes)


@instruction(_permute)
def permute_counts(typing: Any, array: Any, first: Any, places: Any, index: Any) -> Any:
    """Do `gather_counts` for places below ``COUNT_LANES``.

    If the CPU has a 16-bit permute (AVX-512BW), one such instruction replaces the gather. The
    instruction takes as long as one of the 32 loads of a gather.
    """
    lanes = Vec(array.dtype, COUNT_LANES)
    signature = lanes(array, types.intp, places, types.intp)
    if not (host().permutes_pairs and (lanes.bits, lanes.count) == (16, 32)):
        return signature, _gathering(lanes)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, at, listed, k = arguments
        pointer = address(context, builder, signature.args[0], numbers, at, lanes.vector)
        wide = ir.VectorType(ir.IntType(32), lanes.count)
        source = address(context, builder, signature.args[2], listed, k, wide)
        indices = builder.trunc(builder.load(source, align=4), lanes.vector)
        name, numbered = "llvm.x86.avx512.permvar.hi.512", builder.load(pointer, align=2)
        return called(builder, name, lanes.vector, numbered, indices)

    return signature, generate


def _gathering(lanes: Vec) -> Callable[..., Any]:
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
        name = f"llvm.masked.gather.v{COUNT_LANES}i32.v{COUNT_LANES}p0i32"
        every, none = ir.Constant(flags, [1] * COUNT_LANES), ir.Constant(narrow, None)
        found = called(builder, name, narrow, pointer, half(2), every, none)
        return found if lanes.bits == half.width else builder.trunc(found, lanes.vector)

    return generate


@instruction(_rough)
def rough_reciprocal(typing: Any, a: Any) -> Any:
    """Return ``1 / a`` with relative error up to ``ROUGH``, for a in 1e-37 to 1e37.

    For a = 0 it is any number. Takes three operations; a division of a 512-bit register takes 16
    cycles. A constant minus the bits of a float approximates its reciprocal with relative error
    0.0506. One Newton step squares the error.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = ir.VectorType(ir.IntType(32), RATIO_LANES)
        constant = ir.Constant(whole, [0x7EF31000] * RATIO_LANES)
        bits = builder.sub(constant, builder.bitcast(arguments[0], whole))
        guess, one = (
            builder.bitcast(bits, ratios.vector),
            ir.Constant(ratios.vector, [1.0] * RATIO_LANES),
        )
        name, kind = f"llvm.fmuladd.v{RATIO_LANES}f32", ratios.vector
        away = called(builder, name, kind, builder.fneg(arguments[0]), guess, one)
        return called(builder, name, kind, guess, away, guess)

    return ratios(ratios), generate


@inlined
def load_ratios(array: Any, index: int) -> Any:
    """Load ``array[index : index + RATIO_LANES]`` of integers or float32, as float32."""
    return _as_ratios(_load_ratios(array, index))


@inlined
def abs_ge_mask(a: Any, b: Any) -> Any:
    """Return a word whose bit k is set where ``abs(a[k]) >= b[k]``, not where either is NaN."""
    return bits_of(absolute(a) >= b)
