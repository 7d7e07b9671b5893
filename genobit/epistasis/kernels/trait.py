"""F tests of the interaction of two variants on a trait, for all pairs of a block.

A pair has n_x samples in genotype cell x, with trait sum s_x. The residual sum of squares of the
full model is S_full = SS - sum s_x^2 / n_x. The additive model has a mean for each genotype of
either variant; eliminating the rows and then the columns of the 3 x 3 table gives S_additive:

    F = ((S_additive - S_full) / d1) / (S_full / d2),  d1 = cells - rank of the additive model,
                                                       d2 = n - cells

Only cells that are not empty count. S_additive is at most the residual of either variant alone, so
the smaller of these two residuals bounds F from above without solving the additive model.

Sums s_x are a matrix product of float64 planes with the trait. The trait is rounded to whole
numbers whose sums are exact in float64, so F has the same bits for any division into blocks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.layout import unpack_bits
from genobit.engine.bits.planes import all_called
from genobit.engine.gemm.products import common_bits
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.logistic import eliminate
from genobit.epistasis.kernels.search import Best
from genobit.epistasis.kernels.statistics import canonical
from genobit.epistasis.kernels.tables import exact_planes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Classes

EXACT_BITS = 52
DENSE = 2**22
"""Most numbers of a dense operand: 32 MiB."""
WIDTH = 1024
"""Most variants of a dense operand."""
DEPENDENT = 1e-6
"""A pivot below this is 0; pivots of independent columns are at least a third."""
_LEAST = np.full(3, DEPENDENT)  # one for each column
SLACK = 1e-9
"""Exceeds the rounding error of a bound of F, relative to the threshold or to 1 if that is more."""


class TraitRule(NamedTuple):
    """Limits below which a pair is not ranked."""

    min_n: int = 0
    min_count: int = 0
    """Fewest samples of a genotype cell that is not empty."""


class Values(NamedTuple):
    """A trait in whole numbers, and its squares in whole multiples of ``unit``."""

    trait: NDArray[np.float64]
    squares: NDArray[np.float64]
    unit: float
    """Unit of the squares."""


def whole_values(trait: NDArray[np.float64]) -> Values:
    """Centre a trait and round it to whole numbers with exact sums: 41 bits for 2,000 samples."""
    bits = EXACT_BITS - int(np.ceil(np.log2(max(2, trait.size))))
    centred = trait - trait.mean()
    trait = _whole(centred, bits)[0]
    squares, unit = _whole(trait * trait, bits)
    return Values(trait, squares, unit)


def permuted(values: Values, count: int, seed: int) -> list[Values]:
    """Return ``count`` permutations of the trait; number k depends only on the seed and on k."""
    orders = (np.random.default_rng((seed, k)).permutation(values.trait.size) for k in range(count))
    return [Values(values.trait[order], values.squares[order], values.unit) for order in orders]


def _whole(values: NDArray[np.float64], bits: int) -> tuple[NDArray[np.float64], float]:
    unit = 2.0 ** (np.ceil(np.log2(np.abs(values).max())) - bits)
    return np.round(values / unit), unit


def search_pairs(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None = None,
    scratch: Scratch | None = None,
    *,
    rule: TraitRule,
    values: Values,
    permutations: int = 0,
    seed: int = 0,
) -> Best:
    """Return the pairs of a first and a later last variant with the largest F of interaction.

    first: (m, 1), last: (n, 1); other arguments as in `genobit.epistasis.kernels.search.search`.
    ``classes`` holds all samples in one class. The largest F is also found under each of
    ``permutations`` orders of the trait; see `permuted`.
    """
    scratch = scratch or Scratch()
    samples = classes.sizes[0]
    width = max(1, min(WIDTH, DENSE // (3 * max(1, samples))))
    kept = (np.empty(0), np.empty((0, 2), np.int64))
    others = permuted(values, permutations, seed)
    maxima = np.full(permutations, -np.inf)
    scored = 0
    for rows, columns, wanted in tiles(partial(side, classes), first, last, allowed, width):
        counts = counts_of(rows, columns, scratch)
        scores, past = _scores(counts, rows, columns, wanted, threshold, rule, values)
        scored += past
        i, j = np.nonzero(scores >= threshold)
        pairs = np.stack([rows.members[i], columns.members[j]], axis=1)
        kept = best_of_parts([kept, (scores[i, j], pairs)], top)
        if kept[0].size >= top:
            threshold = max(threshold, float(kept[0].min()))
        for k, other in enumerate(others):
            least = max(0.0, float(maxima[k]))
            scores, _ = _scores(counts, rows, columns, wanted, least, rule, other)
            maxima[k] = max(maxima[k], float(np.nanmax(scores, initial=-np.inf)))
    return Best(*kept, scored, maxima)


def tiles(
    side_of: Callable[[NDArray[np.int64]], Any],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    allowed: NDArray[np.bool_] | None,
    width: int,
) -> Iterator[tuple[Any, Any, NDArray[np.bool_]]]:
    """Yield rows and columns of each tile, and the pairs (rows, columns) that the search includes.

    first: (m, 1), last: (n, 1), at most ``width`` variants of each; ``side_of`` makes a side.
    """
    for top in range(0, len(first), width):
        rows = side_of(first[top : top + width, 0])
        for start in range(0, len(last), width):
            columns = side_of(last[start : start + width, 0])
            wanted = columns.members > rows.members[:, None]
            if allowed is not None:
                wanted &= allowed[top : top + width, start : start + width]
            if wanted.any():
                yield rows, columns, wanted


def counts_of(rows: Side, columns: Side, scratch: Scratch) -> NDArray[np.int32]:
    """Return the counts of all planes of a tile, in an array that the next tile reuses."""
    counts = scratch.array("counts of class 0", (len(rows.words), len(columns.words)), np.int32)
    common_bits(rows.words, columns.words, counts)
    return counts


def best_of_parts(
    parts: list[tuple[NDArray[np.float64], NDArray[np.int64]]], top: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the ``top`` best scores and their pairs, with ties of the last one."""
    scores = np.concatenate([part[0] for part in parts])
    members = np.concatenate([part[1] for part in parts])
    if scores.size > top:
        near = scores >= np.partition(scores, scores.size - top)[scores.size - top]
        scores, members = scores[near], members[near]
    return scores, members


