"""Concordant less discordant pairs of observations, for all pairs of variables, by named kernels.

Every kernel takes dense ranks (`ranks.ranked`) and gives the same integers; `KERNELS` says what
each does.
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
"""Modules that offer ``score_pairs(a, b, upper, out)``."""


def scores(
    a: NDArray[Any], b: NDArray[Any] | None = None, kernel: str = "orders"
) -> NDArray[np.int64]:
    """Scores of the rows of ``a`` with those of ``b``.

    Parameters
    ----------
    a, b
        Dense ranks, (rows, n) and (columns, n) of one type. Without ``b``, ``a`` with itself.
    kernel
        One of `KERNELS`.

    Returns
    -------
        int64 (rows, columns): pairs of observations in which both variables agree which is larger,
        less those in which they do not, over the observations that miss neither. Pairs tied in
        either add nothing.

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
