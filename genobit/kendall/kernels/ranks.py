"""Dense ranks of the observations of each variable: all that a rank correlation knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDE = 65_535
"""Observations from which ranks take 32 bits: 16 bits hold 65,535 levels and what is missing."""


def missing(ranks: NDArray[Any]) -> int:
    """The rank that stands for a missing observation: the largest of the type.

    Examples
    --------
    >>> import numpy as np
    >>> missing(np.zeros((1, 1), np.uint16))
    65535
    """
    return int(np.iinfo(ranks.dtype).max)


def missing_any(ranks: NDArray[Any]) -> bool:
    """Whether an observation is missing."""
    return bool((ranks == missing(ranks)).any())


def ranked(values: NDArray[Any]) -> NDArray[Any]:
    """Values (variables, n) -> dense ranks (variables, n).

    Parameters
    ----------
    values
        Booleans, integers or floats; they are compared as they are, never converted. Infinities
        are values, NaN is missing, and -0.0 is 0.0.

    Returns
    -------
        uint16, or uint32 from 65,535 observations on: 0 for the smallest value of a row, equal for
        equal values, the next number for the next larger value; the largest number of the type
        (`missing`) where the value is NaN.

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
    # A dense rank is at most n - 1, so the running sum fits.
    np.cumsum(steps, axis=1, dtype=dtype, out=steps)
    if values.dtype.kind == "f":
        steps[np.isnan(ordered)] = np.iinfo(dtype).max
    ranks = np.empty((variables, n), dtype)
    np.put_along_axis(ranks, order, steps, axis=1)
    return ranks
