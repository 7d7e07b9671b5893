"""Search of one block: score the combinations of first and last parts, and keep the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels import tables_by_sample
from genobit.epistasis.kernels.bounds import (
    ClassShares,
    QuickBound,
    any_may_reach,
    any_reach,
    bound,
    count_classes,
    least_information,
    quick,
    shares_of,
    total_of,
)
from genobit.epistasis.kernels.contingency_tables import Chunk, fill, flat, room, share
from genobit.epistasis.kernels.mutual_information import Logarithms, x_log_x
from genobit.epistasis.kernels.statistics import CHI2, Branches, Rule, branches_of, score
from genobit.epistasis.kernels.tables import Block, Classes, block
from genobit.epistasis.kernels.top_k import Pairs, combines, compact, empty_top_k, pairs_of, push

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.gemm.scratch import Scratch

RANKED_BY_INFORMATION = Rule()
DENSE = 1
"""Most cells of a table per sample; larger tables are filled sample by sample."""


class Best(NamedTuple):
    """The best combinations of a block, of some units or of a search.

    Those of a block are unsorted, and may be more than asked for. Others are in descending order of
    score.
    """

    scores: NDArray[np.float64]
    members: NDArray[np.int64]
    """(combinations, order), positions ascending."""
    scored: int
    """Number of combinations that passed the bound."""
    maxima: NDArray[np.float64] = np.empty(0)
    """The largest score under each permutation, -inf if none is ranked; empty without them."""
    unfit: int = 0
    """Number of pairs without a unique finite fit."""
    searched: int = 0
    """Number of combinations in the scope; 0 for a block."""
    fraction: float = 1.0
    """Fraction of the work that is done."""

    @property
    def partial(self) -> bool:
        """Whether the search was stopped before its end."""
        return self.fraction < 1


def search(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None = None,
    scratch: Scratch | None = None,
    rule: Rule = RANKED_BY_INFORMATION,
) -> Best:
    """Return the combinations of a first part and a later last part that may be in the top ``top``.

    first: (m, p), last: (n, q), members ascending; allowed: (m, n), all pairs by default.

    The threshold is a score that at least ``top`` combinations are known to reach, or 0.
    """
    cells = 3 ** (first.shape[1] + last.shape[1])
    pairs, logarithms = pairs_of(first, last, allowed), x_log_x(sum(classes.sizes))
    branches = branches_of(rule)
    if cells > DENSE * sum(classes.sizes) and rule.statistic != CHI2:
        dealt = _samples(classes, first, last)
        best = tables_by_sample.search(dealt, pairs, top, threshold, rule, logarithms, branches)
    else:
        counted = block(classes, first, last, scratch)
        chunk = room(counted, scratch)
        best = best_of_block(counted, chunk, pairs, top, threshold, rule, logarithms, branches)
    scores, i, j, scored = best
    return Best(scores, np.hstack([first[i], last[j]]), scored)


def _samples(
    classes: Classes, first: NDArray[np.int64], last: NDArray[np.int64]
) -> tables_by_sample.Samples:
    used, places = np.unique(np.concatenate([first.ravel(), last.ravel()]), return_inverse=True)
    dosage = tables_by_sample.dosages(
        classes._replace(planes=tuple(planes[:, used] for planes in classes.planes))
    )
    width = 3 ** last.shape[1]
    return tables_by_sample.Samples(
        tables_by_sample.cells_of(dosage, places[: first.size].reshape(first.shape), width),
        tables_by_sample.cells_of(dosage, places[first.size :].reshape(last.shape), 1),
        np.concatenate([[0], np.cumsum(classes.sizes)]).astype(np.int64),
        3 ** first.shape[1] * width,
    )


class _Bounds(NamedTuple):
    """Inputs of the bounds of a chunk's tables.

    Arrays are arguments of their own: taking one out of a tuple counts references.
    """

    rule: Rule
    samples: int
    incomplete: bool
    """Whether calls are missing."""
    quick: QuickBound


@njit
def _least_of(
    tables: NDArray[Any],
    flat_tables: Any,
    bounds: _Bounds,
    classed: ClassShares,
    values: NDArray[np.float32],
    threshold: float,
    stop: int,
    chi2: bool | None,
) -> np.float32:
    """Fill ``values`` (n,) and return their limit; infinite if none of ``stop`` reaches it.

    tables: (classes, cells, n); flat_tables: the same tables, flat and `unowned`.
    """
    if bounds.incomplete:
        # With missing calls each table has its own number of samples.
        count_classes(tables, classed)
    elif bounds.quick.samples > 0:
        least = least_information(bounds.rule, threshold, bounds.samples)
        if not any_may_reach(
            flat_tables, tables.shape[1], tables.shape[2], stop, bounds.quick, least
        ):
            return np.float32(np.inf)
    limit = bound(tables, classed, bounds.rule, threshold, bounds.samples, values, chi2)
    return limit if any_reach(values[:stop], limit) else np.float32(np.inf)


@njit
def best_of_block(
    counted: Block,
    chunk: Chunk,
    pairs: Pairs,
    top: int,
    threshold: float,
    rule: Rule,
    logarithms: Logarithms,
    branches: Branches,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]:
    """Return scores, numbers of first and of last parts, and how many pairs passed the bound.

    chunk: the result of `room`, whose tables this fills.
    """
    classes, patterns, others, width = chunk.tables.shape
    tables, arrays = chunk.tables.reshape((classes, patterns * others, width)), flat(counted, chunk)
    ends, starts = pairs.ends, pairs.starts
    chi2, gain, fit = branches
    classed, values = shares_of(counted.sizes, width), np.empty(width, np.float32)
    bounds = _Bounds(
        rule, total_of(counted.sizes), counted.rows.choices[0] > 0, quick(counted.sizes, rule)
    )
    kept = empty_top_k(top, width)
    scored = 0
    for start in range(0, starts.shape[0], width):
        share(counted, chunk, start)
        for i in range(ends.shape[0]):
            # Last parts are sorted by descending start: those that begin too early are at the end.
            stop = min(starts.shape[0] - start, width)
            while stop and starts[start + stop - 1] <= ends[i]:
                stop -= 1
            if stop == 0:
                continue
            fill(i, start, arrays)
            limit = _least_of(tables, arrays.tables, bounds, classed, values, threshold, stop, chi2)
            if limit == np.inf:
                continue
            for k in range(stop):
                if values[k] >= limit and combines(pairs, i, start + k):
                    scored += 1
                    found = score(tables, k, rule, threshold, logarithms, chi2, gain, fit)
                    if found >= threshold:
                        kept = push(kept, found, i, start + k)
            kept, threshold = compact(kept, top, threshold, width)
    return (
        kept.scores[: kept.held],
        kept.places[0, : kept.held],
        kept.places[1, : kept.held],
        scored,
    )
