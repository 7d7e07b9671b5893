"""Vectors of float32 for numba kernels, beside the integer vectors of `vector.py`.

Functions on vectors of eight:

==========================================  ==============================================
``load_floats(array, i)``                     eight numbers from ``array[i]``
``store_floats(array, i, a)``                 ``array[i:] = a``
``broadcast_float(x)``                        a number in every lane
``a + b``, ``a - b``, ``a * b``, ``a / b``        lane by lane, each rounded once
``choose_floats(bits, a, b)``                 lane k of a where bit k of the word is set, else of b
==========================================  ==============================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

from genobit.engine.simd.jit import instruction
from genobit.engine.simd.plain_lanes import FloatRegister, octets_at, store
from genobit.engine.simd.vector import address

if TYPE_CHECKING:
    from collections.abc import Callable

FLOAT_LANES = 8


class Floats(types.Type):  # type: ignore[misc]  # numba has no types
    """``count`` float32 in a vector register."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"f32x{count}")

    @property
    def vector(self) -> ir.VectorType:
        """The LLVM type."""
        return ir.VectorType(ir.FloatType(), self.count)


@register_model(Floats)
class _FloatsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, floats: Floats) -> None:
        super().__init__(manager, floats, floats.vector)


floats = Floats(FLOAT_LANES)
VECTOR = floats.vector


def _register(operation: Callable[..., Any], instruction: str) -> None:
    @type_callable(operation)
    def _typed(context: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: a if isinstance(a, Floats) and a == b else None

    @lower_builtin(operation, Floats, Floats)
    def _lowered(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_operation, _instruction)


def _load(array: Any, index: int) -> FloatRegister:
    return FloatRegister(octets_at(array, index, np.float32, FLOAT_LANES).copy())


def _broadcast(value: float) -> FloatRegister:
    return FloatRegister(np.full(FLOAT_LANES, value, np.float32))


def _choose(bits: int, chosen: FloatRegister, other: FloatRegister) -> FloatRegister:
    set_ = [int(bits) >> k & 1 for k in range(FLOAT_LANES)]
    return FloatRegister(np.where(set_, chosen.lanes, other.lanes))


@instruction(_load)
def load_floats(typing: Any, array: Any, index: Any) -> Any:
    """Eight numbers from ``array[index]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments, VECTOR)
        return builder.load(pointer, align=4)

    return floats(array, types.intp), generate


@instruction(store)
def store_floats(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + 8] = value``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments[:2], VECTOR)
        builder.store(arguments[2], pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, floats), generate


def repeated(builder: Any, value: Any, lanes: int) -> Any:
    """Return a scalar in each of ``lanes`` lanes."""
    undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(first, undefined, zeros)


@instruction(_broadcast)
def broadcast_float(typing: Any, value: Any) -> Any:
    """A number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return repeated(builder, arguments[0], FLOAT_LANES)

    return floats(types.float32), generate


@instruction(_choose)
def choose_floats(typing: Any, bits: Any, chosen: Any, other: Any) -> Any:
    """Lane k of ``chosen`` where bit k of the word is set, else of ``other``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Compare lane by lane instead of casting the bits: LLVM then needs no mask register.
        word = ir.IntType(32)
        wide = repeated(builder, builder.trunc(arguments[0], word), FLOAT_LANES)
        lane = ir.Constant(ir.VectorType(word, FLOAT_LANES), [1 << k for k in range(FLOAT_LANES)])
        set_ = builder.icmp_unsigned("!=", builder.and_(wide, lane), ir.Constant(lane.type, None))
        return builder.select(set_, arguments[1], arguments[2])

    return floats(types.uint64, floats, floats), generate
