"""Counts of genotypes in rows of planes, for sets of samples or variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMPTY, MASKED, FIRST = 0, 1, 2
"""How a set is counted: not at all, by its mask, or as the first set was."""


@njit
def _count_masked(
    plane: NDArray[np.uint64], row: int, masks: NDArray[np.uint64], kind: int, s: int
) -> np.int64:
    """Return the bits of a row in a mask. Slices of a few words would cost as much as the count."""
    total = np.uint64(0)
    for w in range(plane.shape[1]):
        total += popcount(plane[row, w] & masks[kind, s, w])
    return np.int64(total)


@njit
def count_genotypes(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    complete: bool,
    kinds: NDArray[np.uint8],
    masks: NDArray[np.uint64],
    how: NDArray[np.uint8],
    sizes: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Count carriers, homozygotes and calls of each row in each set of its kind.

    Shapes: planes (rows, words); kinds (rows,); masks (kinds, sets, words); how, sizes (kinds,
    sets); out (rows, sets, 3), which begins as zeros. ``complete`` means that no call is missing:
    ``called`` is then not read, and the calls of a set are its size.
    """
    for i in range(carrier.shape[0]):
        kind = int(kinds[i])
        for s in range(how.shape[1]):
            rule = how[kind, s]
            if rule == FIRST:
                for k in range(3):
                    out[i, s, k] = out[i, 0, k]
            elif rule == MASKED:
                out[i, s, 0] = _count_masked(carrier, i, masks, kind, s)
                out[i, s, 1] = _count_masked(hom_alt, i, masks, kind, s)
                if complete:
                    out[i, s, 2] = sizes[kind, s]
                else:
                    out[i, s, 2] = _count_masked(called, i, masks, kind, s)
