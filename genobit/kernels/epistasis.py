"""The best of the combinations of first parts and last parts, by their contingency tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit._jit import njit
from genobit.kernels.combination_tables import Block, Classes, block, fill
from genobit.kernels.interaction_scores import Rule, least_relative_chi2, score
from genobit.kernels.table_scores import MARGIN, relative_chi2, x_log_x

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANKED_BY_INFORMATION = Rule()


class Best(NamedTuple):
    """Combinations that may be among the best, in no order."""

    scores: NDArray[np.float64]
    members: NDArray[np.int64]
    """(combinations, order), ascending."""
    scored: int
    """How many came past the bound."""


def search(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None = None,
    rule: Rule = RANKED_BY_INFORMATION,
) -> Best:
    """Combinations of a first part and a last part that begins after it, scored at least so high.

    Parameters
    ----------
    classes
        Planes of variants by class.
    first, last
        Parts, (m, p) and (n, q), members ascending.
    top
        How many are asked for: the search drops what cannot be among them.
    threshold
        A score that this many are known to reach; 0 if none are known.
    allowed
        Which pairs of parts are in the search, (m, n); all by default.
    rule
        What to rank by, and which combinations are not ranked.
    """
    counted = block(classes, first, last)
    scores, i, j, scored = best_of_block(counted, first, last, top, threshold, allowed, rule)
    return Best(scores, np.hstack([first[i], last[j]]), scored)


def best_of_block(
    counted: Block,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None,
    rule: Rule,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]:
    """Scores, numbers of first parts and of last parts, and how many came past the bound."""
    return _search(
        counted,
        first[:, -1].copy(),
        last[:, 0].copy(),
        top,
        threshold,
        rule,
        x_log_x(int(counted.sizes.sum())),
        np.empty((0, 0), np.bool_) if allowed is None else allowed,
    )


@njit
def _search(
    counted: Block,
    ends: NDArray[np.int64],
    starts: NDArray[np.int64],
    top: int,
    threshold: float,
    rule: Rule,
    logarithms: NDArray[np.float64],
    allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]:
    classes = len(counted.counts)
    n = starts.shape[0]
    cells = counted.rows.choices.shape[0] * counted.columns.choices.shape[0]
    tables = np.empty((classes, cells, n), np.int32)
    bounds = np.empty(n, np.float32)
    scores = np.empty(4 * top + n, np.float64)
    places = np.empty((2, 4 * top + n), np.int64)
    samples = counted.sizes.sum()
    held, scored = 0, 0
    for i in range(ends.shape[0]):
        for c in range(classes):
            fill(
                i,
                counted.counts[c],
                counted.row_counts[c],
                counted.column_counts[c],
                counted.sizes[c],
                counted.rows,
                counted.columns,
                counted.row_places,
                counted.column_places,
                tables[c],
            )
        relative_chi2(tables, bounds)
        if allowed.size:
            for k in range(n):
                if not allowed[i, k]:
                    bounds[k] = -np.inf
        limit = np.float32(least_relative_chi2(rule.statistic, threshold, samples)) * MARGIN
        for k in range(n):
            if starts[k] > ends[i] and bounds[k] >= limit:
                scored += 1
                found = score(tables, k, rule, threshold, logarithms)
                if found >= threshold:
                    scores[held], places[0, held], places[1, held] = found, i, k
                    held += 1
        if held >= 4 * top:
            # What ties with the last of the best stays, for others decide by their variants.
            threshold = max(threshold, np.partition(scores[:held], held - top)[held - top])
            kept = 0
            for h in range(held):
                if scores[h] >= threshold:
                    scores[kept] = scores[h]
                    places[:, kept] = places[:, h]
                    kept += 1
            held = kept
            if held + n > scores.shape[0]:
                more = np.empty(2 * held + n, np.float64)
                more[:held] = scores[:held]
                scores = more
                wide = np.empty((2, 2 * held + n), np.int64)
                wide[:, :held] = places[:, :held]
                places = wide
    return scores[:held].copy(), places[0, :held].copy(), places[1, :held].copy(), scored
