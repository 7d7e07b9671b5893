"""Search of pairs by the interaction of a regression with covariates.

A tile is first scored approximately from the normal equations of all its pairs. For a trait this is
F, with the rounding errors of sums. For classes it is an upper bound of the likelihood ratio
(`genobit.epistasis.kernels.logistic_regression`). Pairs are then fitted one by one, in descending
order of this score, until it is below the threshold. A ranked pair always has the score of its own
fit, so the ranking does not depend on tiles.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.logistic_regression import excess, fit_logistic
from genobit.epistasis.kernels.pair_moments import (
    DEPENDENT,
    Lines,
    Model,
    Pair,
    Products,
    Sums,
    decompose,
    lines_of,
    pair_of,
    products_of,
    solve,
    sums_of,
)
from genobit.epistasis.kernels.search import Best
from genobit.epistasis.kernels.trait import (
    TraitRule,
    best_of_parts,
    counts_of,
    enough,
    separate,
    tiles,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Classes

TILE = 2**22
"""Most sums of a tile: 32 MiB."""
WIDTH = 256
"""Most variants of a side of a tile."""
FITTED = 64
"""Pairs that are fitted before the threshold is raised."""
SLACK = 1e-5
"""Exceeds the rounding error of an approximate score, relative to it or to 1 if that is more."""


class Fit(NamedTuple):
    """The interaction of a pair; NaN if there is no unique finite estimate."""

    effect: float
    standard_error: float
    score: float
    """F, or the likelihood ratio."""


NO_FIT = Fit(np.nan, np.nan, np.nan)


def fitted(model: Model, pair: Pair) -> Fit:
    """Return the interaction of a pair, from a decomposition of its own columns."""
    design = np.vstack([model.basis[:, pair.kept], pair.columns])
    if model.logistic:
        fit = fit_logistic(design, *_of_classes(model, pair.kept))
        return NO_FIT if fit[0] == 0 else Fit(*fit[1:])
    columns, n = len(design), design.shape[1]
    if n <= columns:
        return NO_FIT
    whole = np.vstack([design, model.residuals[pair.kept]])
    r = np.asarray(np.linalg.qr(whole.T, mode="r"))
    if not np.all(np.diag(r)[:-1] ** 2 > DEPENDENT * (design**2).sum(axis=1)):
        return NO_FIT
    pivot, explained, left = (float(x) for x in (r[-2, -2], r[-2, -1], r[-1, -1]))
    error = abs(left / pivot) / np.sqrt(n - columns)
    effect = explained / pivot
    return Fit(effect, error, (effect / error) ** 2 if error else np.inf)


def _of_classes(
    model: Model, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the classes 0 and 1 of some samples, and their log odds by the covariates alone."""
    residuals = model.residuals[kept]
    case = (residuals > 0).astype(np.float64)
    p = case - residuals
    # Where p rounds to 1, the residual still holds 1 - p.
    return case, np.log(p / np.where(p < 1, 1 - p, residuals))


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
    model: Model,
) -> Best:
    """Return the pairs of a first and a later last variant with the largest interaction.

    Arguments as in `genobit.epistasis.kernels.trait.search_pairs`.
    """
    scratch = scratch or Scratch()
    products = products_of(model)
    width = max(16, min(WIDTH, int(np.sqrt(TILE / len(products.kinds)))))
    kept = (np.empty(0), np.empty((0, 2), np.int64))
    tried, unfit = 0, 0
    for rows, columns, wanted in tiles(partial(lines_of, classes), first, last, allowed, width):
        counts = np.empty((0, 0), np.int32)
        if rule.min_count:
            counts = counts_of(rows.side, columns.side, scratch)
        bounds = np.full(wanted.shape, np.nan)
        sums = sums_of(products, rows, columns)
        unfit += _bounds(model, products, sums, rows, columns, counts, wanted, rule, bounds)
        i, j = np.nonzero(bounds >= threshold)
        order = np.argsort(-bounds[i, j], kind="stable")
        pairs = np.stack([rows.members[i], columns.members[j]], axis=1)[order]
        ordered = bounds[i, j][order]
        for begin in range(0, len(pairs), FITTED):
            here = pairs[begin : begin + FITTED][ordered[begin : begin + FITTED] >= threshold]
            if not len(here):
                break
            scores = np.array([fitted(model, pair_of(classes, pair)).score for pair in here])
            tried += len(here)
            found = scores >= threshold
            unfit += int(np.isnan(scores).sum())
            kept = best_of_parts([kept, (scores[found], here[found])], top)
            if kept[0].size >= top:
                threshold = max(threshold, float(kept[0].min()))
    return Best(*kept, tried, unfit=unfit)


