"""Search of one block: score the combinations of first and last parts, and keep the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import borrowed
from genobit.epistasis.kernels import sparse_tables
from genobit.epistasis.kernels.bounds import (
    Classed,
    Quick,
    any_near,
    any_reach,
    bound,
    count_classes,
    least_information,
    quick,
    shares_of,
)
from genobit.epistasis.kernels.contingency_tables import Chunk, fill, padded_places, room, share
from genobit.epistasis.kernels.mutual_information import Logarithms, x_log_x
from genobit.epistasis.kernels.statistics import CHI2, Rule, score
from genobit.epistasis.kernels.tables import Block, Classes, block
from genobit.epistasis.kernels.top_k import keep, none_kept, trimmed

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from genobit.engine.gemm.scratch import Scratch

RANKED_BY_INFORMATION = Rule()
DENSE = 1
"""Most cells of a table per sample; larger tables are filled sample by sample."""
EVERY = np.empty((0, 0), np.bool_)
"""Value of ``allowed`` for a search of all pairs of parts."""


class Best(NamedTuple):
    """Combinations that may be among the best, unsorted."""

    scores: NDArray[np.float64]
    members: NDArray[np.int64]
    """(combinations, order), ascending."""
    scored: int
    """Number of combinations that passed the bound."""


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
    if cells > DENSE * sum(classes.sizes) and rule.statistic != CHI2:
        return _by_samples(classes, first, last, top, threshold, allowed, rule)
    counted = block(classes, first, last, scratch)
    scores, i, j, scored = best_of_block(
        counted, first, last, top, threshold, allowed, rule, scratch
    )
    return Best(scores, np.hstack([first[i], last[j]]), scored)


def _by_samples(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None,
    rule: Rule,
) -> Best:
    used, places = np.unique(np.concatenate([first.ravel(), last.ravel()]), return_inverse=True)
    dosage = sparse_tables.dosages(
        classes._replace(planes=tuple(planes[:, used] for planes in classes.planes))
    )
    width = 3 ** last.shape[1]
    scores, i, j, scored = sparse_tables.search(
        sparse_tables.cells_of(dosage, places[: first.size].reshape(first.shape), width),
        sparse_tables.cells_of(dosage, places[first.size :].reshape(last.shape), 1),
        first[:, -1].copy(),
        last[:, 0].copy(),
        np.concatenate([[0], np.cumsum(classes.sizes)]).astype(np.int64),
        3 ** first.shape[1] * width,
        top,
        threshold,
        rule,
        x_log_x(sum(classes.sizes)),
        EVERY if allowed is None else allowed,
    )
    return Best(scores, np.hstack([first[i], last[j]]), scored)


def best_of_block(
    counted: Block,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None,
    rule: Rule,
    scratch: Scratch | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]:
    """Return scores, numbers of first and of last parts, and how many pairs passed the bound."""
    return _search(
        counted,
        room(counted, scratch),
        first[:, -1].copy(),
        last[:, 0].copy(),
        top,
        threshold,
        rule,
        x_log_x(int(counted.sizes.sum())),
        EVERY if allowed is None else allowed,
    )


@njit
def _wanted(
    i: int,
    k: int,
    ends: NDArray[np.int64],
    starts: NDArray[np.int64],
    allowed: NDArray[np.bool_],
) -> bool:
    """Return whether first part ``i`` and last part ``k`` form a combination of the search."""
    return starts[k] > ends[i] and (allowed.size == 0 or allowed[i, k])


@njit
def _least_of(
    tables: NDArray[Any],
    flat: Any,
    classed: Classed,
    quickly: Quick,
    incomplete: bool,
    rule: Rule,
    threshold: float,
    samples: int,
    bounds: NDArray[np.float32],
    stop: int,
) -> np.float32:
    """Fill ``bounds`` and return their limit; infinite if none of the first ``stop`` reaches it.

    tables: (classes, cells, n); flat: the same tables, flat and `borrowed`.
    """
    if incomplete:
        # With missing calls each table has its own number of samples.
        count_classes(tables, classed)
    elif quickly.samples > 0:
        least = least_information(rule, threshold, samples)
        if not any_near(flat, tables.shape[1], tables.shape[2], stop, quickly, least):
            return np.float32(np.inf)
    limit = bound(tables, classed, rule, threshold, samples, bounds)
    return limit if any_reach(bounds[:stop], limit) else np.float32(np.inf)


@njit
def _search(
    counted: Block,
    chunk: Chunk,
    ends: NDArray[np.int64],
    starts: NDArray[np.int64],
    top: int,
    threshold: float,
    rule: Rule,
    logarithms: Logarithms,
    allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]:
    classes, patterns, others, width = shape = chunk.tables.shape
    tables = chunk.tables.reshape((classes, patterns * others, width))
    places = padded_places(counted)
    bounds = np.empty(width, np.float32)
    classed = shares_of(counted.sizes, width)
    kept = none_kept(top, width)
    scored = 0
    lines, parts = counted.counts.shape[1:], places.shape[0] // counted.column_places.shape[0]
    columns, kinds = counted.columns, counted.columns.choices.shape[0]
    # `borrowed` arrays need an owner: the block, the chunk and the call of `share` keep them alive.
    counts, row_counts = (
        borrowed(counted.counts.reshape(-1)),
        borrowed(counted.row_counts.reshape(-1)),
    )
    choices, firsts, subsets = (
        borrowed(columns.choices),
        borrowed(columns.starts),
        borrowed(columns.subsets),
    )
    listed, sources = borrowed(places), borrowed(chunk.sources.reshape(-1))
    offsets, shared = borrowed(chunk.offsets), borrowed(chunk.shared.reshape(-1))
    flat, shared_lines = borrowed(chunk.tables.reshape(-1)), chunk.shared.shape[1]
    incomplete, samples = counted.rows.choices[0] > 0, counted.sizes.sum()
    quickly = quick(counted.sizes, rule)
    for start in range(0, starts.shape[0], width):
        share(counted, places, start, chunk)
        for i in range(ends.shape[0]):
            # Last parts are sorted by descending start: those that begin too early are at the end.
            stop = min(starts.shape[0] - start, width)
            while stop and starts[start + stop - 1] <= ends[i]:
                stop -= 1
            if stop == 0:
                continue
            fill(
                i,
                counts,
                lines,
                row_counts,
                kinds,
                choices,
                firsts,
                subsets,
                listed,
                parts,
                start,
                sources,
                offsets,
                shared,
                flat,
                shape,
                shared_lines,
                chunk.own,
            )
            limit = _least_of(
                tables, flat, classed, quickly, incomplete, rule, threshold, samples, bounds, stop
            )
            if limit == np.inf:
                continue
            for k in range(stop):
                if bounds[k] >= limit and _wanted(i, start + k, ends, starts, allowed):
                    scored += 1
                    found = score(tables, k, rule, threshold, logarithms)
                    if found >= threshold:
                        kept = keep(kept, found, i, start + k)
            kept, threshold = trimmed(kept, top, threshold, width)
    return (
        kept.scores[: kept.held],
        kept.places[0, : kept.held],
        kept.places[1, : kept.held],
        scored,
    )
