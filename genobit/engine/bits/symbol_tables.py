"""Look up the code points of an alignment in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


def looked_up(points: NDArray[np.uint32], table: NDArray[Any]) -> NDArray[Any]:
    """Return ``table[points]``, 0 past the table's end.

    numpy would first copy the points as indices.
    """
    out = np.empty(points.shape, table.dtype)
    _look_up(np.ascontiguousarray(points).reshape(-1), table, out.reshape(-1))
    return out


@njit
def _look_up(points: NDArray[np.uint32], table: NDArray[Any], out: NDArray[Any]) -> None:
    for k in range(points.size):
        point = points[k]
        out[k] = table[point] if point < table.size else 0
