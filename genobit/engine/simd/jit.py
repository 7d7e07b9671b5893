"""The ``njit`` decorator of all kernels, and its compile cache.

If NUMBA_DISABLE_JIT is set, nothing is compiled: kernels run as plain Python, and instructions as
their numpy twins.

numba's on-disk cache has four gaps that matter here, so kernels have their own folder, files and
lock:

- numba checks only the source file of the kernel itself. Kernels inline functions of other files
  (`vector.py`), so the folder's name holds a digest of all kernel sources.
- numba keeps one index per function. Two processes that compile at once can write an index that
  names the other's machine code, and a damaged index stops every later call. Here each signature
  has one file and there is no index.
- numba does not verify cached files. Here each file begins with a digest of the rest, because
  machine code with a flipped bit would run. A file that does not match is compiled again.
- CPUs can differ on a cluster with a shared home. The folder's name therefore holds the level
  (`levels.py`).

A wheel carries a folder of each level in `SHIPPED`. What it lacks is compiled.

A kernel that Python calls is compiled once per machine, with the kernels that it calls
(`numba_private.linked`). Workers of a cluster start together and need the same kernels at the same
time: the first one compiles a kernel and the others wait for it.

Private names of numba come from `numba_private.py`, which has a fallback without them.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import pickle
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import filelock
import llvmlite
import numba
from numba import config
from numba.extending import intrinsic
from numba.types import unliteral

from genobit.engine.progress import DELAY, note
from genobit.engine.simd import plain
from genobit.engine.simd.levels import use_level
from genobit.engine.simd.numba_private import (
    PLAIN,
    CompileResultCacheImpl,
    FunctionCache,
    NullCache,
    UserProvidedCacheLocator,
    cpu_target,
    dumps,
    linked,
    start_compilers,
    stop_compilers,
    with_environments,
)
from genobit.engine.simd.user_cache import user_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = Path(__file__).parents[2]
KERNELS = ("engine/bits", "engine/gemm", "engine/pairwise", "engine/simd", "*/kernels")
"""Folders of the package that hold kernels."""

SHIPPED = PACKAGE / "_compiled"
"""Folder of a wheel with kernels that were compiled when it was built."""

COMPILED = not config.DISABLE_JIT
"""Whether kernels are compiled; otherwise they run as plain Python."""

BOUNDS_CHECKED = os.environ.get("GENOBIT_BOUNDSCHECK", "0") not in {"", "0"}
"""Whether kernels check every array access and raise IndexError outside the array.

For tests. `vector.address` adds the check to loads and stores of registers, which numba's own check
does not cover. Checked kernels take about twice as long and have their own cache folder.
"""


use_level()


@functools.cache
def target_description() -> tuple[str, str, str]:
    """Return target triple, CPU name and features that kernels are compiled for.

    NUMBA_CPU_NAME changes only the name and keeps the host's features. To compile for another CPU,
    also set NUMBA_CPU_FEATURES: to its features, or to an empty string for those its name implies.
    """
    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    return triple, name, features


@functools.cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels: one per level, toolchain and state of the sources."""
    digest = hashlib.sha256()
    for folder in KERNELS:
        for source in sorted(PACKAGE.glob(f"{folder}/**/*.py")):
            digest.update(source.read_bytes())
    digest.update(repr((target_description(), numba.__version__, llvmlite.__version__)).encode())
    digest.update(repr((sys.version_info[:2], sys.byteorder, BOUNDS_CHECKED)).encode())
    root = Path(config.CACHE_DIR) if config.CACHE_DIR else user_cache()
    return root / "kernels" / digest.hexdigest()[:20]


class _Locator(UserProvidedCacheLocator):  # numba has no types
    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(cache_folder())
        self._stamp = "the folder's name is the stamp"
        if PACKAGE not in Path(file).parents:
            # The folder's name covers only the package's sources, so digest this file too. Cached
            # code imports its module: a file imported by two names needs two stamps.
            digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            self._stamp = f"{function.__module__} {digest}"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function, file)

    def get_source_stamp(self) -> str:
        return self._stamp


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


