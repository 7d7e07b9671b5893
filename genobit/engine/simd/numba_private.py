"""The private names of numba and llvmlite: no other file imports from their insides.

numba has no public way to replace its cache, to fork safely, or to compile a kernel for its callers
only. This file checks at import that numba still has the names that it needs. If one is missing, or
with GENOBIT_PLAIN_NUMBA=1, kernels are compiled by ``numba.njit`` with numba's own cache. They give
the same results; each takes longer to compile, as numba makes machine code of all its parts.

`linked` compiles a kernel for its callers. numba compiles each kernel as if Python called it. It
writes a wrapper that converts Python objects, optimises the kernel and generates machine code. Then
it links the kernel into its callers. Here a kernel that another kernel calls is optimised and
linked. Only the kernel that Python calls becomes machine code, with all that it calls. numba lets a
dispatcher choose its compiler, and a compiler its code library, whose `finalize` is overridden.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numba
from llvmlite.binding import ffi
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    NullCache,
    UserProvidedCacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.np.arrayobj import populate_array

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "PLAIN",
    "CompileResultCacheImpl",
    "FunctionCache",
    "NullCache",
    "UserProvidedCacheLocator",
    "cpu_target",
    "dumps",
    "impl_ret_borrowed",
    "linked",
    "populate_array",
    "start_compilers",
    "stop_compilers",
    "with_environments",
]

NEEDED: dict[type, tuple[str, ...]] = {
    CompileResult: ("_find_referenced_environments", "_replace"),
    CompileResultCacheImpl: ("_locator_classes", "filename_base", "locator"),
    Dispatcher: (
        *("_cache", "_compiler", "_compiling_counter"),
        *("add_overload", "get_call_template", "get_overload"),
    ),
    FunctionCache: ("_cache_file", "_impl", "_impl_class"),
    JITCodeLibrary: (
        *("_final_module", "_finalized", "_linking_libraries", "_reload_init"),
        *("_get_module_for_linking", "_optimize_final_module", "finalize"),
    ),
}
"""Private names that are used, by class."""


def lacking(needed: dict[type, tuple[str, ...]]) -> list[str]:
    """Return the names that a class neither has nor sets when it is made."""
    return [
        f"{owner.__name__}.{name}"
        for owner, names in needed.items()
        for name in names
        if not any(_has(base, name) for base in owner.__mro__)
    ]


def _has(owner: type, name: str) -> bool:
    code = getattr(vars(owner).get("__init__"), "__code__", None)
    return name in vars(owner) or (code is not None and name in code.co_names)


def _plain() -> bool:
    """Return whether to use numba as it is: the user asks for it, or a private name is missing."""
    if os.environ.get("GENOBIT_PLAIN_NUMBA", "0") not in {"", "0"}:
        return True
    missing = lacking(NEEDED)
    if missing:
        msg = (
            f"numba {numba.__version__} has no {', '.join(missing)}: kernels compile slower, with "
            "numba's own cache. Install another version of numba, or set GENOBIT_PLAIN_NUMBA=1 to "
            "hide this warning"
        )
        warnings.warn(msg, stacklevel=2)
    return bool(missing)


PLAIN = _plain()
"""Whether kernels are compiled and cached by numba alone."""


def stop_compilers() -> None:
    """Wait until no thread compiles, and block new compilations."""
    global_compiler_lock.acquire()
    ffi.lib._lock.__enter__()


def start_compilers() -> None:
    """Let threads compile again."""
    ffi.lib._lock.__exit__()
    global_compiler_lock.release()


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
