"""A vector of eight float64 for numba kernels, beside the integers of `simd`.

==========================================  ==============================================
``load_doubles(array, i)``                    eight numbers from ``array[i]``
``load_as_doubles(array, i)``                 the same of whole numbers
``broadcast_double(x)``                       a number in every lane
``a - b``, ``a * b``                            lane by lane, each rounded once
``reaching(a, b)``                            bit k is set where ``abs(a[k]) >= b[k]``
==========================================  ==============================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from genobit.kernels.float_lanes import repeated
from genobit.simd import address

if TYPE_CHECKING:
    from collections.abc import Callable

DOUBLE_LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), DOUBLE_LANES)


class Doubles(types.Type):  # type: ignore[misc]  # numba has no types
    """Eight float64 in vector registers."""

    def __init__(self) -> None:
        super().__init__(name=f"f64x{DOUBLE_LANES}")


@register_model(Doubles)
class _DoublesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, doubles: Doubles) -> None:
        super().__init__(manager, doubles, VECTOR)


doubles = Doubles()


def _register(operation: Callable[..., Any], instruction: str) -> None:
    @type_callable(operation)
    def _typed(context: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: a if isinstance(a, Doubles) and a == b else None

    @lower_builtin(operation, Doubles, Doubles)
    def _lowered(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


_register(operator.sub, "fsub")
_register(operator.mul, "fmul")


@intrinsic  # type: ignore[misc]
def load_doubles(typing: Any, array: Any, index: Any) -> Any:
    """Eight numbers from ``array[index]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, signature.args[0], *arguments, VECTOR)
        return builder.load(pointer, align=8)

    return doubles(array, types.intp), generate


@intrinsic  # type: ignore[misc]
def load_as_doubles(typing: Any, array: Any, index: Any) -> Any:
    """Eight whole numbers from ``array[index]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        octets = array.dtype.bitwidth // 8
        vector = ir.VectorType(ir.IntType(8 * octets), DOUBLE_LANES)
        pointer = address(context, builder, signature.args[0], *arguments, vector)
        return builder.sitofp(builder.load(pointer, align=octets), VECTOR)

    return doubles(array, types.intp), generate


@intrinsic  # type: ignore[misc]
def broadcast_double(typing: Any, value: Any) -> Any:
    """A number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return repeated(builder, arguments[0], DOUBLE_LANES)

    return doubles(types.float64), generate


@intrinsic  # type: ignore[misc]
def reaching(typing: Any, a: Any, b: Any) -> Any:
    """Bit k of the result is set where ``abs(a[k]) >= b[k]``, not where either is no number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR])
        absolute = cgutils.get_or_insert_function(builder.module, kind, "llvm.fabs.v8f64")
        size = builder.call(absolute, arguments[:1])
        mask = builder.fcmp_ordered(">=", size, arguments[1])
        return builder.zext(builder.bitcast(mask, ir.IntType(DOUBLE_LANES)), ir.IntType(64))

    return types.uint64(doubles, doubles), generate
