"""Clumps of associated variants, by the rule of ``plink --clump``.

Variants with p up to p1 are visited in order of p. A variant that is in no clump becomes the index
variant of a new clump. Its members are all variants in its window that are in no clump and have an
r2 with it above the limit. Their p does not matter. For dosages r2 is computed from EM haplotype
frequencies, as plink 1.9 does for clumps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.schedule.passes import row_windows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout


class Clumps(NamedTuple):
    """Clumps sorted by the p of their index variants, and their members."""

    leads: NDArray[np.int64]
    """Index variant of each clump."""
    sizes: NDArray[np.int64]
    """Number of members of each clump, without the index variant."""
    members: NDArray[np.int64]
    """Members of all clumps, clump by clump."""
    r2: NDArray[np.float64]
    """r2 of each member with its index variant."""


def clump(
    planes: Mapping[str, da.Array],
    layout: Layout,
    statistic: str,
    last: NDArray[np.int64],
    size: NDArray[np.float64],
    largest: float,
    limit: float,
) -> Clumps:
    """Return the clumps; memory holds a window and a few chunks.

    Variants are ordered by ``size``, p or its logarithm; NaN excludes a variant. Index variants
    have a size up to ``largest``, members an r2 above ``limit``. The planes and ``last`` are those
    of `genobit.ld.matrix.band`.
    """
    candidates = np.flatnonzero(size <= largest)
    found = _neighbours(planes, layout, statistic, last, candidates, limit)
    known = ~np.isnan(size)
    free = known.copy()
    index: list[int] = []
    members: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    values: list[NDArray[np.float64]] = [np.empty(0)]
    for k in np.argsort(size[candidates], kind="stable"):
        variant = int(candidates[k])
        if not free[variant]:
            continue
        free[variant] = False
        others, r2 = found[k]
        left = free[others]
        free[others[left]] = False
        index.append(variant)
        members.append(others[left])
        values.append(r2[left])
    sizes = np.array([part.size for part in members[1:]], np.int64)
    return Clumps(np.array(index, np.int64), sizes, np.concatenate(members), np.concatenate(values))


def _neighbours(
    planes: Mapping[str, da.Array],
    layout: Layout,
    statistic: str,
    last: NDArray[np.int64],
    candidates: NDArray[np.int64],
    limit: float,
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return the variants in the window of each candidate with r2 above the limit, and their r2."""
    from genobit.engine.pairwise.statistic import square
    from genobit.ld.kernels import r2 as ld
    from genobit.ld.kernels.row_pairs import ROUNDING

    # The first variant whose window reaches the candidate.
    starts = np.searchsorted(last, candidates).astype(np.int64)
    stops = last[candidates] + 1
    found = []
    windows = row_windows(planes, layout, starts, stops)
    for variant, start, rows in zip(candidates, starts, windows, strict=True):
        here = slice(int(variant - start), int(variant - start) + 1)
        one = rows._replace(
            planes=tuple(plane[here] for plane in rows.planes),
            called=None if rows.called is None else rows.called[here],
        )
        r2 = square(ld.statistic(statistic, one, rows), one, rows, np.float64)[0]
        r2[here] = np.nan
        above = np.flatnonzero(r2 > limit * (1 + ROUNDING))
        found.append((start + above, r2[above]))
    return found