_DIGEST = hashlib.sha256().digest_size
LONGEST_WAIT = 300.0
"""Seconds to wait for another process's compilation, several times the longest one. After that
the process compiles the kernel itself."""


class _Entries:
    """The compiled code of one function: one file per signature."""

    def __init__(self, folder: str, name: str, stamp: str) -> None:
        self._folder = Path(folder)
        self._name = name
        self._stamp = stamp

    def load(self, key: Any) -> Any:
        """Return the entry saved for a signature, or None if it is missing or damaged."""
        path = self._path(key)
        found = self._read(path, key)
        # The name of the folder stands for the level, the sources and the toolchain.
        return found or self._read(SHIPPED / self._folder.name / path.name, key)

    def _read(self, path: Path, key: Any) -> Any:
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, text = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(text).digest() != digest:
            return None
        # The digest matches, so genobit wrote these bytes.
        name, stamp, saved, data = pickle.loads(text)  # noqa: S301
        # A key holds no constants, so two functions can have the same key.
        if (name, stamp, saved) != (self._name, self._stamp, key):
            return None
        # Unpickle the data last: it imports the kernel's module.
        return pickle.loads(data)  # noqa: S301

    def save(self, key: Any, data: Any) -> None:
        """Write or replace an entry atomically."""
        text = dumps((self._name, self._stamp, key, dumps(data)))
        path = self._path(key)
        unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
        try:
            unfinished.write_bytes(hashlib.sha256(text).digest() + text)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self._folder / f"{self._name}.{digest[:16]}.nbc"


class _LockedCache(FunctionCache):
    """Cache that holds the kernel's lock from a miss until the compiled code is saved.

    Calls among kernels have no cycles, so locks of kernels that wait for others cannot deadlock.
    """

    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # numba uses only the last part of the module name, and several folders have a module of
        # that name.
        package, _, _ = function.__module__.rpartition(".")
        name = f"{package}.{self._impl.filename_base}"
        self._cache_file = _Entries(self.cache_path, name, self._impl.locator.get_source_stamp())
        self._lock_path = Path(self.cache_path) / f"{name}.lock"
        self._held: filelock.BaseFileLock | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and self._wait():
            try:
                # Another process may have compiled it meanwhile.
                found = super().load_overload(sig, target_context)
            except BaseException:
                self.let_go()
                raise
            if found is not None:
                self.let_go()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            # A read-only or full cache folder costs a compilation in each process, never a result.
            with contextlib.suppress(OSError):
                super().save_overload(sig, data)
        finally:
            self.let_go()

    def _wait(self) -> bool:
        """Acquire the lock and return whether it is held.

        It is not held if the folder cannot be written or another process takes too long.
        """
        if self._held is None:
            # Create the lock anew: filelock refuses one inherited from a forked parent.
            lock = filelock.FileLock(self._lock_path, timeout=LONGEST_WAIT)
            try:
                self._impl.locator.ensure_cache_path()
                lock.acquire()
            except (OSError, NotImplementedError):
                return False
            self._held = lock
        return self._held is not None

    def let_go(self) -> None:
        """Release the lock if it is held."""
        lock, self._held = self._held, None
        if lock is not None:
            lock.release()


