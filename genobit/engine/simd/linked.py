"""Compile a kernel for its callers only: no call from Python and no machine code.

numba compiles each kernel as if Python called it. It writes a wrapper that converts Python objects,
optimises the kernel and generates machine code. Then it links the kernel into its callers. Here a
kernel that another kernel calls is optimised and linked. Only the kernel that Python calls becomes
machine code, with all that it calls.

numba lets a dispatcher choose its compiler, and a compiler its code library. The library overrides
`finalize` of `JITCodeLibrary` and uses private names of it: `_final_module`, `_finalized`,
`_linking_libraries`, `_reload_init`, `_get_module_for_linking` and `_optimize_final_module`. Other
private names are `_find_referenced_environments` of a compiled kernel, and `_compiler` and
`_compiling_counter` of a dispatcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

if TYPE_CHECKING:
    from collections.abc import Callable


class _LinkedLibrary(JITCodeLibrary):  # numba has no types
    """Code that is only linked into other libraries."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        # The callers are optimised too, but a tree search takes 1.9 times as long without this.
        self._optimize_final_module()
        self._finalized = True


class _Compiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


def with_environments(compiled: Any) -> Any:
    """Return a compiled kernel whose parts can print, and raise exceptions with values.

    Both need an address. numba sets it for a kernel with machine code, and for the parts of a
    kernel that it loads.
    """
    for environment in compiled._find_referenced_environments():
        compiled.codegen.set_env(environment.env_name, environment)
    return compiled


def linked(
    dispatcher: Any, compile_with: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Any:
    """Return a dispatcher of which only `get_call_template` and `get_overload` can be used.

    ``dispatcher`` is the one that Python calls. ``compile_with`` decorates the compiler.
    """
    # A cached kernel holds all that it calls, so its parts are not cached.
    options = {**dispatcher.targetoptions, "no_cpython_wrapper": True}
    # `numba.jit` would return the function itself if NUMBA_DISABLE_JIT was set after the import.
    found = type(dispatcher)(dispatcher.py_func, targetoptions=options, pipeline_class=_Compiler)
    found._compiler.compile = compile_with(found._compiler.compile)
    # By this numba knows that a kernel calls itself.
    found._compiling_counter = dispatcher._compiling_counter

    def add_overload(compiled: Any) -> None:
        # Callers find the code by a hashable object. numba takes the function that Python calls.
        key = compiled.fndesc
        found.targetctx.insert_user_function(key, key, [compiled.library])
        found.overloads[tuple(compiled.signature.args)] = compiled._replace(entry_point=key)

    found.add_overload = add_overload
    return found
