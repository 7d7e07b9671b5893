"""Exact tests of Hardy-Weinberg equilibrium for many variants.

Given the allele counts, the number of heterozygotes h has the parity of the rarer allele. The
probability of h - 2 heterozygotes is that of h times h (h - 1) / (4 (r + 1) (c + 1)), where r and c
are the rare and common homozygotes (Wigginton 2005). The p-value is the share of all numbers of
heterozygotes that are at most as probable as the observed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDING = 2.0**-44
"""Relative difference of probabilities that count as equal, as in plink 1.9."""
_START = 2.0**-80
"""Weight of the observed number. The smallest positive p-value is then that of float64, because
the other weights may be as large as 2**1023."""


_NEGLIGIBLE = 2.0**-53
"""A falling weight below this share of the sum ends it."""


@njit
def _with_fewer(hets: float, rare: float, common: float) -> tuple[float, float, int]:
    """Add up the weights of fewer heterozygotes than observed.

    Returns the sum of weights above the observed one, the sum of the others, and the number of
    weights equal to it. Weights rise to the mode and fall behind it. The loop that adds falling
    weights is apart, since both in one take twice the time.
    """
    weight, middle, tail, equal = _START, 0.0, 0.0, 0
    while hets > 1.5:
        weight *= hets * (hets - 1) / (4 * (rare + 1) * (common + 1))
        hets, rare, common = hets - 2, rare + 1, common + 1
        if weight <= _START * (1 + ROUNDING):
            tail, equal = weight, int(weight > _START * (1 - ROUNDING))
            break
        middle += weight
    while hets > 1.5 and weight > (_START + tail) * _NEGLIGIBLE:
        weight *= hets * (hets - 1) / (4 * (rare + 1) * (common + 1))
        hets, rare, common = hets - 2, rare + 1, common + 1
        tail += weight
    return middle, tail, equal


@njit
def _with_more(hets: float, rare: float, common: float) -> tuple[float, float, int]:
    """Add up the weights of more heterozygotes than observed; see `_with_fewer`."""
    weight, middle, tail, equal = _START, 0.0, 0.0, 0
    while rare > 0.5:
        weight *= 4 * rare * common / ((hets + 2) * (hets + 1))
        hets, rare, common = hets + 2, rare - 1, common - 1
        if weight <= _START * (1 + ROUNDING):
            tail, equal = weight, int(weight > _START * (1 - ROUNDING))
            break
        middle += weight
    while rare > 0.5 and weight > (_START + tail) * _NEGLIGIBLE:
        weight *= 4 * rare * common / ((hets + 2) * (hets + 1))
        hets, rare, common = hets + 2, rare - 1, common - 1
        tail += weight
    return middle, tail, equal


@njit
def _p_value(hets: int, one: int, other: int, midp: bool) -> float:
    if hets + one + other == 0:
        return 0.5 if midp else 1.0
    rare, common = float(min(one, other)), float(max(one, other))
    middle_below, tail_below, equal_below = _with_fewer(float(hets), rare, common)
    middle_above, tail_above, equal_above = _with_more(float(hets), rare, common)
    middle = middle_below + middle_above
    tail = _START + tail_below + tail_above
    if middle == np.inf:
        return 0.0
    if middle == 0 and not midp:
        return 1.0
    half = 0.5 * _START * (1 + equal_below + equal_above) if midp else 0.0
    return (tail - half) / (tail + middle)


@njit
def p_values(
    hets: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64], midp: bool
) -> NDArray[np.float64]:
    """Return exact p-values (rows,) from the numbers of heterozygotes and of both homozygotes.

    ``midp`` counts half of the probability of the observed number. Without calls p is 1, or 0.5
    with ``midp``.
    """
    out = np.empty(hets.shape[0])
    for i in range(hets.shape[0]):
        out[i] = _p_value(hets[i], one[i], other[i], midp)
    return out
