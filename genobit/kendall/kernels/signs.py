"""Kendall scores by sign planes: the sign of every pair of observations is a bit.

For each variable the signs of its n (n - 1) / 2 pairs of observations are a row of bits, and pairs
that have a sign at all, neither tied nor missing, a second one. Concordant less discordant pairs of
two variables are then a product of bit planes: pairs less twice the differences where every pair
has a sign, and the ternary product else. Planes are made block by block along the pairs, so memory
does not grow with the square of the observations.

A pair is (i, i + d mod n): for each distance d up to n / 2 the signs are those of one vector less
itself, turned by d. All variables take pairs in the same order, so that any will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.gemm.products import products
from genobit.engine.simd.byte_masks import equal_mask
from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.ranks import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Signs = tuple["NDArray[np.uint64]", "NDArray[np.uint64]"]
BLOCK_BYTES = 2**25
"""Most bytes of a plane of a block of pairs."""
FEWEST_WORDS = 64
MOST_WORDS = 2**18
"""The signs of one variable are bytes before they are bits: 16 MiB."""


MOST_TIED = 0.25
"""Share of variables with ties or missing values up to which the others are counted apart, by a
product that is twice as fast."""


class _Part(NamedTuple):
    """Some rows with some columns."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    strict: bool
    """Every pair of observations has a sign in all of these variables."""
    upper: bool
    """Rows and columns are the same, and entries below the diagonal are not wanted."""
    scores: NDArray[np.int64]


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Ranks (m, n), (k, n) -> out (m, k); with ``upper`` only entries with column >= row."""
    n = a.shape[1]
    pairs = n * (n - 1) // 2
    rows = a.shape[0] if upper else a.shape[0] + b.shape[0]
    words = min(MOST_WORDS, max(FEWEST_WORDS, BLOCK_BYTES // (8 * max(1, rows))))
    parts = _parts(_every_pair(a), None if upper else _every_pair(b))
    for first in range(0, pairs, 64 * words):
        count = min(64 * words, pairs - first)
        left = sign_planes(a, first, count)
        right = left if upper else sign_planes(b, first, count)
        for part in parts:
            ours = _chosen(left, part.rows)
            theirs = None if part.upper else _chosen(right, part.columns)
            if part.strict:
                _add_differences(ours, theirs, count, part.upper, part.scores)
            else:
                _add_products(ours, theirs, part.upper, part.scores)
    for part in parts:
        out[np.ix_(part.rows, part.columns)] = part.scores
        if upper and not part.upper:
            out[np.ix_(part.columns, part.rows)] = part.scores.T


def _parts(free_a: NDArray[np.bool_], free_b: NDArray[np.bool_] | None) -> list[_Part]:
    """Cut the product where few variables have ties; without ``free_b`` it is a triangle."""
    upper = free_b is None
    free = [free_a, free_a if free_b is None else free_b]

    def part(rows: NDArray[Any], columns: NDArray[Any], *, strict: bool, same: bool) -> _Part:
        places = np.flatnonzero(rows), np.flatnonzero(columns)
        return _Part(*places, strict, same, np.zeros([x.size for x in places], np.int64))

    whole = [np.ones(x.size, bool) for x in free]
    strict = all(x.all() for x in free)
    if strict or any(np.mean(~x) > MOST_TIED for x in free if x.size):
        return [part(*whole, strict=strict, same=upper)]
    parts = [
        part(*free, strict=True, same=upper),
        part(~free[0], whole[1], strict=False, same=False),
    ]
    return parts if upper else [*parts, part(free[0], ~free[1], strict=False, same=False)]


def _chosen(planes: Signs, rows: NDArray[np.intp]) -> Signs:
    """Mask and sign of some variables."""
    mask, sign = planes
    return planes if rows.size == len(mask) else (mask[rows], sign[rows])


def _add_differences(
    left: Any, right: Any, count: int, upper: bool, out: NDArray[np.int64]
) -> None:
    other = None if right is None else right[1:]
    for rows, columns, differences in products("xor", left[1:], other, upper=upper):
        part = out[rows, columns]
        part += count
        part -= 2 * differences.astype(np.int64)


def _add_products(left: Any, right: Any, upper: bool, out: NDArray[np.int64]) -> None:
    for rows, columns, sums in products("ternary", left, right, upper=upper):
        out[rows, columns] += sums


def _every_pair(ranks: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether no pair of observations of a variable is tied and none missing (variables,)."""
    # Dense ranks without ties go up to n - 1; a missing value has the largest number of the type.
    some = (ranks == missing(ranks)).any(axis=1)
    return ~some & (ranks.max(axis=1, initial=0) >= ranks.shape[1] - 1)


def sign_planes(
    ranks: NDArray[Any], first: int, count: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Mask and sign of the pairs ``first`` to ``first + count`` of each variable.

    Parameters
    ----------
    ranks
        Dense ranks (variables, n).
    first, count
        Pairs, counted by distance and first observation.

    Returns
    -------
        uint64 (variables, ceil(count / 64)) each: bits of pairs that have a sign, and of those
        whose first observation is larger.
    """
    shape = ranks.shape[0], -(-count // 64)
    mask, sign = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    _sign_planes(ranks, missing(ranks), first, count, mask, sign)
    return mask, sign


@njit
def _sign_planes(
    ranks: NDArray[Any],
    absent: int,
    first: int,
    count: int,
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
) -> None:
    n = ranks.shape[1]
    twice = np.empty(2 * n, ranks.dtype)
    signs = np.zeros(64 * mask.shape[1], np.int8)
    for row in range(ranks.shape[0]):
        # One by one: numba compiles an assignment of slices with the text of its error, for 3 s.
        for k in range(n):
            twice[k] = twice[n + k] = ranks[row, k]
        _signs(twice, n, ranks.dtype.type(absent), first, signs[:count])
        for w in range(mask.shape[1]):
            larger = equal_mask(signs, 64 * w, np.int8(1))
            sign[row, w] = larger
            mask[row, w] = larger | equal_mask(signs, 64 * w, np.int8(-1))


@njit
def _signs(twice: NDArray[Any], n: int, absent: Any, first: int, signs: NDArray[np.int8]) -> None:
    """Signs -1, 0, 1 of the pairs from ``first``."""
    at = 0
    distance, i = first // n + 1, first % n
    while at < signs.shape[0]:
        stop = min(n, i + signs.shape[0] - at)
        here, there = twice[i:stop], twice[i + distance : stop + distance]
        line = signs[at : at + stop - i]
        for k in range(line.shape[0]):
            x, y = here[k], there[k]
            present = (x != absent) & (y != absent)
            line[k] = present * (np.int8(x > y) - np.int8(x < y))
        at += stop - i
        i = 0
        distance += 1


@njit
def _untied(ordered: NDArray[Any], absent: int, out: NDArray[np.int64]) -> None:
    for i in range(ordered.shape[0]):
        present, same, tied = 0, 0, 0
        for k in range(ordered.shape[1]):
            if ordered[i, k] == absent:
                break
            same = same + 1 if k and ordered[i, k] == ordered[i, k - 1] else 0
            tied += same
            present += 1
        out[i] = present * (present - 1) // 2 - tied


def untied_pairs(ranks: NDArray[Any]) -> NDArray[np.int64]:
    """Ranks (variables, n) -> pairs of observations that have a sign (variables,)."""
    out = np.empty(ranks.shape[0], np.int64)
    _untied(np.sort(ranks, axis=1), missing(ranks), out)
    return out
