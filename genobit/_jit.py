"""The one decorator that kernels use, and the compile cache behind it.

May import: numba, `plain` and the standard library.

Where NUMBA_DISABLE_JIT is set, nothing is compiled: kernels are plain Python, and instructions
their twins in numpy.

numba's own on-disk cache has three gaps that matter here, so kernels get a cache folder and a
lock of their own:

- a cached kernel is fresh as long as *its* file is; kernels inline functions of other files
  (`simd.py`), so the folder's name holds a digest of all kernel sources;
- the index of a function is read, changed and written back without a lock, so two processes that
  compile different signatures at once can leave an index that names the other one's machine code;
- entries of different CPUs share that index, which on a cluster's shared home is the same race.
  The folder's name holds the CPU, too.

And a kernel is compiled once on a machine: the workers of a cluster start together and need the
same kernels at the same time, so the first to miss one compiles it and the others wait for it.
"""

from __future__ import annotations

import functools
import hashlib
import os
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
from numba.extending import intrinsic

from genobit import plain

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

COMPILED = not config.DISABLE_JIT
"""Whether kernels are compiled, or run as the Python that they are."""

BOUNDS_CHECKED = os.environ.get("GENOBIT_BOUNDSCHECK", "0") not in {"", "0"}
"""Whether kernels look before each access whether it is within its array, and raise IndexError.

For tests of kernels: `simd.address` does the same for loads and stores of registers, which numba's
own check does not know. Kernels take about twice as long so, and have a cache of their own.
"""


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
    own = (package / name for name in ("_jit.py", "cpu.py", "simd.py"))
    sources = [*own, *sorted(package.glob("kernels/**/*.py"))]
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    digest.update(repr((target_description(), numba.__version__, llvmlite.__version__)).encode())
    digest.update(repr((sys.version_info[:2], sys.byteorder, BOUNDS_CHECKED)).encode())
    root = Path(config.CACHE_DIR or platformdirs.user_cache_dir("genobit"))
    return root / "kernels" / digest.hexdigest()[:20]


class _Locator(UserProvidedCacheLocator):  # type: ignore[misc]  # numba has no types
    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(cache_folder())
        self._stamp = "the folder's name is the stamp"
        if Path(__file__).parent not in Path(file).parents:
            # That name is of the package's sources. Cached code imports its module, so that a
            # kernel of a file that is imported by two names cannot be of both.
            digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            self._stamp = f"{function.__module__} {digest}"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function, file)

    def get_source_stamp(self) -> str:
        return self._stamp


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


LONGEST_WAIT = 300.0
"""Seconds for which a process waits for another's compilation, several times what the longest of
them takes: then it compiles the kernel itself."""


class _LockedCache(FunctionCache):  # type: ignore[misc]
    """A cache that holds the kernel's lock from a miss until what was compiled is saved.

    Calls among kernels have no cycles, so neither do the locks of kernels that wait for others.
    """

    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        name = f"{self._impl.filename_base}.lock"
        self._lock = filelock.FileLock(Path(self.cache_path) / name, timeout=LONGEST_WAIT)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
            if found is None and self._wait():
                # Another process may have compiled it meanwhile.
                found = super().load_overload(sig, target_context)
                if found is not None:
                    self.let_go()
        except OSError:
            self.let_go()
            self.disable()
            return None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._impl.locator.ensure_cache_path()
            with self._lock:
                super().save_overload(sig, data)
        except OSError:
            # A read-only or full cache folder costs a compilation in each process, never a result.
            self.disable()
        finally:
            self.let_go()

    def _wait(self) -> bool:
        """Take the lock, unless the folder cannot be written or another process hangs."""
        try:
            self._impl.locator.ensure_cache_path()
            self._lock.acquire()
        except (OSError, NotImplementedError):
            return False
        return True

    def let_go(self) -> None:
        """Give up what `_wait` took: no harm where it is not held."""
        self._lock.release()


# No kernel is called through a C function pointer: those wrappers are 7% of a compilation.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "boundscheck": BOUNDS_CHECKED,
}


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel: no GIL, no threads, no Python objects, cached on disk.

    Kernels divide by zero as numpy does (NaN or infinity), so that a monomorphic variant is no
    exception, and are compiled without ``fastmath``: results are the same bits on every machine.
    """
    return _compiled(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """The same for parts of inner loops: compiled into every kernel that calls them.

    LLVM leaves out of line what it takes for large. A call with vectors and arrays then takes
    longer than the few instructions of a register: Fitch's join of 512 sites 36 ns, inlined 8.
    """
    return _compiled(function, forceinline=True)


def instruction(
    twin: Callable[..., Any], **options: bool
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An intrinsic of numba, and its twin in plain Python: ``.twin``, or all there is of it."""

    def decorate(generator: Callable[..., Any]) -> Callable[..., Any]:
        if not COMPILED:
            return twin
        found: Any = intrinsic(**options)(generator) if options else intrinsic(generator)
        found.twin = twin
        return found  # type: ignore[no-any-return]

    return decorate


def _compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    if not COMPILED:
        return plain.kernel(function)
    return _cached(numba.njit(**_OPTIONS, **options)(function), function)


def _file(function: Callable[..., Any]) -> Path:
    return Path(function.__code__.co_filename)


def _cached(dispatcher: Any, function: Callable[P, R]) -> Callable[P, R]:
    # Of what is typed at a prompt there is no file to tell when it changes: no cache.
    known = Path(__file__).parent in _file(function).parents or _file(function).is_file()
    if known and isinstance(dispatcher._cache, NullCache):
        cache = dispatcher._cache = _LockedCache(function)
        compiler = dispatcher._compiler
        compile_alone = compiler.compile

        def compile_or_let_go(*signature: Any) -> Any:
            try:
                return compile_alone(*signature)
            except BaseException:
                # Nothing will be saved.
                cache.let_go()
                raise

        compiler.compile = compile_or_let_go
    return dispatcher  # type: ignore[no-any-return]