def _bounds(
    model: Model,
    products: Products,
    sums: Sums,
    rows: Lines,
    columns: Lines,
    counts: NDArray[np.int32],
    wanted: NDArray[np.bool_],
    rule: TraitRule,
    out: NDArray[np.float64],
) -> int:
    """Fill ``out`` with upper bounds of scores, NaN if not ranked; return the unfit pairs."""
    places = rows.side.starts, rows.side.strides, columns.side.starts, columns.side.strides
    _check_counts(counts, places, sums, products.n, products.cases, model.logistic, wanted, rule)
    if not model.logistic:
        return _f_of_tile(sums, products.table, products.n, wanted, out)
    skewed = model.weights * (1 - 2 * (model.residuals > 0) + 2 * model.residuals)
    return _ratios_of_tile(
        sums, products.table, wanted, rows.kinds, columns.kinds, model, skewed, out
    )


@njit
def _check_counts(
    counts: NDArray[np.int32],
    places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    sums: Sums,
    n: int,
    cases: int,
    logistic: bool,
    wanted: NDArray[np.bool_],
    rule: TraitRule,
) -> None:
    """Clear ``wanted`` where a pair has too few samples to be ranked."""
    row_starts, row_strides, column_starts, column_strides = places
    cells = np.empty((3, 3))
    for i in range(wanted.shape[0]):
        for j in range(wanted.shape[1]):
            if not wanted[i, j]:
                continue
            samples = sums.values[sums.starts[n] + i * sums.rows[n] + j * sums.columns[n]]
            wanted[i, j] = samples >= rule.min_n
            if not counts.size:
                continue
            of_class = sums.values[
                sums.starts[cases] + i * sums.rows[cases] + j * sums.columns[cases]
            ]
            if logistic and min(of_class, samples - of_class) < rule.min_count:
                wanted[i, j] = False
            for a in range(3):
                for b in range(3):
                    row = row_starts[a] + row_strides[a] * i
                    column = column_starts[b] + column_strides[b] * j
                    cells[a, b] = counts[row, column]
            separate(cells)
            wanted[i, j] &= enough(cells, rule)


@njit
def _f_of_tile(
    sums: Sums,
    table: NDArray[np.int64],
    n: int,
    wanted: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> int:
    """Fill ``out`` with F and a little more; return the number of pairs without a fit."""
    k = table.shape[0]
    factor = np.empty((k, k))
    unfit = 0
    for i in range(wanted.shape[0]):
        for j in range(wanted.shape[1]):
            if not wanted[i, j]:
                continue
            samples = sums.values[sums.starts[n] + i * sums.rows[n] + j * sums.columns[n]]
            if samples < k or not decompose(sums, table, i, j, factor):
                unfit += 1
                continue
            left = max(factor[k - 1, k - 1], 0.0) / (samples - k + 1)
            f = factor[k - 1, k - 2] ** 2 / left
            out[i, j] = f + SLACK * max(1.0, f)
    return unfit


@njit
def _ratios_of_tile(
    sums: Sums,
    table: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    rows: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    columns: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    model: Model,
    skewed: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int:
    """Fill ``out`` with bounds of likelihood ratios; return the number of pairs without a fit."""
    k = table.shape[0]
    factor, steps = np.empty((k, k)), np.empty((2, k - 1))
    scratch = np.empty((4, model.weights.size))
    unfit = 0
    for i in range(wanted.shape[0]):
        for j in range(wanted.shape[1]):
            if not wanted[i, j]:
                continue
            if not decompose(sums, table, i, j, factor):
                unfit += 1
                continue
            for model_of in range(2):
                solve(factor, k - 1 - model_of, steps[model_of])
            row, column = i % rows[0].shape[0], j % columns[0].shape[0]
            called = rows[0][row], columns[0][column]
            ratio = factor[k - 1, k - 2] ** 2 + excess(
                steps, rows[1][i], columns[1][j], called, model, skewed, scratch
            )
            out[i, j] = ratio + SLACK * max(1.0, ratio)
    return unfit
