"""Kernels without compilation (``NUMBA_DISABLE_JIT=1``): Python functions of numpy arrays.

A debugger can step through such a kernel, coverage sees its lines, and each access is checked.
Compiled code differs from numpy's scalars in three ways, which `kernel` reproduces: integers of 8
to 32 bits widen before arithmetic, a division by zero raises no error, and True adds up as 1.
Integers become Python's: one too large for its array raises OverflowError, but compiled code wraps.

May import: numpy and the standard library.
"""

from __future__ import annotations

import functools
import threading
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_WIDER: dict[type, Callable[[Any], Any]] = {
    np.bool_: bool,
    **dict.fromkeys((np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32), int),
}
"""Type that numba gives an element when it is used. 64-bit words stay numpy's, which wrap."""


class Elements(np.ndarray[Any, Any]):
    """Array whose single elements are as wide as in compiled code."""

    def __getitem__(self, index: Any) -> Any:
        """Return an element as numba would use it, or a part."""
        found = super().__getitem__(index)
        widen = _WIDER.get(type(found))
        return found if widen is None else widen(found)


class _Numpy:
    """numpy whose functions return `Elements`."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if callable(found) and not isinstance(found, type):
            found = _of_elements(found)
        setattr(self, name, found)
        return found


def _of_elements(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        return _seen(function(*arguments, **named), Elements)

    return call


_NAMES = {"np": _Numpy(), "float": np.float64}
"""Replacements of these names in kernels."""


class _Thread(threading.local):
    within = False
    """Whether a kernel runs in this thread, so that a call now is part of it."""


_thread = _Thread()


def _seen(value: Any, kind: type) -> Any:
    """Return arrays (also in tuples) as ``kind``, and floats as np.float64.

    np.float64 divides by zero without an error.
    """
    if type(value) is float:
        return np.float64(value)
    if isinstance(value, np.ndarray):
        return value if type(value) is kind else value.view(kind)
    if isinstance(value, tuple):
        parts = [_seen(part, kind) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _own(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with `_NAMES` and the current globals of its module."""
    known = {
        name: found.view(Elements) if isinstance(found, np.ndarray) else found
        for name, found in function.__globals__.items()
    }
    name, defaults, closure = function.__name__, function.__defaults__, function.__closure__
    found = FunctionType(function.__code__, known | _NAMES, name, defaults, closure)
    return cast("Callable[P, R]", found)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that computes as the compiled kernel would."""
    # Wait for the first call: the kernel's module may not be complete yet.
    first = functools.cache(functools.partial(_own, function))

    @functools.wraps(function)
    def plainly(*arguments: P.args, **named: P.kwargs) -> R:
        given: Any = [_seen(x, Elements) for x in arguments]
        named_given: Any = {name: _seen(x, Elements) for name, x in named.items()}
        if _thread.within:
            return cast("R", _seen(first()(*given, **named_given), Elements))
        _thread.within = True
        try:
            with np.errstate(all="ignore"):
                return cast("R", _seen(first()(*given, **named_given), np.ndarray))
        finally:
            _thread.within = False

    return plainly
