"""Check choices and numbers that a caller gives. May import: numpy, the engine."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike


def check_one_of(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ValueError unless the value is one of the choices, which the message lists."""
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name}={value!r} is not one of {known}{did_you_mean(value, choices)}")


def first_true(mask: ArrayLike) -> int:
    """Return the index of the first true value of a mask (n,), -1 if none is."""
    found = np.flatnonzero(mask)
    return int(found[0]) if found.size else -1


def is_whole(value: Any, least: int = 1) -> TypeGuard[int]:
    """Return whether the value is of an integer type, not a bool, and at least ``least``."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and bool(value >= least)


def check_integer(name: str, value: Any, least: int = 1) -> None:
    """Raise ValueError unless the value is of an integer type and at least ``least``."""
    if not is_whole(value, least):
        raise ValueError(f"{name}={value!r} is not a whole number of at least {least}")


def check_whole(name: str, value: object, least: int = 1) -> None:
    """Raise TypeError or ValueError unless the value is whole (2 or 2.0), from ``least`` on."""
    words = "not a positive whole number" if least else "not a whole number of at least 0"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} is {words}, such as {max(least, 10)}")
    if not np.isfinite(float(value)) or float(value) % 1 or float(value) < least:
        raise ValueError(f"{name}={value!r} is {words}")


def check_share(name: str, value: object) -> None:
    """Raise TypeError or ValueError unless the value is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} is not a number: give one from 0 to 1, such as 0.2")
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{name}={value!r} is outside [0, 1]")


def check_threshold(threshold: Any) -> None:
    """Raise TypeError for a threshold that is not a number, ValueError for NaN and infinities."""
    check_number("threshold", threshold, "give the smallest value that counts")


def check_number(name: str, number: Any, remedy: str) -> None:
    """Raise TypeError for an argument that is not a number, ValueError for NaN and infinities.

    True and False do not count as numbers.
    """
    if isinstance(number, bool | np.bool_) or not isinstance(number, numbers.Real):
        raise TypeError(f"{name}={number!r} is not a number: {remedy}")
    if not np.isfinite(float(number)):
        raise ValueError(f"{name}={number!r} is not a finite number: {remedy}")
