"""Kendall scores by merge sort: Knight's algorithm, O(n log n), one key at a time.

This is GSE, the generic sort-enabled algorithm of Liu, Pan, Green, Aluru 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.kendall.kernels import knight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of the rows of ``a`` with those of ``b`` to ``out``.

    a: (rows, n), b: (columns, n); writes out (rows, columns), with ``upper`` only where row <=
    column.
    """
    knight.scores(a, b, upper, False, out)
