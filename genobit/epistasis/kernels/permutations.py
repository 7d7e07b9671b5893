"""The largest score of a block of combinations under permutations of the classes.

A permutation deals the classes to the samples anew and keeps the class sizes. The planes of the
parts and the tables of all samples together do not change. A permutation therefore costs the AND
of the first parts' planes with a mask, and the counts of all classes except the largest. The counts
of the largest class are the total less the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.layout import pack_bits, words_for
from genobit.engine.bits.words import count_rows
from genobit.epistasis.kernels.contingency_tables import room
from genobit.epistasis.kernels.mutual_information import x_log_x
from genobit.epistasis.kernels.search import Best, best_of_block, search
from genobit.epistasis.kernels.statistics import Rule, branches_of
from genobit.epistasis.kernels.tables import (
    Block,
    Classes,
    block,
    line_starts,
    lines,
    part,
    product,
    room_for,
)
from genobit.epistasis.kernels.top_k import pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.engine.gemm.scratch import Scratch

LINES = 1024
"""Lines of first parts, from several permutations, in one product: enough to repay its packing."""
COUNTS = 2**23
"""Most counts in one product."""


def permuted_masks(sizes: tuple[int, ...], count: int, seed: int) -> NDArray[np.uint64]:
    """Return the samples of each class under each permutation: (permutations, classes, words).

    Samples are in the order of `Classes`; each class begins at a new word. Permutation k depends
    only on the seed and on k.
    """
    classes = np.repeat(np.arange(len(sizes)), sizes)
    words = [words_for(size) for size in sizes]
    places = np.concatenate(
        [64 * sum(words[:c]) + np.arange(size) for c, size in enumerate(sizes)]
    ).astype(np.int64)
    out = np.empty((count, len(sizes), sum(words)), np.uint64)
    for k in range(count):
        drawn = np.random.default_rng((seed, k)).permutation(classes)
        mask = np.zeros((len(sizes), 64 * sum(words)), np.bool_)
        mask[drawn, places] = True
        out[k] = pack_bits(mask)
    return out


def mask_bytes(sizes: tuple[int, ...], count: int) -> int:
    """Return the bytes of `permuted_masks` for ``count`` permutations."""
    return 8 * count * len(sizes) * sum(words_for(size) for size in sizes)


def search_permuted(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    top: int,
    threshold: float,
    allowed: NDArray[np.bool_] | None = None,
    scratch: Scratch | None = None,
    *,
    rule: Rule,
    masks: NDArray[np.uint64],
) -> Best:
    """Search as `genobit.epistasis.kernels.search.search`, and again under each permutation.

    masks: the result of `permuted_masks`.
    """
    best = search(classes, first, last, top, threshold, allowed, scratch, rule=rule)
    maxima = np.full(len(masks), -np.inf)
    pairs, logarithms = pairs_of(first, last, allowed), x_log_x(sum(classes.sizes))
    branches = branches_of(rule)
    for k, counted in enumerate(_permuted(classes, first, last, masks)):
        ranked = best_of_block(counted, room(counted), pairs, 1, 0.0, rule, logarithms, branches)
        scores = ranked[0]
        if scores.size:
            maxima[k] = scores.max()
    return best._replace(maxima=maxima)


def _permuted(
    classes: Classes,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    masks: NDArray[np.uint64],
) -> Iterator[Block]:
    """Yield the counts of the block under each permutation."""
    planes = np.concatenate(classes.planes, axis=2)
    total = block(Classes((planes,), (sum(classes.sizes),)), first, last)
    wholes: tuple[NDArray[Any], ...] = (total.counts, total.row_counts, total.column_counts)
    left, right = (
        _lines(planes, members, complete=classes.complete, by_plane=by_plane)
        for members, by_plane in ((first, False), (last, True))
    )
    largest = int(np.argmax(classes.sizes))
    counted = [c for c in range(len(classes.sizes)) if c != largest]
    many = min(LINES // len(left), COUNTS // (len(left) * len(right) * len(counted)))
    step = max(1, many)
    for start in range(0, len(masks), step):
        some = masks[start : start + step]
        found = {c: _masked(left, right, some[:, c]) for c in counted}
        for k in range(len(some)):
            by_class = [found[c][k] for c in sorted(found)]
            rest = [
                whole[0] - sum(parts)
                for whole, parts in zip(wholes, zip(*by_class, strict=True), strict=True)
            ]
            by_class.insert(largest, (rest[0], rest[1], rest[2]))
            counts, row_counts, column_counts = zip(*by_class, strict=True)
            yield total._replace(
                counts=np.stack(counts),
                row_counts=np.stack(row_counts),
                column_counts=np.stack(column_counts),
                sizes=np.array(classes.sizes, np.int64),
            )


def _lines(
    planes: NDArray[np.uint64], members: NDArray[np.int64], *, complete: bool, by_plane: bool
) -> NDArray[np.uint64]:
    found = part(members, complete=complete)
    starts = line_starts(len(planes), found)
    count = int(starts[-1])
    out = np.empty((room_for(count, count)[by_plane], planes.shape[2]), np.uint64)
    lines(planes, found, starts, by_plane=by_plane, out=out)
    return out


def _masked(
    left: NDArray[np.uint64], right: NDArray[np.uint64], masks: NDArray[np.uint64]
) -> list[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for each mask, the counts of all pairs of lines, of ``left`` and of ``right``.

    left: (m, words); right: (n, words); masks: (k, words).
    """
    stacked = (masks[:, None] & left).reshape(-1, left.shape[1])
    counts = product(stacked, right)
    rows = count_rows(stacked)
    m = len(left)
    return [
        (counts[k * m : (k + 1) * m], rows[k * m : (k + 1) * m], count_rows(right & masks[k]))
        for k in range(len(masks))
    ]