class Side(NamedTuple):
    """Planes called, carrier and hom_alt of some variants, as words and as float64."""

    members: NDArray[np.int64]
    words: NDArray[np.uint64]
    dense: NDArray[np.float64]
    starts: NDArray[np.int64]
    """First line of each plane; variants without missing calls share one called line."""
    strides: NDArray[np.int64]


def side(classes: Classes, members: NDArray[np.int64]) -> Side:
    """Return the planes of some variants; all samples are in one class."""
    planes, samples, m = classes.planes[0][:, members], classes.sizes[0], len(members)
    words = planes.reshape(-1, planes.shape[2])
    starts, strides = [0, m, 2 * m], [1, 1, 1]
    if classes.complete:
        words = np.concatenate([all_called(samples, words.shape[1])[None], words])
        starts, strides = [0, 1, 1 + m], [0, 1, 1]
    dense = unpack_bits(words, samples).astype(np.float64)
    return Side(members, words, dense, np.array(starts), np.array(strides))


def _scores(
    counts: NDArray[np.int32],
    rows: Side,
    columns: Side,
    wanted: NDArray[np.bool_],
    threshold: float,
    rule: TraitRule,
    values: Values,
) -> tuple[NDArray[np.float64], int]:
    """Return F (rows, columns), NaN below the threshold, and how many pairs passed the bound."""
    called = [slice(side.starts[0], side.starts[1]) for side in (rows, columns)]
    sums = (rows.dense * values.trait) @ columns.dense.T
    squares = (rows.dense[called[0]] * values.squares) @ columns.dense[called[1]].T
    out = np.full(wanted.shape, np.nan)
    scored = _score_pairs(
        counts,
        sums,
        squares * values.unit,
        (rows.starts, rows.strides, columns.starts, columns.strides),
        wanted,
        threshold,
        rule,
        out,
    )
    return out, scored


@njit
def _score_pairs(
    counts: NDArray[np.int32],
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
    places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    wanted: NDArray[np.bool_],
    threshold: float,
    rule: TraitRule,
    out: NDArray[np.float64],
) -> int:
    row_starts, row_strides, column_starts, column_strides = places
    n, s = np.empty((3, 3)), np.empty((3, 3))
    scored = 0
    for i in range(wanted.shape[0]):
        for j in range(wanted.shape[1]):
            if not wanted[i, j]:
                continue
            for a in range(3):
                row = row_starts[a] + row_strides[a] * i
                for b in range(3):
                    column = column_starts[b] + column_strides[b] * j
                    n[a, b], s[a, b] = counts[row, column], sums[row, column]
            separate(n)
            separate(s)
            if not enough(n, rule):
                continue
            square = squares[row_strides[0] * i, column_strides[0] * j]
            found = f_of_table(n, s, square, threshold)
            if found[0] >= threshold:
                out[i, j] = found[0]
            scored += found[0] >= 0
    return scored


@njit
def separate(table: NDArray[np.float64]) -> None:
    """Turn counts (3, 3) of at least 0, 1 and 2 copies of both into exact ones, in place."""
    for k in range(3):
        table[0, k] -= table[1, k]
        table[1, k] -= table[2, k]
    for k in range(3):
        table[k, 0] -= table[k, 1]
        table[k, 1] -= table[k, 2]


