"""Kendall scores by sign planes, which hold the sign of every pair of observations as a bit.

The signs of the n (n - 1) / 2 pairs of observations of a variable are a row of bits. A second row,
the mask, marks the pairs that are neither tied nor missing. The score of two variables is a product
of bit planes. If every pair has a sign, it is the number of pairs less twice the number of
differences; otherwise it is the ternary product. Planes are built in blocks of pairs, so memory
does not grow with the square of the observations.

Pairs are (i, (i + d) mod n), for each distance d up to n / 2. The signs at distance d compare a
vector with itself rotated by d. All variables use the same order of pairs, so any order works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.gemm.products import products
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import equal_mask
from genobit.kendall.kernels.ranks import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Signs = tuple["NDArray[np.uint64]", "NDArray[np.uint64]"]
BLOCK_BYTES = 2**25
"""Most bytes of one plane of a block of pairs."""
FEWEST_WORDS = 64
MOST_WORDS = 2**18
"""Most words per row of a block: signs are bytes before they are packed, 16 MiB per variable."""


MOST_TIED = 0.25
"""Largest share of variables with ties or missing values for which the others are counted apart,
by a product that is twice as fast."""


class _Part(NamedTuple):
    """A product of some rows with some columns."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    strict: bool
    """Whether every pair of observations has a sign in all of these variables."""
    upper: bool
    """Whether rows equal columns, so that entries below the diagonal are left out."""
    scores: NDArray[np.int64]


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of ranks (m, n) and (k, n) to out (m, k); ``upper`` skips column < row."""
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
    """Split off the variables without ties if few have ties; without ``free_b``, a triangle."""
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
    """Select the mask and sign planes of some variables."""
    mask, sign = planes
    return planes if rows.size == len(mask) else (mask[rows], sign[rows])


def _add_differences(
    left: Any, right: Any, count: int, upper: bool, out: NDArray[np.int64]
) -> None:
    other = None if right is None else right[1:]
    for rows, columns, _, differences in products("xor", left[1:], other, upper=upper):
        part = out[rows, columns]
        part += count
        part -= 2 * differences.astype(np.int64)


def _add_products(left: Any, right: Any, upper: bool, out: NDArray[np.int64]) -> None:
    for rows, columns, _, sums in products("ternary", left, right, upper=upper):
        out[rows, columns] += sums


def _every_pair(ranks: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each variable whether it has neither ties nor missing values (variables,)."""
    # Dense ranks without ties reach n - 1; a missing value has the largest number of the dtype.
    some = (ranks == missing(ranks)).any(axis=1)
    return ~some & (ranks.max(axis=1, initial=0) >= ranks.shape[1] - 1)


def sign_planes(
    ranks: NDArray[Any], first: int, count: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return mask and sign planes of pairs ``first`` to ``first + count - 1`` of each variable.

    ranks: (variables, n); returns two (variables, ceil(count / 64)) uint64. Pairs are ordered by
    distance and first observation. The sign bit is set if the first observation is larger.
    """
    shape = ranks.shape[0], words_for(count)
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
        # Copy one by one: numba compiles a slice assignment with its error text, which takes 3 s.
        for k in range(n):
            twice[k] = twice[n + k] = ranks[row, k]
        _signs(twice, n, ranks.dtype.type(absent), first, signs[:count])
        for w in range(mask.shape[1]):
            larger = equal_mask(signs, 64 * w, np.int8(1))
            sign[row, w] = larger
            mask[row, w] = larger | equal_mask(signs, 64 * w, np.int8(-1))


@njit
def _signs(twice: NDArray[Any], n: int, absent: Any, first: int, signs: NDArray[np.int8]) -> None:
    """Write the signs -1, 0, 1 of the pairs from ``first`` on."""
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
    """Count the pairs of observations that have a sign; (variables, n) -> (variables,) int64."""
    out = np.empty(ranks.shape[0], np.int64)
    _untied(np.sort(ranks, axis=1), missing(ranks), out)
    return out
