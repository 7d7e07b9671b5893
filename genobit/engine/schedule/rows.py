"""Convert planes of a chunk of variants to the `Rows` that kernels take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.layout import CALLED, Layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import dask.array as da

    from genobit.engine.bits.planes import Rows


def ordered(planes: Mapping[str, da.Array], layout: Layout) -> list[da.Array]:
    """Return the planes of a layout in its order, then ``called`` if calls can be missing."""
    names = [*layout.planes, *([CALLED] if CALLED in planes else [])]
    return [planes[name] for name in names]


def as_rows(blocks: Sequence[Any], layout: Layout) -> Rows:
    """Return blocks of planes in the order of `ordered` as `Rows`."""
    from genobit.engine.bits.planes import Rows

    arrays = [np.ascontiguousarray(block) for block in blocks]
    n = len(layout.planes)
    called = arrays[n] if len(arrays) > n else None
    return Rows(layout.kind == "haplotype", layout.bits, tuple(arrays[:n]), called)
