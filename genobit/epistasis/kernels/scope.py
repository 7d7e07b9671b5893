"""The scope of a search: distances and linkage of members, and membership in sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Distances(NamedTuple):
    """Pairs of variants that no combination may hold."""

    contigs: NDArray[np.int64]
    """(variants,)."""
    coordinates: NDArray[np.float64]
    """(variants,)."""
    gap: float
    """Least distance of two members on one contig; 0 for no limit."""
    linked: NDArray[np.uint8]
    """Excluded pairs, (variants, bytes): bit b of byte w of row i is the pair (i, 8 w + b).
    (0, 0) for none."""


@njit
def _together(a: int, b: int, distances: Distances) -> bool:
    """Return whether a combination may hold both variants."""
    if distances.gap > 0 and distances.contigs[a] == distances.contigs[b]:
        apart = abs(distances.coordinates[a] - distances.coordinates[b])
        if not apart >= distances.gap:
            return False
    return not (distances.linked.size and distances.linked[a, b >> 3] >> (b & 7) & 1)


@njit
def within(members: NDArray[np.int64], distances: Distances, out: NDArray[np.bool_]) -> None:
    """Fill ``out`` (n,): whether a combination may hold all members of each row of (n, size)."""
    for k in range(members.shape[0]):
        out[k] = True
        for i in range(members.shape[1]):
            for j in range(i):
                out[k] &= _together(members[k, j], members[k, i], distances)


@njit
def between(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    distances: Distances,
    sets: NDArray[np.uint8],
    out: NDArray[np.bool_],
) -> None:
    """Fill ``out`` (m, n): which pairs of parts, first (m, p) and last (n, q), are in the scope.

    sets: (variants,), bit 0 marks members of one set and bit 1 those of the other; (0,) for no
    sets. A combination holds a member of one set and another variant from the other set. All parts
    must fulfil `within`.
    """
    m, p = first.shape
    n, q = last.shape
    for i in range(m):
        for k in range(n):
            out[i, k] = last[k, 0] > first[i, p - 1]
    if sets.size:
        _in_both(first, last, sets, out)
    if distances.gap > 0 or distances.linked.size:
        for i in range(m):
            for k in range(n):
                j = 0
                while out[i, k] and j < p * q:
                    out[i, k] = _together(first[i, j // q], last[k, j % q], distances)
                    j += 1


@njit
def _marks(members: NDArray[np.int64], sets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return for each part the sets of its members, and its number of members in a set: (n, 2)."""
    out = np.zeros((members.shape[0], 2), np.uint8)
    for k in range(members.shape[0]):
        for j in range(members.shape[1]):
            mark = sets[members[k, j]]
            out[k, 0] |= mark
            out[k, 1] += mark > 0
    return out


@njit
def _in_both(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    sets: NDArray[np.uint8],
    out: NDArray[np.bool_],
) -> None:
    left, right = _marks(first, sets), _marks(last, sets)
    for i in range(first.shape[0]):
        for k in range(last.shape[0]):
            both = (left[i, 0] | right[k, 0]) == 3
            out[i, k] &= both and left[i, 1] + right[k, 1] >= 2
