"""Haplotype blocks of Gabriel et al. (2002), as Haploview and ``plink --blocks`` find them.

Only variants with a frequent minor allele are used. A run of them is a candidate if its ends are in
strong LD and more than 95 % of its informative pairs are in strong LD
(`genobit.ld.kernels.blocks`). Runs of up to four variants have their own rules. The longest
candidate becomes a block, then the longest that does not overlap it, and so on.

References: Gabriel SB et al. (2002) Science 296:2225-2229. Barrett JC et al. (2005) Bioinformatics
21:263-265.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.windows import parse_window
from genobit.engine.schedule.passes import in_windows
from genobit.engine.schedule.tiles import as_rows, ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.ld.kernels.blocks import Candidates


def parse_span(window: str) -> float:
    """Return the base pairs of a span. Raises ValueError unless it is in bp, kb or Mb.

    Examples
    --------
    >>> parse_span("200kb")
    200000.0
    """
    variable, size = parse_window(window)
    if variable != "variant_position":
        msg = (
            f"window={window!r} of a block is measured in base pairs: give '200kb', '1Mb' or "
            "'250000bp'"
        )
        raise ValueError(msg)
    return size


def frequent(frequency: NDArray[np.float64], min_maf: float) -> NDArray[np.int64]:
    """Return the variants with a minor allele frequency of at least ``min_maf``.

    Variants without calls are left out. Raises ValueError for ``min_maf`` outside [0, 0.5].
    """
    if not 0 <= min_maf <= 0.5:
        msg = f"min_maf={min_maf!r} is outside [0, 0.5]"
        raise ValueError(msg)
    # A frequency of 0.95 gives 1 - 0.95, which rounding moves off 0.05.
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
    """Return the first and last variant of each block, both inside, in their order.

    The planes are dosages of the variants that may be in blocks, with ``position`` in base pairs.
    For each variant ``last`` is the last variant within the longest span
    (`windows.last_in_window`).
    """
    from genobit.ld.kernels.blocks import Candidates, largest_first

    position = np.asarray(position, np.int64)
    function = partial(_candidates, layout=layout)
    first, ends = np.empty(0, np.int64), np.empty(0, np.int64)
    done: list[Candidates] = []
    for start, found in in_windows(function, ordered(planes, layout), last, position):
        first = np.concatenate([first, found.first + start])
        ends = np.concatenate([ends, found.last + start])
        # No candidate crosses the cut, so blocks before and after it cannot overlap.
        cut = _settled(first, ends)
        done.append(largest_first(Candidates(first[:cut], ends[:cut]), position))
        first, ends = first[cut:], ends[cut:]
    done.append(largest_first(Candidates(first, ends), position))
    return np.concatenate([d.first for d in done]), np.concatenate([d.last for d in done])


def _settled(first: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Return how many candidates, sorted by first variant, no later candidate can overlap."""
    if not first.size:
        return 0
    # Later candidates may still overlap the newest cluster: it is not settled.
    starts = np.flatnonzero(first[1:] > np.maximum.accumulate(ends)[:-1]) + 1
    return int(starts[-1]) if starts.size else 0
