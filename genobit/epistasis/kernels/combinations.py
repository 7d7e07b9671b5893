"""Combinations of variants in colexicographic order, and the intersections of their planes.

Combinations have the numbers of the combinatorial number system (Knuth, The Art of Computer
Programming 4A, 7.2.1.3): combinations of the first m variants are the first C(m, k). A unit of work
is therefore a range of numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


def numbered(number: int, size: int) -> tuple[int, ...]:
    """Return combination ``number`` of ``size`` members, in colexicographic order.

    Examples
    --------
    >>> [numbered(k, 2) for k in range(4)]
    [(0, 1), (0, 2), (1, 2), (0, 3)]
    """
    members = []
    for k in range(size, 0, -1):
        # Find the largest m with C(m, k) <= number by doubling and bisection, in exact integers.
        low, high = k - 1, max(k, 1)
        while math.comb(high, k) <= number:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if math.comb(middle, k) <= number else (low, middle)
        members.append(low)
        number -= math.comb(low, k)
    return tuple(reversed(members))


def combinations(first: int, count: int, size: int) -> NDArray[np.int64]:
    """Return combinations ``first`` to ``first + count``: (count, size), members ascending.

    Examples
    --------
    >>> combinations(2, 2, 2).tolist()
    [[1, 2], [0, 3]]
    """
    out = np.empty((count, size), np.int64)
    if count:
        _follow(np.array(numbered(first, size), np.int64), out)
    return out


@njit
def _follow(members: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    size = members.shape[0]
    for k in range(out.shape[0]):
        for m in range(size):
            out[k, m] = members[m]
        # Increment the first member that has room, and reset all members before it.
        at = 0
        while at + 1 < size and members[at] + 1 == members[at + 1]:
            members[at] = at
            at += 1
        members[at] += 1


@njit
def intersect(
    planes: NDArray[np.uint64],
    members: NDArray[np.int64],
    by_plane: bool,
    out: NDArray[np.uint64],
) -> None:
    """Fill ``out`` with the AND of the members' planes, for each pattern of kinds.

    planes: (kinds, variants, words); members: (n, size); out: (n x kinds ** size, words). The kind
    of the first member changes slowest. The lines of one part are adjacent; with ``by_plane`` the
    lines of one pattern are adjacent.
    """
    kinds, _, words = planes.shape
    n, size = members.shape
    patterns = kinds**size
    for i in range(n):
        start, step = (i, n) if by_plane else (i * patterns, 1)
        # Index single words: a row view would update the array's reference count, and threads
        # that share the planes would wait for each other.
        for kind in range(kinds):
            for w in range(words):
                out[start + step * kind, w] = planes[kind, members[i, 0], w]
        done = kinds
        for m in range(1, size):
            # Go from the last pattern to the first: none is overwritten before it is read.
            for pattern in range(done - 1, -1, -1):
                source = start + step * pattern
                for kind in range(kinds - 1, -1, -1):
                    target = start + step * (pattern * kinds + kind)
                    for w in range(words):
                        out[target, w] = out[source, w] & planes[kind, members[i, m], w]
            done *= kinds
