"""Kendall scores of variables with few levels, from contingency tables by popcounts of planes.

A plane of a variable marks the observations at or above a level. The product of all planes counts,
for each pair of variables,

    C[p, q] = observations with x >= p and y >= q

N[p, q], the observations at both levels, is a difference of four entries of C. Each observation is
concordant with those above it in both variables. It is discordant with those above it in x and
below it in y:

    score = sum of N[p, q] (C[p + 1, q + 1] - (C[p + 1, 0] - C[p + 1, q]))

If nothing is missing, level 0 needs no plane, as its counts depend on one variable only. Otherwise
the plane of level 0 marks the observations that are present.

Planes of genotypes exist already: called, carrier and hom_alt are the levels 0, 1 and 2. Their
tables also give the ties of two variants with missing calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import products, stacked
from genobit.engine.simd.jit import njit
from genobit.kendall.kernels.ranks import Ties, missing, missing_any, ordered_triples, ties
from genobit.kendall.kernels.tau import Block, ScoreCounts, Whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows, Planes

MOST_LEVELS = 2048
"""Most levels of a variable: the table of a pair has the square of the levels as cells."""


@njit
def _planes(ranks: NDArray[Any], absent: int, first: int, levels: int, out: Any) -> None:
    """Set the bits of ``ranks >= level`` in row ``variable * group + level - first`` of out."""
    group = levels - first
    for i in range(ranks.shape[0]):
        for k in range(ranks.shape[1]):
            if ranks[i, k] == absent:
                continue
            bit = np.uint64(1) << np.uint64(k % 64)
            for level in range(first, ranks[i, k] + 1):
                out[i * group + level - first, k // 64] |= bit


def planes(ranks: NDArray[Any], first: int, levels: int) -> Planes:
    """Return the planes of levels ``first`` to ``levels - 1`` of each variable, by variable."""
    rows, n = ranks.shape
    out = np.zeros((rows * (levels - first), words_for(n)), np.uint64)
    _planes(ranks, missing(ranks), first, levels, out)
    return (out,)


@njit
def _from_table(at_least: NDArray[np.int64]) -> Any:
    """Return the score from C (levels + 1, levels + 1), whose last row and column are 0."""
    score = np.int64(0)
    for p in range(at_least.shape[0] - 1):
        above = at_least[p + 1, 0]
        for q in range(at_least.shape[1] - 1):
            both, right = at_least[p + 1, q + 1], at_least[p + 1, q]
            here = at_least[p, q] - right - at_least[p, q + 1] + both
            score += here * (both - above + right)
    return score


@njit
def _block(
    counts: NDArray[np.int32],
    first: int,
    levels: int,
    n: int,
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    diagonal: int,
    out: NDArray[np.int64],
) -> None:
    """Write the scores of rows and columns to ``out`` from the counts of their planes.

    x: (planes, rows) and y: (planes, columns) observations in each plane; out: (rows, columns).
    Row i has counts from column ``i + diagonal`` on.
    """
    group = levels - first
    at_least = np.zeros((levels + 1, levels + 1), np.int64)
    for i in range(out.shape[0]):
        for j in range(max(0, i + diagonal), out.shape[1]):
            for p in range(group):
                for q in range(group):
                    at_least[first + p, first + q] = counts[i * group + p, j * group + q]
            if first:
                at_least[0, 0] = n
                for p in range(group):
                    at_least[1 + p, 0] = x[p, i]
                    at_least[0, 1 + p] = y[p, j]
            out[i, j] = _from_table(at_least)


@njit
def _score_of_three(
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
    """Return the score of variables of three levels.

    x1 and x2 of n observations are at or above levels 1 and 2 of x; n12 are at or above level 1 of
    x and level 2 of y.
    """
    # Cells of the table: t12 counts level 1 of x and level 2 of y.
    t22, t21, t12 = n22, n21 - n22, n12 - n22
    t20, t02 = x2 - n21, y2 - n12
    t11 = n11 - n21 - n12 + n22
    t10, t01 = x1 - n11 - t20, y1 - n11 - t02
    t00 = n - x1 - y1 + n11
    same = t22 * (t11 + t10 + t01 + t00) + t21 * (t10 + t00) + t12 * (t01 + t00) + t11 * t00
    opposite = t20 * (t11 + t12 + t01 + t02) + t21 * (t12 + t02) + t10 * (t01 + t02) + t11 * t02
    return same - opposite


@njit
def _complete_three(
    counts: NDArray[np.int32],
    n: int,
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    diagonal: int,
    score: NDArray[np.int64],
) -> None:
    """Write the scores of variables of three levels without missing values.

    counts: (2 rows, 2 columns) of the planes of levels 1 and 2; other arguments as for `_block`.
    Pairs without counts score 0.
    """
    for i in range(score.shape[0]):
        begin = max(0, i + diagonal)
        for j in range(min(begin, score.shape[1])):
            score[i, j] = 0
        for j in range(begin, score.shape[1]):
            score[i, j] = _score_of_three(
                n,
                x[0, i],
                x[1, i],
                y[0, j],
                y[1, j],
                np.int64(counts[2 * i, 2 * j]),
                np.int64(counts[2 * i, 2 * j + 1]),
                np.int64(counts[2 * i + 1, 2 * j]),
                np.int64(counts[2 * i + 1, 2 * j + 1]),
            )


def _levels(ranks: NDArray[Any]) -> int:
    found = ties(ranks).levels
    if found.max(initial=0) > MOST_LEVELS:
        row = int(np.argmax(found > MOST_LEVELS))
        msg = (
            f"variable {row} of a tile has {found[row]:,} levels and tables of counts take up to "
            f"{MOST_LEVELS:,}: use kernel='auto'"
        )
        raise ValueError(msg)
    return int(found.max(initial=1))


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of the rows of ``a`` with those of ``b`` to ``out``.

    a: (rows, n), b: (columns, n); writes out (rows, columns), with ``upper`` only where row <=
    column. Raises ValueError if a variable has more than `MOST_LEVELS` levels.
    """
    levels = max(_levels(a), _levels(b))
    first = 0 if missing_any(a) or missing_any(b) else 1
    group = levels - first
    if not group or not a.shape[1]:
        out[:] = 0
        return
    of_a = planes(a, first, levels)
    of_b = of_a if a is b else planes(b, first, levels)
    x, y = _margins(of_a, group), _margins(of_b, group)
    for rows, columns, diagonal, counts in products("and", of_a, of_b, group=group, upper=upper):
        of_pairs = a.shape[1], x[:, rows], y[:, columns], diagonal, out[rows, columns]
        if levels == 3 and first:
            _complete_three(counts, *of_pairs)
        else:
            _block(counts, first, levels, *of_pairs)


