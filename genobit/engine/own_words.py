"""Errors about names and arguments of a call, in our words instead of Python's.

May import: numpy.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from genobit.engine.synonyms import own_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Called = TypeVar("_Called", bound="Callable[..., Any]")

_LISTED = 8
"""Most methods that an error lists."""
_SHOWN = 40
"""Most letters of a value in an error."""


def own_words(called: _Called) -> _Called:
    """Make errors about the arguments of a function or class of `genobit` name the right ones.

    Examples
    --------
    >>> @own_words
    ... def open_cards(path, *, chunks=1): ...
    >>> open_cards("deck", chunk_size=3)
    Traceback (most recent call last):
        ...
    TypeError: gb.open_cards() has no argument 'chunk_size'; did you mean 'chunks'? Its arguments \
are path, chunks.
    """
    name = f"gb.{called.__name__}"
    if not isinstance(called, type):
        return explained(called, name)
    setattr(called, "__init__", explained(vars(called)["__init__"], name))  # noqa: B010 - mypy
    return called


class SuggestsNames:
    """Base of classes whose errors about unknown names and arguments say the right ones."""

    _called: ClassVar[str]
    """Name of the object in errors, such as "ds.genobit"."""

    def __init_subclass__(cls) -> None:
        """Explain the arguments of all public methods, also of those of other bases."""
        super().__init_subclass__()
        for name in dir(cls):
            method = inspect.getattr_static(cls, name)
            if inspect.isfunction(method) and (name == "__call__" or not name.startswith("_")):
                own = cls._called if name == "__call__" else f"{cls._called}.{name}"
                setattr(cls, name, explained(method, own))

    # Hidden from type checkers, which would accept every attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError with the closest names."""
            if name in dir(type(self)):  # a property failed: raise its own AttributeError again
                return object.__getattribute__(self, name)
            if name.startswith("_"):  # probes of pickle, copy and notebooks
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            raise AttributeError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        """Return the message for an unknown public name."""
        known = [known for known in dir(type(self)) if not known.startswith("_")]
        listed = f" Its methods are {', '.join(known)}." if 0 < len(known) <= _LISTED else ""
        return f"{self._called} has no method {name!r}{own_name(name, known)}{listed}"


def explained(function: _Called, called: str) -> _Called:
    """Return a function that raises TypeError in our words if its arguments do not fit."""
    flags = {
        name: kind
        for name, kind in getattr(function, "__annotations__", {}).items()
        if kind in {"bool", "bool | None"}
    }

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for name in flags.keys() & given.keys():
            _check_flag(f"{called}(): {name}", given[name], none="None" in flags[name])
        try:
            return function(*args, **given)
        except TypeError:
            problem = _problem(function, called, args, given)
            if problem is None:
                raise
        raise TypeError(problem)

    return call  # type: ignore[return-value]


def _check_flag(name: str, value: Any, *, none: bool) -> None:
    """Raise TypeError unless the value is True or False; 0 and 1, and None if ``none``, will do."""
    # Text such as "no" would count as true.
    if not ((isinstance(value, int | np.bool_) and value in {0, 1}) or (none and value is None)):
        raise TypeError(f"{name}={_shown(value)} is not True or False{' or None' * none}")


def _problem(
    function: Callable[..., Any], called: str, args: Sequence[Any], given: dict[str, Any]
) -> str | None:
    """Say why arguments do not fit a function; None if they do."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **given)
    except TypeError as error:
        reason = str(error)
    else:
        return None
    known = [each for each in signature.parameters.values() if each.name != "self"]
    args = args[len(signature.parameters) - len(known) :]
    names = [
        each.name for each in known if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    placed = [each.name for each in known if each.kind is each.POSITIONAL_OR_KEYWORD]
    all_names = ", ".join("**" * (each.kind is each.VAR_KEYWORD) + each.name for each in known)
    listed = f" Its arguments are {all_names}." if known else " It takes no arguments."
    passes_on = any(each.kind is each.VAR_KEYWORD for each in known)
    unknown = [] if passes_on else [name for name in given if name not in names]
    if unknown:
        meant = own_name(unknown[0], names)
        return f"{called}() has no argument {unknown[0]!r}{meant}{listed}"
    if len(args) > len(placed):
        free = [name for name in names if name not in placed and name not in given]
        extra = [f"{name}={_shown(x)}" for name, x in zip(free, args[len(placed) :], strict=False)]
        first = "no argument" if not placed else f"at most {len(placed)} argument"
        plural = "s" if len(placed) > 1 else ""
        named = f": write {', '.join(extra)}." if extra else "."
        return f"{called}() takes {first}{plural} by position{named}{listed}"
    for name in names[len(args) :]:
        if name not in given and signature.parameters[name].default is inspect.Parameter.empty:
            return f"{called}() needs {name}={_meaning(function, name)}.{listed}"
    return f"{called}(): {reason}.{listed}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN and "\n" not in text else "..."


def _meaning(function: Callable[..., Any], name: str) -> str:
    """Return the first sentence of the documentation of a parameter after a colon, or ""."""
    text = inspect.getdoc(function) or ""
    found = re.search(rf"^(?:\w+, )*{name}(?:, \w+)*\n((?:    .*\n?)+)", text, re.MULTILINE)
    if found is None:
        return ""
    sentence = re.split(r"\.(?:\s|$)|: ", " ".join(found[1].split()), maxsplit=1)[0]
    return f": {sentence}"