class _Compilation:
    """Compilation in this process; `global_compiler_lock` guards it."""

    depth = 0
    """Kernels in progress: compiling a kernel compiles the kernels that it calls."""
    started = 0.0
    seconds = 0.0
    noted = False

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Pause garbage collection while the block compiles; note once that it took over a second.

        numba keeps its objects until the kernel is compiled, so collections find little.
        They take 7 to 10% of the time.
        """
        collects = gc.isenabled()
        self.depth += 1
        try:
            gc.disable()
            if self.depth == 1:
                self.started = time.perf_counter()
            if not self.noted and self.seconds + time.perf_counter() - self.started >= DELAY:
                self.noted = _noted()
            yield
        finally:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.perf_counter() - self.started
            if collects:
                gc.enable()


def _noted() -> bool:
    """Write the note and return whether it was written."""
    # Standard error may be closed or replaced, and a kernel compiles without it.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return note("compiling kernels for this CPU, once; later runs load them")
    return False


_compilation = _Compilation()


if hasattr(os, "register_at_fork"):
    # A child forked while another thread compiles inherits that thread's locks and would wait for
    # them forever. `global_compiler_lock` also guards `_LockedCache._held`.
    os.register_at_fork(
        before=stop_compilers,
        after_in_parent=start_compilers,
        after_in_child=start_compilers,
    )


# No kernel is called through a C function pointer: those wrappers take 7% of the compile time.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "boundscheck": BOUNDS_CHECKED,
}


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel: no GIL, no threads, no Python objects, cached on disk.

    Division by zero gives NaN or infinity as in numpy, so a monomorphic variant raises no error.
    Kernels are compiled without ``fastmath``: results have the same bits on every machine.
    """
    return _compiled(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of an inner loop into every kernel that calls it.

    LLVM does not inline functions that it considers large. A call with vectors and arrays takes
    longer than the few instructions on a register. Fitch's join of 512 sites takes 36 ns, inlined
    8 ns.
    """
    return _compiled(function, forceinline=True)


def merged(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel as a part of its caller only, if it has one caller.

    numba inserts it before it infers types. LLVM otherwise optimises a kernel by itself, and again
    within its caller.
    """
    return _compiled(function, inline="always")


def instruction(
    twin: Callable[..., Any], **options: bool
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a numba intrinsic with its plain-Python twin.

    The intrinsic has its twin as ``.twin``. Without compilation the twin replaces it.
    """

    def decorate(generator: Callable[..., Any]) -> Callable[..., Any]:
        if not COMPILED:
            return twin
        found: Any = intrinsic(**options)(generator) if options else intrinsic(generator)
        found.twin = twin
        return found

    return decorate


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    if not COMPILED:
        return plain.kernel(function)
    if PLAIN:
        return _plainly(function, **_OPTIONS, **options)
    return _cached(numba.njit(**_OPTIONS, **options)(function), function)


def _has_file(function: Callable[..., Any]) -> bool:
    """Return whether changes of a kernel can be detected: code typed at a prompt has no file."""
    file = Path(function.__code__.co_filename)
    return Path(__file__).parent in file.parents or file.is_file()


def _plainly(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Compile with numba's cache, in the folder of these sources."""
    users, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
    try:
        found: Callable[P, R] = numba.njit(cache=_has_file(function), **options)(function)
    finally:
        config.CACHE_DIR = users
    return found


def _cached(dispatcher: Any, function: Callable[P, R]) -> Callable[P, R]:
    if _has_file(function) and isinstance(dispatcher._cache, NullCache):
        cache = dispatcher._cache = _LockedCache(function)
        compiler = dispatcher._compiler
        compile_alone = compiler.compile

        def compile_or_let_go(*signature: Any) -> Any:
            try:
                with _compilation.running():
                    return with_environments(compile_alone(*signature))
            except BaseException:
                # Compilation failed, so nothing will be saved.
                cache.let_go()
                raise

        compiler.compile = compile_or_let_go
        for_callers = functools.cache(functools.partial(linked, dispatcher, _compilation.running()))

        def template_without_literals(args: Any, kws: Any) -> Any:
            return for_callers().get_call_template(
                tuple(map(unliteral, args)), {name: unliteral(kws[name]) for name in kws}
            )

        dispatcher.get_call_template = template_without_literals
        dispatcher.get_overload = lambda signature: for_callers().get_overload(signature)
    return dispatcher
