"""Find kernels in which numba turns whole numbers into floats, by type inference alone.

No integer type holds both uint64 and int64, so numba takes float64, and numbers above 2**53 lose
bits. Literals are int64: ``words[k] if k < n else 0`` is a float.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, compile_extra
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typing import make_concrete_template, signature

Types = tuple[types.Type, ...]
DIVISIONS = {operator.truediv, operator.itruediv}
"""Operators whose result is a float for all whole numbers."""

_results: dict[tuple[Any, Types], types.Type] = {}
_places: dict[str, None] = {}


def mixtures(kernel: Any, arguments: Types) -> list[str]:
    """Return the places where a kernel, or a kernel that it calls, mixes uint64 with int64.

    A kernel that was found in an earlier call is left out.
    """
    _places.clear()
    _infer(kernel, arguments)
    return [*_places]


def _infer(kernel: Any, arguments: Types) -> types.Type:
    """Return the type of a kernel's result."""
    if (kernel, arguments) not in _results:
        flags, target = Flags(), kernel.targetdescr
        target.options.parse_as_flags(flags, kernel.targetoptions)
        contexts = target.typing_context, target.target_context
        _results[kernel, arguments] = compile_extra(
            *contexts, kernel.py_func, arguments, None, flags, {}, pipeline_class=_Inference
        )
    return _results[kernel, arguments]


def infer_only(kernel: Any) -> None:
    """Let kernels that call this one infer its types, instead of compiling it.

    The kernel can no longer be compiled into others.
    """

    def template(args: Any, kws: Any) -> Any:
        pysig, folded = kernel._compiler.fold_argument_types(args, kws)
        plain = tuple(map(types.unliteral, folded))
        found = signature(_infer(kernel, plain), *plain)
        name = kernel.py_func.__name__
        return make_concrete_template(name, key=name, signatures=[found]), pysig, folded, {}

    kernel.get_call_template = template


@register_pass(mutates_CFG=False, analysis_only=True)
class _Looked(AnalysisPass):
    _name = "places of mixed numbers"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if state.func_id.modname.partition(".")[0] != "numba":
            _places.update(dict.fromkeys(_mixed(state)))
        state.cr = state.return_type
        return False


class _Inference(CompilerBase):
    """The first part of numba's compiler: it makes no code."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("inference")
        passes.passes.extend(DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        passes.add_pass(NopythonTypeInference, "types")
        passes.add_pass(_Looked, "places")
        passes.finalize()
        return [passes]


def _mixed(state: Any) -> Iterator[str]:
    """Yield the places of a kernel whose types are known."""
    of, returned = state.typemap, []
    for block in state.func_ir.blocks.values():
        for line in block.body:
            sources: list[types.Type] = []
            if isinstance(line, ir.Assign) and isinstance(line.value, ir.Expr):
                to, value = of[line.target.name], line.value
                if value.op == "phi":
                    sources = [of[x.name] for x in value.incoming_values if isinstance(x, ir.Var)]
                elif value.op == "cast":
                    returned.append(of[value.value.name])
                    to, sources = state.return_type, returned
                elif not _is_exact(value, of):
                    sources = [of[x.name] for x in value.list_vars()]
            elif isinstance(line, ir.SetItem | ir.StaticSetItem):
                to, sources = of[line.value.name], [of[line.target.name]]
            if sources and _loses_bits(to, sources):
                yield f"{line.loc.filename}:{line.loc.line} {state.func_id.func_name}"


def _is_exact(value: ir.Expr, of: dict[str, types.Type]) -> bool:
    """Return whether floats are meant, or the parameters have the types of the arguments."""
    if value.op == "call":
        return isinstance(of[value.func.name], types.Dispatcher)
    return value.op in {"binop", "inplace_binop"} and value.fn in DIVISIONS


def _loses_bits(to: types.Type, sources: list[types.Type]) -> bool:
    """Return whether both uint64 and signed integers become a float, or a float an integer."""
    if isinstance(to, types.BaseTuple):
        same = [x.types for x in sources if isinstance(x, types.BaseTuple) and len(x) == len(to)]
        return any(map(_loses_bits, to.types, map(list, zip(*same, strict=True))))
    if not isinstance(to, types.Float):
        return False
    if isinstance(sources[0], types.Array):
        return isinstance(sources[0].dtype, types.Integer)
    whole = [x for x in map(types.unliteral, sources) if isinstance(x, types.Integer)]
    return any(x.signed for x in whole) and any(x == types.uint64 for x in whole)
