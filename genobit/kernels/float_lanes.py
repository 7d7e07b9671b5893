"""A vector of eight float32 for numba kernels, beside the integers of `simd`.

==========================================  ==============================================
``load_floats(array, i)``                     eight numbers from ``array[i]``
``store_floats(array, i, a)``                 ``array[i:] = a``
``broadcast_float(x)``                        a number in every lane
``a + b``, ``a * b``                          lane by lane, each rounded once
``choose_floats(bits, a, b)``                 lane k of a where bit k of the word is set, else of b
==========================================  ==============================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from genobit.simd import address

if TYPE_CHECKING:
    from collections.abc import Callable

FLOAT_LANES = 8
VECTOR = ir.VectorType(ir.FloatType(), FLOAT_LANES)


class Floats(types.Type):  # type: ignore[misc]  # numba has no types
    """Eight float32 in a vector register."""

    def __init__(self) -> None:
        super().__init__(name=f"f32x{FLOAT_LANES}")


@register_model(Floats)
class _FloatsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, floats: Floats) -> None:
        super().__init__(manager, floats, VECTOR)


floats = Floats()


def _register(operation: Callable[..., Any], instruction: str) -> None:
    @type_callable(operation)
    def _typed(context: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: a if isinstance(a, Floats) and isinstance(b, Floats) else None

    @lower_builtin(operation, Floats, Floats)
    def _lowered(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


_register(operator.add, "fadd")
_register(operator.mul, "fmul")


@intrinsic  # type: ignore[misc]
def load_floats(typing: Any, array: Any, index: Any) -> Any:
    """Eight numbers from ``array[index]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments, VECTOR)
        return builder.load(pointer, align=4)

    return floats(array, types.intp), generate


@intrinsic  # type: ignore[misc]
def store_floats(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + 8] = value``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments[:2], VECTOR)
        builder.store(arguments[2], pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, floats), generate


def _everywhere(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(ir.VectorType(value.type, FLOAT_LANES), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), FLOAT_LANES), [0] * FLOAT_LANES)
    return builder.shuffle_vector(first, undefined, zeros)


@intrinsic  # type: ignore[misc]
def broadcast_float(typing: Any, value: Any) -> Any:
    """A number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _everywhere(builder, arguments[0])

    return floats(types.float32), generate


@intrinsic  # type: ignore[misc]
def choose_floats(typing: Any, bits: Any, chosen: Any, other: Any) -> Any:
    """Lane k of ``chosen`` where bit k of the word is set, else of ``other``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Compared lane by lane, not cast from bits: LLVM then needs no mask register.
        word = ir.IntType(32)
        wide = _everywhere(builder, builder.trunc(arguments[0], word))
        lane = ir.Constant(ir.VectorType(word, FLOAT_LANES), [1 << k for k in range(FLOAT_LANES)])
        set_ = builder.icmp_unsigned("!=", builder.and_(wide, lane), ir.Constant(lane.type, None))
        return builder.select(set_, arguments[1], arguments[2])

    return floats(types.uint64, floats, floats), generate
