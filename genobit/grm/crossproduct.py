"""Cross product M M' of dosages, with a choice of kernels.

M M' is the integer part of a relationship matrix (VanRaden 2008), and the product that Schlather
(2020, bioRxiv 2020.01.12.903146) times. `genobit.grm.kernels.crossproducts` has the kernels.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.pair_sums import SampleChunks, Summed, pair_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def _count(chunks: Sequence[Any], *, kernel: str, samples: int) -> tuple[NDArray[np.int64]]:
    from genobit.grm.kernels.crossproducts import crossproduct

    total: NDArray[np.int64] | None = None
    for a, b, called, variants in chunks:
        missing = np.flatnonzero(called < samples)
        if missing.size:
            k = int(missing[0])
            msg = (
                f"{samples - called[k]} of {samples} calls are missing at variants={variants[k]}: "
                "crossproduct() multiplies dosages as they are and needs all of them; use "
                "ds.genobit.grm(missing=...), which says how missing calls count, or select "
                "complete variants with ds.genobit.isel"
            )
            raise ValueError(msg)
        found = crossproduct(kernel, a, b)
        total = found if total is None else np.add(total, found, out=total)
    if total is None:
        raise ValueError("a tile has no chunk of variants to add up")
    return (total,)


def _finish(tile: Summed) -> NDArray[np.int64]:
    ((total,),) = tile.sums
    summed: NDArray[np.int64] = total
    return summed


def crossproduct(samples: SampleChunks, kernel: str = "auto") -> da.Array:
    """Return sums over variants of dosage products for all pairs: (samples, samples) int64, lazy.

    ``kernel`` is "auto" or a name in `genobit.grm.kernels.crossproducts.KERNELS`. The result is
    exact and equal for every kernel and chunking. Raises ValueError for an unknown kernel or one
    that this CPU cannot run; computing raises ValueError if a call is missing.
    """
    from genobit.grm.kernels.crossproducts import check_kernel

    check_kernel(kernel)
    variants = da.arange(sum(samples.variants), chunks=(samples.variants,))
    return pair_sums(
        partial(_count, kernel=kernel, samples=sum(samples.tiles)),
        _finish,
        samples,
        along=[samples.called, variants],
        dtype=np.int64,
    )
