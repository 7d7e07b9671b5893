"""Contingency tables of a few given combinations, for reporting a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.words import count_rows
from genobit.epistasis.kernels.combinations import intersect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Classes

TOGETHER = 256
"""Combinations whose bit planes are in memory at a time."""


def exact_planes(planes: NDArray[np.uint64], samples: int) -> NDArray[np.uint64]:
    """Return the planes of dosage 0, 1 and 2 of one class.

    planes: (kinds, variants, words) uint64; returns (3, variants, words). The kinds are carrier
    and hom_alt, preceded by called if any call is missing.
    """
    carrier, hom_alt = planes[-2:]
    if planes.shape[0] == 3:
        called = planes[0]
    else:
        called = np.full(carrier.shape, ~np.uint64(0))
        if samples % 64:
            called[:, -1] = (np.uint64(1) << np.uint64(samples % 64)) - np.uint64(1)
    return np.stack([called & ~carrier, carrier & ~hom_alt, hom_alt])


def count_cells(classes: Classes, members: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return contingency tables (classes, 3^k, n) of combinations (n, k).

    The genotype of the last member changes fastest along the cells.
    """
    n, order = members.shape
    out = np.zeros((len(classes.planes), 3**order, n), np.int32)
    for start in range(0, n, TOGETHER):
        used, places = np.unique(members[start : start + TOGETHER], return_inverse=True)
        places = places.reshape(-1, order)
        for c, (planes, samples) in enumerate(zip(classes.planes, classes.sizes, strict=True)):
            if not samples:
                continue
            exact = exact_planes(planes[:, used], samples)
            cells = np.empty((3**order, exact.shape[2]), np.uint64)
            for k in range(len(places)):
                intersect(exact, places[k : k + 1], False, cells)
                out[c, :, start + k] = count_rows(cells)
    return out
