"""The one decorator that kernels use, and the compile cache behind it.

May import: numba and the standard library.

numba's own on-disk cache has three gaps that matter here, so kernels get a cache folder and a
lock of their own:

- a cached kernel is fresh as long as *its* file is; kernels inline functions of other files
  (`simd.py`), so the folder's name holds a digest of all kernel sources;
- the index of a function is read, changed and written back without a lock, so two processes that
  compile different signatures at once can leave an index that names the other one's machine code;
- entries of different CPUs share that index, which on a cluster's shared home is the same race.
  The folder's name holds the CPU, too.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import filelock
import llvmlite
import numba
import platformdirs
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    NullCache,
    UserProvidedCacheLocator,
)
from numba.core.registry import cpu_target

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


@functools.cache
def target_description() -> tuple[str, str, str]:
    """Triple, CPU name and features that kernels are compiled for.

    NUMBA_CPU_NAME changes the name alone and keeps the host's features; to compile for another
    CPU set NUMBA_CPU_FEATURES to its features, or to nothing for those its name implies.
    """
    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    return triple, name, features


@functools.cache
def cache_folder() -> Path:
    """Where compiled kernels are kept.

    One folder for each CPU, toolchain and state of the sources.
    """
    package = Path(__file__).parent
    sources = [package / "_jit.py", package / "simd.py", *sorted(package.glob("kernels/**/*.py"))]
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    digest.update(repr((target_description(), numba.__version__, llvmlite.__version__)).encode())
    digest.update(repr((sys.version_info[:2], sys.byteorder)).encode())
    root = Path(config.CACHE_DIR or platformdirs.user_cache_dir("genobit"))
    return root / "kernels" / digest.hexdigest()[:20]


class _Locator(UserProvidedCacheLocator):  # type: ignore[misc]  # numba has no types
    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(cache_folder())

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function, file)

    def get_source_stamp(self) -> str:
        return "the folder's name is the stamp"


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _LockedCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            self.disable()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._impl.locator.ensure_cache_path()
            with filelock.FileLock(Path(self.cache_path) / "lock"):
                super().save_overload(sig, data)
        except OSError:
            # A read-only or full cache folder costs a compilation in each process, never a result.
            self.disable()


# No kernel is called through a C function pointer: those wrappers are 7% of a compilation.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel: no GIL, no threads, no Python objects, cached on disk.

    Kernels divide by zero as numpy does (NaN or infinity), so that a monomorphic variant is no
    exception, and are compiled without ``fastmath``: results are the same bits on every machine.
    """
    return _cached(numba.njit(**_OPTIONS)(function), function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """The same for parts of inner loops: compiled into every kernel that calls them.

    LLVM leaves out of line what it takes for large. A call with vectors and arrays then takes
    longer than the few instructions of a register: Fitch's join of 512 sites 36 ns, inlined 8.
    """
    return _cached(numba.njit(**_OPTIONS, forceinline=True)(function), function)


def _cached(dispatcher: Any, function: Callable[P, R]) -> Callable[P, R]:
    if isinstance(getattr(dispatcher, "_cache", None), NullCache):
        # False where NUMBA_DISABLE_JIT leaves plain Python functions.
        dispatcher._cache = _LockedCache(function)
    return dispatcher  # type: ignore[no-any-return]
