"""The scope of a search, from limits on variants and combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.arguments import Limits, SearchSpec
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.variants import Scope


def scope_of(
    limits: Limits,
    classes: Classes,
    planes: Mapping[str, da.Array],
    layout: Layout,
    wanted: SearchSpec,
) -> Scope | None:
    """Return the scope of a search; None for all combinations.

    Raises ValueError if ``prefilter`` leaves fewer variants than a combination has, and MemoryError
    if the linked pairs take more than ``get_options().eager_limit``.
    """
    from genobit.epistasis.schedule.variants import Scope

    if limits.none:
        return None
    count = classes.planes[0].shape[1]
    sets = [np.zeros(count, bool) if m is None else m for m in limits.sets]
    one, two = any(m.any() for m in sets), all(m.any() for m in sets)
    kept = _prefiltered(classes, limits.prefilter, sets[0] | sets[1], wanted)
    first, second = sorted(sets, key=lambda m: (not m[kept].any(), np.count_nonzero(m[kept])))
    # Order of the variants: those of no set (0), of the larger set (1), of the smaller set (2).
    last = np.where(first, 2, np.where(second, 1, 0))[kept]
    places = kept[np.argsort(last, kind="stable")]
    marks = (sets[0] + 2 * sets[1]).astype(np.uint8)
    contigs = np.zeros(count) if limits.contigs is None else limits.contigs
    coordinates = np.arange(count) if limits.coordinates is None else limits.coordinates
    linked = np.empty((0, 0), np.uint8)
    if limits.max_r2 is not None:
        linked = _linked(planes, layout, places, limits.max_r2)
    return Scope(
        places,
        int(np.count_nonzero(last == 2)) if one else 0,
        int(np.count_nonzero(last)) if two else 0,
        marks[places] if two else np.empty(0, np.uint8),
        np.asarray(contigs, np.int64)[places],
        np.asarray(coordinates, np.float64)[places],
        float(limits.gap),
        linked,
    )


def _prefiltered(
    classes: Classes, n: int | None, always: NDArray[np.bool_], wanted: SearchSpec
) -> NDArray[np.int64]:
    """Return the n best single variants and the variants of the sets, ascending.

    Variants with too few calls for any combination to be ranked are not among the n.
    """
    from genobit.epistasis.kernels.mutual_information import x_log_x
    from genobit.epistasis.kernels.statistics import MUTUAL_INFORMATION, scores_of
    from genobit.epistasis.kernels.tables import count_cells

    every = np.arange(classes.planes[0].shape[1])
    if n is None or n >= every.size:
        return every
    tables = count_cells(classes, every[:, None])
    scores = scores_of(tables, MUTUAL_INFORMATION, x_log_x(sum(classes.sizes)))
    of_class = tables.sum(axis=1)
    enough = (of_class.sum(axis=0) >= wanted.min_n) & (of_class.min(axis=0) >= wanted.min_count)
    known = np.flatnonzero(enough & ~np.isnan(scores))
    best = known[np.argsort(-scores[known], kind="stable")[:n]]
    kept = np.flatnonzero(np.isin(every, best) | always)
    if kept.size < wanted.order:
        msg = (
            f"prefilter={n} leaves {kept.size} of {every.size} variants with at least "
            f"min_n={wanted.min_n} samples and min_count={wanted.min_count} of each class, and "
            f"order={wanted.order} takes as many: lower min_n= or min_count= of limits="
        )
        raise ValueError(msg)
    return kept


def _linked(
    planes: Mapping[str, da.Array], layout: Layout, places: NDArray[np.int64], max_r2: float
) -> NDArray[np.uint8]:
    """Return the pairs with a larger r2 as bits, (variants, bytes); NaN is not larger.

    Raises MemoryError past ``get_options().eager_limit``.
    """
    from genobit.engine.options import get_options
    from genobit.engine.schedule.computing import compute
    from genobit.ld.matrix import matrix

    size, limit = places.size * (-(-places.size // 8)), get_options().eager_limit
    if size > limit:
        msg = (
            f"max_r2= holds a bit for each pair of {places.size:,} variants, {size / 2**20:,.1f} "
            f"MiB, more than eager_limit ({limit / 2**20:,.1f} MiB): give a smaller prefilter=, "
            "thin the variants, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    # Compute the rows chunk by chunk, so that only one chunk of r2 is in memory.
    out = np.empty((places.size, -(-places.size // 8)), np.uint8)
    rows = {0: get_options().edge}
    r2 = matrix({k: plane[places].rechunk(rows) for k, plane in planes.items()}, layout, "r2")
    start = 0
    for count in r2.chunks[0]:
        (part,) = compute(r2[start : start + count])
        out[start : start + count] = np.packbits(part > max_r2, axis=1, bitorder="little")
        start += count
    return out
