"""Relatives: KING-robust kinship, identity by state, and degrees of relationship."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

DEGREES: dict[str, float] = {
    "duplicate or twin": 2**-1.5,
    "first degree": 2**-2.5,
    "second degree": 2**-3.5,
    "third degree": 2**-4.5,
    "unrelated": -np.inf,
}
"""Degree -> the kinship that it lies above, from the closest (Manichaikul et al. 2010, Table 1)."""


def degree_of(kinship: ArrayLike) -> NDArray[Any]:
    """Name the degree of relationship of each kinship coefficient.

    Parameters
    ----------
    kinship
        KING-robust kinship coefficients, any shape; 0.5 is a sample with itself.

    Returns
    -------
        A key of `DEGREES` for each, of the same shape; empty text where the kinship is NaN.

    Examples
    --------
    >>> degree_of([0.5, 0.25, 0.125, 0.06, 0.01, float("nan")]).tolist()
    ['duplicate or twin', 'first degree', 'second degree', 'third degree', 'unrelated', '']
    """
    values = np.asarray(kinship, np.float64)
    names = np.array([*DEGREES, ""])
    above = [values > bound for bound in DEGREES.values()]
    # Of -inf nothing lies above -inf: what is no NaN and in no other band is unrelated.
    above[-1] = ~np.isnan(values)
    return names[np.select(above, range(len(above)), default=len(above))]
