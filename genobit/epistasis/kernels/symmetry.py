"""Canonical form of a table under the coding of alleles and the order of two members.

Floating-point sums depend on the order of their terms. Mirror images of a table get the same bits
because the canonical table is computed instead of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def canonical(tables: NDArray[np.float64], exchange: bool) -> NDArray[np.float64]:
    """Return the lexicographically smallest image of two tables (2, 3, 3) of a pair of variants.

    Images come from reversing rows, reversing columns and exchanging the variants. ``exchange``
    also exchanges the two tables.
    """
    best, image = tables.copy(), np.empty((2, 3, 3))
    for number in range(1, 16 if exchange else 8):
        smaller = 0
        for t in range(2):
            for a in range(3):
                for b in range(3):
                    i, j = (b, a) if number & 4 else (a, b)
                    i, j = 2 - i if number & 1 else i, 2 - j if number & 2 else j
                    found = tables[1 - t if number & 8 else t, i, j]
                    image[t, a, b] = found
                    if smaller == 0 and found != best[t, a, b]:
                        smaller = 1 if found < best[t, a, b] else -1
            if smaller < 0:
                break
        if smaller > 0:
            best, image = image, best
    return best