@njit
def enough(n: NDArray[np.float64], rule: TraitRule) -> bool:
    """Return whether a table of counts (3, 3) has enough samples to be ranked."""
    total = 0.0
    for a in range(3):
        for b in range(3):
            if 0 < n[a, b] < rule.min_count:
                return False
            total += n[a, b]
    return total > 0 and total >= rule.min_n


@njit
def f_of_table(
    n: NDArray[np.float64], s: NDArray[np.float64], square: float, threshold: float
) -> tuple[float, int, int]:
    """Return F and its two degrees of freedom from counts and sums (3, 3) and the sum of squares.

    F is NaN if either number of degrees of freedom is below 1, and -1 if it cannot reach the
    threshold.
    """
    cells = 0
    for a in range(3):
        for b in range(3):
            cells += n[a, b] > 0
    d2 = int(n.sum()) - cells
    if d2 < 1:
        return np.nan, 0, d2
    full = _explained(n, s)
    left = max(square - full, 0.0) / d2
    alone = max(_one_variant(n, s), _one_variant(n.T, s.T))
    # With nine filled cells the additive model has rank 5 and d1 is 4. Else F needs d1 >= 1.
    reached = threshold - SLACK * max(1.0, abs(threshold))
    if (full - alone) / (4 if cells == 9 else 1) < reached * left:
        return -1.0, 0, d2
    # Use the canonical table: F gets the same bits for any coding of alleles and variant order.
    both = np.empty((2, 3, 3))
    both[0], both[1] = n, s
    both = canonical(both, exchange=False)
    full = _explained(both[0], both[1])
    left = max(square - full, 0.0) / d2
    additive, rank = _additive(both[0], both[1])
    d1 = cells - rank
    if d1 < 1:
        return np.nan, d1, d2
    return max(full - additive, 0.0) / d1 / left, d1, d2


@njit
def _explained(n: NDArray[np.float64], s: NDArray[np.float64]) -> float:
    """Return the sum of squares that the means of all cells explain."""
    explained = 0.0
    for a in range(3):
        for b in range(3):
            if n[a, b] > 0:
                explained += s[a, b] * s[a, b] / n[a, b]
    return explained


@njit
def _one_variant(n: NDArray[np.float64], s: NDArray[np.float64]) -> float:
    """Return the sum of squares that the genotypes of the row variant explain."""
    explained = 0.0
    for a in range(3):
        count, total = 0.0, 0.0
        for b in range(3):
            count += n[a, b]
            total += s[a, b]
        if count > 0:
            explained += total * total / count
    return explained


@njit
def _additive(n: NDArray[np.float64], s: NDArray[np.float64]) -> tuple[float, int]:
    """Return the sum of squares that the additive model explains, and the rank of the model."""
    left, right = np.zeros((3, 3)), np.zeros(3)
    for b in range(3):
        for a in range(3):
            left[b, b] += n[a, b]
            right[b] += s[a, b]
    rank = 0
    for a in range(3):
        count, total = 0.0, 0.0
        for b in range(3):
            count += n[a, b]
            total += s[a, b]
        if count > 0:
            rank += 1
            for b in range(3):
                right[b] -= n[a, b] * total / count
                for c in range(3):
                    left[b, c] -= n[a, b] * n[a, c] / count
    # A pivot of 0 marks a column whose mean follows from the others.
    eliminate(left, right, _LEAST)
    explained = 0.0
    for b in range(3):
        if left[b, b] > DEPENDENT:
            rank += 1
            explained += right[b] * right[b] / left[b, b]
    return _one_variant(n, s) + explained, rank


class Pair(NamedTuple):
    """The F test of a pair, with counts and trait means of its genotype cells."""

    f: float
    df: int
    df_residual: int
    cells: NDArray[np.int32]
    """(9,), the genotype of the last member changes fastest."""
    means: NDArray[np.float64]
    """(9,) trait means, NaN in empty cells."""


def tested_pair(
    classes: Classes, members: NDArray[np.int64], values: Values, trait: NDArray[np.float64]
) -> Pair:
    """Return the F test of one pair, with the same bits as in a search."""
    samples = classes.sizes[0]
    exact = exact_planes(classes.planes[0][:, members], samples)
    bits = unpack_bits(exact, samples).astype(np.float64)
    first, second = bits[:, 0], bits[:, 1]
    n, s = first @ second.T, (first * values.trait) @ second.T
    called = first.sum(axis=0) * second.sum(axis=0)
    square = (called @ values.squares) * values.unit
    f, df, df_residual = f_of_table(n, s, square, -np.inf)
    means = np.full((3, 3), np.nan)
    np.divide((first * trait) @ second.T, n, out=means, where=n > 0)
    return Pair(f, df, df_residual, n.ravel().astype(np.int32), means.ravel())