def _margins(planes: Planes, group: int) -> NDArray[np.int64]:
    """Return the number of observations in each plane of each variable, (group, variables)."""
    return np.ascontiguousarray(count_rows(planes[0]).astype(np.int64).reshape(-1, group).T)


@njit
def _ties_of_three(n: Whole, one: Whole, two: Whole) -> tuple[Whole, float, Whole]:
    """Return tied pairs, tied triples and levels; one, two: observations at or above 1 and 2."""
    pairs = levels = np.int64(0)
    triples = 0.0
    for t in (n - one, one - two, two):
        pairs += t * (t - 1) // 2
        triples += ordered_triples(t)
        levels += t > 0
    return pairs, triples, levels


@njit
def _missing_three(
    counts: NDArray[np.int32],
    diagonal: int,
    score: NDArray[np.int64],
    calls: NDArray[np.int32],
    pairs: NDArray[np.int64],
    triples: NDArray[np.float64],
    levels: NDArray[np.int32],
) -> None:
    """Write scores and the calls present in both (rows, columns), and ties (2, rows, columns).

    counts: (3 rows, 3 columns) of planes called, carrier and hom_alt. Row i has counts from column
    ``i + diagonal`` on; pairs without counts have no call.
    """
    for i in range(score.shape[0]):
        begin = max(0, i + diagonal)
        for j in range(min(begin, score.shape[1])):
            score[i, j] = calls[i, j] = 0
            for side in range(2):
                pairs[side, i, j] = levels[side, i, j] = 0
                triples[side, i, j] = 0.0
        for j in range(begin, score.shape[1]):
            n = np.int64(counts[3 * i, 3 * j])
            x1, x2 = np.int64(counts[3 * i + 1, 3 * j]), np.int64(counts[3 * i + 2, 3 * j])
            y1, y2 = np.int64(counts[3 * i, 3 * j + 1]), np.int64(counts[3 * i, 3 * j + 2])
            score[i, j] = _score_of_three(
                n,
                x1,
                x2,
                y1,
                y2,
                np.int64(counts[3 * i + 1, 3 * j + 1]),
                np.int64(counts[3 * i + 1, 3 * j + 2]),
                np.int64(counts[3 * i + 2, 3 * j + 1]),
                np.int64(counts[3 * i + 2, 3 * j + 2]),
            )
            calls[i, j] = n
            pairs[0, i, j], triples[0, i, j], levels[0, i, j] = _ties_of_three(n, x1, x2)
            pairs[1, i, j], triples[1, i, j], levels[1, i, j] = _ties_of_three(n, y1, y2)


def _genotype_ties(n: int, at_least: NDArray[np.int64]) -> Ties:
    """Return the ties of variants without missing calls.

    at_least: (2, variants), the samples with at least one and with two copies.
    """
    t = np.stack([n - at_least[0], at_least[0] - at_least[1], at_least[1]])
    many = t.astype(np.float64)
    triples = (many * (many - 1.0) * (many - 2.0)).sum(axis=0)
    return Ties((t * (t - 1) // 2).sum(axis=0), triples, (t > 0).sum(axis=0, dtype=np.int32))


def genotype_blocks(
    a: PlaneRows, b: PlaneRows | None = None, *, upper: bool = False
) -> Iterator[Block]:
    """Yield scores, calls present in both and ties of all pairs of variants, block by block.

    a, b: planes of dosages of the row and column variants; without ``b``, ``a`` is paired with
    itself. ``upper`` computes only the pairs with row <= column, half of the product; the others
    are 0.
    """
    sides = (a,) if b is None else (a, b)
    complete = all(side.complete() for side in sides)
    group = 2 if complete else 3
    planes = [stacked(*(() if complete else (r.call_mask(),)), *r.planes) for r in sides]
    x, y = (_margins(planes[k], group) for k in (0, -1))
    if complete:
        ties_x, ties_y = _genotype_ties(a.bits, x), _genotype_ties(a.bits, y)
    for rows, columns, diagonal, counts in products(
        "and", planes[0], planes[-1], group=group, upper=upper
    ):
        shape = counts.shape[0] // group, counts.shape[1] // group
        score = np.empty(shape, np.int64)
        if complete:
            _complete_three(counts, a.bits, x[:, rows], y[:, columns], diagonal, score)
            x_of, y_of = ties_x.part((rows, None)), ties_y.part(columns)
            yield Block(rows, columns, ScoreCounts(score, a.bits, x_of, y_of))
        else:
            both = 2, *shape
            found = Ties(np.empty(both, np.int64), np.empty(both), np.empty(both, np.int32))
            calls = np.empty(shape, np.int32)
            _missing_three(counts, diagonal, score, calls, *found)
            yield Block(rows, columns, ScoreCounts(score, calls, found.part(0), found.part(1)))
