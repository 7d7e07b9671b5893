"""Kendall scores from the 3 x 3 genotype tables of two variants, and ties with missing calls.

Count the samples with at least one and with two copies of the counted allele at each variant. A
table follows from four counts per pair and two per variant. If calls are missing, the counts of a
variant cover only the calls of the other, so the product takes three planes of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import counted
from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.tau import Block, Counted, Whole
from genobit.kendall.kernels.ties import Ties, ordered_triples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Rows


@njit
def _score(
    n: Whole,
    x1: Whole,
    x2: Whole,
    y1: Whole,
    y2: Whole,
    n11: Whole,
    n12: Whole,
    n21: Whole,
    n22: Whole,
) -> Whole:
    """Return concordant less discordant pairs from cumulative counts of the counted allele.

    x1 and x2 of n samples have at least one and two copies at x; n12 have at least one at x and two
    at y.
    """
    # Cells of the table: t12 has 1 copy at x and 2 copies at y.
    t22, t21, t12 = n22, n21 - n22, n12 - n22
    t20, t02 = x2 - n21, y2 - n12
    t11 = n11 - n21 - n12 + n22
    t10, t01 = x1 - n11 - t20, y1 - n11 - t02
    t00 = n - x1 - y1 + n11
    same = t22 * (t11 + t10 + t01 + t00) + t21 * (t10 + t00) + t12 * (t01 + t00) + t11 * t00
    opposite = t20 * (t11 + t12 + t01 + t02) + t21 * (t12 + t02) + t10 * (t01 + t02) + t11 * t02
    return same - opposite


@njit
def _levels(n: Whole, one: Whole, two: Whole) -> tuple[Whole, float, Whole]:
    """Return tied pairs, tied triples and levels; one, two: calls with at least 1 and 2 copies."""
    pairs = levels = np.int64(0)
    triples = 0.0
    for t in (n - one, one - two, two):
        pairs += t * (t - 1) // 2
        triples += ordered_triples(t)
        levels += t > 0
    return pairs, triples, levels


@njit
def _complete(
    counts: NDArray[np.int32],
    n: int,
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    diagonal: int,
    score: NDArray[np.int64],
) -> None:
    """Write the scores of complete variants to ``score``.

    counts: (2 rows, 2 columns) of planes carrier and hom_alt; x, y: (2, variants) counts of single
    variants. Row i has counts from column ``i + diagonal`` on; earlier scores are 0.
    """
    for i in range(score.shape[0]):
        begin = max(0, i + diagonal)
        for j in range(min(begin, score.shape[1])):
            score[i, j] = 0
        for j in range(begin, score.shape[1]):
            score[i, j] = _score(
                n,
                np.int64(x[0, i]),
                np.int64(x[1, i]),
                np.int64(y[0, j]),
                np.int64(y[1, j]),
                np.int64(counts[2 * i, 2 * j]),
                np.int64(counts[2 * i, 2 * j + 1]),
                np.int64(counts[2 * i + 1, 2 * j]),
                np.int64(counts[2 * i + 1, 2 * j + 1]),
            )


@njit
def _missing(
    counts: NDArray[np.int32],
    diagonal: int,
    score: NDArray[np.int64],
    calls: NDArray[np.int32],
    pairs: NDArray[np.int64],
    triples: NDArray[np.float64],
    levels: NDArray[np.int32],
) -> None:
    """Write scores, calls and ties of variants with missing calls.

    counts: (3 rows, 3 columns) of planes carrier, hom_alt and called; ties: (2, rows, columns). Row
    i has counts from column ``i + diagonal`` on; earlier entries are 0.
    """
    for i in range(score.shape[0]):
        begin = max(0, i + diagonal)
        for j in range(min(begin, score.shape[1])):
            score[i, j] = calls[i, j] = 0
            for side in range(2):
                pairs[side, i, j] = levels[side, i, j] = 0
                triples[side, i, j] = 0.0
        for j in range(begin, score.shape[1]):
            n = np.int64(counts[3 * i + 2, 3 * j + 2])
            x1, x2 = np.int64(counts[3 * i, 3 * j + 2]), np.int64(counts[3 * i + 1, 3 * j + 2])
            y1, y2 = np.int64(counts[3 * i + 2, 3 * j]), np.int64(counts[3 * i + 2, 3 * j + 1])
            score[i, j] = _score(
                n,
                x1,
                x2,
                y1,
                y2,
                np.int64(counts[3 * i, 3 * j]),
                np.int64(counts[3 * i, 3 * j + 1]),
                np.int64(counts[3 * i + 1, 3 * j]),
                np.int64(counts[3 * i + 1, 3 * j + 1]),
            )
            calls[i, j] = n
            pairs[0, i, j], triples[0, i, j], levels[0, i, j] = _levels(n, x1, x2)
            pairs[1, i, j], triples[1, i, j], levels[1, i, j] = _levels(n, y1, y2)


def _empty(shape: tuple[int, ...]) -> Ties:
    return Ties(np.empty(shape, np.int64), np.empty(shape), np.empty(shape, np.int32))


def _part(ties: Ties, index: Any) -> Ties:
    return Ties(ties.pairs[index], ties.triples[index], ties.levels[index])


@njit
def _each(
    n: int,
    x: NDArray[np.int64],
    pairs: NDArray[np.int64],
    triples: NDArray[np.float64],
    levels: NDArray[np.int32],
) -> None:
    for i in range(x.shape[1]):
        pairs[i], triples[i], levels[i] = _levels(n, np.int64(x[0, i]), np.int64(x[1, i]))


def _ties(n: int, x: NDArray[np.int64]) -> Ties:
    """Return the ties of variants without missing calls.

    x: (2, variants), the samples with at least one and with two copies.
    """
    found = _empty(x.shape[1:])
    _each(n, x, *found)
    return found


def blocks(a: Rows, b: Rows | None = None, *, upper: bool = False) -> Iterator[Block]:
    """Yield scores, calls present in both and ties of all pairs of variants, block by block.

    a, b: planes of dosages of the row and column variants; without ``b``, ``a`` is paired with
    itself. ``upper`` computes only the pairs with row <= column, half of the product.
    """
    other = a if b is None else b
    if a.complete() and other.complete():
        yield from _complete_blocks(a, b, upper)
        return
    planes = [stacked(*rows.planes, rows.every()) for rows in (a, other)]
    for rows, columns, diagonal, counts in counted("and", *planes, group=3, upper=upper):
        shape = counts.shape[0] // 3, counts.shape[1] // 3
        score, calls = np.empty(shape, np.int64), np.empty(shape, np.int32)
        ties = _empty((2, *shape))
        _missing(counts, diagonal, score, calls, *ties)
        x, y = (_part(ties, side) for side in (0, 1))
        yield Block(rows, columns, Counted(score, calls, x, y))


def _complete_blocks(a: Rows, b: Rows | None, upper: bool) -> Iterator[Block]:
    other = a if b is None else b
    x, y = (np.stack([count_rows(p) for p in r.planes]).astype(np.int64) for r in (a, other))
    ties_x, ties_y = _ties(a.bits, x), _ties(a.bits, y)
    planes: list[Any] = [stacked(*rows.planes) for rows in (a, other)]
    for rows, columns, diagonal, counts in counted("and", *planes, group=2, upper=upper):
        score = np.empty((counts.shape[0] // 2, counts.shape[1] // 2), np.int64)
        _complete(counts, a.bits, x[:, rows], y[:, columns], diagonal, score)
        x_of, y_of = _part(ties_x, (rows, None)), _part(ties_y, columns)
        yield Block(rows, columns, Counted(score, a.bits, x_of, y_of))
