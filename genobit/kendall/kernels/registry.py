"""Concordant less discordant pairs of observations, for all pairs of variables, by named kernels.

Every kernel takes dense ranks (`ranks.ranked`) and gives the same integers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.kendall.kernels.costs import chosen_kernel, costs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KERNELS", "chosen_kernel", "costs", "scores"]

KERNELS = {
    "naive": "genobit.kendall.kernels.naive",
    "merge": "genobit.kendall.kernels.merge",
    "packed-merge": "genobit.kendall.kernels.packed_merge",
    "signs": "genobit.kendall.kernels.signs",
    "orders": "genobit.kendall.kernels.orders",
    "table": "genobit.kendall.kernels.tables",
}
"""Module of each kernel, with its function ``score_pairs(a, b, upper, out)``."""


def scores(
    a: NDArray[Any], b: NDArray[Any] | None = None, kernel: str = "orders"
) -> NDArray[np.int64]:
    """Return the scores of the rows of ``a`` with those of ``b``, or with ``a`` itself.

    a: (rows, n), b: (columns, n) dense ranks of one dtype; returns (rows, columns) int64.

    A score is the number of concordant less discordant pairs of observations. Pairs tied in either
    variable add 0, and observations missing in either are left out.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.array([[0, 1, 2], [0, 2, 1]], np.uint16)
    >>> scores(ranks).tolist()
    [[3, 1], [1, 3]]
    """
    upper = b is None
    columns = a if b is None else b
    out = np.empty((a.shape[0], columns.shape[0]), np.int64)
    module = importlib.import_module(KERNELS[kernel])
    module.score_pairs(np.ascontiguousarray(a), np.ascontiguousarray(columns), upper, out)
    if upper:
        mirror(out, 0, 0, out)
    return out
