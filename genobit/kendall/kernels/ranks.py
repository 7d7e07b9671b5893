"""Dense ranks of the observations of each variable, from which all rank statistics follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDE = 65_535
"""Observations from which ranks take 32 bits: 16 bits hold 65,535 levels and the missing mark."""


def missing(ranks: NDArray[Any]) -> int:
    """Return the rank that marks a missing observation: the largest number of the dtype.

    Examples
    --------
    >>> import numpy as np
    >>> missing(np.zeros((1, 1), np.uint16))
    65535
    """
    return int(np.iinfo(ranks.dtype).max)


def missing_any(ranks: NDArray[Any]) -> bool:
    """Return whether any observation is missing."""
    return bool((ranks == missing(ranks)).any())


def ranked(values: NDArray[Any]) -> NDArray[Any]:
    """Return the dense ranks of the values of each variable.

    values: (variables, n) booleans, integers or floats; returns (variables, n) uint16, or uint32
    from 65,535 observations on.

    Values are compared as they are, without conversion. The smallest value of a row has rank 0,
    equal values have equal ranks, and ranks have no gaps.
    NaN gets the rank `missing`, infinities are values, and -0.0 equals 0.0.

    Examples
    --------
    >>> import numpy as np
    >>> ranked(np.array([[2.5, 1.0, np.nan, 2.5]])).tolist()
    [[1, 0, 65535, 1]]
    """
    variables, n = values.shape
    dtype = np.uint16 if n < WIDE else np.uint32
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    steps = np.zeros((variables, n), dtype)
    if n:
        steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    # A dense rank is at most n - 1, so the running sum cannot overflow.
    np.cumsum(steps, axis=1, dtype=dtype, out=steps)
    if values.dtype.kind == "f":
        steps[np.isnan(ordered)] = np.iinfo(dtype).max
    ranks = np.empty((variables, n), dtype)
    np.put_along_axis(ranks, order, steps, axis=1)
    return ranks
