"""Recognise differences of two results, and name and colour them.

Arithmetic of xarray keeps the name and the attributes of a result, so only values tell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from genobit.visual.style import DIVERGING, Scale

#: Largest rounding error: relative to the end of a statistic, and beside 0.
_SLACK, _ZERO = 1e-3, 1e-6


def is_difference(
    values: np.ndarray, *, least: float = -np.inf, most: float = np.inf, one_set: bool = False
) -> bool:
    """Return whether values of pairs are a difference of two results.

    ``least`` and ``most`` are the ends of the statistic: values outside are none of it. In a matrix
    of ``one_set`` with itself, each member has a positive correlation or relationship with itself,
    and in a difference 0 or a negative one. Of a statistic that is never negative, only the ends
    count, because users fill its diagonal with 0.

    Examples
    --------
    >>> tau = np.array([[1.0, -0.4, 0.2], [-0.4, 1.0, 0.1], [0.2, 0.1, 1.0]])
    >>> is_difference(tau, one_set=True), is_difference(tau - np.eye(3), one_set=True)
    (False, True)
    """
    if not values.size:
        return False
    # fmin and fmax skip NaN. A relationship without ends takes no pass over its pairs.
    if np.isfinite(least) and np.fmin.reduce(values, axis=None) < least - _SLACK:
        return True
    if np.isfinite(most) and np.fmax.reduce(values, axis=None) > most + _SLACK * most:
        return True
    if not one_set or least >= 0:
        return False
    own = np.diagonal(values)
    own = own[~np.isnan(own)]
    if not own.size or (own < -_ZERO).any():
        return bool(own.size)
    # Differences have both signs. Relationships of samples that are all alike are 0.
    signs = np.fmin.reduce(values, axis=None) < -_ZERO < _ZERO < np.fmax.reduce(values, axis=None)
    return bool((own <= _ZERO).all() and signs)


def difference_of(scale: Scale, values: np.ndarray) -> Scale:
    """Return the scale of differences: diverging, with the same reach to both sides of 0.

    Examples
    --------
    >>> r2 = Scale("r²", "squared correlation r²", (0.0, 1.0), DIVERGING)
    >>> difference_of(r2, np.array([-0.3, 0.1])).limits
    (-0.5, 0.5)
    """
    known = np.abs(values[np.isfinite(values)])
    limit = _round_up(float(known.max(initial=0.0)) * (1 - _SLACK))
    return replace(
        scale,
        label=f"Δ {scale.label}",
        name=name_of_difference(scale.name),
        limits=(-limit, limit),
        stops=DIVERGING,
    )


def name_of_difference(name: str) -> str:
    """Return the name of differences of a statistic."""
    return f"difference of {name}"


def scale_with(values: np.ndarray, scale: Scale, *, one_set: bool = False) -> Scale:
    """Return the scale of a statistic, or of its differences if the values are such.

    Examples
    --------
    >>> from genobit.visual.style import scale_of
    >>> scale_with(np.array([[0.0, -0.4]]), scale_of("r2")).label
    'Δ r²'
    """
    low, high = scale.limits
    if is_difference(values, least=low, most=high, one_set=one_set):
        return difference_of(scale, values)
    return scale


def _round_up(value: float) -> float:
    """Return the smallest of 1, 2 and 5, times a power of 10, that reaches a value; 1 for 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(round(step * power, 12) for step in (1, 2, 5, 10) if step * power >= value))
