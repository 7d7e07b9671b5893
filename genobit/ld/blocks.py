"""Haplotype blocks of Gabriel et al. (2002), as Haploview and ``plink --blocks`` find them.

Of variants whose minor allele is frequent enough, a stretch is a candidate if its ends are in
strong LD and of the informative pairs in it more than 95 % are (`genobit.ld.kernels.blocks`), with
rules of their own for up to four variants. The longest candidate is a block, then the longest that
does not overlap it, and so on.

References: Gabriel SB et al. (2002) Science 296:2225-2229. Barrett JC et al. (2005) Bioinformatics
21:263-265.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.windows import parse_window
from genobit.engine.schedule.rows import as_rows, ordered
from genobit.engine.schedule.windows import in_windows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.ld.kernels.blocks import Candidates


def parse_span(max_span: str) -> float:
    """Base pairs of a longest span.

    Raises
    ------
    ValueError
        If it is no distance in bp, kb or Mb.

    Examples
    --------
    >>> parse_span("200kb")
    200000.0
    """
    variable, size = parse_window(max_span, "max_span")
    if variable != "variant_position":
        msg = (
            f"max_span={max_span!r} of a block is measured in base pairs: give '200kb', '1Mb' or "
            "'250000bp'"
        )
        raise ValueError(msg)
    return size


def frequent(frequency: NDArray[np.float64], min_maf: float) -> NDArray[np.int64]:
    """Variants with a minor allele frequency of at least ``min_maf``; none without calls.

    Raises
    ------
    ValueError
        If it is outside [0, 0.5].
    """
    if not 0 <= min_maf <= 0.5:
        msg = f"min_maf={min_maf!r} is outside [0, 0.5]"
        raise ValueError(msg)
    # 1 - 0.95 is 0.05 but for a rounding.
    return np.flatnonzero(np.minimum(frequency, 1 - frequency) >= min_maf * (1 - 1e-9))


def _candidates(
    blocks: list[list[Any]],
    last: NDArray[np.int64],
    position: NDArray[np.int64],
    heads: int,
    *,
    layout: Layout,
) -> Candidates:
    from genobit.ld.kernels.blocks import candidates

    reach = len(last)
    joined = [np.concatenate(planes)[:reach] for planes in zip(*blocks, strict=True)]
    return candidates(as_rows(joined, layout), position, last, heads)


def blocks(
    planes: Mapping[str, da.Array],
    layout: Layout,
    position: NDArray[Any],
    last: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last variant of each block, in their order; both are inside.

    Parameters
    ----------
    planes
        Planes of dosages of the variants that may be in blocks, by variants.
    layout
        Of them.
    position
        Base pair of each variant.
    last
        Last variant on its contig within the longest span of each (see `windows.last_in_window`).
    """
    from genobit.ld.kernels.blocks import Candidates, largest_first

    position = np.asarray(position, np.int64)
    function = partial(_candidates, layout=layout)
    first, ends = np.empty(0, np.int64), np.empty(0, np.int64)
    done: list[Candidates] = []
    for start, found in in_windows(function, ordered(planes, layout), last, position):
        first = np.concatenate([first, found.first + start])
        ends = np.concatenate([ends, found.last + start])
        # What no candidate crosses is settled: blocks before and after do not meet.
        cut = _settled(first, ends)
        done.append(largest_first(Candidates(first[:cut], ends[:cut]), position))
        first, ends = first[cut:], ends[cut:]
    done.append(largest_first(Candidates(first, ends), position))
    return np.concatenate([d.first for d in done]), np.concatenate([d.last for d in done])


def _settled(first: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """How many candidates, sorted by their first variant, no later one can overlap."""
    if not first.size:
        return 0
    # Later ones begin after the last of these: the newest cluster stays.
    starts = np.flatnonzero(first[1:] > np.maximum.accumulate(ends)[:-1]) + 1
    return int(starts[-1]) if starts.size else 0
