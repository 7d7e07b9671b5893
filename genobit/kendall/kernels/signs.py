"""Kendall scores by sign planes, which hold the sign of every pair of observations as a bit.

The signs of the n (n - 1) / 2 pairs of observations of a variable are a row of bits. A second row,
the mask, marks the pairs that are neither tied nor missing. The score of two variables is a product
of bit planes. If every pair has a sign in both, it is the number of pairs less twice the number of
differences. If every pair has a sign in one of them, `masked` counts the differences. Otherwise the
score is the ternary product. Planes are built in blocks of pairs, so memory does not grow with the
square of the observations.

Pairs are (i, (i + d) mod n), for each distance d up to n / 2. The signs at distance d compare a
vector with itself rotated by d. All variables use the same order of pairs, so any order works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.bits.planes import all_called
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import chosen_kernel, products
from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import bits_of, loader, splat
from genobit.kendall.kernels.masked import masked_differences
from genobit.kendall.kernels.ranks import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Signs = tuple["NDArray[np.uint64]", "NDArray[np.uint64]"]
BLOCK_BYTES = 2**25
"""Most bytes of one plane of a block of pairs."""
FEWEST_WORDS = 64
MOST_WORDS = 2**18
"""Most words per row of a block."""

FEWEST_STRICT = 0.1
"""Smallest share of variables without ties that are counted apart: sorting them to the front takes
a tenth of the time at 353 observations."""


load_ranks, splat_ranks = loader(64), splat(64)
ALL_BITS = np.uint64(2**64 - 1)


class _Side(NamedTuple):
    """Variables of one side, those without ties or missing values first."""

    ranks: NDArray[Any]
    strict: int
    """Number of variables whose pairs of observations all have a sign."""
    order: NDArray[np.intp] | None
    """Places of the variables before sorting; None if they are in order."""


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of ranks (m, n) and (k, n) to out (m, k); ``upper`` skips column < row."""
    n = a.shape[1]
    pairs = n * (n - 1) // 2
    variables = a.shape[0] if upper else a.shape[0] + b.shape[0]
    words = min(MOST_WORDS, max(FEWEST_WORDS, BLOCK_BYTES // (8 * max(1, variables))))
    left = _strict_first(a)
    right = left if upper else _strict_first(b)
    in_order = left.order is None and right.order is None
    sums = out if in_order else np.empty(out.shape, np.int64)
    sums[:] = 0
    for first in range(0, pairs, 64 * words):
        count = min(64 * words, pairs - first)
        x = sign_planes(left.ranks, left.strict, first, count)
        y = x if upper else sign_planes(right.ranks, right.strict, first, count)
        _add_scores(x, y, count, upper, sums)
    if not in_order:
        rows, columns = (
            np.arange(len(x.ranks)) if x.order is None else x.order for x in (left, right)
        )
        _restore_order(sums, rows, columns, upper, out)


@njit
def _restore_order(
    sums: NDArray[np.int64],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    upper: bool,
    out: NDArray[np.int64],
) -> None:
    """Write entry (i, j) to ``out[rows[i], columns[j]]``, or with ``upper`` to its upper half."""
    for i in range(sums.shape[0]):
        row = rows[i]
        for j in range(i if upper else 0, sums.shape[1]):
            column = columns[j]
            if upper and column < row:
                out[column, row] = sums[i, j]
            else:
                out[row, column] = sums[i, j]


def _strict_first(ranks: NDArray[Any]) -> _Side:
    """Sort the variables without ties or missing values to the front, unless they are too few."""
    strict = _every_pair(ranks)
    count = int(np.count_nonzero(strict))
    if count < FEWEST_STRICT * len(ranks):
        return _Side(ranks, 0, None)
    if strict[:count].all():
        return _Side(ranks, count, None)
    order = np.argsort(~strict, kind="stable")
    return _Side(ranks[order], count, order)


def _add_scores(x: Signs, y: Signs, count: int, upper: bool, out: NDArray[np.int64]) -> None:
    """Add the scores of a block of ``count`` pairs, each kind of pair by its cheapest product."""
    (strict_x, tied_x), (strict_y, tied_y) = (
        (sign[: len(sign) - len(mask)], (mask, sign[len(sign) - len(mask) :]))
        for mask, sign in (x, y)
    )
    m, k = len(strict_x), len(strict_y)
    if out[:m, :k].size:
        _add_differences(strict_x, None if upper else strict_y, count, upper, out[:m, :k])
    if out[:m, k:].size:
        _add_masked(strict_x, tied_y, count, out[:m, k:])
    if out[m:, :k].size and not upper:
        _add_masked(strict_y, tied_x, count, out[m:, :k].T)
    if out[m:, k:].size:
        _add_products(tied_x, None if upper else tied_y, upper, out[m:, k:])


def _add_differences(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64] | None,
    count: int,
    upper: bool,
    out: NDArray[np.int64],
) -> None:
    other = None if right is None else (right,)
    for rows, columns, _, differences in products("xor", (left,), other, upper=upper):
        part = out[rows, columns]
        part += count
        part -= 2 * differences.astype(np.int64)


def _add_masked(
    strict: NDArray[np.uint64], tied: Signs, count: int, out: NDArray[np.int64]
) -> None:
    """Add the scores of variables without ties (rows) and with ties (columns)."""
    if chosen_kernel("ternary", len(strict)) != "popcount":
        _add_products((np.tile(all_called(count), (len(strict), 1)), strict), tied, False, out)
        return
    present = count_rows(tied[0])
    for rows, columns, differences in masked_differences(strict, *tied):
        part = out[rows, columns]
        part += present[columns]
        part -= 2 * differences.astype(np.int64)


def _add_products(left: Signs, right: Signs | None, upper: bool, out: NDArray[np.int64]) -> None:
    for rows, columns, _, sums in products("ternary", left, right, upper=upper):
        out[rows, columns] += sums


def _every_pair(ranks: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each variable whether it has neither ties nor missing values (variables,)."""
    # Dense ranks without ties reach n - 1; a missing value has the largest number of the dtype.
    some = (ranks == missing(ranks)).any(axis=1)
    return ~some & (ranks.max(axis=1, initial=0) >= ranks.shape[1] - 1)


def sign_planes(ranks: NDArray[Any], strict: int, first: int, count: int) -> Signs:
    """Return mask and sign planes of pairs ``first`` to ``first + count - 1`` of each variable.

    ranks: (variables, n). The first ``strict`` variables have neither ties nor missing values, so
    they have no mask: masks are (variables - strict, words), signs (variables, words). Pairs are
    ordered by distance and first observation. The sign bit is set if the first observation is
    larger.
    """
    words = words_for(count)
    mask = np.empty((ranks.shape[0] - strict, words), np.uint64)
    sign = np.empty((ranks.shape[0], words), np.uint64)
    twice = np.zeros(2 * ranks.shape[1] + 64, ranks.dtype)
    _sign_planes(ranks, missing(ranks), first, count, twice, mask, sign)
    return mask, sign


@njit
def _sign_planes(
    ranks: NDArray[Any],
    absent: int,
    first: int,
    count: int,
    twice: NDArray[Any],
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
) -> None:
    """Write the planes of `sign_planes`; twice (2 n + 64,) is scratch.

    Allocating it here would take 0.2 s to compile.
    """
    n, strict = ranks.shape[1], sign.shape[0] - mask.shape[0]
    for row in range(ranks.shape[0]):
        # Copy one by one: numba compiles a slice assignment with its error text, which takes 3 s.
        for k in range(n):
            twice[k] = twice[n + k] = ranks[row, k]
        at, distance, i = 0, first // n + 1, first % n
        for w in range(sign.shape[1]):
            larger = smaller = np.uint64(0)
            stop = min(at + 64, count)
            while at < stop:
                some, bit = min(stop - at, n - i), np.uint64(at & 63)
                kept = ALL_BITS >> np.uint64(64 - some)
                x, y = load_ranks(twice, i), load_ranks(twice, i + distance)
                above = bits_of(x > y) & kept
                if row >= strict:
                    # A missing observation has the highest rank, so it is below none.
                    none = splat_ranks(twice, absent)
                    above &= ~bits_of(x == none)
                    smaller |= (bits_of(y > x) & ~bits_of(y == none) & kept) << bit
                larger |= above << bit
                at += some
                i += some
                if i == n:
                    distance, i = distance + 1, 0
            sign[row, w] = larger
            if row >= strict:
                mask[row - strict, w] = larger | smaller
